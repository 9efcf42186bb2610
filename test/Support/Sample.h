// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Some cases of a matrix of them by day, all at night.

#ifndef MP_TEST_SUPPORT_SAMPLE_H
#define MP_TEST_SUPPORT_SAMPLE_H

#include <cstdlib>
#include <string_view>

namespace mlir::mp::test {

/// Takes the first of `every` cases as they come, and all where the environment variable MP_TIER,
/// which lit sets, is "nightly". Meets each value of the innermost loop if that has a number of
/// values to which `every` is coprime.
class Sample {
public:
  explicit Sample(unsigned every) : every(isNightly() ? 1 : every) {}
  bool takes() { return next++ % every == 0; }

private:
  static bool isNightly() {
    const char *tier = std::getenv("MP_TIER");
    return tier && std::string_view(tier) == "nightly";
  }

  unsigned every, next = 0;
};

} // namespace mlir::mp::test

#endif // MP_TEST_SUPPORT_SAMPLE_H
