// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks the builtin types of a module that was read from bytecode whether they are valid.

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mp/Support/ErrorCode.h"
#include "mp/ToolSupport/InputCheck.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using mpcore::support::ErrorCode;

/// Returns what is wrong with a builtin type, as its own verifier says it; empty for nothing.
static std::string wrongIn(Type type) {
  std::string said;
  ScopedDiagnosticHandler handler(type.getContext(), [&](Diagnostic &diagnostic) {
    said = diagnostic.str();
    return success();
  });
  auto complain = [&] { return emitError(UnknownLoc::get(type.getContext())); };
  LogicalResult isValid =
      TypeSwitch<Type, LogicalResult>(type)
          .Case([&](RankedTensorType tensor) {
            return RankedTensorType::verify(complain, tensor.getShape(), tensor.getElementType(),
                                            tensor.getEncoding());
          })
          .Case([&](UnrankedTensorType tensor) {
            return UnrankedTensorType::verify(complain, tensor.getElementType());
          })
          .Case([&](VectorType vector) {
            return VectorType::verify(complain, vector.getShape(), vector.getElementType(),
                                      vector.getScalableDims());
          })
          .Case([&](MemRefType buffer) {
            return MemRefType::verify(complain, buffer.getShape(), buffer.getElementType(),
                                      buffer.getLayout(), buffer.getMemorySpace());
          })
          .Case([&](UnrankedMemRefType buffer) {
            return UnrankedMemRefType::verify(complain, buffer.getElementType(),
                                              buffer.getMemorySpace());
          })
          .Case([&](ComplexType complex) {
            return ComplexType::verify(complain, complex.getElementType());
          })
          .Default([](Type) { return success(); });
  return failed(isValid) && said.empty() ? "it is invalid" : said;
}

llvm::Error mlir::mp::checkTypes(Operation *module) {
  Location where = module->getLoc();
  std::string problem;
  AttrTypeWalker walker;
  walker.addWalk([&](Type type) {
    std::string wrong = wrongIn(type);
    if (wrong.empty())
      return WalkResult::advance();
    llvm::raw_string_ostream(problem)
        << where << ": damaged bytecode: the type " << type << " cannot be: " << wrong;
    return WalkResult::interrupt();
  });
  module->walk([&](Operation *op) {
    where = op->getLoc();
    bool isWrong = walker.walk(op->getAttrDictionary()).wasInterrupted();
    for (Type type : op->getResultTypes())
      isWrong = isWrong || walker.walk(type).wasInterrupted();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          isWrong = isWrong || walker.walk(type).wasInterrupted();
    return isWrong ? WalkResult::interrupt() : WalkResult::advance();
  });
  return problem.empty() ? llvm::Error::success()
                         : mpcore::support::error(ErrorCode::BadInput, problem);
}
