// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Performance/Schedule.h"

#include "gtest/gtest.h"

using namespace mpcore::performance;

namespace {

std::string problemError(llvm::StringRef text) {
  auto problem = parseProblem(text);
  return problem ? "" : llvm::toString(problem.takeError());
}
std::string scheduleError(llvm::StringRef text) {
  auto schedule = parseSchedule(text);
  return schedule ? "" : llvm::toString(schedule.takeError());
}

TEST(Text, ProblemsRoundTrip) {
  for (llvm::StringRef text :
       {"matmul m=4096 n=256 k=1024 sparse-a=true",
        "matmul batch=4 m=4096 n=256 k=1024 format=f8E4M3FN b-bits=4 shared-b=true",
        "map elements=1048576 read-bytes=2", "rows rows=64 columns=8192 reductions=2",
        "column-reduction rows=4096 columns=768", "transpose rows=512 columns=512 bits=32",
        "attention batch=2 heads=16 key-heads=4 queries=512 keys=512 head-dim=128 causal=true",
        "attention keys=512 keys-vary=true rows-vary=true"}) {
    Problem problem = llvm::cantFail(parseProblem(text));
    EXPECT_EQ(toString(problem), text);
  }
  // Defaults are left out.
  EXPECT_EQ(toString(llvm::cantFail(parseProblem("matmul m=8 format=bf16 batch=1"))), "matmul m=8");
}

TEST(Text, SchedulesRoundTrip) {
  for (llvm::StringRef text :
       {"matmul unit=wgmma tile=128x256x64 warps=8x1 stages=4 copy=bulk cluster=2x1 "
        "overlapped-stores=true",
        "matmul tile=64x64x32 split-k=4", "matmul tile=16x32x64 slices=8", "map per-thread=4",
        "rows threads-per-row=256 "
        "rows-per-block=1 residence=shared",
        "column-reduction splits=8", "transpose tile=32",
        "attention unit=wgmma tile=128x128 warps=8 overlapped=true",
        "attention tile=16x64 warps=1 split-keys=16 split-from=640 split-blocks=108"}) {
    Schedule schedule = llvm::cantFail(parseSchedule(text));
    EXPECT_EQ(toString(schedule), text);
  }
}

TEST(Text, ErrorsNameTheWordAndWhatIsKnown) {
  EXPECT_EQ(problemError(""), "expected a problem as 'matmul ...', found nothing");
  EXPECT_EQ(problemError("gemm m=4"),
            "'gemm' is no kind of problem; known are matmul, map, rows, column-reduction, "
            "transpose, attention");
  EXPECT_EQ(problemError("matmul q=4"),
            "'q=4' is no field of matmul; it has batch, m, n, k, format, result, a-bits, b-bits, "
            "sparse-a, shared-b, epilogue-bytes, epilogue-instructions");
  EXPECT_EQ(problemError("matmul m=-4"), "'m' of matmul is '-4', expected a size from 0 to 2^40");
  EXPECT_EQ(problemError("matmul format=float"),
            "'format' of matmul is 'float', expected a format such as bf16, f16, tf32, f32, "
            "f8E4M3FN or i8");
  EXPECT_EQ(problemError("map read-bytes=nan"),
            "'read-bytes' of map is 'nan', expected a number from 0 to 10^6");
  EXPECT_EQ(scheduleError("matmul tile=128x256"),
            "'tile' of matmul is '128x256', expected three sizes as 128x128x64");
  EXPECT_EQ(scheduleError("matmul tile=128x0x64"),
            "'tile' of matmul is '128x0x64', expected sizes above 0, joined by x");
  EXPECT_EQ(scheduleError("matmul unit=hmma"),
            "'unit' of matmul is 'hmma', expected fma, mma.sync, wgmma or tcgen05");
  EXPECT_EQ(scheduleError("rows residence=cache"),
            "'residence' of rows is 'cache', expected registers, shared or reread");
}

} // namespace
