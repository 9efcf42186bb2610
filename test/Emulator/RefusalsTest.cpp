// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages of what is refused: modules when they are loaded, launches, uses of memory and
// tensor maps. Each is compared whole, with its place, what was found and what was expected.

#include "TestSupport.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/StringExtras.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

namespace {
struct Refused {
  const char *text, *message;
};

/// Checks statements in the third line of a module, behind `declarations`.
void expectStatements(llvm::ArrayRef<Refused> cases, const char *target = "sm_90a",
                      const std::string &declarations = "") {
  for (const auto &[text, message] : cases) {
    const std::string module = declarations + R"(.visible .entry k(.param .u64 A) {
.reg .pred %p, %q; .reg .b16 %h, %i, %j; .reg .b32 %w, %v, %u, %t; .reg .b64 %l, %m; .reg .b128 %x;
)" + text + "\nEND: ret; }";
    const unsigned line = 6 + llvm::StringRef(declarations).count('\n');
    llvm::StringRef opcode = llvm::StringRef(text).split(" ").first;
    if (opcode.starts_with("@"))
      opcode = llvm::StringRef(text).split(" ").second.split(" ").first;
    EXPECT_EQ(loadError(module, target), "test.ptx:" + std::to_string(line) + ": '" +
                                             opcode.rtrim(';').str() + "': " + message + " in '" +
                                             llvm::StringRef(text).rtrim(';').str() + "'")
        << text;
  }
}
} // namespace

