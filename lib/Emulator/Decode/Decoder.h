// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From syntax to pre-decoded code. The files of Control, Matrix, Scalar and
// Transfer register a decode function per opcode; it takes the modifiers it implements, and
// whatever is left over afterwards is refused by name.

#ifndef MP_LIB_EMULATOR_DECODE_DECODER_H
#define MP_LIB_EMULATOR_DECODE_DECODER_H

#include "../Syntax/Syntax.h"
#include "Program.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringSet.h"
#include <unordered_map>

namespace mpcore::emulator {

class Decoder;
/// Takes modifiers and operands of one statement. The spellings of opcodes that Forms.cpp lists are
/// checked before; their functions look only at what tells forms apart.
using DecodeFn = void (*)(Decoder &);
using OpTable = llvm::StringMap<DecodeFn>;

void registerMoveOps(OpTable &table);
void registerIntegerOps(OpTable &table);
void registerPartProductOps(OpTable &table);
void registerLogicOps(OpTable &table);
void registerBitFieldOps(OpTable &table);
void registerFloatOps(OpTable &table);
void registerFloatSignOps(OpTable &table);
void registerMathOps(OpTable &table);
void registerCompareOps(OpTable &table);
void registerConvertOps(OpTable &table);
void registerMemoryOps(OpTable &table);
void registerAtomicOps(OpTable &table);
void registerFenceOps(OpTable &table);
void registerControlOps(OpTable &table);
void registerCallOps(OpTable &table);
void registerWarpOps(OpTable &table);
void registerBarrierOps(OpTable &table);
void registerMatrixOps(OpTable &table);
void registerMatrixMoveOps(OpTable &table);
void registerWmmaOps(OpTable &table);
void registerAsyncOps(OpTable &table);
void registerMbarrierOps(OpTable &table);
void registerClusterOps(OpTable &table);
void registerWgmmaOps(OpTable &table);

class Decoder {
public:
  Decoder(const syntax::Module &module, Program &program);
  llvm::Error run();

  // The statement at hand.
  Inst *out = nullptr;
  Program &program;
  unsigned numOps() const { return in->operands.size(); }
  const syntax::Operand &op(unsigned k) const { return in->operands[k]; }
  llvm::StringRef opcode() const { return in->opcode; }

  // Modifiers.
  /// Takes the word wherever it stands among the modifiers.
  bool take(llvm::StringRef word);
  /// Takes the first modifier that is a type.
  Type takeType();
  bool hasMods() const { return !mods.empty(); }
  void dropMods() { mods.clear(); }
  llvm::ArrayRef<llvm::StringRef> restMods() const { return mods; }

  // Failure: the first message wins. All helpers are safe to call after a failure.
  bool fail(const llvm::Twine &message);
  bool failed() const { return isFailed; }
  bool unsupported() { return fail("this combination of modifiers is not supported"); }
  /// Fails unless the module's target lies between two numbers, and is architecture-specific if
  /// asked.
  bool requireTarget(unsigned least, unsigned most, bool specific);
  bool expectOps(unsigned count);
  bool expectOps(unsigned least, unsigned most);

  // Operands. `relaxed`: the register may be wider than the type (ld, st, cvt).
  Reg src(const syntax::Operand &operand, Type type, bool relaxed = false);
  Reg dst(const syntax::Operand &operand, Type type, bool relaxed = false);
  Reg src(unsigned k, Type type, bool relaxed = false) { return src(at(k), type, relaxed); }
  Reg dst(unsigned k, Type type, bool relaxed = false) { return dst(at(k), type, relaxed); }
  /// The usual operands, and no others: a result, then up to four sources.
  bool operands(Type result, std::initializer_list<Type> sources);
  /// A predicate source; negation is refused unless `negated` is given.
  Reg pred(const syntax::Operand &operand, bool *negated = nullptr);
  Reg predDst(const syntax::Operand &operand);
  /// A constant the instruction needs at decode time.
  bool constant(const syntax::Operand &operand, int64_t &value);
  /// Declared width of a register operand in bits, 0 for anything else.
  unsigned regBits(const syntax::Operand &operand);
  /// The elements of {a, b, …}, or the operand itself.
  llvm::ArrayRef<syntax::Operand> elements(const syntax::Operand &operand) const;
  const Reg *keepList(llvm::ArrayRef<Reg> regs);

