// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands: registers, constants, special registers, addresses.

#include "Decoder.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"
#include <bit>

using namespace mpcore::emulator;
using llvm::StringRef;
using llvm::Twine;
using syntax::Operand;

Decoder::Resolved Decoder::resolve(StringRef name) {
  Resolved r;
  for (unsigned scope = in ? in->scope : 0;; scope = fn->scopes[scope].parent) {
    auto it = fn->scopes[scope].symbols.find(name);
    if (it != fn->scopes[scope].symbols.end()) {
      const syntax::Symbol &s = it->second;
      r.index = s.index;
      switch (s.kind) {
      case syntax::Symbol::Label: r.kind = Resolved::Label; return r;
      case syntax::Symbol::Targets: r.kind = Resolved::Targets; return r;
      case syntax::Symbol::Prototype: r.kind = Resolved::Prototype; return r;
      case syntax::Symbol::Var: break;
      }
      r.var = &fn->variables[s.index];
      if (r.var->space == syntax::Space::Reg) {
        r.kind = Resolved::Register;
        uint64_t &place = variablePlace[s.index];
        if (place == ~uint64_t(0)) {
          unsigned bits = bitWidth(r.var->type);
          place = scratch(r.var->type == Type::Pred ? 1
                                                    : kLanes * (bits > 64   ? 4
                                                                : bits > 32 ? 2
                                                                            : 1))
                      .offset();
        }
        r.index = place;
        return r;
      }
      r.kind = Resolved::Variable;
      r.address = variablePlace[s.index];
      switch (r.var->space) {
      case syntax::Space::Param:
        r.space = fn->isEntry && llvm::is_contained(fn->params, s.index) ? MemSpace::Param
                                                                         : MemSpace::Local;
        break;
      case syntax::Space::Shared: r.space = MemSpace::Shared; break;
      case syntax::Space::Local: r.space = MemSpace::Local; break;
      default: r.space = r.var->space == syntax::Space::Const ? MemSpace::Const : MemSpace::Global;
      }
      return r;
    }
    if (scope == 0)
      break;
  }
  auto shared = sharedModuleAddress.find(name);
  if (shared != sharedModuleAddress.end()) {
    r.kind = Resolved::Variable;
    r.space = MemSpace::Shared;
    r.address = shared->second;
    for (const syntax::Variable &v : module.variables)
      if (v.name == name)
        r.var = &v;
    return r;
  }
  auto global = globalIndex.find(name);
  if (global != globalIndex.end()) {
    r.kind = Resolved::Variable;
    r.address = program.globals[global->second].address;
    r.space = program.globals[global->second].constant ? MemSpace::Const : MemSpace::Global;
    return r;
  }
  auto f = functionIndexOf.find(name);
  if (f != functionIndexOf.end()) {
    r.kind = Resolved::Function;
    r.index = f->second;
    r.address = kFunctionWindow + 16 * f->second;
  }
  return r;
}

Reg Decoder::scratch(unsigned words) {
  uint32_t &used = functionCode().frameWords;
  if (words >= kLanes)
    used = llvm::alignTo(used, 16);
  Reg r = Reg::make(Base::Frame, used);
  used += words;
  return r;
}

Reg Decoder::constant32(uint32_t value) {
  auto [it, isNew] = pool32.try_emplace(value, program.pool.size());
  if (isNew)
    program.pool.insert(program.pool.end(), kLanes, value);
  return Reg::make(Base::Pool, it->second);
}

Reg Decoder::constant64(uint64_t value) {
  auto [it, isNew] = pool64.try_emplace(value, program.pool.size());
  if (isNew)
    for (unsigned l = 0; l < kLanes; ++l) {
      program.pool.push_back(uint32_t(value));
      program.pool.push_back(uint32_t(value >> 32));
    }
  return Reg::make(Base::Pool, it->second);
}

Reg Decoder::constantPred(bool value) { return constant32(value ? ~0u : 0); }

unsigned Decoder::regBits(const Operand &operand) {
  if (operand.kind != Operand::Name)
    return 0;
  Resolved r = resolve(operand.name);
  return r.kind == Resolved::Register ? bitWidth(r.var->type) : 0;
}

llvm::ArrayRef<Operand> Decoder::elements(const Operand &operand) const {
  if (operand.kind == Operand::Vector)
    return operand.parts;
  return llvm::ArrayRef<Operand>(operand);
}

const Reg *Decoder::keepList(llvm::ArrayRef<Reg> regs) {
  Reg *copy = program.allocator.Allocate<Reg>(regs.size());
  std::copy(regs.begin(), regs.end(), copy);
  return copy;
}

