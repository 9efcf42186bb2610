// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scale rules by name: what the implementations people use do, as data.

#ifndef MP_NUMERICS_SCALING_NAMEDRULES_H
#define MP_NUMERICS_SCALING_NAMEDRULES_H

#include "mp/Numerics/Scaling/ScaleRule.h"

namespace mpcore::numerics {

struct NamedRule {
  llvm::StringLiteral name;
  llvm::StringLiteral source; ///< whose rule it is
  ScaleRule rule;
  Format scaleFormat;
};

/// All of them; docs/concepts/Scaling.md has the table.
llvm::ArrayRef<NamedRule> namedScaleRules();

/// The one called so, or null.
const NamedRule *findScaleRule(llvm::StringRef name);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_NAMEDRULES_H