  /// [base+offset] for the space: fills out->a (address), out->imm (offset), flag kWideAddress.
  bool address(const syntax::Operand &operand, MemSpace &space);
  bool addressInto(const syntax::Operand &operand, MemSpace &space, Reg &base, int64_t &offset,
                   bool &wide);

  // Pool and frame.
  Reg constant32(uint32_t value);
  Reg constant64(uint64_t value);
  Reg constantPred(bool value);
  Reg scratch(unsigned words);
  void noteSharedAccess(unsigned bytes, MemSpace space);

  /// The meaning of a name: a variable (with its function-local index or -1), or null.
  struct Resolved {
    enum Kind { None, Register, Variable, Label, Targets, Prototype, Function } kind = None;
    const syntax::Variable *var = nullptr;
    unsigned index = 0;   // register slot, label's statement, function index
    uint64_t address = 0; // variables: address in their space
    MemSpace space = MemSpace::Generic;
  };
  Resolved resolve(llvm::StringRef name);
  uint32_t pcOf(unsigned statement) const { return functionBegin + statement; }
  const syntax::Function &function() const { return *fn; }
  FunctionCode &functionCode() { return program.functions[functionIndex]; }
  void useAccumulator(Reg reg) { accumulators.insert(reg.bits); }

private:
  const syntax::Operand &at(unsigned k);
  bool layoutModule();
  bool layoutFunction();
  struct KernelLayout;
  void placeModuleShared(KernelLayout &layout);
  void placeShared(unsigned k, KernelLayout &layout);
  bool placeLocal(unsigned k);
  bool placeParam(unsigned k, KernelInfo &info);
  bool placeVariable(unsigned k, KernelLayout &layout);
  bool finishKernel(KernelLayout &layout);
  bool decodeFunction(unsigned index);
  /// The opcode with its modifiers exists, and is none that is refused.
  bool checkForm(llvm::StringRef form, llvm::StringRef name);
  bool decodeStatement(const syntax::Instruction &statement);
  bool image(const syntax::Variable &var, GlobalVar &global);
  void placeGlobal(const syntax::Variable &var, llvm::StringRef name);
  void markAccumulators(uint32_t begin, uint32_t end);
  Reg special(llvm::StringRef name, Type type, bool &found);

  const syntax::Module &module;
  const syntax::Function *fn = nullptr;
  const syntax::Instruction *in = nullptr;
  llvm::SmallVector<llvm::StringRef, 8> mods;
  OpTable table;
  unsigned functionIndex = 0;
  uint32_t functionBegin = 0;
  llvm::StringMap<unsigned> globalIndex, functionIndexOf;
  llvm::StringMap<uint64_t> sharedModuleAddress; // of the kernel at hand
  std::vector<uint64_t> variablePlace;           // per function variable: slot or address
  llvm::StringMap<uint64_t> commonShared;        // module variables that device functions use
  std::vector<std::vector<std::pair<unsigned, uint64_t>>> functionShared; // of device functions
  uint64_t commonSharedEnd = 0;
  std::unordered_map<uint64_t, uint32_t> pool32, pool64;
  llvm::DenseSet<uint32_t> accumulators;
  bool isFailed = false;
  std::string message;
  unsigned messageLine = 0;
};

/// barrier.cluster, without these two words.
void decodeClusterBarrier(Decoder &d);

/// Takes a modifier like m16n8k16.
bool takeShape(Decoder &d, uint16_t &m, uint16_t &n, uint16_t &k);

/// The way an instruction passes control on. A guarded one may also fall through.
enum class Flow : uint8_t { Falls, Branches, Ends };
Flow flowOf(const Inst &inst, llvm::SmallVectorImpl<uint32_t> &targets);

/// Fills Inst::rpc of the function's branches and Inst::join where they meet (immediate
/// post-dominators).
void computeReconvergence(Program &program, const FunctionCode &function);

} // namespace mpcore::emulator

#endif
