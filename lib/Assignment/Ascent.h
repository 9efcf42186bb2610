// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Lagrangian bound for problems that are no minimum cut, by ascent on the multipliers.

#ifndef MP_LIB_ASSIGNMENT_ASCENT_H
#define MP_LIB_ASSIGNMENT_ASCENT_H

#include "Flat.h"

namespace mp::assignment {

struct AscentResult {
  Certificate certificate; ///< its objective is a multiple of the one asked for
  Weight bound = 0;        ///< on the objective asked for
  Labels labels;           ///< cheapest variant per node under the multipliers: a start for others
};

/// Max-product linear programming in integers (Globerson and Jaakkola 2007): value by value, the
/// readers and the definition hand over what they know, and share the value's answer equally.
/// Values are visited in canonical order, so the bound does not depend on node order.
AscentResult ascend(const Flat &flat, const Objective &objective, unsigned rounds);

} // namespace mp::assignment

#endif // MP_LIB_ASSIGNMENT_ASCENT_H
