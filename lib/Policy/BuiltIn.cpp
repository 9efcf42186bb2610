// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The built-in policies. What an op bears is said by its class, and formats are checked against
// ranges and targets by the layers below, so these hold only what differs by use.

#include "mp/Policy/Policy.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"

using namespace mpcore::policy;
using llvm::StringRef;

static constexpr llvm::StringLiteral kNames[] = {"inference", "training"};

llvm::ArrayRef<llvm::StringLiteral> mpcore::policy::builtInNames() { return kNames; }

namespace {
struct Entry {
  StringRef policy;
  StringRef formats; ///< separated by spaces
  StringRef rule, classes;
  Wish wish;
  StringRef reason;
};
} // namespace

// tf32 is a way to compute: nothing is stored in it, so no rule speaks of storage.
static constexpr Entry kEntries[] = {
    {"training", "bf16 f16", "sums", "A", Wish::Wide,
     "sums of losses and gradients keep f32 operands and results"},
    {"training", "bf16 f16", "protected", "K", Wish::Wide,
     "the backward pass reads softmax and norms again: their results stay f32"},
};

std::optional<Policy> mpcore::policy::builtIn(StringRef name, StringRef format) {
  if (!llvm::is_contained(kNames, name))
    return std::nullopt;
  Policy policy;
  policy.name = name;
  for (const Entry &entry : kEntries) {
    llvm::SmallVector<StringRef> formats;
    llvm::SplitString(entry.formats, formats);
    if (entry.policy != name || !llvm::is_contained(formats, format))
      continue;
    Rule rule;
    rule.name = entry.rule;
    rule.select.classes = entry.classes;
    rule.wish = entry.wish;
    rule.reason = entry.reason;
    rule.builtIn = true;
    policy.rules.push_back(std::move(rule));
  }
  return policy;
}