TEST(Refusals, Modules) {
  const Refused cases[] = {
      {".unheard", "unknown directive '.unheard'"},
      {".address_size 32", ".address_size 32 is not supported: only 64"},
      {"word", "expected a directive, found 'word'"},
      {".entry k(.param .unheard .u32 A) { ret; }", "unknown word '.unheard' in a parameter"},
      {".entry k() .unheard { ret; }", "unknown directive '.unheard' of function 'k'"},
      {".entry k() { ret; } .entry k() { ret; }", "function 'k' is defined twice"},
      {".entry k() { .reg .b32 a; .reg .b64 a; ret; }", "'a' is declared twice in one scope"},
      {".entry k() { .unheard; ret; }", "unknown directive '.unheard' in a function"},
      {".global .unheard .u32 g;", "unknown word '.unheard' in a declaration"},
      {".entry k() { .reg .b32 r<2000000>; }", "register range of 2000000 names"},
      {".global .b8 g[2] = {1, 2, 3};", "initialiser of 'g' has 3 values for 2 elements"},
      {".global .f32 g = -1.5;", "negated float in an initialiser: write its bit pattern"},
      {".global .u64 g = nothing;", "initialiser of 'g' names unknown 'nothing'"},
      {".extern .global .b8 g[4];", "extern variable 'g' is not defined in this module"},
      {".global .u32 g; .global .u64 g;", "variable 'g' is declared twice"},
      {".entry k() { .shared .b8 s[20000000]; ret; }",
       "kernel 'k' declares 20000000 bytes of shared memory"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_EQ(loadError(text).substr(strlen("test.ptx:")).substr(3), message) << text;
  auto none = loadModule(".target sm_80", "none.ptx");
  EXPECT_EQ(llvm::toString(none.takeError()),
            "none.ptx:1: no .version directive: this is not a PTX module");
}

TEST(Refusals, Operands) {
  expectStatements({
      {"mov.b64 %l, %tid.x;", "special register %tid.x has 32 bits, the type .b64 needs 64"},
      {"mov.b128 %x, 5;", "a constant of 128 bits"},
      {"add.f32 %w, %v, 1;", "integer constant for an operand of type .f32"},
      {"add.u32 %w, %v, %l;", "register %l has 64 bits, the type .u32 needs 32"},
      {"add.u32 %l, %v, %w;", "register %l has 64 bits, the type .u32 needs 32"},
      {"add.u32 %w, %v, %pm0;", "special register %pm0 is not implemented"},
      {"add.u32 %w, %v, nothing;", "'nothing' is not declared"},
      {"add.u32 %w, %v, END;", "'END' cannot be an operand here"},
      {"add.u32 %w, %v, {%u, %t};", "an operand of type .u32 cannot have this form"},
      {"add.u32 %w, %v, !%u;", "'!' before an operand that is no predicate"},
      {"add.u32 5, %v, %w;", "the result must be a register"},
      {"add.u32 END, %v, %w;", "'END' is not a register"},
      {"setp.eq.u32 5, %v, %w;", "the result must be a predicate register"},
      {"setp.eq.u32 !%p, %v, %w;", "'!' is not allowed here"},
      {"setp.eq.u32 %w, %v, %u;", "expected a predicate register, found '%w'"},
      {"@%w add.u32 %w, %v, %u;", "expected a predicate register, found '%w'"},
      {"setp.eq.f16 %p|%q, %h, %i;", "comparisons of one half have one predicate"},
      {"lop3.b32 %w, %v, %u, %t, %w;", "expected a constant"},
      {"ld.global.u32 %w, %l;", "expected an address in brackets"},
      {"ld.global.u32 %w, [{%l, %m}];", "expected a register, variable or number in brackets"},
      {"ld.global.u32 %w, [%h];", "address register %h has 16 bits"},
      {"ld.global.u32 %w, [%v];", "32-bit address register %v for a space of 64-bit addresses"},
      {"ld.global.u32 %w, [nothing];", "'nothing' is not a register or variable"},
      {"ld.global.u32 %w, [A];", "'A' lies in another state space"},
      {"vabsdiff4.u32.u32.u32 %w, %v.b0, %u, %t;", "selections of parts are not implemented"},
      {"add.u32 %w, %v;", "expected 3 operands, found 2"},
  });
  expectStatements({{"mov.u32 %w, g;", "the address of 'g' needs 64 bits"}}, "sm_90a",
                   ".global .u32 g;\n");
}

TEST(Refusals, Modifiers) {
  expectStatements({
      {"ld.global %w, [%l];", "expected a type among the modifiers"},
      {"add.unheard.u32 %w, %v, %u;", "no target has this combination of modifiers"},
      {"bar.sync.unheard 0;", "unsupported modifier '.unheard'"},
      {"unheard.u32 %w;", "unknown opcode 'unheard'"},
      {"ld.relaxed.global.u32 %w, [%l];",
       "expected a scope among the modifiers: .cta, .cluster, .gpu or .sys"},
      {"mma.sync.aligned.row.col.f32.f16.f16.f32 {%w}, {%v}, {%u}, {%t};",
       "expected a shape among the modifiers, as .m16n8k16"},
      {"cp.async.bulk.tensor.shared::cluster.global.mbarrier::complete_tx::bytes [%w], [%l, {%v}], "
       "[%u];",
       "expected a rank among the modifiers, .1d to .5d"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%w], "
       "[%l, {%v, %u}], [%t];",
       "im2col needs rank 3 to 5, found 2"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier::complete_tx::bytes "
       "[%w], [%l, {%v, %u}], [%t];",
       "the mode .tile::gather4 is not supported"},
      {"red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.exch.u32 [%w], %v, "
       "[%u];",
       "red.async of this order, operation and type is not supported"},
      {"brx.unheard %w, L;", "only brx.idx is supported"},
  });
  expectStatements({{"setmaxnreg.inc.sync.aligned.u32 40;",
                     "needs .target sm_90a or later; the module says sm_90"}},
                   "sm_90");
  expectStatements({{"wgmma.fence.sync.aligned;", "needs .target sm_90a; the module says sm_100a"}},
                   "sm_100a");
}

TEST(Refusals, ControlAndCalls) {
  const std::string functions = ".func (.param .b32 r) f(.param .b64 a) { ret; }\n"
                                ".extern .func g(.param .b64 a);\n.shared .b32 s;\n"
                                ".func h() { ret; }\n";
  expectStatements(
      {
          {"bar.arrive 1;",
           "expected a barrier and the number of threads that meet there, found the barrier alone"},
          {"brx.idx %w, END;", "'END' is not a .branchtargets list"},
          {"bra A;", "'A' is not a label of this function"},
          {"call A;", "'A' is not a function of this module"},
          {"call h, (A);", "'A' is not a .param variable of this function"},
          {"call f;", "the call passes 0 values where the function has 1"},
          {"setmaxnreg.inc.sync.aligned.u32 44;",
           "a register count of 44: multiples of 8 from 24 to 256 are allowed"},
          {"setmaxnreg.inc.sync.aligned.u32 %w;", "expected a constant"},
      },
      "sm_90a", functions);
  const std::string head = "{ .param .b32 r; .param .b32 a; ";
  auto inScope = [&](const char *call) {
    return loadError(functions + ".entry k() {\n" + head + call + " } ret; }");
  };
  EXPECT_EQ(inScope("call (r), f, (a);"),
            "test.ptx:9: 'call': 'a' has 4 bytes, the function's parameter has 8 in "
            "'call (r), f, (a)'");
  EXPECT_EQ(loadError(functions + ".entry k() {\n{ .param .b64 a; call g, (a); } ret; }"),
            "test.ptx:9: 'call': extern function 'g' is not defined in this module in "
            "'call g, (a)'");
  EXPECT_EQ(loadError(".entry k() { .reg .pred p; .reg .b32 w;\nT: .branchtargets L, L;\n"
                      "@p brx.idx w, T;\nL: ret; }"),
            "test.ptx:6: 'brx.idx': a guarded brx is not supported in '@p brx.idx w, T'");
  for (const char *use : {"mov.u32 %w, buf", "ld.shared.u32 %w, [buf]"})
    EXPECT_EQ(loadError(std::string(".extern .shared .b8 buf[];\n.func f() { .reg .b32 %w;\n") +
                        use + ";\nret; } .entry k() { ret; }"),
              std::string("test.ptx:6: '") + llvm::StringRef(use).split(' ').first.str() +
                  "': 'buf' has no place: an extern shared array in a device function in '" + use +
                  "'");
}

TEST(Refusals, MatrixInstructions) {
  expectStatements({
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%w}, {%v}, {%u}, {%t};",
       "operand 1 has 1 registers, the shape needs 4"},
      {"mma.sp.sync.aligned.m16n8k32.row.col.f16.f16.f16.f16 {%w, %v}, {%w, %v, %u, %t}, {%w, %v, "
       "%u, %t}, {%w, %v}, %u, 9;",
       "the sparsity selector is 9, this form has 0 to 1"},
      {"ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%w}, [%v];",
       "expected 2 registers in braces, found 1"},
      {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 %w, [%v];",
       "expected 1 registers in braces, found 1 without"},
      {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%w, %v}, [%l];",
       "operand 1 has 2 registers, the fragment has 8"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%w, %v}, %l, %m, %p, 1, 1, 0, 0;",
       "operand 1 has 2 registers, the shape needs 4"},
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%w, %v, %u, %t}, %l, %m, %p, 2, 1, 0, "
       "0;",
       "a factor's sign is 1 or -1, found 2"},
      {"wgmma.wait_group.sync.aligned -1;", "groups that may be under way are 0 or more, found -1"},
  });
  expectStatements(
      {{"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f32.e4m3.e4m3.f32.ue8m0 {%w, "
        "%v, %u, %t}, {%w, %v, %u, %t}, {%w, %v}, {%w, %v, %u, %t}, %w, {%h}, %v, {%h, %i};",
        "operand 6 has 1 elements, expected the pair {byte, thread} of the scales before it"}},
      "sm_120a");
}

