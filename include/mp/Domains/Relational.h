// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about values that are functions of each other, where treating the operands as independent
// gives false alarms. The caller recognises the idiom; these functions say what follows. `n` is the
// number of elements of the group. Exact arithmetic, as in Transfer.h.

#ifndef MP_DOMAINS_RELATIONAL_H
#define MP_DOMAINS_RELATIONAL_H

#include "mp/Domains/Reductions.h"

namespace mpcore::domains {

/// softmax of groups: [e^(lo-hi) / n, 1 / (1 + (n-1) e^(lo-hi))]; rows that are groups have 2-norm
/// at most 1.
FloatFacts softmax(const FloatFacts &x, const Extent &n, bool groupsAreRows, RowLength rowLength);

} // namespace mpcore::domains

#endif // MP_DOMAINS_RELATIONAL_H
