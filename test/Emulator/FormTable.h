// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many spellings of instructions, most of which do not exist, given to ptxas and to the emulator
// alike.

#ifndef MP_TEST_EMULATOR_FORMTABLE_H
#define MP_TEST_EMULATOR_FORMTABLE_H

#include "MatrixSupport.h"

namespace mpcore::emulator::test {

/// expandForms() of each.
std::vector<std::string> expand(const std::vector<std::string> &patterns);

/// Forms that only ptxas has: a part of them, and a part of the error with which the emulator
/// refuses them.
using RefusedForms = std::vector<std::pair<std::string, std::string>>;

/// Fails for each form that one of the two accepts and the other refuses, and where fewer than
/// `least` are accepted.
void expectPtxasForms(const std::vector<std::string> &forms, const std::string &target,
                      size_t least, const RefusedForms &refused = {});

} // namespace mpcore::emulator::test

#endif
