// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Goes over the text three times: older spellings first, then what the TFLite converter leaves
// behind, then what the others do.

#include "mp/Import/Import.h"
#include "Forms/LoopText.h"
#include "Rules.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace mlir::mp::import;

static void respell(Source &source, StringSet<> &) {
  dropSigns(source);
  for (size_t i = 0; i < source.size(); ++i) {
    Tok kind = source.kind(i);
    if (kind != Tok::Name && kind != Tok::String)
      continue;
    if (!translateOldForm(source, i) && kind == Tok::Name)
      renameOldOp(source, i);
  }
}

/// Applies a rule to the names of ops in the generic form. `refused` gets those it finds wrong.
template <size_t (*rule)(Source &, size_t)>
static void translateGeneric(Source &source, StringSet<> &refused) {
  for (size_t i = 0; i < source.size();) {
    const size_t errors = source.getErrors().size();
    size_t next = source.kind(i) == Tok::String ? rule(source, i) : i;
    if (source.getErrors().size() != errors)
      refused.insert(source.text(i).trim('"'));
    i = std::max(next, i + 1);
  }
}

/// Ops of IREE without a body.
static auto ruleWithoutBody(StringRef name) {
  return StringSwitch<size_t (*)(Source &, size_t)>(name)
      .Cases({"iree_linalg_ext.quantize_affine", "iree_linalg_ext.dequantize_affine"},
             translateAffine)
      .Case("iree_linalg_ext.fft", translateButterflies)
      .Case("iree_tensor_ext.bitcast", translateBitcast)
      .Default(nullptr);
}

static size_t translateStructuredOp(Source &source, Foreign &foreign, size_t name) {
  auto translate =
      StringSwitch<void (*)(Source &, const StructuredOp &)>(source.text(name).split('.').second)
          .Case("scatter", translateScatter)
          .Case("scan", translateScan)
          .Case("sort", translateSort)
          .Case("topk", translateTopK)
          .Case("arg_compare", translateArgCompare)
          .Default(nullptr);
  if (!translate) {
    foreign.visit(name);
    return name + 1;
  }
  std::optional<StructuredOp> op = StructuredOp::parse(source, name);
  if (!op)
    return name + 1;
  translate(source, *op);
  return op->span.end;
}

static void translateLeftovers(Source &source, StringSet<> &refused) {
  Globals globals(source);
  Foreign foreign(source, refused);
  size_t depth = 0;
  for (size_t i = 0; i < source.size();) {
    StringRef text = source.text(i);
    switch (source.kind(i)) {
    case Tok::Value:
      if (StringRef now = source.value(i); now != text)
        source.replace({i, i + 1}, now);
      break;
    case Tok::Punct:
      if (text == "{") {
        if (size_t next = dropForeignAttributes(source, i); next != i) {
          i = next;
          continue;
        }
        ++depth;
      } else if (text == "}") {
        depth -= depth > 0;
        source.closeScope(depth);
      }
      break;
    case Tok::Name: {
      StringRef dialect = text.split('.').first;
      size_t next = i;
      const size_t errors = source.getErrors().size();
      if (text == "util.func" || text == "func.func")
        next = globals.removeAccessor(i);
      if (next == i && text.starts_with("util.global"))
        next = globals.translate(i, depth);
      else if (next == i &&
               StringSwitch<bool>(text)
                   .Cases({"util.func", "util.return", "util.call", "util.optimization_barrier"},
                          true)
                   .Default(false))
        next = translateFunctionOp(source, i, depth);
      else if (auto *rule = next == i && source.isOperation(i) ? ruleWithoutBody(text) : nullptr)
        next = rule(source, i);
      else if (next == i && (dialect == "tm_tensor" || dialect == "iree_linalg_ext") &&
               source.isOperation(i))
        next = translateStructuredOp(source, foreign, i);
      if (next != i) {
        i = next;
        continue;
      }
      if (source.getErrors().size() == errors)
        foreign.visit(i);
      break;
    }
    case Tok::Elements: packMask(source, i); break;
    case Tok::String:
    case Tok::Type: foreign.visit(i); break;
    default: break;
    }
    ++i;
  }
  foreign.report();
}

namespace {
/// The outcome of rewriting a text.
struct Outcome {
  std::unique_ptr<MemoryBuffer> text; ///< null if nothing changed
  SmallVector<std::string> errors;
  std::string firstChange; ///< "FILE:1:2: ... 'util.func'"
};
} // namespace

static void note(Outcome &outcome, const Source &source) {
  outcome.errors.append(source.getErrors().begin(), source.getErrors().end());
  if (!source.changed() || !outcome.firstChange.empty())
    return;
  auto [token, text] = source.firstEdit();
  if (token < source.size())
    outcome.firstChange = source.position(token) + "note: '" + text.take_front(40).str() + "'";
}

static Outcome run(MemoryBufferRef input) {
  Outcome outcome;
  MemoryBufferRef current = input;
  StringSet<> refused;
  for (auto *step : {respell, translateGeneric<translateTFLiteOp>,
                     translateGeneric<translateStableHLOOp>, translateLeftovers}) {
    Source source(current);
    step(source, refused);
    note(outcome, source);
    if (!source.changed())
      continue;
    outcome.text = MemoryBuffer::getMemBufferCopy(source.apply(), input.getBufferIdentifier());
    current = *outcome.text;
  }
  return outcome;
}

Expected<std::unique_ptr<MemoryBuffer>> mlir::mp::importText(MemoryBufferRef input) {
  if (std::string binary = explainBinary(input); !binary.empty())
    return createStringError(inconvertibleErrorCode(), input.getBufferIdentifier() +
                                                           ": error: this file " +
                                                           nameFile(binary, input));
  Outcome outcome = run(input);
  if (!outcome.errors.empty())
    return createStringError(inconvertibleErrorCode(), Twine(join(outcome.errors, "\n")));
  if (outcome.text)
    return std::move(outcome.text);
  return MemoryBuffer::getMemBuffer(input, /*RequiresNullTerminator=*/false);
}

std::string mlir::mp::explainLeftovers(MemoryBufferRef input) {
  if (std::string binary = explainBinary(input); !binary.empty())
    return (input.getBufferIdentifier() + ": note: this file " + nameFile(binary, input)).str();
  if (input.getBuffer().starts_with("ML\xefR"))
    return "";
  Outcome outcome = run(input);
  for (std::string &error : outcome.errors)
    if (size_t word = error.find(" error: "); word != std::string::npos)
      error.replace(word, strlen(" error: "), " note: ");
  if (outcome.errors.empty() && !outcome.firstChange.empty())
    outcome.errors.push_back(
        outcome.firstChange +
        " is left over from an exporter or an older MLIR; --import translates it");
  return join(outcome.errors, "\n");
}
