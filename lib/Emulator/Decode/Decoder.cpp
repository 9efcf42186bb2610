// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver: statements to instructions, reconvergence points, modules.

#include "Decoder.h"
#include "../Syntax/Lexer.h"
#include "mp/Emulator/Forms.h"
#include "llvm/ADT/Twine.h"
#include <atomic>

using namespace mpcore::emulator;
using llvm::StringRef;
using llvm::Twine;

Decoder::Decoder(const syntax::Module &module, Program &program)
    : program(program), module(module) {
  registerMoveOps(table);
  registerIntegerOps(table);
  registerPartProductOps(table);
  registerLogicOps(table);
  registerBitFieldOps(table);
  registerFloatOps(table);
  registerFloatSignOps(table);
  registerMathOps(table);
  registerCompareOps(table);
  registerConvertOps(table);
  registerMemoryOps(table);
  registerAtomicOps(table);
  registerFenceOps(table);
  registerControlOps(table);
  registerCallOps(table);
  registerWarpOps(table);
  registerBarrierOps(table);
  registerMatrixOps(table);
  registerMatrixMoveOps(table);
  registerWmmaOps(table);
  registerAsyncOps(table);
  registerMbarrierOps(table);
  registerClusterOps(table);
  registerWgmmaOps(table);
}

bool Decoder::fail(const Twine &text) {
  if (!isFailed) {
    isFailed = true;
    message = text.str();
    messageLine = fn ? fn->line : 0;
    if (in) {
      messageLine = in->line;
      std::string line = in->text.str();
      for (char &c : line)
        if (c == '\n' || c == '\t')
          c = ' ';
      message = "'" + in->opcode.str() + "': " + message + " in '" + line + "'";
    }
  }
  return false;
}

bool Decoder::requireTarget(unsigned least, unsigned most, bool specific) {
  StringRef target = program.target, suffix = target;
  unsigned have = 0;
  if (!suffix.consume_front("sm_") || suffix.consumeInteger(10, have))
    return true;
  if (have < least || have > most || (specific && suffix.empty()))
    return fail("needs .target sm_" + Twine(least) + (specific ? "a" : "") +
                (most == least ? "" : " or later") + "; the module says " + target);
  return true;
}

bool Decoder::take(StringRef word) {
  for (auto *it = mods.begin(); it != mods.end(); ++it)
    if (*it == word) {
      mods.erase(it);
      return true;
    }
  return false;
}

Type Decoder::takeType() {
  for (auto *it = mods.begin(); it != mods.end(); ++it)
    if (auto type = parseType(*it)) {
      mods.erase(it);
      return *type;
    }
  fail("expected a type among the modifiers");
  return Type::None;
}

bool Decoder::expectOps(unsigned count) { return expectOps(count, count); }

bool Decoder::expectOps(unsigned least, unsigned most) {
  if (numOps() >= least && numOps() <= most)
    return true;
  return fail("expected " + Twine(least) + (least == most ? Twine() : " to " + Twine(most)) +
              " operands, found " + Twine(numOps()));
}

bool Decoder::operands(Type result, std::initializer_list<Type> sources) {
  if (!expectOps(sources.size() + 1))
    return false;
  out->dst = dst(0, result);
  Reg *const into[] = {&out->a, &out->b, &out->c, &out->d};
  for (auto [k, type] : llvm::enumerate(sources))
    *into[k] = src(k + 1, type);
  return !isFailed;
}

const syntax::Operand &Decoder::at(unsigned k) {
  static const syntax::Operand none;
  if (k < numOps())
    return op(k);
  fail("operand " + Twine(k + 1) + " is missing");
  return none;
}

bool Decoder::checkForm(StringRef form, StringRef name) {
  StringRef reason = refusedFamily(form);
  if (!reason.empty())
    return fail(reason);
  if (!hasListedForms(name))
    return true;
  const KnownForm *found = findForm(form);
  if (!found)
    return fail("no target has this combination of modifiers");
  if (!found->refusedReason.empty())
    return fail(found->refusedReason);
  return requireTarget(found->least, ~0u, found->specific);
}