TEST(Refusals, Copies) {
  expectStatements({
      {"ld.global.v2.b32 {%w, %l}, [%m];",
       "a register of 64 bits behind one of less than 64: elements need registers of one width"},
      {"ld.global.v2.b32 {%l, _}, [%m];",
       "elements of 32 bits in 64-bit registers: the others have to be registers, too"},
      {"ld.global.v2.b32 {%w}, [%m];", "expected 2 elements, found 1"},
      {"applypriority.global.L2::evict_normal [%l], 64;", "a priority is for 128 bytes, found 64"},
      {"cp.async.cg.shared.global [%w], [%l], 8;",
       "cp.async copies 4, 8 or 16 bytes, .cg only 16; found 8"},
      {"cp.async.ca.shared.global [%w], [%l], 4, 8;", "a source of 8 bytes for a copy of 4"},
      {"cp.async.ca.shared.global [%w], [%l], 4, %v, %m;", "expected 4 operands, found 5"},
      {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%w], [%l, "
       "{%v}], [%u];",
       "expected [map, {2 coordinates}]"},
      {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%w], [%l], 24, [%u];",
       "a size of 24 bytes is no multiple of 16"},
      {"fence.proxy.tensormap::generic.acquire.gpu [%l], 64;",
       "a tensor map has 128 bytes, found 64"},
      {"tensormap.replace.tile.box_dim.global.b1024.b32 [%l], 5, 8;",
       "expected a dimension from 0 to 4, found 5"},
      {"tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
       "[%l], [%w], 64;",
       "a tensor map has 128 bytes, found 64"},
  });
}

