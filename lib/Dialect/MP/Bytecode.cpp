// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The version of the mp dialect in bytecode, and what brings older files up to date.

#include "Bytecode.h"
#include "mlir/Bytecode/BytecodeImplementation.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

struct MPVersion : DialectVersion {
  explicit MPVersion(uint64_t number) : number(number) {}
  uint64_t number;
};

/// Attributes and types are written as text; only the version stands beside them. Files of 0.1 that
/// were written before there was one have none, and need no upgrade.
struct MPBytecode : BytecodeDialectInterface {
  explicit MPBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}
  static constexpr uint64_t kVersion = 1;

  void writeVersion(DialectBytecodeWriter &writer) const override { writer.writeVarInt(kVersion); }

  std::unique_ptr<DialectVersion> readVersion(DialectBytecodeReader &reader) const override {
    uint64_t number = 0;
    if (failed(reader.readVarInt(number)))
      return nullptr;
    if (number == 0 || number > kVersion) {
      reader.emitError() << "the file holds version " << number
                         << " of the mp dialect, and this mp reads versions 1 to " << kVersion
                         << ": write it as text with the mp that made it, or use a newer mp";
      return nullptr;
    }
    return std::make_unique<MPVersion>(number);
  }

  /// Called on each operation at the top of a file of an older version: each version since changes
  /// here what it has renamed or removed, the oldest first.
  LogicalResult upgradeFromVersion(Operation *topLevelOp,
                                   const DialectVersion &version) const override {
    return success(static_cast<const MPVersion &>(version).number == kVersion);
  }
};

} // namespace

void mlir::mp::addBytecodeVersion(MPDialect &dialect) { dialect.addInterfaces<MPBytecode>(); }
