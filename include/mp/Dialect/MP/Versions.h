// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice among versions of one step, and its rules, read. A header of its own: few files need
// it.

#ifndef MP_DIALECT_MP_VERSIONS_H
#define MP_DIALECT_MP_VERSIONS_H

#include "mp/Dialect/MP/MPDialect.h"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/VersionOps.h.inc"

namespace mlir::mp {

/// On the function that calls versions: their names and what rules call themselves, for whoever
/// prints changes. A dictionary of `versions` and `reasons`, strings each.
inline constexpr StringLiteral kVersionsAttrName = "mp.versions";
/// Values of `mp.role` on the arguments that mp-merge-versions appends: the state of the choice,
/// and the signals of earlier steps.
inline constexpr StringLiteral kRoleVersion = "version";
inline constexpr StringLiteral kRoleVersionSignals = "version_signals";
/// Also of mp-merge-versions, where rules ask for them: what the caller measures and writes before
/// each call, as two f64 (VersionMeasure). NaN is what nobody has measured.
inline constexpr StringLiteral kRoleVersionMeasured = "version_measured";

/// Elements of the state of a choice.
enum class VersionState : int64_t { Version, Since, Rule, Changes };

/// Elements of what the caller measures: the seconds that the call before took, and the bytes of
/// memory in use.
enum class VersionMeasure : int64_t { Seconds, Bytes, Count };

/// A rule of `mp.select_version`.
struct VersionRule {
  int64_t signal = 0, version = 0;
  std::optional<double> from, below;
  bool onNaN = false;
  std::string reason;

  DictionaryAttr toAttr(MLIRContext *context) const;
  /// Nullopt where it is not what toAttr() gives.
  static std::optional<VersionRule> fromAttr(Attribute attribute);
};

} // namespace mlir::mp

#endif // MP_DIALECT_MP_VERSIONS_H