TEST(Refusals, Launches) {
  auto module = load(".visible .entry k(.param .u32 n) .maxntid 64 { ret; }");
  Device device;
  const KernelArg n = KernelArg::value(uint32_t(1));
  auto message = [&](Dim3 grid, Dim3 block, const KernelArg &arg) {
    return llvm::toString(device.launch(*module, "k", grid, block, 0, {arg}).takeError());
  };
  EXPECT_EQ(message({1, 70000}, {32}, n),
            "kernel 'k': grid (1, 70000, 1) exceeds (2147483647, 65535, 65535)");
  EXPECT_EQ(message({1}, {1, 1, 65}, n),
            "kernel 'k': block (1, 1, 65) must have 1 to 1024 threads, at most 64 in z");
  EXPECT_EQ(message({1}, {65}, n), "kernel 'k' allows at most 64 threads per block");
  EXPECT_EQ(message({1}, {32}, KernelArg::value(uint64_t(1))),
            "argument 0 of kernel 'k' has 8 bytes, parameter 'n' has 4");
}

TEST(Refusals, Memory) {
  Device device;
  auto message = [](llvm::Error error) { return llvm::toString(std::move(error)); };
  EXPECT_EQ(message(device.alloc((uint64_t(1) << 36) + 1).takeError()),
            "allocation of 68719476737 bytes: the emulated device has 64 GiB");
  EXPECT_EQ(message(device.alloc(8, 24).takeError()), "alignment 24 is no power of two");
  const DevicePtr p = take(device.alloc(8));
  const std::string place = "0x" + llvm::utohexstr(p);
  const uint8_t four[4] = {};
  check(device.write(p, four));
  uint8_t bytes[8];
  EXPECT_EQ(message(device.read(p, bytes)),
            "byte 4 of the 8 bytes at " + place + " was never written");
  check(device.free(p));
  EXPECT_EQ(message(device.free(p)),
            "free of " + place + ", which alloc did not return or which is freed");
}

TEST(Refusals, TensorMaps) {
  auto message = [](llvm::function_ref<void(TensorMap &)> change) {
    TensorMap map;
    map.rank = 3, map.dims = {64, 64, 64, 1, 1}, map.strides = {64, 4096, 0, 0};
    map.box = {16, 1, 1, 1, 1};
    EXPECT_FALSE(bool(map.verify()));
    change(map);
    return llvm::toString(map.verify());
  };
  using Map = TensorMap;
  const std::pair<std::string, const char *> cases[] = {
      {message([](Map &m) { m.type = Map::Type(99); }), "unknown element type or swizzle"},
      {message([](Map &m) { m.rank = 6; }), "rank 6 is not 1 to 5"},
      {message([](Map &m) { m.address = 8; }), "the address is no multiple of 16"},
      {message([](Map &m) { m.dims[1] = 0; }), "dimension 1 has 0 elements, 1 to 2^32 are allowed"},
      {message([](Map &m) { m.box[2] = 257; }),
       "the box has 257 elements in dimension 2, 1 to 256 are allowed"},
      {message([](Map &m) { m.elementStrides[0] = 2; }),
       "element stride 2 is not supported: only 1, with im2col 1 to 8"},
      {message([](Map &m) { m.strides[0] = 24; }),
       "stride 24 of dimension 1 is no multiple of 16 below 2^40"},
      {message([](Map &m) { m.im2col = true, m.rank = 2; }), "im2col needs rank 3 to 5, found 2"},
      {message([](Map &m) { m.im2col = true, m.pixels = 1025; }),
       "1025 pixels of 1 channels; 1 to 1024 of 1 to 256 are allowed"},
      {message([](Map &m) { m.im2col = true, m.channels = 16, m.upper[0] = -64; }),
       "the corners leave no pixel in dimension 1"},
      {message([](Map &m) { m.box[0] = 8; }), "a row of the box has 8 bytes, not a multiple of 16"},
      {message([](Map &m) { m.box[0] = 64, m.swizzle = Map::Swizzle::B32; }),
       "a row of the box has 64 bytes, the swizzle allows 32"},
  };
  for (const auto &[found, expected] : cases)
    EXPECT_EQ(found, std::string("tensor map: ") + expected);
}
