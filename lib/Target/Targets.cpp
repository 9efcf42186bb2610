// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks up targets by name and suggests the nearest one.

#include "mp/Target/Targets.h"

#include "Tables.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Words.h"
#include "mp/Target/Native.h"
#include "mp/Target/TargetName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mpcore::target;
namespace support = mpcore::support;
using llvm::SmallVector;
using llvm::StringRef;

llvm::ArrayRef<const TargetModel *> mpcore::target::allTargets() {
  using namespace tables;
  static const TargetModel models[] = {
      sm70(),   sm75(),  sm80(),   sm86(),  sm87(),   sm89(),  sm90(),   sm90a(), sm100(),
      sm100a(), sm103(), sm103a(), sm110(), sm110a(), sm120(), sm120a(), sm121(), sm121a(),
  };
  static const auto pointers = [] {
    llvm::SmallVector<const TargetModel *> result;
    for (const TargetModel &model : models)
      result.push_back(&model);
    return result;
  }();
  return pointers;
}

static llvm::Error error(const llvm::Twine &text) {
  return support::error(support::ErrorCode::BadTarget, text);
}

/// "RTX 4090" and "rtx-4090" as "rtx4090".
static std::string plainName(StringRef name) {
  std::string plain;
  for (char c : name)
    if (llvm::isAlnum(c))
      plain += llvm::toLower(c);
  return plain;
}

/// True if `word` names the product `part`: the words it begins with ("A100" of "A100 SXM 40GB"),
/// with the family's name or without ("4090" of "RTX 4090").
static bool isProduct(StringRef word, StringRef part) {
  std::string wanted = plainName(word);
  for (StringRef rest = part; !rest.empty(); rest = rest.split(' ').second) {
    std::string begun;
    SmallVector<StringRef> words;
    rest.split(words, ' ');
    for (StringRef next : words)
      if ((begun += plainName(next)) == wanted && llvm::any_of(begun, llvm::isDigit))
        return true;
    StringRef first = words.front(); // families are words without digits
    if (llvm::any_of(first, llvm::isDigit))
      return false;
  }
  return false;
}

StringRef mpcore::target::canonicalName(StringRef name) {
  for (const TargetModel *target : allTargets())
    for (const Part &part : target->parts)
      if (isProduct(name, part.name))
        return target->name;
  return name;
}

llvm::Expected<const TargetModel &> mpcore::target::lookupTarget(StringRef name) {
  if (name == "native")
    return nativeTarget();
  for (const TargetModel *target : allTargets())
    if (target->name == canonicalName(name))
      return *target;
  SmallVector<StringRef> names(llvm::map_range(allTargets(), [](auto *t) { return t->name; }));
  // Numbers alone ("90", "sm90", "compute_90") should find sm_90 rather than the shortest name.
  StringRef digits = name;
  for (StringRef prefix : {"sm_", "sm", "compute_"})
    if (digits.consume_front_insensitive(prefix))
      break;
  std::string spelled =
      !digits.empty() && llvm::isDigit(digits[0]) ? ("sm_" + digits).str() : name.str();
  return error("unknown target '" + name + "'" + support::listWords(spelled, names, "targets") +
               ", native; products such as a100 and h100 are names of theirs");
}

std::optional<std::string> TargetSet::refuse(StringRef text) {
  if (text.empty()) // whoever reads it has another one
    return std::nullopt;
  auto target = lookupTarget(text);
  if (target)
    return std::nullopt;
  return ": " + llvm::toString(target.takeError());
}

llvm::Expected<const TargetModel &> mpcore::target::targetForCapability(unsigned major,
                                                                        unsigned minor) {
  unsigned wanted = major * 10 + minor;
  const TargetModel *best = nullptr;
  for (const TargetModel *target : allTargets()) {
    unsigned have = target->computeCapability;
    if (have / 10 != major || have > wanted)
      continue;
    if (target->isArchSpecific() && have != wanted)
      continue;
    best = target; // the list ascends, architecture-specific after plain
  }
  if (best)
    return *best;
  return error("no target for compute capability " + llvm::Twine(major) + "." + llvm::Twine(minor) +
               "; the oldest known is 7.0 and the newest 12.1");
}