bool Decoder::decodeStatement(const syntax::Instruction &statement) {
  in = &statement;
  mods.clear();
  StringRef(statement.opcode).split(mods, '.');
  StringRef name = mods.front();
  mods.erase(mods.begin());
  program.code.emplace_back();
  program.where.push_back({statement.line, statement.text, statement.opcode});
  out = &program.code.back();
  if (!statement.guard.empty()) {
    syntax::Operand guard;
    guard.kind = syntax::Operand::Name;
    guard.name = statement.guard;
    out->guard = pred(guard);
    out->guarded = true;
    out->guardNegated = statement.guardNegated;
  }
  if (!checkForm(statement.opcode, name))
    return false;
  auto it = table.find(name);
  if (it == table.end())
    return fail("unknown opcode '" + name + "'");
  it->second(*this);
  if (!isFailed && !mods.empty())
    return fail("unsupported modifier '." + mods.front() + "'");
  if (!isFailed && !out->fn)
    return unsupported();
  return !isFailed;
}

bool Decoder::decodeFunction(unsigned index) {
  fn = &module.functions[index];
  functionIndex = index;
  if (fn->isDeclaration)
    return true;
  if (!layoutFunction())
    return false;
  FunctionCode &code = functionCode();
  code.begin = functionBegin = program.code.size();
  code.end = code.begin + fn->body.size();
  accumulators.clear();
  for (const syntax::Instruction &statement : fn->body)
    if (!decodeStatement(statement))
      return false;
  // The implicit return at the closing brace.
  syntax::Instruction last;
  last.opcode = "ret";
  last.text = "(end of function)";
  last.line = fn->body.empty() ? fn->line : fn->body.back().line;
  if (!decodeStatement(last))
    return false;
  in = nullptr;
  if (!accumulators.empty())
    markAccumulators(code.begin, code.end);
  computeReconvergence(program, code);
  program.code[code.end].join = true; // where early returns of a device function meet
  return true;
}

void Decoder::markAccumulators(uint32_t begin, uint32_t end) {
  auto isOne = [&](Reg r) {
    return r.base() == unsigned(Base::Frame) && accumulators.count(r.bits);
  };
  for (uint32_t pc = begin; pc <= end; ++pc) {
    Inst &i = program.code[pc];
    if (program.where[pc].opcode.starts_with("wgmma"))
      continue;
    i.pending = isOne(i.dst) || isOne(i.a) || isOne(i.b) || isOne(i.c) || isOne(i.d);
    for (unsigned k = 0; i.list && k < i.count && !i.pending; ++k)
      i.pending = isOne(i.list[k]);
  }
}

llvm::Error Decoder::run() {
  static std::atomic<uint64_t> nextId{1};
  program.id = nextId++;
  program.file = module.file;
  program.source = module.source;
  program.target = module.target.str();
  if (layoutModule())
    for (unsigned f = 0; f < module.functions.size() && !isFailed; ++f)
      decodeFunction(f);
  if (isFailed)
    return makeError(module.file, messageLine, message);
  // Any chain of calls fits when a kernel and every function may be active once; recursion gets
  // some more.
  uint64_t kernel = 0, functions = 0;
  for (const FunctionCode &f : program.functions) {
    const uint64_t bytes = llvm::alignTo(f.localBytes, 16);
    if (f.isEntry)
      kernel = std::max(kernel, bytes);
    else
      functions += bytes;
  }
  program.maxLocalBytes =
      kernel + (program.functions.size() > program.kernels.size() ? 4 * functions + 4096 : 0);
  return llvm::Error::success();
}

Module::Module(std::unique_ptr<Program> program) : code(std::move(program)) {}
Module::~Module() = default;

llvm::ArrayRef<KernelInfo> Module::kernels() const { return code->kernels; }
llvm::StringRef Module::target() const { return code->target; }

const KernelInfo *Module::findKernel(llvm::StringRef name) const {
  for (const KernelInfo &kernel : code->kernels)
    if (kernel.name == name)
      return &kernel;
  return nullptr;
}

llvm::Expected<std::unique_ptr<Module>> mpcore::emulator::loadModule(llvm::StringRef text,
                                                                     llvm::StringRef name) {
  auto parsed = syntax::parseModule(text, name);
  if (!parsed)
    return parsed.takeError();
  auto program = std::make_unique<Program>();
  // Statement texts point into the parsed source, which the program keeps.
  Decoder decoder(**parsed, *program);
  if (llvm::Error error = decoder.run())
    return std::move(error);
  const char *from = (*parsed)->source.data();
  for (SourceRef &ref : program->where) {
    auto move = [&](llvm::StringRef s) {
      bool inside = s.data() >= from && s.data() < from + (*parsed)->source.size();
      return inside ? llvm::StringRef(program->source).substr(s.data() - from, s.size()) : s;
    };
    ref.text = move(ref.text);
    ref.opcode = move(ref.opcode);
  }
  return std::make_unique<Module>(std::move(program));
}
