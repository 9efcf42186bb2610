// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meanings of mp's own ops, which have no classes: they are what deciding puts in.

#include "Meanings.h"
#include "TableModel.h"
#include "mp/Dialect/MP/SplitOps.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

namespace {
template <typename Op>
struct OwnSemantics : FloatSemanticsOpInterface::ExternalModel<OwnSemantics<Op>, Op> {
  FloatMeaning getMeaning(Operation *op) const {
    if (auto joined = dyn_cast<JoinSplitOp>(op))
      return FloatMeaning::of(Kind::JoinSplit, joined.getInit() ? ArrayRef<unsigned>{0, 1, 2}
                                                                : ArrayRef<unsigned>{0, 1});
    return FloatMeaning::of(isa<SplitResidualOp>(op) ? Kind::SplitResidual : Kind::Cast, {0});
  }
};
} // namespace

void mlir::mp::detail::registerMPModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, MPDialect *) {
    CastOp::attachInterface<OwnSemantics<CastOp>>(*context);
    RoundOp::attachInterface<OwnSemantics<RoundOp>>(*context);
    SplitResidualOp::attachInterface<OwnSemantics<SplitResidualOp>>(*context);
    JoinSplitOp::attachInterface<OwnSemantics<JoinSplitOp>>(*context);
  });
}
