// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_LIB_CUBIN_OPCODES_H
#define MP_LIB_CUBIN_OPCODES_H

#include "mp/Cubin/Instruction.h"

namespace mpcore::cubin::detail {

struct Opcode {
  llvm::StringRef name; ///< empty if unknown
  Kind kind = Kind::Other;
};

/// The opcode with an encoding of 12 bits on compute capability `sm`. The upper three say which
/// operand is an immediate, a constant or uniform; the lower nine are the operation.
Opcode opcodeOf(unsigned code, unsigned sm);
/// The kind of the opcode that nvdisasm calls `name`.
Kind kindOf(llvm::StringRef name);

/// Fills in what follows from the opcode alone: control flow and the uniform datapath.
void describe(Instruction &instruction);

} // namespace mpcore::cubin::detail

#endif // MP_LIB_CUBIN_OPCODES_H
