// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts instructions, and writes counts as JSON.

#include "mp/Cubin/CubinStatistics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"

using namespace mpcore::cubin;

static constexpr unsigned kLanes = 32;

static std::string nameOf(const Instruction &i) {
  if (i.isRegisterMove)
    return "IMAD.MOV";
  return i.opcode.empty() ? "0x" + llvm::utohexstr(i.code, /*LowerCase=*/true) : i.opcode.str();
}

static std::string nameOf(const Instruction &i, const Product &p) {
  if (p.unit == ProductUnit::Tcgen05)
    return i.opcode.str();
  return (i.opcode + " " + llvm::Twine(p.m) + "x" + llvm::Twine(p.n) + "x" + llvm::Twine(p.k))
      .str();
}

/// Bytes that one of a warpgroup's four warps stands for: all columns, and rows unless in
/// registers.
static double matrixOperandBytes(const Product &p) {
  const double elements = double(p.n) * p.k + (p.aInRegisters ? 0 : double(p.m) * p.k);
  return p.unit == ProductUnit::Wgmma ? elements * p.elementBits / 8 / 4 : 0;
}

/// The units that arithmetic keeps busy; ptxas spreads moves and integers over both.
static void addPipes(Tally &t, const Instruction &i) {
  switch (i.kind) {
  case Kind::Integer:
  case Kind::Move:
  case Kind::Float:
  case Kind::Conversion: break;
  default: return;
  }
  static constexpr llvm::StringLiteral multiplyAdd[] = {"FFMA",  "FMUL",  "FADD",  "HFMA2", "HADD2",
                                                        "HMUL2", "FFMA2", "FADD2", "FMUL2"};
  if (i.isUniform)
    ++t.uniform;
  else if (i.opcode == "IMAD")
    t.fmaCycles += 2;
  else if (llvm::is_contained(multiplyAdd, i.opcode))
    ++t.fmaCycles;
  else
    t.aluCycles += 2;
}

void Tally::add(const Instruction &i) {
  ++instructions;
  ++byKind[unsigned(i.kind)];
  ++opcodes[nameOf(i)];
  waits += i.waits;
  addPipes(*this, i);
  switch (i.kind) {
  case Kind::Matrix: {
    const Product &p = *i.product;
    const double each = double(p.m) * p.n * p.k / (p.unit == ProductUnit::Wgmma ? 4 : 1);
    multiplyAdds += each;
    f16MultiplyAdds += each / p.rate;
    matrixOperands += matrixOperandBytes(p);
    ++products[nameOf(i, p)];
    units.insert(p.unit);
    return;
  }
  case Kind::MatrixLoad:
  case Kind::SharedLoad: sharedLoaded += i.bytes * kLanes; break;
  case Kind::MatrixStore:
  case Kind::SharedStore: sharedStored += i.bytes * kLanes; break;
  case Kind::AsyncCopy: asyncCopied += i.bytes * kLanes; break;
  case Kind::GlobalLoad: globalLoaded += i.bytes; break;
  case Kind::GlobalStore: globalStored += i.bytes; break;
  default: return;
  }
  if (i.kind != Kind::MatrixLoad && i.kind != Kind::MatrixStore)
    ++widths[toString(i.kind).upper() + "." + std::to_string(8 * i.bytes)];
}

double Tally::nonMatrixPerMma16816() const {
  return multiplyAdds ? (instructions - (*this)[Kind::Matrix]) / mma16816() : 0;
}

double Tally::sharedBytesPerMma16816() const {
  return multiplyAdds ? (sharedLoaded + matrixOperands) / mma16816() : 0;
}

static llvm::json::Object toJSON(const std::map<std::string, unsigned> &counts) {
  llvm::json::Object object;
  for (auto &[name, count] : counts)
    object[name] = count;
  return object;
}

llvm::json::Object mpcore::cubin::toJSON(const Tally &t) {
  llvm::json::Object object{{"instructions", t.instructions}, {"waits", t.waits}};
  for (unsigned k = 0; k < kKinds; ++k)
    if (t.byKind[k])
      object[toString(Kind(k))] = t.byKind[k];
  object["opcodes"] = ::toJSON(t.opcodes);
  if (!t.products.empty())
    object["products"] = ::toJSON(t.products);
  if (!t.widths.empty())
    object["widths"] = ::toJSON(t.widths);
  if (t.multiplyAdds) {
    object["mma16816_per_warp"] = t.mma16816();
    object["non_mma_per_mma16816"] = t.nonMatrixPerMma16816();
    object["int_per_mma16816"] =
        (t[Kind::Integer] + t[Kind::Move] + t[Kind::Constant]) / t.mma16816();
    object["shared_bytes_per_mma16816"] = t.sharedBytesPerMma16816();
  }
  return object;
}
