// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums squares of channels, and scores weights by their roots.

#include "PruneByData.h"
#include "ChannelReaders.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/FakeQuantize.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

static void prune(const ChannelReader &reader, ArrayRef<double> squares) {
  OpBuilder builder(reader.place.factor.op);
  Location loc = reader.weight->get().getLoc();
  SmallVector<float> norms;
  for (double square : squares)
    norms.push_back(float(std::sqrt(square)));
  auto type = RankedTensorType::get({int64_t(norms.size())}, builder.getF32Type());
  Value scores =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, ArrayRef<float>(norms)));
  reader.weight->set(
      PruneOp::create(builder, loc, reader.weight->get().getType(), reader.weight->get(), scores,
                      builder.getI64IntegerAttr(2), builder.getI64IntegerAttr(4),
                      builder.getI64IntegerAttr(reader.weightDim), builder.getUnitAttr()));
}

llvm::Expected<std::vector<PrunedWeight>> mlir::mp::pruneByData(ModuleOp module, StringRef entry,
                                                                const InputOptions &inputs) {
  unpackConstants(module);
  auto observed = observeFactors(module, entry);
  if (!observed)
    return observed.takeError();
  std::map<int64_t, ChannelReader> readers;
  std::map<int64_t, std::vector<double>> squares;
  for (auto [number, place] : llvm::enumerate(observed->places))
    if (auto reader = findChannelReader(place)) {
      squares[number].resize(reader->tensor().getDimSize(reader->dim));
      readers.emplace(number, *reader);
    }
  if (readers.empty())
    return llvm::createStringError("--prune: expected a contraction with a constant weight of f32, "
                                   "found none; weights that are arguments are pruned by "
                                   "mp-prune");
  FiniteCheck finite("--prune");
  auto see = [&](int64_t place, ArrayRef<float> elements) {
    auto found = readers.find(place);
    if (found == readers.end())
      return;
    finite.see(place, elements);
    std::vector<double> &sums = squares[place];
    forEachInChannel(
        found->second.tensor().getShape(), found->second.dim, elements,
        [&](int64_t channel, float element) { sums[channel] += double(element) * element; });
  };
  auto count = runBatches(*observed, entry, inputs, see, /*finish=*/nullptr, &finite);
  if (!count)
    return count.takeError();
  std::vector<PrunedWeight> done;
  for (auto &[number, reader] : readers) {
    func::FuncOp function = reader.place.function;
    done.push_back({function.getName().str(), reader.place.factor.contraction,
                    int64_t(squares[number].size())});
    if (done.back().isPruned())
      prune(reader, squares[number]);
  }
  return done;
}

void mlir::mp::printPruned(llvm::raw_ostream &os, ArrayRef<PrunedWeight> weights) {
  for (const PrunedWeight &weight : weights)
    os << "@" << weight.function << ", contraction " << weight.contraction << ": "
       << (weight.isPruned() ? "keeps 2 of 4 along " : "stays, no multiple of 4: ")
       << weight.channels << " channels\n";
}
