// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spells the words of options, as TableGen writes it.

#include "mp/Transforms/Options.h"
#include "llvm/ADT/StringSwitch.h"

#include "mp/Transforms/Options.cpp.inc"
