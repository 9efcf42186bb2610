// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A PTX module, checked and pre-decoded. Reference: PTX ISA 9.0 (CUDA 13.0).

#ifndef MP_EMULATOR_MODULE_H
#define MP_EMULATOR_MODULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mpcore::emulator {

class Program;

struct KernelParam {
  std::string name;
  uint32_t offset = 0; // bytes, in the parameter buffer
  uint32_t bytes = 0;
  uint32_t align = 1;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelParam> params;
  uint32_t paramBytes = 0;
  uint32_t staticSharedBytes = 0;
  uint32_t requiredBlock[3] = {0, 0, 0}; // .reqntid, 0 when absent
  uint32_t maxBlock[3] = {0, 0, 0};      // .maxntid, 0 when absent
  uint32_t cluster[3] = {1, 1, 1};       // .reqnctapercluster
};

class Module {
public:
  explicit Module(std::unique_ptr<Program> program);
  ~Module();
  llvm::ArrayRef<KernelInfo> kernels() const;
  const KernelInfo *findKernel(llvm::StringRef name) const;
  /// The .target word: "sm_90a".
  llvm::StringRef target() const;
  const Program &program() const { return *code; }

private:
  std::unique_ptr<Program> code;
};

/// Parses and decodes PTX text. `name` stands for the file in messages. Any opcode or modifier
/// combination the emulator does not implement exactly is an error "NAME:LINE: ... 'TEXT'": nothing
/// is guessed.
llvm::Expected<std::unique_ptr<Module>> loadModule(llvm::StringRef text,
                                                   llvm::StringRef name = "<ptx>");

} // namespace mpcore::emulator

#endif
