// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Helpers of loads and stores that other transfers share.

#ifndef MP_LIB_EMULATOR_TRANSFER_LOADSTORE_H
#define MP_LIB_EMULATOR_TRANSFER_LOADSTORE_H

#include "../Decode/Decoder.h"
#include "../State/Lanes.h"

namespace mpcore::emulator {

/// .global, .shared{::cta}, .shared::cluster, ...; generic when there is none.
MemSpace takeSpace(Decoder &d);
/// .cta, .cluster, .gpu or .sys
bool takeScope(Decoder &d);

} // namespace mpcore::emulator

#endif
