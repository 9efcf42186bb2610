// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the arguments of a run to the types of its reference.

#include "ReferenceArguments.h"

#include "../Steps.h"
#include "mp/Execution/Executable.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using llvm::createStringError;

llvm::Expected<std::vector<Array>> mlir::mp::adaptArguments(ArrayRef<Array> given, size_t appended,
                                                            const ReferenceFunction &reference) {
  const Signature &signature = reference.signature;
  size_t common = given.size() - appended;
  if (common != signature.arguments.size() - reference.appended)
    return createStringError(llvm::Twine("--compare: the reference takes ") +
                             llvm::Twine(signature.arguments.size() - reference.appended) +
                             " arguments, expected " + llvm::Twine(common));
  auto before = signatureBefore(reference.module, reference.entry, signature);
  if (!before)
    return before.takeError();
  std::vector<Array> adapted(given.begin(), given.begin() + common);
  auto convert = [&](const Signature &wanted) -> llvm::Error {
    for (size_t i = 0; i < adapted.size(); ++i) {
      std::string what = llvm::formatv("--compare: argument {0} of the reference", i);
      auto array = convertTo(adapted[i], wanted.arguments[i].type);
      if (!array)
        return createStringError(what + ": " + llvm::toString(array.takeError()));
      if (llvm::Error error = checkArgument(*array, wanted.arguments[i], what))
        return error;
      adapted[i] = std::move(*array);
    }
    return llvm::Error::success();
  };
  if (llvm::Error error = convert(*before))
    return std::move(error);
  for (const Parameter &parameter : llvm::drop_begin(signature.arguments, common))
    adapted.push_back(Array(parameter.type, parameter.shape));
  if (llvm::Error error = applyInit(reference.module, reference.entry, adapted))
    return std::move(error);
  if (llvm::Error error = convert(signature))
    return std::move(error);
  return adapted;
}
