// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pre-decoded code: one Inst per PTX statement, with the function that executes it over the lanes
// of a warp.

#ifndef MP_LIB_EMULATOR_DECODE_PROGRAM_H
#define MP_LIB_EMULATOR_DECODE_PROGRAM_H

#include "../Syntax/Type.h"
#include "mp/Emulator/Module.h"
#include "llvm/Support/Allocator.h"
#include <deque>

namespace mpcore::emulator {

struct Warp;
struct Inst;

constexpr unsigned kLanes = 32;
constexpr uint32_t kNoPc = ~0u;

/// The place of the lanes of an operand: 32 x u32 (types up to 32 bits), 32 x u64 (64 bits), 32 x 2
/// x u64 (128 bits), or one u32 with a bit per lane (predicates). Offsets count u32 words from one
/// of three bases.
enum class Base : uint8_t { Frame, Pool, Special };

struct Reg {
  uint32_t bits = 0;
  static Reg make(Base base, uint32_t offset) { return {uint32_t(base) << 30 | offset}; }
  unsigned base() const { return bits >> 30; }
  uint32_t offset() const { return bits & 0x3fffffff; }
};

enum class Step : uint8_t {
  Next,  // go on at warp.pc
  Leave, // the current split changed, blocked or ended: choose again
  Yield, // polled in vain: let others run
  Fault, // warp.fault() was called
};

using ExecFn = Step (*)(Warp &, const Inst &);

struct Inst {
  ExecFn fn = nullptr;
  Reg guard;
  bool guarded = false, guardNegated = false;
  bool join = false;    // some branch reconverges here
  bool pending = false; // touches registers of a wgmma in flight: check
  uint8_t size = 0;     // bytes per element of a memory access
  uint8_t space = 0;    // MemSpace
  uint16_t count = 1;   // vector elements
  Reg dst, a, b, c, d;
  uint32_t target = kNoPc; // branches: destination; calls: function index
  uint32_t rpc = kNoPc;    // branches and calls: where the sides meet again
  uint32_t flags = 0;
  int64_t imm = 0;
  const Reg *list = nullptr; // vector operands
  const void *aux = nullptr; // more, owned by the program's allocator
};

/// Inst::flags of memory instructions.
constexpr uint32_t kWideAddress = 1u << 31;   // 64-bit address registers
constexpr uint32_t kOrderedAccess = 1u << 30; // volatile, relaxed, acquire, release
constexpr uint32_t kRegisterStore = 1u << 29; // st: what it stores is in dst or list
constexpr uint32_t kWideData = 1u << 28;      // of a kRegisterStore: 64-bit registers

struct SourceRef {
  uint32_t line = 0;
  llvm::StringRef text;
  llvm::StringRef opcode;
};

struct ParamSlot {
  uint32_t localOffset = 0; // in the callee's frame
  uint32_t bytes = 0;
};

struct FunctionCode {
  std::string name;
  bool isEntry = false;
  bool isDefined = false;
  uint32_t begin = 0, end = 0; // pcs; end holds the implicit return
  uint32_t frameWords = 0;     // u32 words of registers
  uint32_t localBytes = 0;     // per lane: .local variables, call parameters, formals
  std::vector<ParamSlot> params, returns;
  int kernel = -1; // index into Program::kernels
};

/// A .global or .const variable's place in the module image.
struct GlobalVar {
  std::string name;
  uint64_t address = 0;
  uint64_t bytes = 0;
  bool constant = false;
  std::vector<uint8_t> image; // initial bytes; the rest is zero
};

class Program {
public:
  std::string file, source, target;
  std::vector<Inst> code;
  std::vector<SourceRef> where; // parallel to code
  std::vector<FunctionCode> functions;
  std::vector<KernelInfo> kernels;
  std::vector<uint32_t> kernelFunction; // function of each kernel
  std::vector<uint32_t> dynamicSharedAlign;
  std::vector<GlobalVar> globals;
  std::vector<uint32_t> pool; // constants, broadcast
  uint64_t id = 0;            // distinct per loaded module
  uint32_t maxLocalBytes = 0; // per lane, over any chain of calls
  bool usesCluster = false;
  unsigned sharedGranule = 4; // smallest access to shared memory, bytes
  llvm::BumpPtrAllocator allocator;

  template <class T> T *keep(T value) { return new (allocator.Allocate<T>()) T(std::move(value)); }
};

/// Generic addresses: windows of the other spaces. Global memory lies outside them.
constexpr uint64_t kSharedWindow = 0x0100'0000'0000; // + shared::cluster address
constexpr uint64_t kLocalWindow = 0x0200'0000'0000;
constexpr uint64_t kParamWindow = 0x0300'0000'0000;
constexpr uint64_t kWindowBytes = 0x0100'0000'0000;
constexpr uint64_t kFunctionWindow = 0x0400'0000'0000; // + 16 * function index
constexpr uint64_t kGlobalBase = 0x1000'0000'0000;
constexpr uint64_t kModuleBase =
    0x4000'0000'0000; // + module id << 36: .global and .const variables
/// shared::cluster addresses: (rank + 1) << 24 | offset; 0 << 24 means the executing block.
constexpr unsigned kClusterShift = 24;

enum class MemSpace : uint8_t { Generic, Global, Shared, SharedCluster, Local, Param, Const };

/// Special registers, filled when a warp starts; the 64-bit ones occupy two words per lane.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaX,
  CtaY,
  CtaZ,
  NctaX,
  NctaY,
  NctaZ,
  LaneId,
  WarpId,
  NwarpId,
  SmId,
  NsmId,
  GridId,
  GridIdHigh,
  MaskEq,
  MaskLe,
  MaskLt,
  MaskGe,
  MaskGt,
  DynamicShared,
  TotalShared,
  AggregateShared,
  Zero,
  ClusterX,
  ClusterY,
  ClusterZ,
  NclusterX,
  NclusterY,
  NclusterZ,
  ClusterCtaX,
  ClusterCtaY,
  ClusterCtaZ,
  ClusterNctaX,
  ClusterNctaY,
  ClusterNctaZ,
  ClusterRank,
  ClusterSize,
  IsCluster,
  Count
};
constexpr uint32_t kSpecialWords = uint32_t(Special::Count) * kLanes;
/// The first words of every frame: u64 per lane, the frame's base in local memory.
constexpr uint32_t kFrameLocalBase = 0;
constexpr uint32_t kFrameFirst = 2 * kLanes;

} // namespace mpcore::emulator

#endif
