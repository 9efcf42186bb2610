// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the kernels of PTX text that may be wrong in any way. Shared with tools/dev/fuzz.

#ifndef MP_TEST_EMULATOR_DAMAGEDKERNEL_H
#define MP_TEST_EMULATOR_DAMAGEDKERNEL_H

#include <string>

namespace mpcore::emulator::test {

enum class Outcome { Refused, Faulted, Ran };

/// Runs every kernel of the text, on arguments that fit its parameters. Ends the program where an
/// error says nothing.
Outcome runDamaged(const std::string &text, bool reverse);

} // namespace mpcore::emulator::test

#endif // MP_TEST_EMULATOR_DAMAGEDKERNEL_H
