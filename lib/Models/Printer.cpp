// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Printing with names of arguments. MLIR prints either all locations or none; here only
// those of function arguments are wanted, so that mp-run can match weights by name and
// error messages about other operations keep the line of the file.

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mp/Models/Models.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Copies text through, except the lines that start a function, which get a location
/// after each argument.
class ArgumentNamer final : public raw_ostream {
public:
  ArgumentNamer(ModuleOp module, raw_ostream &os)
      : os(os), functions(llvm::to_vector(module.getOps<func::FuncOp>())) {
    SetBufferSize(1 << 16);
  }
  ~ArgumentNamer() override {
    flush();
    endLine();
  }

private:
  static constexpr StringLiteral kHeader = "  func.func ";

  void write_impl(const char *data, size_t size) override {
    position += size;
    for (StringRef text(data, size); !text.empty();) {
      size_t end = text.find('\n');
      bool whole = end != StringRef::npos;
      StringRef part = text.take_front(whole ? end + 1 : text.size());
      text = text.drop_front(part.size());
      if (passing)
        os << part;
      else
        line += part;
      if (!passing && !kHeader.starts_with(StringRef(line).take_front(kHeader.size()))) {
        os << line;
        line.clear();
        passing = true;
      }
      if (whole)
        endLine();
    }
  }

  uint64_t current_pos() const override { return position; }

  void endLine() {
    if (!line.empty())
      printHeader();
    line.clear();
    passing = false;
  }

  /// `  func.func @f(%x: type {attributes}, %y: type) -> ..`: an argument ends before the
  /// next `, %`, the last one before the first parenthesis after it.
  void printHeader() {
    StringRef rest = line;
    func::FuncOp function = functions[next++];
    for (BlockArgument argument : function.getArguments()) {
      bool last = argument.getArgNumber() + 1 == function.getNumArguments();
      auto [own, tail] = rest.split(last ? ")" : ", %");
      os << own;
      if (auto name = dyn_cast<NameLoc>(argument.getLoc()))
        os << " " << LocationAttr(name);
      os << (last ? ")" : ", %");
      rest = tail;
    }
    os << rest;
  }

  raw_ostream &os;
  SmallVector<func::FuncOp> functions;
  size_t next = 0;
  uint64_t position = 0;
  std::string line;
  bool passing = false;
};
} // namespace

void mlir::mp::printModel(ModuleOp module, raw_ostream &os) {
  ArgumentNamer named(module, os);
  module.print(named, OpPrintingFlags().printNameLocAsPrefix().assumeVerified());
}