StringRef mpcore::target::nearestFormat(const TargetModel &target, StringRef format) {
  const KnownFormat *wanted = findFormat(format);
  if (!wanted)
    return {};
  StringRef best;
  unsigned bestDistance = ~0u;
  for (const KnownFormat &info : knownFormats()) { // wide first, so ties go to the wider
    if (info.isFloat != wanted->isFloat || target.formatSupport(info.name) != Support::Native)
      continue;
    unsigned distance =
        info.bits > wanted->bits ? info.bits - wanted->bits : wanted->bits - info.bits;
    if (distance < bestDistance) {
      best = info.name;
      bestDistance = distance;
    }
  }
  return best;
}

llvm::Error mpcore::target::checkFormat(const TargetModel &target, StringRef format) {
  if (format == "f32")
    return llvm::Error::success();
  if (!findFormat(format)) {
    SmallVector<StringRef> names(llvm::map_range(knownFormats(), [](auto &f) { return f.name; }));
    return error("unknown format '" + format + "'" + support::listWords(format, names, "formats") +
                 ", f32");
  }
  Support support = target.formatSupport(format);
  if (support == Support::Native)
    return llvm::Error::success();
  std::string what =
      support == Support::Absent ? "has no tensor core products of " : "only emulates products of ";
  StringRef nearest = nearestFormat(target, format);
  std::string hint = nearest.empty()
                         ? "it has no tensor core format of that kind"
                         : ("the nearest format it has natively is '" + nearest + "'").str();
  // Hopper and Blackwell keep some formats for the architecture-specific name of the same chip.
  for (const TargetModel *other : allTargets())
    if (other != &target && other->computeCapability == target.computeCapability &&
        other->formatSupport(format) == Support::Native)
      hint += ("; '" + other->name + "' has it").str();
  return error("target " + target.name + " " + what + "'" + format + "'; " + hint);
}

void mpcore::target::printTargets(llvm::raw_ostream &os) {
  os << "Tensor core operand formats (n: native, e: accepted but emulated, -: absent)\n";
  os << llvm::left_justify("target", 9);
  for (const KnownFormat &format : knownFormats())
    os << " " << llvm::right_justify(format.name, std::max<size_t>(format.name.size(), 4));
  os << "  instruction\n";
  for (const TargetModel *target : allTargets()) {
    os << llvm::left_justify(target->name, 9);
    for (const KnownFormat &format : knownFormats()) {
      Support support = target->formatSupport(format.name);
      StringRef mark = support == Support::Native ? "n" : support == Support::Emulated ? "e" : "-";
      os << " " << llvm::right_justify(mark, std::max<size_t>(format.name.size(), 4));
    }
    os << "  " << toString(target->findOperand("f16")->family);
    if (!target->blockScaled.empty()) {
      os << "; block scaled";
      for (const BlockScaledFormat &scaled : target->blockScaled)
        os << " " << scaled.kind;
    }
    os << "\n";
  }
  os << "\nPeak dense rates used by cost models, 10^12 operations a second (documented figures, "
        "not\n"
        "measurements; lines marked 'estimate' are scaled from a relative)\n";
  for (const TargetModel *target : allTargets())
    for (const Part &part : target->parts) {
      os << llvm::left_justify(target->name, 9) << " " << llvm::left_justify(part.name, 21)
         << llvm::format("%6.1f GB/s", part.memoryGBs) << llvm::format("  f32 %.1f", part.f32Tera);
      for (const Rate &rate : part.rates) {
        os << "  " << rate.format;
        if (rate.accumulator == "f16")
          os << "->f16";
        os << llvm::format(" %g", rate.tera);
      }
      os << (part.evidence == "doc" ? "\n" : "  (estimate)\n");
    }
  os << "\n";
  printNativeDevice(os);
}
