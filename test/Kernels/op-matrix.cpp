// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the function of test/Kernels/OpTable.h for one element type and shape: op-matrix bf16
// 7x37, with ? for a dynamic size. tools/dev/kernels/gpu-check runs these on a GPU.

#include "OpTable.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::mp::test;

static bool parseSize(llvm::StringRef text, int64_t &size) {
  if (text == "?") {
    size = -1;
    return true;
  }
  return !text.getAsInteger(10, size) && size >= 0;
}

int main(int argc, char **argv) {
  MatrixShape shape;
  if (argc == 3 && mlir::mp::ElementType::parse(argv[1])) {
    auto [rows, columns] = llvm::StringRef(argv[2]).split('x');
    if (parseSize(rows, shape.rows) && parseSize(columns, shape.columns)) {
      std::vector<const OpCase *> cases;
      llvm::outs() << opFunction(argv[1], shape, cases);
      return 0;
    }
  }
  llvm::errs() << "usage: op-matrix TYPE ROWSxCOLUMNS, as in op-matrix bf16 7x37\n";
  return 2;
}
