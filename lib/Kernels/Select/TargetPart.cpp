// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up a target's part.

#include "TargetPart.h"

#include "mp/Target/Targets.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore;
using performance::Part;

const Part *mlir::mp::firstPart(const target::TargetModel &target) {
  for (const Part &part : mpcore::performance::allParts())
    if (part.specific->name == target.name || part.plain->name == target.name)
      return &part;
  return nullptr;
}

llvm::Expected<const Part &> mlir::mp::firstPart(StringRef target) {
  auto model = target::lookupTarget(target);
  if (!model)
    return model.takeError();
  if (const Part *part = firstPart(*model))
    return *part;
  return llvm::createStringError("no GPU of architecture '" + model->name + "' is known");
}
