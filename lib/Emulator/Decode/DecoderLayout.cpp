// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays out variables: parameters, shared and local memory, the module image.

#include "Decoder.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mpcore::emulator;
using llvm::StringRef;
using llvm::Twine;

static void collectNames(const syntax::Operand &operand, llvm::StringSet<> &names) {
  if (!operand.name.empty())
    names.insert(operand.name);
  for (const syntax::Operand &part : operand.parts)
    collectNames(part, names);
}

static llvm::StringSet<> namesIn(const syntax::Function &function) {
  llvm::StringSet<> names;
  for (const syntax::Instruction &inst : function.body)
    for (const syntax::Operand &operand : inst.operands)
      collectNames(operand, names);
  return names;
}

void Decoder::placeGlobal(const syntax::Variable &var, StringRef name) {
  uint64_t address = kModuleBase + (program.id << 36);
  if (!program.globals.empty())
    // A gap between variables makes an access past the end of one a fault.
    address = program.globals.back().address + program.globals.back().bytes + 256;
  GlobalVar global;
  global.name = name.str();
  global.address = llvm::alignTo(address, std::max<uint64_t>(256, var.alignment()));
  global.bytes = var.bytes();
  global.constant = var.space == syntax::Space::Const;
  globalIndex[name] = program.globals.size();
  program.globals.push_back(std::move(global));
}

bool Decoder::image(const syntax::Variable &var, GlobalVar &global) {
  unsigned width = (bitWidth(var.type) + 7) / 8;
  global.image.assign(std::min<uint64_t>(global.bytes, var.initial.size() * width), 0);
  uint64_t at = 0;
  for (const syntax::Initial &value : var.initial) {
    uint64_t bits = value.bits;
    if (!value.symbol.empty()) {
      auto g = globalIndex.find(value.symbol);
      auto f = functionIndexOf.find(value.symbol);
      if (g != globalIndex.end())
        bits += program.globals[g->second].address;
      else if (f != functionIndexOf.end())
        bits += kFunctionWindow + 16 * f->second;
      else
        return fail("initialiser of '" + var.name + "' names unknown '" + value.symbol + "'");
      if (value.mask)
        bits = (bits & value.mask) >> llvm::countr_zero(value.mask);
    }
    for (unsigned b = 0; b < width && at + b < global.image.size(); ++b)
      global.image[at + b] = uint8_t(bits >> (8 * b));
    at += width;
  }
  return true;
}

/// Per thread, as on hardware.
static constexpr uint64_t kMaxLocalBytes = 512 << 10;

bool Decoder::layoutModule() {
  for (const syntax::Function &f : module.functions) {
    functionIndexOf[f.name] = program.functions.size(); // the parser has each name once
    FunctionCode code;
    code.name = f.name.str();
    code.isEntry = f.isEntry;
    code.isDefined = !f.isDeclaration;
    code.frameWords = kFrameFirst;
    program.functions.push_back(std::move(code));
  }
  for (const syntax::Variable &v : module.variables)
    if (v.space != syntax::Space::Shared) {
      if (v.isExtern)
        return fail("extern variable '" + v.name + "' is not defined in this module");
      if (globalIndex.count(v.name))
        return fail("variable '" + v.name + "' is declared twice");
      placeGlobal(v, v.name);
    }
  for (const syntax::Variable &v : module.variables)
    if (v.space != syntax::Space::Shared && !image(v, program.globals[globalIndex[v.name]]))
      return false;

  // Shared variables that device functions use have one place in every kernel.
  functionShared.resize(module.functions.size());
  auto place = [&](const syntax::Variable &v) {
    uint64_t at = llvm::alignTo(commonSharedEnd, v.alignment());
    commonSharedEnd = at + v.bytes();
    return at;
  };
  for (unsigned f = 0; f < module.functions.size(); ++f) {
    const syntax::Function &function = module.functions[f];
    if (function.isEntry)
      continue;
    llvm::StringSet<> names = namesIn(function);
    for (const syntax::Variable &v : module.variables)
      if (v.space == syntax::Space::Shared && names.count(v.name) && !commonShared.count(v.name))
        commonShared[v.name] = v.isExtern ? ~uint64_t(0) : place(v);
    for (unsigned k = 0; k < function.variables.size(); ++k)
      if (function.variables[k].space == syntax::Space::Shared)
        functionShared[f].push_back({k, place(function.variables[k])});
  }
  // Parameters, so that calls can be decoded before their callee.
  for (unsigned f = 0; f < module.functions.size(); ++f) {
    const syntax::Function &function = module.functions[f];
    FunctionCode &code = program.functions[f];
    if (function.isEntry)
      continue;
    auto slots = [&](llvm::ArrayRef<unsigned> list, std::vector<ParamSlot> &into) {
      for (unsigned index : list) {
        const syntax::Variable &v = function.variables[index];
        code.localBytes = llvm::alignTo(code.localBytes, std::max<uint64_t>(v.alignment(), 8));
        into.push_back({code.localBytes, uint32_t(v.bytes())});
        code.localBytes += v.bytes();
      }
    };
    slots(function.returns, code.returns);
    slots(function.params, code.params);
  }
  return true;
}

/// Collects what a kernel takes of shared memory, and its parameters; those of functions have their
/// places already.
struct Decoder::KernelLayout {
  KernelInfo info;
  uint64_t sharedEnd = 0;                  ///< of what has a size
  unsigned externAlign = 0;                ///< of what begins behind it
  llvm::SmallVector<StringRef, 2> externs; ///< variables of the module
  llvm::SmallVector<unsigned, 2> externLocals;
};