static bool specialByName(StringRef name, Special &special, bool &wide) {
  wide = name == "%gridid";
  unsigned index =
      llvm::StringSwitch<unsigned>(name)
#define MP_S(text, value) .Case(text, unsigned(Special::value))
          MP_S("%tid.x", TidX) MP_S("%tid.y", TidY) MP_S("%tid.z", TidZ) MP_S(
              "%ntid.x", NtidX) MP_S("%ntid.y", NtidY) MP_S("%ntid.z", NtidZ) MP_S("%ctaid.x", CtaX)
              MP_S("%ctaid.y", CtaY) MP_S("%ctaid.z", CtaZ) MP_S("%nctaid.x", NctaX) MP_S(
                  "%nctaid.y", NctaY) MP_S("%nctaid.z", NctaZ) MP_S("%laneid", LaneId)
                  MP_S("%warpid", WarpId) MP_S("%nwarpid", NwarpId) MP_S("%smid", SmId) MP_S(
                      "%nsmid", NsmId) MP_S("%gridid", GridId) MP_S("%lanemask_eq", MaskEq)
                      MP_S("%lanemask_le", MaskLe) MP_S("%lanemask_lt", MaskLt) MP_S(
                          "%lanemask_ge", MaskGe) MP_S("%lanemask_gt", MaskGt)
                          MP_S("%dynamic_smem_size", DynamicShared) MP_S(
                              "%total_smem_size",
                              TotalShared) MP_S("%aggr_smem_size",
                                                AggregateShared) MP_S("%clusterid.x", ClusterX)
                              MP_S("%clusterid.y", ClusterY) MP_S("%clusterid.z", ClusterZ)
                                  MP_S("%nclusterid.x", NclusterX) MP_S("%nclusterid.y", NclusterY)
                                      MP_S("%nclusterid.z", NclusterZ) MP_S("%cluster_ctaid.x",
                                                                            ClusterCtaX)
                                          MP_S("%cluster_ctaid.y",
                                               ClusterCtaY) MP_S("%cluster_ctaid.z", ClusterCtaZ)
                                              MP_S("%cluster_nctaid.x", ClusterNctaX)
                                                  MP_S("%cluster_nctaid.y", ClusterNctaY)
                                                      MP_S("%cluster_nctaid.z", ClusterNctaZ) MP_S(
                                                          "%cluster_ctarank", ClusterRank)
                                                          MP_S("%cluster_nctarank", ClusterSize)
#undef MP_S
                                                              .Default(unsigned(Special::Count));
  special = Special(index);
  return special != Special::Count;
}

Reg Decoder::special(StringRef name, Type type, bool &found) {
  Special s;
  bool wide;
  found = specialByName(name, s, wide);
  if (!found)
    return {};
  unsigned bits = bitWidth(type);
  if (wide != (bits == 64))
    fail("special register " + name + " has " + Twine(wide ? 64 : 32) + " bits, the type ." +
         typeName(type) + " needs " + Twine(bits));
  return Reg::make(Base::Special, unsigned(s) * kLanes);
}

Reg Decoder::src(const Operand &operand, Type type, bool relaxed) {
  unsigned bits = bitWidth(type);
  if (operand.negated) {
    fail("'!' before an operand that is no predicate");
    return {};
  }
  auto number = [&](uint64_t value) {
    return bits > 32 ? constant64(value)
                     : constant32(bits == 32 ? value : value & ((uint64_t(1) << bits) - 1));
  };
  switch (operand.kind) {
  case Operand::Integer:
    if (bits == 128) {
      fail("a constant of 128 bits");
      return {};
    }
    if (isFloat(type) && type != Type::F16 && type != Type::BF16 && type != Type::F16x2 &&
        type != Type::BF16x2) {
      fail("integer constant for an operand of type ." + typeName(type));
      return {};
    }
    return number(operand.bits);
  case Operand::Float32:
    if (type == Type::F64)
      return number(std::bit_cast<uint64_t>(double(std::bit_cast<float>(uint32_t(operand.bits)))));
    if (type == Type::F32 || type == Type::B32)
      return number(operand.bits);
    break;
  case Operand::Float64:
    if (type == Type::F32 || type == Type::B32)
      return number(std::bit_cast<uint32_t>(float(std::bit_cast<double>(operand.bits))));
    if (type == Type::F64 || type == Type::B64)
      return number(operand.bits);
    break;
  case Operand::Name: {
    if (operand.offset != 0)
      break;
    Resolved r = resolve(operand.name);
    if (r.kind == Resolved::Register) {
      unsigned have = bitWidth(r.var->type);
      if (have == bits || (relaxed && have > bits))
        return Reg::make(Base::Frame, r.index);
      fail("register " + operand.name + " has " + Twine(have) + " bits, the type ." +
           typeName(type) + " needs " + Twine(bits));
      return {};
    }
    if (operand.name == "WARP_SZ")
      return number(kLanes);
    bool found;
    Reg s = special(operand.name, type, found);
    if (found || failed())
      return s;
    const char *others[] = {"%envreg", "%reserved_smem_offset", "%pm", "%current_graph_exec"};
    if (llvm::any_of(others, [&](StringRef other) { return operand.name.starts_with(other); }))
      fail("special register " + operand.name + " is not implemented");
    else if (r.kind == Resolved::None)
      fail("'" + operand.name + "' is not declared");
    else
      fail("'" + operand.name + "' cannot be an operand here");
    return {};
  }
  default: break;
  }
  fail("an operand of type ." + typeName(type) + " cannot have this form");
  return {};
}

