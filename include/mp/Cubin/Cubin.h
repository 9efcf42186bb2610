// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cubins: ELF files with machine code for one GPU architecture.

#ifndef MP_CUBIN_CUBIN_H
#define MP_CUBIN_CUBIN_H

#include "mp/Cubin/Instruction.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace mpcore::cubin {

struct Function {
  std::string name;
  std::vector<Instruction> instructions;
  /// Addresses that each indirect branch may go to, by the address of the branch.
  std::vector<std::pair<uint32_t, std::vector<uint32_t>>> indirectTargets;
  unsigned registers = 0;   ///< per thread
  unsigned stackBytes = 0;  ///< of local memory per thread
  unsigned sharedBytes = 0; ///< static, without what the system keeps
  unsigned threads = 0;     ///< .reqntid or .maxntid as one number; 0 if the kernel says neither
  unsigned codeBytes = 0;
};

struct Cubin {
  unsigned sm = 0; ///< compute capability times ten: 90
  std::vector<Function> functions;

  const Function *find(llvm::StringRef name) const;
};

/// Reads the bytes of a cubin. An error says what is missing or out of bounds.
llvm::Expected<Cubin> readCubin(llvm::StringRef bytes);

/// Reads a cubin file with the same result, but for instructions, which are those of `nvdisasm`, a
/// program of the CUDA toolkit. An error if it does not run.
llvm::Expected<Cubin> readCubinWithNvdisasm(llvm::StringRef file, llvm::StringRef nvdisasm);

/// Finds a program of the CUDA toolkit: by the environment variable of its name in capitals, in
/// CUDA_HOME and CUDA_PATH, on the path, in /usr/local/cuda. An error says where it was looked for.
llvm::Expected<std::string> findCudaTool(llvm::StringRef name);

} // namespace mpcore::cubin

#endif // MP_CUBIN_CUBIN_H
