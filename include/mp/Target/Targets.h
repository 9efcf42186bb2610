// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of targets: lookup by name, and questions whose "no" must help the user.

#ifndef MP_TARGET_TARGETS_H
#define MP_TARGET_TARGETS_H

#include "mp/Target/TargetModel.h"

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mpcore::target {

/// Every target, in order of compute capability.
llvm::ArrayRef<const TargetModel *> allTargets();

/// The name of the first target that has the product `name` ("h100", "RTX 4090", "a100-sxm-40gb"),
/// else `name` itself.
llvm::StringRef canonicalName(llvm::StringRef name);

/// Finds a target by its exact name (sm_80, sm_90a), a product's (canonicalName), or that of the
/// installed GPU (native). The error names what was meant, where a name is near.
llvm::Expected<const TargetModel &> lookupTarget(llvm::StringRef name);

/// The best target for a device of the given compute capability: the architecture-specific one when
/// there is one, else the newest not above it within the same generation rules (a cubin runs on
/// later minor versions). Errors below 7.0 and for unknown generations.
llvm::Expected<const TargetModel &> targetForCapability(unsigned major, unsigned minor);

/// The native operand format of `target` closest to `format`: same kind (float or integer), then
/// least difference in width, wider first. Empty if there is none of that kind.
llvm::StringRef nearestFormat(const TargetModel &target, llvm::StringRef format);

/// Success if `target` runs products of `format` (f32 always: FMA units). Otherwise an error that
/// says absent or emulated and names the nearest native format; unknown names get a suggestion.
llvm::Error checkFormat(const TargetModel &target, llvm::StringRef format);

/// A table of formats per target: native, emulated or absent; then rates of the first part; then
/// the device that is installed.
void printTargets(llvm::raw_ostream &os);

} // namespace mpcore::target

#endif // MP_TARGET_TARGETS_H
