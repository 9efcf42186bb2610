// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Answers what a conversion from f32 should give.

#ifndef MP_TOOLS_DEV_NUMERICSSWEEP_REFERENCE_H
#define MP_TOOLS_DEV_NUMERICSSWEEP_REFERENCE_H

#include "Numerics/ApfloatOracle.h"

namespace mpcore::numerics::sweep {

enum class Opinion { Apfloat, Runtime, Definition };

/// One conversion to check.
struct Task {
  const FormatInfo &to;
  Rounding rounding;
};

class Reference {
public:
  explicit Reference(Opinion opinion) : opinion(opinion) {}

  /// False, with a message on stderr, if the reference cannot be had here.
  bool load();

  llvm::StringRef name() const;
  bool knows(Rounding rounding) const;

  struct Answers {
    test::Oracle ieee, saturating;
  };
  /// Converts the f32 pattern `bits` under both overflow rules; `draw` holds the random bits.
  Answers ask(const Task &task, uint32_t bits, uint32_t draw) const;

private:
  using RuntimeConvert = uint64_t (*)(int32_t from, int32_t to, uint64_t bits);

  test::Oracle askRuntime(uint32_t bits, const FormatInfo &to) const;

  Opinion opinion;
  RuntimeConvert runtimeConvert = nullptr;
};

} // namespace mpcore::numerics::sweep

#endif // MP_TOOLS_DEV_NUMERICSSWEEP_REFERENCE_H