/// Gives module variables that only this kernel uses a place behind those that functions share.
void Decoder::placeModuleShared(KernelLayout &layout) {
  sharedModuleAddress.clear();
  for (auto &entry : commonShared)
    sharedModuleAddress[entry.getKey()] = entry.getValue();
  if (!fn->isEntry)
    return;
  llvm::StringSet<> names = namesIn(*fn);
  for (const syntax::Variable &v : module.variables) {
    if (v.space != syntax::Space::Shared || !names.count(v.name))
      continue;
    if (v.isExtern) {
      layout.externs.push_back(v.name);
      layout.externAlign = std::max<unsigned>(layout.externAlign, v.alignment());
    } else if (!commonShared.count(v.name)) {
      uint64_t at = llvm::alignTo(layout.sharedEnd, v.alignment());
      sharedModuleAddress[v.name] = at;
      layout.sharedEnd = at + v.bytes();
    }
  }
}

void Decoder::placeShared(unsigned k, KernelLayout &layout) {
  const syntax::Variable &v = fn->variables[k];
  if (!fn->isEntry)
    return;
  if (v.isExtern) {
    layout.externLocals.push_back(k);
    layout.externAlign = std::max<unsigned>(layout.externAlign, v.alignment());
  } else {
    variablePlace[k] = llvm::alignTo(layout.sharedEnd, v.alignment());
    layout.sharedEnd = variablePlace[k] + v.bytes();
  }
}

bool Decoder::placeLocal(unsigned k) {
  const syntax::Variable &v = fn->variables[k];
  FunctionCode &code = functionCode();
  code.localBytes = llvm::alignTo(code.localBytes, std::max<uint64_t>(v.alignment(), 8));
  variablePlace[k] = code.localBytes;
  code.localBytes += v.bytes();
  return code.localBytes <= kMaxLocalBytes ||
         fail("'" + fn->name + "' takes " + Twine(code.localBytes) +
              " bytes of local memory per thread, " + Twine(kMaxLocalBytes) + " are allowed");
}

/// Places a kernel's parameter in the parameter space, a function's where layoutModule put it, and
/// what a body declares for its calls in local memory.
bool Decoder::placeParam(unsigned k, KernelInfo &info) {
  const syntax::Variable &v = fn->variables[k];
  const FunctionCode &code = functionCode();
  const unsigned *asParam = llvm::find(fn->params, k), *asReturn = llvm::find(fn->returns, k);
  if (asParam == fn->params.end()) {
    if (asReturn == fn->returns.end())
      return placeLocal(k);
    variablePlace[k] = code.returns[asReturn - fn->returns.begin()].localOffset;
    return true;
  }
  if (!fn->isEntry) {
    variablePlace[k] = code.params[asParam - fn->params.begin()].localOffset;
    return true;
  }
  info.paramBytes = llvm::alignTo(info.paramBytes, v.alignment());
  variablePlace[k] = info.paramBytes;
  info.params.push_back(
      {v.name.str(), info.paramBytes, uint32_t(v.bytes()), uint32_t(v.alignment())});
  info.paramBytes += v.bytes();
  return true;
}

bool Decoder::placeVariable(unsigned k, KernelLayout &layout) {
  const syntax::Variable &v = fn->variables[k];
  switch (v.space) {
  case syntax::Space::Reg: return true;
  case syntax::Space::Param: return placeParam(k, layout.info);
  case syntax::Space::Local: return placeLocal(k);
  case syntax::Space::Shared: placeShared(k, layout); return true;
  case syntax::Space::Global:
  case syntax::Space::Const:
    placeGlobal(v, (fn->name + "::" + v.name).str());
    variablePlace[k] = program.globals.back().address;
    return image(v, program.globals.back());
  }
  llvm_unreachable("unknown space");
}

/// Dynamic shared memory begins behind the rest; then all that a launch asks is known.
bool Decoder::finishKernel(KernelLayout &layout) {
  uint64_t dynamicAt =
      layout.externAlign ? llvm::alignTo(layout.sharedEnd, layout.externAlign) : layout.sharedEnd;
  for (StringRef name : layout.externs)
    sharedModuleAddress[name] = dynamicAt;
  for (unsigned k : layout.externLocals)
    variablePlace[k] = dynamicAt;
  if (dynamicAt > (1u << kClusterShift))
    return fail("kernel '" + fn->name + "' declares " + Twine(dynamicAt) +
                " bytes of shared memory");

  KernelInfo &info = layout.info;
  info.name = fn->name.str();
  info.staticSharedBytes = dynamicAt;
  for (unsigned k = 0; k < 3; ++k) {
    if (!fn->reqntid.empty())
      info.requiredBlock[k] = fn->reqntid[k];
    if (!fn->maxntid.empty())
      info.maxBlock[k] = fn->maxntid[k];
    if (!fn->cluster.empty())
      info.cluster[k] = fn->cluster[k];
  }
  functionCode().kernel = program.kernels.size();
  program.kernels.push_back(std::move(info));
  program.kernelFunction.push_back(functionIndex);
  return true;
}

bool Decoder::layoutFunction() {
  in = nullptr;
  variablePlace.assign(fn->variables.size(), ~uint64_t(0));
  KernelLayout layout;
  layout.sharedEnd = commonSharedEnd;
  placeModuleShared(layout);
  for (auto &[k, at] : functionShared[functionIndex])
    variablePlace[k] = at;
  for (unsigned k = 0; k < fn->variables.size(); ++k)
    if (!placeVariable(k, layout))
      return false;
  return !fn->isEntry || finishKernel(layout);
}
