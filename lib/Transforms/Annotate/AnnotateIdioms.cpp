// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-annotate-idioms: name the ops of softmax, norms, losses and activations (changes
// nothing but attributes).

#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/Idioms/Idioms.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Transforms/Annotate/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_ANNOTATEIDIOMS
#include "mp/Transforms/Annotate/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct AnnotateIdioms : mlir::mp::impl::AnnotateIdiomsBase<AnnotateIdioms> {
  using AnnotateIdiomsBase::AnnotateIdiomsBase;

  void runOnOperation() override {
    getOperation()->walk([](Operation *op) { op->removeAttr(kIdiomAttrName); });
    walkFunctions(getOperation(), [](FunctionOpInterface function) {
      if (!function.isExternal())
        annotate(function);
    });
  }

  static void annotate(FunctionOpInterface function) {
    llvm::MapVector<Operation *, SmallVector<Attribute>> names;
    IdiomAnalysis analysis(function);
    for (auto [index, idiom] : llvm::enumerate(analysis.getIdioms()))
      for (Operation *member : idiom.members) {
        std::string name = (idiom.kind + "#" + Twine(index)).str();
        if (member == idiom.root)
          name += "!";
        names[member].push_back(StringAttr::get(function->getContext(), name));
      }
    for (auto &[op, attributes] : names)
      op->setAttr(kIdiomAttrName, ArrayAttr::get(function->getContext(), attributes));
  }
};
} // namespace
