// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the recorded Tensor Core results of MATLAB-tensor-core (BSD-2-Clause),
// which lie beside the repository, not in it.

#ifndef MP_TEST_NUMERICS_RECORDEDVECTORS_H
#define MP_TEST_NUMERICS_RECORDEDVECTORS_H

#include <optional>
#include <string>
#include <vector>

namespace mpcore::numerics::test {

struct RecordedSet {
  unsigned k = 0;          ///< products per record
  std::vector<float> a, b; ///< k per record
  std::vector<float> c, d; ///< one per record
};

/// The vectors' folder after unpacking, or nullopt if they are not there; then
/// `why` says what was looked for.
std::optional<std::string> recordedVectors(std::string &why);

/// Reads GPU/TYPE ("H100", "E4M3") with results of "fp32" or "fp16"; nullopt if
/// that set was not recorded.
std::optional<RecordedSet> readRecordedSet(const std::string &root, const std::string &gpu,
                                           const std::string &type, const std::string &result);

} // namespace mpcore::numerics::test

#endif // MP_TEST_NUMERICS_RECORDEDVECTORS_H
