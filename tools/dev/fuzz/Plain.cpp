// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harnesses of rooms that know no MLIR: policies, costs, problems, schedules, cubins, PTX, maps.

#include "../../../test/Emulator/DamagedKernel.h"
#include "Harness.h"
#include "mp/Assignment/Explain.h"
#include "mp/Assignment/ProblemJSON.h"
#include "mp/Assignment/Solve.h"
#include "mp/Cubin/CubinStatistics.h"
#include "mp/Emulator/TensorMap.h"
#include "mp/Performance/CostModel.h"
#include "mp/Performance/Part.h"
#include "mp/Performance/Problem.h"
#include "mp/Performance/Schedule.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace mpcore;
using namespace mpcore::fuzz;
using llvm::StringRef;

static std::string textOf(const policy::Policy &policy) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  policy::writePolicy(policy, stream);
  return text;
}

/// A policy that is read is written so that it reads back as the same.
static void fuzzPolicy(StringRef bytes) {
  auto read = refusedOr(policy::readPolicy(bytes, "policy.json", "bf16"));
  if (!read)
    return;
  std::string written = textOf(*read);
  auto again = policy::readPolicy(written, "written.json", "bf16");
  if (!again)
    broken("a policy that is written reads back: " + llvm::toString(again.takeError()));
  if (textOf(*again) != written)
    broken("a policy that is read again is written as it was");
}

static void fuzzRequest(StringRef bytes) { refusedOr(policy::parseRequest(bytes)); }

static void fuzzCosts(StringRef bytes) {
  const target::TargetModel &chip = llvm::cantFail(target::lookupTarget("sm_80"));
  auto model = llvm::cantFail(performance::CostModel::create(chip));
  if (llvm::Error error = model.readMeasured(bytes))
    expectWords(std::move(error));
}

/// An answer of the solver is one, and costs what it says.
static void fuzzProblem(StringRef bytes) {
  auto file = refusedOr(assignment::readProblem(bytes));
  if (!file)
    return;
  if (file->answer)
    refusedOr(assignment::checkAnswer(file->problem, *file->answer));
  assignment::SolveOptions options;
  options.stateCap = 2000;
  options.boundRounds = 5;
  options.searchCap = 2000;
  auto answer = refusedOr(assignment::solve(file->problem, options));
  if (!answer)
    return;
  if (auto checked = assignment::checkAnswer(file->problem, *answer); !checked)
    broken("an answer can be checked: " + llvm::toString(checked.takeError()));
}

static void fuzzSchedule(StringRef bytes) {
  auto [first, second] = bytes.split('\n');
  static const performance::Part &part = llvm::cantFail(performance::findPart("H100"));
  auto problem = refusedOr(performance::parseProblem(first));
  auto schedule = refusedOr(performance::parseSchedule(second));
  if (problem && schedule)
    refusedOr(performance::resourcesOf(*problem, *schedule, part));
}

static void fuzzCubin(StringRef bytes) { refusedOr(cubin::readCubin(bytes)); }

static void fuzzPTX(StringRef bytes) {
  for (bool reverse : {false, true})
    emulator::test::runDamaged(bytes.str(), reverse);
}

/// Maps as kernels get them, and fields that kernels replace: bytes of anything.
static void fuzzTensorMap(StringRef bytes) {
  uint8_t map[128] = {};
  std::memcpy(map, bytes.data(), std::min(bytes.size(), sizeof(map)));
  for (StringRef rest = bytes.drop_front(std::min(bytes.size(), sizeof(map))); rest.size() >= 10;
       rest = rest.drop_front(10)) {
    uint64_t value = 0;
    std::memcpy(&value, rest.data() + 2, 8);
    (void)emulator::replaceField(map, emulator::TensorMapField(uint8_t(rest[0]) % 10),
                                 uint8_t(rest[1]), value);
  }
  std::optional<emulator::TensorMap> decoded = emulator::TensorMap::decode(map);
  if (!decoded)
    return;
  if (llvm::Error error = decoded->verify())
    return expectWords(std::move(error));
  if (decoded->boxBytes() == 0)
    broken("the box of a valid map has bytes");
  auto encoded = decoded->encode();
  if (!emulator::TensorMap::decode(encoded.data()))
    broken("a valid map is encoded as one");
}

std::vector<Harness> mpcore::fuzz::harnesses() {
  return {{"policy", fuzzPolicy},   {"request", fuzzRequest},     {"costs", fuzzCosts},
          {"problem", fuzzProblem}, {"schedule", fuzzSchedule},   {"cubin", fuzzCubin},
          {"ptx", fuzzPTX},         {"tensor-map", fuzzTensorMap}};
}
