// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enumerates the ways in which the contractions of a storage problem may compute, and their costs.

#include "../../Common/SplitCode.h"
#include "StorageProblem.h"

using namespace mlir;
using namespace mlir::mp;

bool StorageProblem::isFree(const Decision &decision) const {
  return options.freesContractions() && decision.origin == Origin::Class;
}

SmallVector<ComputeChoice, 4> StorageProblem::getChoices(Operation *op,
                                                         const Decision &decision) const {
  if (decision.magnitudes && !decision.scaled)
    return {{formats[wide]}, {formats[wide], std::nullopt, numerics::findRecipe(kScaledName)}};
  if (decision.split || decision.scaled || !decisions.isNarrowContraction(op, decision))
    return {{formats[wide], decision.split, decision.scaled}};
  if (!isFree(decision))
    return {{decision.compute}};
  SmallVector<ComputeChoice, 4> choices = {{formats[wide]}};
  FloatType tf32 = FloatTF32Type::get(op->getContext());
  if (options.modelsError() && options.allowsSplit)
    addSplits(op, choices);
  if (options.modelsError() && decision.compute != tf32 && decisions.canContractIn(op, tf32) &&
      costs.canContractIn(tf32))
    choices.push_back({tf32});
  if (schemes && decisions.canScale(op) && costs.canContractIn(schemes->getFormat(op)) &&
      schemes->whyNoProduct(op).empty())
    choices.push_back({formats[wide], std::nullopt, &schemes->getRecipe()});
  choices.push_back({decision.compute});
  return choices;
}

void StorageProblem::addSplits(Operation *op, SmallVectorImpl<ComputeChoice> &choices) const {
  struct Rated {
    int64_t cost, error;
  };
  auto rate = [&](const ComputeChoice &choice) {
    return Rated{getCost(op, choice), errors.of(op, choice)};
  };
  SmallVector<Rated, 4> better = {rate(choices.front())};
  for (numerics::SplitScheme scheme : getSplitSchemes()) {
    ComputeChoice choice{formats[wide], scheme};
    if (!viewSplit(op, scheme) || !costs.canContractIn(getPartType(op->getContext(), scheme)))
      continue;
    Rated own = rate(choice);
    if (llvm::any_of(better, [&](Rated r) { return r.cost <= own.cost && r.error <= own.error; }))
      continue;
    choices.push_back(choice);
    better.push_back(own);
  }
}

StorageProblem::TypeId StorageProblem::typeOfFactors(const ComputeChoice &choice) {
  if (choice.split)
    return typeOf(*choice.split);
  if (choice.scaled)
    return typeOf(*choice.scaled);
  return choice.format.isF32() || choice.format.isTF32() ? wide : typeOf(choice.format);
}

int64_t StorageProblem::getCost(Operation *op, const ComputeChoice &choice) const {
  if (choice.split)
    return costs.ofProducts(op, *choice.split);
  if (choice.scaled)
    return costs.ofScaledProduct(op, errors.getStoredFormat(op, *choice.scaled));
  bool isStoredWide = choice.format.isF32() || choice.format.isTF32();
  return costs.ofContraction(op, choice.format, isStoredWide ? formats[wide] : choice.format);
}
