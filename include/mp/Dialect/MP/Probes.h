// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Probes, and the attribute that says what a record among the results of a step is of. A header of
// its own: few files need it.

#ifndef MP_DIALECT_MP_PROBES_H
#define MP_DIALECT_MP_PROBES_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Format.h"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ProbeOps.h.inc"

namespace mlir::mp {

/// On an argument that holds the records of a probe, a dictionary: `name`, `of` ("gradient",
/// "contraction", "parameter", "result", "cast" or "value"), `formats`, `used` (those of them that
/// the value is rounded to), `every`, and the units `histogram` and `scaled` (by the loss scale).
inline constexpr StringLiteral kProbeAttrName = "mp.probe";
/// Values of `mp.role` on the arguments that mp-insert-probes appends.
inline constexpr StringLiteral kRoleProbe = "probe";
inline constexpr StringLiteral kRoleProbeCalls = "probe_calls";

/// The attribute, read.
struct ProbeInfo {
  std::string name, of;
  SmallVector<numerics::Format> formats, used;
  int64_t every = 1;
  bool hasHistogram = false, isScaled = false;

  DictionaryAttr toAttr(MLIRContext *context) const;
  /// Nullopt where it is not what toAttr() gives.
  static std::optional<ProbeInfo> fromAttr(Attribute attribute);
};

/// Types as formats, or nullopt where one cannot be probed or comes twice.
std::optional<SmallVector<numerics::Format>> probeFormats(ArrayAttr types);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_PROBES_H
