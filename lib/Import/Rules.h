// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of leftovers, each in the file named. A rule gets the token where its leftover starts
// and returns the token to go on with; errors are recorded in the source.

#ifndef MP_LIB_IMPORT_RULES_H
#define MP_LIB_IMPORT_RULES_H

#include "Source.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::mp::import {

/// Functions.cpp: util.func, util.return, util.call and util.optimization_barrier.
size_t translateFunctionOp(Source &source, size_t name, size_t depth);

/// IREE/Affine.cpp: iree_linalg_ext.quantize_affine and dequantize_affine.
size_t translateAffine(Source &source, size_t name);
/// IREE/Fourier.cpp: iree_linalg_ext.fft, and iree_tensor_ext.bitcast between complex numbers and
/// pairs.
size_t translateButterflies(Source &source, size_t name);
size_t translateBitcast(Source &source, size_t name);

/// Attributes.cpp: the dictionary that opens at `open` without its entries of exporters' dialects;
/// `open` itself when there are none, or it is no dictionary.
size_t dropForeignAttributes(Source &source, size_t open);

/// Attributes.cpp: bits where newer MLIR writes bytes, dense<"0x..."> : tensor<...xi1> with a byte
/// for each element.
void packMask(Source &source, size_t elements);

/// Globals.cpp: util.global and its loads. Weights kept outside become trailing arguments of the
/// functions that load them, and of those that call these.
class Globals {
public:
  /// Looks through the whole text first, and edits signatures and calls.
  explicit Globals(Source &source);
  /// At a name util.global*.
  size_t translate(size_t name, size_t depth);
  /// One past the accessor function that starts at `name`, now removed; else `name`.
  size_t removeAccessor(size_t name);

private:
  struct Global {
    std::string type, parameter, argument, alias;
    bool isParameter = false, isStored = false;
  };
  struct Function {
    size_t name, argumentsOpen, argumentsClose, bodyOpen, bodyClose;
    bool isAccessor = false;
    llvm::SetVector<StringRef> needs; ///< parameters, in order of first use
    SmallVector<size_t> calls;        ///< tokens of callees
  };
  void collectGlobal(size_t name);
  void collectFunction(size_t name);
  void collectUses(Function &function);
  bool isAccessor(const Function &function) const;
  void propagateNeeds();
  void appendArguments();
  size_t loadedSymbol(size_t name) const;

  Source &source;
  llvm::MapVector<StringRef, Global> globals;
  llvm::MapVector<StringRef, Function> functions;
};

/// Foreign.cpp: ops and types that cannot be translated. One error per dialect, which
/// says how to get rid of it.
class Foreign {
public:
  /// `refused`: names of ops of which an error has said what is wrong.
  Foreign(Source &source, const llvm::StringSet<> &refused) : source(source), refused(refused) {}
  /// Notes the token if it names something of an exporter's dialect.
  void visit(size_t i);
  void report();

private:
  struct Seen {
    size_t first, count;
    std::string advice;
  };
  Source &source;
  const llvm::StringSet<> &refused;
  llvm::MapVector<StringRef, Seen> seen;
};

/// LegacyNames.cpp: ops that only changed their name.
bool renameOldOp(Source &source, size_t name);

/// LegacySyntax.cpp: ops that changed their syntax, and ops that are gone, with what replaces them.
bool translateOldForm(Source &source, size_t name);

/// TFLite/TFLite.cpp: what the converter of TFLite models has no TOSA for, said with what is
/// translated later or needs no translation.
size_t translateTFLiteOp(Source &source, size_t name);

/// StableHLO/StableHLO.cpp: control flow, sort, top_k, scatter, select_and_scatter, barriers and
/// functions of StableHLO and chlo, in the generic form, with bodies that torch-mlir has lowered to
/// linalg.
size_t translateStableHLOOp(Source &source, size_t name);

/// StableHLO/Signs.cpp: unsigned integers between which and those without signs torch-mlir casts.
void dropSigns(Source &source);

/// Binary.cpp: what a file that is no MLIR text is, and what to do; empty for text, and for
/// bytecode that MLIR 22 wrote.
std::string explainBinary(MemoryBufferRef input);

} // namespace mlir::mp::import

#endif // MP_LIB_IMPORT_RULES_H
