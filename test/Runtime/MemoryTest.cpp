// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Runtime/Runtime.h"
#include "gtest/gtest.h"

#include <cstring>

TEST(RuntimeMemory, AFailedCheckEndsTheCallWithItsCode) {
  bool after = false;
  void *args[] = {&after};
  auto entry = [](void **args) {
    mp_rt_fail(42);
    *static_cast<bool *>(args[0]) = true;
  };
  EXPECT_EQ(mp_rt_invoke(entry, args), 42);
  EXPECT_FALSE(after);
}

TEST(RuntimeMemory, BlocksAreReusedAndThePeakIsCounted) {
  auto entry = [](void **) {
    for (int i = 0; i < 1000; ++i) {
      void *block = _mlir_memref_to_llvm_alloc(1 << 20);
      std::memset(block, i, 1 << 20);
      _mlir_memref_to_llvm_free(block);
    }
  };
  EXPECT_EQ(mp_rt_invoke(entry, nullptr), 0);
  EXPECT_EQ(mp_rt_peak_bytes(), 1 << 20);
  mp_rt_release();
  EXPECT_EQ(mp_rt_peak_bytes(), 0);
}

TEST(RuntimeMemory, AnImpossibleSizeIsAFailureNotACrash) {
  auto entry = [](void **) { _mlir_memref_to_llvm_alloc(INT64_MAX); };
  EXPECT_EQ(mp_rt_invoke(entry, nullptr), -1);
}

TEST(RuntimeMemory, FreeingWhatIsNotOursIsHarmless) {
  auto entry = [](void **args) { _mlir_memref_to_llvm_free(args[0]); };
  int argument = 7;
  void *args[] = {&argument};
  EXPECT_EQ(mp_rt_invoke(entry, args), 0);
  EXPECT_EQ(argument, 7);
}
