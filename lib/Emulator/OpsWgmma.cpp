// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decoder.h"
#include "Lanes.h"

using namespace mp::emulator;

bool mp::emulator::checkPending(Warp &, const Inst &) { return true; }