Reg Decoder::dst(const Operand &operand, Type type, bool relaxed) {
  unsigned bits = bitWidth(type);
  if (operand.kind == Operand::Sink)
    return scratch(kLanes * (bits > 64 ? 4 : bits > 32 ? 2 : 1));
  if (operand.kind != Operand::Name || operand.negated) {
    fail("the result must be a register");
    return {};
  }
  Resolved r = resolve(operand.name);
  if (r.kind != Resolved::Register) {
    fail("'" + operand.name + "' is not a register");
    return {};
  }
  unsigned have = bitWidth(r.var->type);
  if (have != bits && !(relaxed && have > bits))
    fail("register " + operand.name + " has " + Twine(have) + " bits, the type ." + typeName(type) +
         " needs " + Twine(bits));
  return Reg::make(Base::Frame, r.index);
}

Reg Decoder::pred(const Operand &operand, bool *negated) {
  if (operand.negated && !negated) {
    fail("'!' is not allowed here");
    return {};
  }
  if (negated)
    *negated = operand.negated;
  if (operand.kind == Operand::Integer)
    return constantPred(operand.bits != 0);
  if (operand.kind == Operand::Name) {
    Resolved r = resolve(operand.name);
    if (r.kind == Resolved::Register && r.var->type == Type::Pred)
      return Reg::make(Base::Frame, r.index);
  }
  fail("expected a predicate register" +
       (operand.name.empty() ? Twine() : ", found '" + operand.name + "'"));
  return {};
}

Reg Decoder::predDst(const Operand &operand) {
  if (operand.kind == Operand::Sink)
    return scratch(1);
  if (operand.kind == Operand::Integer) {
    fail("the result must be a predicate register");
    return {};
  }
  return pred(operand);
}

bool Decoder::constant(const Operand &operand, int64_t &value) {
  if (operand.kind != Operand::Integer)
    return fail("expected a constant");
  value = int64_t(operand.bits);
  return true;
}

void Decoder::noteSharedAccess(unsigned bytes, MemSpace space) {
  if (space == MemSpace::Shared || space == MemSpace::SharedCluster || space == MemSpace::Generic)
    program.sharedGranule = std::min(program.sharedGranule, std::max(bytes, 1u));
}

bool Decoder::address(const Operand &operand, MemSpace &space) {
  bool wide = false;
  if (!addressInto(operand, space, out->a, out->imm, wide))
    return false;
  if (wide)
    out->flags |= kWideAddress;
  return true;
}

bool Decoder::addressInto(const Operand &operand, MemSpace &space, Reg &base, int64_t &offset,
                          bool &wide) {
  if (operand.kind != Operand::Address || operand.parts.size() != 1)
    return fail("expected an address in brackets");
  const Operand &inner = operand.parts[0];
  offset = operand.offset;
  if (inner.kind == Operand::Integer) {
    wide = true;
    base = constant64(inner.bits);
    return true;
  }
  if (inner.kind != Operand::Name)
    return fail("expected a register, variable or number in brackets");
  Resolved r = resolve(inner.name);
  if (r.kind == Resolved::Register) {
    unsigned bits = bitWidth(r.var->type);
    if (bits != 32 && bits != 64)
      return fail("address register " + inner.name + " has " + Twine(bits) + " bits");
    if (bits == 32 && space != MemSpace::Shared && space != MemSpace::SharedCluster &&
        space != MemSpace::Local && space != MemSpace::Const && space != MemSpace::Param)
      return fail("32-bit address register " + inner.name + " for a space of 64-bit addresses");
    wide = bits == 64;
    base = Reg::make(Base::Frame, r.index);
    return true;
  }
  if (r.kind != Resolved::Variable)
    return fail("'" + inner.name + "' is not a register or variable");
  if (space == MemSpace::Generic ||
      (space == MemSpace::SharedCluster && r.space == MemSpace::Shared))
    space = r.space;
  if (space == MemSpace::Param && r.space == MemSpace::Local) // a call's parameter
    space = MemSpace::Local;
  if (r.space != space)
    return fail("'" + inner.name + "' lies in another state space");
  if (r.address == ~uint64_t(0))
    return fail("'" + inner.name + "' has no place: an extern shared array in a device function");
  wide = true;
  if (space == MemSpace::Local) {
    base = Reg::make(Base::Frame, kFrameLocalBase);
    offset += int64_t(r.address);
  } else {
    base = constant64(r.address);
  }
  return true;
}
