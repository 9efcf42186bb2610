// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async, cp.async.bulk and cp.reduce.async.bulk, form by form, on data.

#include "FormTable.h"
#include "mp/Emulator/TensorMap.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using Map = TensorMap;

namespace {
std::vector<uint8_t> randomBytes(size_t count, unsigned seed) {
  std::mt19937 rng(seed);
  std::vector<uint8_t> bytes(count);
  for (uint8_t &b : bytes)
    b = uint8_t(rng());
  return bytes;
}

/// Two blocks of one thread in a cluster, with 16 KB of shared memory `buf` (aligned to 1024) and
/// an mbarrier %b that expects one arrival. IN (at %i) is copied to `buf` by block 0, `known` lets
/// both know. %r: rank; %first: rank 0; %o: 16 KB of OUT for each block.
std::string clusterKernel(const std::string &body) {
  return ".extern .shared .align 1024 .b8 buf[];\n.visible .entry k(.param .u64 IN, .param .u64 "
         "OUT) .explicitcluster .reqnctapercluster 2, 1, 1 {\n.shared .align 8 .b64 bar;\n"
         ".reg .pred %p, %first, %second; .reg .b16 %h; .reg .b32 %r, %b, %s, %t, %m, %v, %n; .reg "
         ".b64 %i, %o, %w, %x, %y;\n"
         "mov.u32 %r, %cluster_ctarank; setp.eq.u32 %first, %r, 0; setp.ne.u32 %second, %r, 0; "
         "mov.u32 %b, bar; mov.u32 %s, buf; ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT];\n"
         "mul.wide.u32 %w, %r, 16384; add.u64 %o, %o, %w; mbarrier.init.shared.b64 [%b], 1; "
         "fence.mbarrier_init.release.cluster;\n" +
         body + "\nbarrier.cluster.arrive; barrier.cluster.wait;\n ret; }";
}
const std::string known = "fence.proxy.async; barrier.cluster.arrive; barrier.cluster.wait; ";
const std::string awaited =
    "W: mbarrier.try_wait.parity.acquire.cluster.shared.b64 %p, [%b], 0; @!%p bra W; ";
/// `bytes` from buf to OUT, or from IN to buf.
std::string copyLoop(bool out, unsigned bytes, const std::string &label) {
  return "mov.u32 %v, 0; mov.u32 %t, %s; mov.b64 %x, " + std::string(out ? "%o" : "%i") + "; " +
         label + ": " +
         (out ? "ld.shared.u64 %y, [%t]; st.global.u64 [%x], %y; "
              : "ld.global.u64 %y, [%x]; st.shared.u64 [%t], %y; ") +
         "add.u32 %v, %v, 8; add.u32 %t, %t, 8; add.u64 %x, %x, 8; setp.lt.u32 %p, %v, " +
         std::to_string(bytes) + "; @%p bra " + label + "; ";
}

struct RangeRun {
  std::vector<uint8_t> in = randomBytes(1 << 14, 5), out = randomBytes(1 << 15, 6);
  llvm::Expected<LaunchStats> launch(const std::string &text) {
    auto module = load(text);
    Device device;
    DevicePtr from = upload(device, in), to = upload(device, out);
    auto r = device.launch(*module, "k", {2}, {1}, 1 << 14,
                           {KernelArg::value(from), KernelArg::value(to)});
    if (r)
      in = download<uint8_t>(device, from, in.size()),
      out = download<uint8_t>(device, to, out.size());
    return r;
  }
  void run(const std::string &text) {
    auto r = launch(text);
    EXPECT_TRUE(bool(r)) << llvm::toString(r.takeError()) << "\n" << text;
  }
};
bool same(const std::vector<uint8_t> &a, size_t at, const std::vector<uint8_t> &b, size_t from,
          size_t bytes) {
  return std::memcmp(&a[at], &b[from], bytes) == 0;
}
} // namespace

TEST(BulkForms, SmallCopies) {
  // cp.async: what is not taken from the source is zero.
  const auto in = randomBytes(64, 3);
  for (const char *mode : {"ca", "cg"})
    for (const char *space : {".shared", ".shared::cta"})
      for (unsigned bytes : {4u, 8u, 16u})
        for (const char *hints :
             {"", ".L2::cache_hint", ".L2::64B", ".L2::cache_hint.L2::128B", ".L2::256B"})
          for (int taken : {-1, 0, 3, 4, -2, -3}) { // all; a size; a predicate that is true, false
            if ((*mode == 'c' && mode[1] == 'g' && bytes != 16) || taken > int(bytes))
              continue;
            const std::string size = taken >= 0    ? ", %n"
                                     : taken == -2 ? ", %p"
                                     : taken == -3 ? ", !%p"
                                                   : "",
                              policy = std::string(hints).find("cache") == std::string::npos
                                           ? ""
                                           : ", %y";
            const std::string text =
                ".visible .entry k(.param .u64 IN, .param .u64 OUT) {\n.shared .align 16 .b8 "
                "sh[64]; .reg .pred %p; .reg .b32 %t, %n, %a, %v; .reg .b64 %i, %o, %y;\n"
                "ld.param.u64 %i, [IN]; ld.param.u64 %o, [OUT]; mov.u32 %a, sh; mov.b64 %y, 0; "
                "mov.u32 %n, " +
                std::to_string(std::max(taken, 0)) +
                "; setp.eq.u32 %p, 0, 0; st.shared.v4.u32 [%a+16], {-1, -1, -1, -1};\ncp.async." +
                mode + space + ".global" + hints + " [%a+16], [%i+16], " + std::to_string(bytes) +
                size + policy +
                "; cp.async.commit_group; cp.async.wait_group 0;\nld.shared.u64 %y, [%a+16]; "
                "st.global.u64 [%o], %y; "
                "ld.shared.u64 %y, [%a+24]; st.global.u64 [%o+8], %y; ret; }";
            auto module = load(text, "sm_80");
            Device device;
            DevicePtr out = upload(device, std::vector<uint8_t>(16));
            auto r = device.launch(*module, "k", {1}, {1}, 0,
                                   {KernelArg::value(upload(device, in)), KernelArg::value(out)});
            ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError()) << text;
            const auto got = download<uint8_t>(device, out, 16);
            const unsigned moved = taken >= 0 ? taken : taken == -2 ? 0 : bytes;
            for (unsigned k = 0; k < 16; ++k)
              ASSERT_EQ(got[k], k < moved ? in[16 + k] : k < bytes ? 0 : 0xff) << text;
          }
}

TEST(BulkForms, PlainRanges) {
  for (const char *hint : {"", ".L2::cache_hint"}) {
    const std::string policy = *hint ? ", %y;" : ";";
    for (unsigned bytes : {16u, 48u, 4096u}) {
      const std::string size = std::to_string(bytes),
                        expect = "mbarrier.arrive.expect_tx.shared.b64 _, [%b], " + size + "; ";
      for (const char *to : {"shared::cta", "shared::cluster"}) { // each block for itself
        RangeRun r;
        r.run(clusterKernel("mov.b64 %y, 0; " + known + expect + "cp.async.bulk." + to +
                            ".global.mbarrier::complete_tx::bytes" + hint + " [%s], [%i+16], " +
                            size + ", [%b]" + policy + awaited + copyLoop(true, bytes, "C")));
        EXPECT_TRUE(same(r.out, 0, r.in, 16, bytes) && same(r.out, 16384, r.in, 16, bytes))
            << to << bytes;
      }
      {
        RangeRun r; // block 1 into block 0
        r.run(clusterKernel(
            "mov.b64 %y, 0; @%first " + expect + known +
            "mov.u32 %n, 0; mapa.shared::cluster.u32 %t, %s, %n; mapa.shared::cluster.u32 %m, %b, "
            "%n; @%second cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes" +
            hint + " [%t+32], [%i], " + size + ", [%m]" + policy + "@%second bra END; " + awaited +
            "add.u32 %s, %s, 32; " + copyLoop(true, bytes, "C") + "END:"));
        EXPECT_TRUE(same(r.out, 0, r.in, 0, bytes)) << bytes;
      }
      {
        RangeRun r; // to both at once
        r.run(clusterKernel(
            "mov.b64 %y, 0; mov.u16 %h, 3; " + expect + known +
            "@%first "
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster" +
            hint + " [%s], [%i], " + size + ", [%b], %h" + policy + awaited +
            copyLoop(true, bytes, "C")));
        EXPECT_TRUE(same(r.out, 0, r.in, 0, bytes) && same(r.out, 16384, r.in, 0, bytes)) << bytes;
      }
      {
        RangeRun r; // shared to global, in groups
        r.run(clusterKernel("mov.b64 %y, 0; " + copyLoop(false, bytes, "C") + known +
                            "cp.async.bulk.global.shared::cta.bulk_group" + hint +
                            " [%o+64], [%s], " + size + policy +
                            "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0; "
                            "cp.async.bulk.wait_group 0; st.shared.u64 [%s], 0;"));
        EXPECT_TRUE(same(r.out, 64, r.in, 0, bytes) && same(r.out, 16384 + 64, r.in, 0, bytes))
            << bytes;
      }
    }
  }
  RangeRun r; // from block to block, both ways
  r.run(clusterKernel(copyLoop(false, 256, "C") +
                      "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 256; " + known +
                      "xor.b32 %n, %r, 1; mapa.shared::cluster.u32 %t, %s, %n; "
                      "mapa.shared::cluster.u32 %m, %b, %n; "
                      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
                      "[%t+1024], [%s], 256, [%m]; " +
                      awaited + "add.u32 %s, %s, 1024; " + copyLoop(true, 256, "D")));
  EXPECT_TRUE(same(r.out, 0, r.in, 0, 256) && same(r.out, 16384, r.in, 0, 256));
}

namespace {
struct ReductionForm {
  std::string op, type;
  Kind kind; // floats
  unsigned bytes;
  bool shared; // exists between blocks, too
};
const ReductionForm reductions[] = {
    {"add", "u32", Kind::S32, 4, true},          {"add", "s32", Kind::S32, 4, true},
    {"add", "u64", Kind::S32, 8, true},          {"add.noftz", "f16", Kind::F16, 2, false},
    {"add.noftz", "bf16", Kind::BF16, 2, false}, {"add", "f32", Kind::F32, 4, false},
    {"add", "f64", Kind::F64, 8, false},         {"min", "u32", Kind::S32, 4, true},
    {"min", "s32", Kind::S32, 4, true},          {"min", "u64", Kind::S32, 8, false},
    {"min", "s64", Kind::S32, 8, false},         {"min", "f16", Kind::F16, 2, false},
    {"min", "bf16", Kind::BF16, 2, false},       {"max", "u32", Kind::S32, 4, true},
    {"max", "s32", Kind::S32, 4, true},          {"max", "u64", Kind::S32, 8, false},
    {"max", "s64", Kind::S32, 8, false},         {"max", "f16", Kind::F16, 2, false},
    {"max", "bf16", Kind::BF16, 2, false},       {"inc", "u32", Kind::S32, 4, true},
    {"dec", "u32", Kind::S32, 4, true},          {"and", "b32", Kind::S32, 4, true},
    {"and", "b64", Kind::S32, 8, false},         {"or", "b32", Kind::S32, 4, true},
    {"or", "b64", Kind::S32, 8, false},          {"xor", "b32", Kind::S32, 4, true},
    {"xor", "b64", Kind::S32, 8, false},
};

/// One element by the manual: what was there, and what is added.
uint64_t reduced(const ReductionForm &f, uint64_t x, uint64_t y) {
  const std::string op = f.op.substr(0, 3);
  if (f.kind != Kind::S32) {
    const double a = decode(f.kind, x), b = decode(f.kind, y);
    if (op == "add")
      return f.kind == Kind::F64 ? std::bit_cast<uint64_t>(a + b) : roundTo(f.kind, a + b);
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) && std::isnan(b) ? 0x7fff : std::isnan(a) ? y : x;
    if (a == b)
      return (op == "min") == std::signbit(a) ? x : y;
    return (a < b) == (op == "min") ? x : y;
  }
  const bool isSigned = f.type[0] == 's';
  const auto less = [&](uint64_t a, uint64_t b) {
    return !isSigned ? a < b : f.bytes == 4 ? int32_t(a) < int32_t(b) : int64_t(a) < int64_t(b);
  };
  const uint64_t mask = f.bytes == 4 ? 0xffffffff : ~uint64_t(0);
  return (op == "add"                 ? x + y
          : op == "min"               ? (less(x, y) ? x : y)
          : op == "max"               ? (less(y, x) ? x : y)
          : op == "inc"               ? (x >= y ? 0 : x + 1)
          : op == "dec"               ? (x == 0 || x > y ? y : x - 1)
          : op == "and"               ? (x & y)
          : op == "or." || op == "or" ? (x | y)
                                      : (x ^ y)) &
         mask;
}

void makeFinite(std::vector<uint8_t> &bytes, const ReductionForm &f) {
  // f32: no NaN, whose bits are another matter, and no subnormals, which the test below looks at.
  for (size_t k = 0; f.bytes >= 4 && f.kind != Kind::S32 && k < bytes.size(); k += f.bytes)
    bytes[k + f.bytes - 1] = (bytes[k + f.bytes - 1] & 0x80) | 0x3f, bytes[k + f.bytes - 2] &= 0x9f;
}
uint64_t at(const std::vector<uint8_t> &bytes, size_t offset, unsigned size) {
  uint64_t v = 0;
  std::memcpy(&v, &bytes[offset], size);
  return v;
}
} // namespace

TEST(BulkForms, Reductions) {
  for (const ReductionForm &f : reductions) {
    RangeRun r;
    makeFinite(r.in, f), makeFinite(r.out, f);
    const auto before = r.out;
    const std::string load = copyLoop(false, 512, "C") + known;
    r.run(
        clusterKernel("mov.b64 %y, 0; " + load +
                      "cp.reduce.async.bulk.global.shared::cta.bulk_group." + f.op + "." + f.type +
                      " [%o], [%s], 512; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"));
    for (unsigned k = 0; k < 512; k += f.bytes)
      ASSERT_EQ(at(r.out, k, f.bytes), reduced(f, at(before, k, f.bytes), at(r.in, k, f.bytes)))
          << f.op << "." << f.type << " of " << std::hex << at(before, k, f.bytes) << ", "
          << at(r.in, k, f.bytes);
    if (!f.shared)
      continue;
    RangeRun s; // block 1 onto what block 0 holds: IN onto IN shifted by 16
    s.run(clusterKernel(
        "@%first add.u64 %i, %i, 16; " + copyLoop(false, 512, "C") +
        "@%first mbarrier.arrive.expect_tx.shared.b64 _, [%b], 512; " + known +
        "mov.u32 %n, 0; mapa.shared::cluster.u32 %t, %s, %n; mapa.shared::cluster.u32 %m, %b, %n; "
        "@%second cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." +
        f.op + "." + f.type + " [%t], [%s], 512, [%m]; @%second bra END; " + awaited +
        copyLoop(true, 512, "D") + "END:"));
    for (unsigned k = 0; k < 512; k += f.bytes)
      ASSERT_EQ(at(s.out, k, f.bytes), reduced(f, at(s.in, k + 16, f.bytes), at(s.in, k, f.bytes)))
          << f.op << "." << f.type;
  }
  // f32 in global memory: subnormal operands and sums are zeros of their sign, as with red.
  RangeRun r;
  const uint32_t there[] = {0x00000001, 0x00800000, 0x80000001, 0x3f800000},
                 added[] = {0x00000001, 0x80800001, 0x80000001, 0x00000001};
  std::memcpy(r.out.data(), there, 16), std::memcpy(r.in.data(), added, 16);
  r.run(clusterKernel(
      "@%second bra END; " + copyLoop(false, 16, "C") +
      "fence.proxy.async; cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%o], [%s], "
      "16; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; END:"));
  const uint32_t want[] = {0, 0x80000000, 0x80000000, 0x3f800000};
  EXPECT_EQ(0, std::memcmp(r.out.data(), want, 16));
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
struct Tensor {
  Map map;
  std::vector<uint8_t> bytes;
  Tensor(Map::Type type, unsigned rank, std::mt19937 &rng, Map::Swizzle swizzle) {
    map.type = type, map.rank = rank, map.swizzle = swizzle;
    const unsigned e = map.elementBytes(), span[] = {64, 32, 64, 128};
    map.dims[0] = 16 / e * (3 + rng() % 4) + rng() % (16 / e + 1);
    map.box[0] = span[unsigned(swizzle)] / e / (swizzle == Map::Swizzle::B128 && rng() % 2 ? 2 : 1);
    uint64_t stride = llvm::alignTo(map.dims[0] * e, 16) + 16 * (rng() % 2);
    for (unsigned d = 1; d < rank; ++d) {
      map.dims[d] = 2 + rng() % 5, map.box[d] = 1 + rng() % (d == 1 ? 8 : 3);
      map.strides[d - 1] = stride;
      stride *= map.dims[d];
    }
    bytes = randomBytes(rank > 1 ? stride : map.dims[0] * e, rng());
  }
  /// Offset of an element, or nothing outside.
  std::optional<uint64_t> offset(const int64_t *index) const {
    uint64_t at = 0;
    for (unsigned d = 0; d < map.rank; ++d) {
      if (index[d] < 0 || index[d] >= int64_t(map.dims[d]))
        return std::nullopt;
      at += index[d] * (d ? map.strides[d - 1] : map.elementBytes());
    }
    return at;
  }
  /// fn(place in shared memory, offset or nothing) for every element of the box at these
  /// coordinates.
  template <class F> void forBox(const int *coords, F &&fn) const {
    const unsigned e = map.elementBytes();
    const uint64_t count = map.boxBytes() / e;
    for (uint64_t n = 0; n < count; ++n) {
      int64_t index[5];
      uint64_t rest = n;
      for (unsigned d = 0; d < map.rank; ++d)
        index[d] = coords[d] + int64_t(rest % map.box[d]), rest /= map.box[d];
      // 16 bytes move within their line of 128: by its number, modulo 8, 4 or 2 (the manual's
      // figures).
      const uint64_t place = n * e, line = place / 128, chunk = place / 16 % 8,
                     moved[] = {chunk, chunk ^ line % 2, chunk ^ line % 4, chunk ^ line % 8};
      fn(128 * line + 16 * moved[unsigned(map.swizzle)] + place % 16, offset(index));
    }
  }
};

std::string coordinateList(unsigned rank) {
  std::string s = "{";
  for (unsigned d = 0; d < rank; ++d)
    s += (d ? ", %c" : "%c") + std::to_string(d);
  return s + "}";
}
std::string tensorKernel(const std::string &body) {
  std::string text = clusterKernel(
      "ld.param.u32 %c0, [C0]; ld.param.u32 %c1, [C1]; ld.param.u32 %c2, [C2]; ld.param.u32 %c3, "
      "[C3]; ld.param.u32 %c4, [C4]; mov.b64 %map, MAP; cvta.param.u64 %map, %map;\n" +
      body);
  text.replace(text.find(".param .u64 OUT"), 15,
               ".param .u64 OUT, .param .align 64 .b8 MAP[128], .param .u32 C0, .param .u32 C1, "
               ".param .u32 C2, .param .u32 C3, .param .u32 C4");
  text.replace(text.find(".reg .b16 %h;"), 13, ".reg .b16 %h; .reg .b32 %c<5>; .reg .b64 %map;");
  return text;
}

struct TensorRun {
  std::vector<uint8_t> in = randomBytes(1 << 14, 8), out = randomBytes(1 << 15, 9), tensor;
  void run(const std::string &text, const Tensor &t, const int *coords) {
    auto module = load(text);
    Device device;
    DevicePtr from = upload(device, in), to = upload(device, out), data = upload(device, t.bytes);
    Map map = t.map;
    map.address = data;
    check(map.verify());
    std::vector<KernelArg> args = {KernelArg::value(from), KernelArg::value(to),
                                   KernelArg::bytes(map.encode())};
    for (unsigned d = 0; d < 5; ++d)
      args.push_back(KernelArg::value(coords[d]));
    auto r = device.launch(*module, "k", {2}, {1}, 1 << 14, args);
    ASSERT_TRUE(bool(r)) << llvm::toString(r.takeError()) << "\n" << text;
    out = download<uint8_t>(device, to, out.size()),
    tensor = download<uint8_t>(device, data, t.bytes.size());
  }
};
const Map::Type everyType[] = {Map::Type::U8,  Map::Type::U16,  Map::Type::U32, Map::Type::S32,
                               Map::Type::U64, Map::Type::S64,  Map::Type::F16, Map::Type::F32,
                               Map::Type::F64, Map::Type::BF16, Map::Type::TF32};
} // namespace

TEST(BulkForms, TensorLoadsAndStores) {
  std::mt19937 rng(31);
  for (Map::Type type : everyType)
    for (unsigned rank = 1; rank <= 5; ++rank)
      for (unsigned swizzle = 0; swizzle < 4; ++swizzle) {
        Tensor t(type, rank, rng, Map::Swizzle(swizzle));
        t.map.nanFill =
            (type == Map::Type::F16 || type == Map::Type::F32 || type == Map::Type::BF16) &&
            rng() % 2;
        int coords[5] = {};
        for (unsigned d = 0; d < rank; ++d)
          coords[d] = int(rng() % (t.map.dims[d] + t.map.box[d])) - int(t.map.box[d]) / 2;
        const unsigned bytes = unsigned(llvm::alignTo(t.map.boxBytes(), 1024)),
                       e = t.map.elementBytes(); // a swizzle may leave holes before the end
        const bool multicast = rng() % 2, hint = rng() % 2, named = rng() % 2,
                   own = !multicast && rng() % 2;
        const std::string at = "[%map, " + coordinateList(rank) + "]",
                          dim = std::to_string(rank) + "d", tile = named ? ".tile" : "",
                          policy = hint ? ".L2::cache_hint" : "";
        const std::string prefetch = "cp.async.bulk.prefetch.tensor." + dim + ".L2.global" + tile +
                                     policy + " " + at + (hint ? ", %y; " : "; ");
        const std::string load =
            "cp.async.bulk.tensor." + dim + (own ? ".shared::cta" : ".shared::cluster") +
            ".global" + tile + ".mbarrier::complete_tx::bytes" +
            (multicast ? ".multicast::cluster" : "") + policy + " [%s], " + at + ", [%b]" +
            (multicast ? ", %h" : "") + (hint ? ", %y; " : "; ");
        TensorRun r;
        r.run(tensorKernel(
                  copyLoop(false, bytes, "F") +
                  "mov.b64 %y, 0; mov.u16 %h, 3; mbarrier.arrive.expect_tx.shared.b64 _, [%b], " +
                  std::to_string(t.map.boxBytes()) + "; " + known + prefetch +
                  (multicast ? "@%second " : "") + load + awaited + copyLoop(true, bytes, "C")),
              t, coords);
        for (unsigned block = 0; block < 2; ++block)
          t.forBox(coords, [&](uint64_t place, std::optional<uint64_t> offset) {
            const uint64_t want = offset          ? ::at(t.bytes, *offset, e)
                                  : t.map.nanFill ? ~uint64_t(0) >> (64 - 8 * e)
                                                  : 0;
            ASSERT_EQ(::at(r.out, 16384 * block + place, e), want)
                << load << " type " << unsigned(type) << " swizzle " << swizzle;
          });
        // A store writes from the same places; outside nothing is written.
        const std::string store = "cp.async.bulk.tensor." + dim + ".global.shared::cta" + tile +
                                  ".bulk_group" + policy + " " + at + ", [%s]" +
                                  (hint ? ", %y; " : "; ");
        TensorRun s;
        s.run(tensorKernel("mov.b64 %y, 0; " + copyLoop(false, bytes, "C") + known + "@%second " +
                           store + "cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"),
              t, coords);
        auto want = t.bytes;
        t.forBox(coords, [&](uint64_t place, std::optional<uint64_t> offset) {
          if (offset)
            std::memcpy(&want[*offset], &s.in[place], e);
        });
        ASSERT_EQ(s.tensor, want) << store;
      }
}

TEST(BulkForms, TensorReductions) {
  std::mt19937 rng(37);
  const std::pair<const char *, Map::Type> types[] = {
      {"u32", Map::Type::U32}, {"s32", Map::Type::S32}, {"u64", Map::Type::U64},
      {"s64", Map::Type::S64}, {"f16", Map::Type::F16}, {"bf16", Map::Type::BF16},
      {"f32", Map::Type::F32}, {"f64", Map::Type::F64}};
  for (const ReductionForm &f : reductions)
    for (unsigned rank : {1u, 3u, 5u}) {
      Map::Type type = f.bytes == 4 ? Map::Type::U32 : Map::Type::U64; // of .b32 and .b64
      for (auto [name, t] : types)
        type = f.type == name ? t : type;
      Tensor t(type, rank, rng, rank == 3 ? Map::Swizzle::B64 : Map::Swizzle::None);
      makeFinite(t.bytes, f);
      int coords[5] = {};
      for (unsigned d = 0; d < rank; ++d)
        coords[d] = int(rng() % (t.map.dims[d] + t.map.box[d])) - int(t.map.box[d]) / 2;
      const std::string op = f.op.substr(0, f.op.find('.')), tile = rng() % 2 ? ".tile" : "";
      TensorRun r;
      makeFinite(r.in, f);
      r.run(tensorKernel(copyLoop(false, unsigned(llvm::alignTo(t.map.boxBytes(), 1024)), "C") +
                         known + "@%second cp.reduce.async.bulk.tensor." + std::to_string(rank) +
                         "d.global.shared::cta." + op + tile + ".bulk_group [%map, " +
                         coordinateList(rank) +
                         "], [%s]; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;"),
            t, coords);
      auto want = t.bytes;
      t.forBox(coords, [&](uint64_t place, std::optional<uint64_t> offset) {
        if (!offset)
          return;
        const uint64_t v = reduced(f, ::at(t.bytes, *offset, f.bytes), ::at(r.in, place, f.bytes));
        std::memcpy(&want[*offset], &v, f.bytes);
      });
      ASSERT_EQ(r.tensor, want) << f.op << "." << f.type << " of rank " << rank;
    }
}

TEST(BulkForms, Misuse) {
  struct {
    const char *what;
    std::string body;
    FaultKind kind;
    const char *message;
  } const cases[] = {
      {"no wait before the read",
       "mbarrier.arrive.expect_tx.shared.b64 _, [%b], 64; "
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; " +
           copyLoop(true, 64, "C"),
       FaultKind::InFlight, "not waited for"},
      {"the read before the copy",
       "st.shared.u64 [%s], 1; ld.shared.u64 %y, [%s]; "
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; "
       "st.shared.u64 [%s+8], %y;",
       FaultKind::InFlight, "not waited for"},
      {"misaligned",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+8], [%i], 64, [%b];",
       FaultKind::Misaligned, "multiples of 16"},
      {"an odd size",
       "mov.u32 %n, 24; cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], "
       "%n, [%b];",
       FaultKind::Misaligned, "multiples of 16"},
      {"out of bounds",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i+16368], 32, [%b];",
       FaultKind::OutOfBounds, "past the end of the allocation"},
      {"out of shared memory",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s+16384], [%i], 32, [%b];",
       FaultKind::OutOfBounds, "shared memory"},
      {"another block's mbarrier",
       known + "mov.u32 %n, 1; mapa.shared::cluster.u32 %m, %b, %n; @%first "
               "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s], [%i], 32, "
               "[%m];",
       FaultKind::Misuse, "different blocks"},
      {"the next group",
       copyLoop(false, 64, "C") +
           "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64; "
           "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 1; st.shared.u64 [%s], 0;",
       FaultKind::Race, "with no barrier"},
      {"not committed",
       copyLoop(false, 64, "C") +
           "fence.proxy.async; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64; "
           "cp.async.bulk.wait_group 0; st.shared.u64 [%s], 0;",
       FaultKind::Race, "with no barrier"},
      {"no fence",
       copyLoop(false, 64, "C") + "cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64;",
       FaultKind::Race, "fence.proxy.async"},
      {"a fence of global memory",
       copyLoop(false, 64, "C") +
           "fence.proxy.async.global; cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 64;",
       FaultKind::Race, "fence.proxy.async"},
      {"blocks beyond the cluster",
       "mov.u16 %h, 5; " + known +
           "@%first "
           "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
           "[%s], [%i], 32, [%b], %h;",
       FaultKind::Misuse, "beyond the cluster"},
      {"inval of an mbarrier in use",
       "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%s], [%i], 64, [%b]; "
       "mbarrier.inval.shared.b64 [%b];",
       FaultKind::InFlight, "was not waited for"},
  };
  for (auto &c : cases) {
    RangeRun r;
    Fault f = faultOf(r.launch(clusterKernel(c.body)));
    EXPECT_EQ(f.kind, c.kind) << c.what << ": " << f.message;
    EXPECT_NE(f.message.find(c.message), std::string::npos) << c.what << ": " << f.message;
    EXPECT_FALSE(f.instruction.empty()) << c.what;
  }
}

TEST(BulkForms, GroupsBelongToThreads) {
  // Lane 0 stores; lane 1 has a group of its own. All but the last group of lane 0 are none, so the
  // overwrite races.
  const std::string text = ".visible .entry k(.param .u64 OUT) {\n.shared .align 16 .b8 sh[64]; "
                           ".reg .pred %p; .reg .b32 %t, %s; .reg .b64 %o;\nmov.u32 %t, %tid.x; "
                           "mov.u32 %s, sh; ld.param.u64 %o, [OUT]; setp.eq.u32 %p, %t, 0;\n"
                           "@%p st.shared.v2.u64 [%s], {1, 2}; @%p fence.proxy.async; @%p "
                           "cp.async.bulk.global.shared::cta.bulk_group [%o], [%s], 16; @%p "
                           "cp.async.bulk.commit_group; @!%p cp.async.bulk.commit_group;\n"
                           "cp.async.bulk.wait_group.read WAIT; @%p st.shared.u64 [%s], 7; ret; }";
  auto with = [&](const char *count) {
    std::string t = text;
    t.replace(t.find("WAIT"), 4, count);
    return t;
  };
  Device device;
  DevicePtr out = upload(device, std::vector<uint64_t>(2));
  take(device.launch(*load(with("0")), "k", {1}, {32}, 0, {KernelArg::value(out)}));
  EXPECT_EQ(download<uint64_t>(device, out, 2), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(
      faultOf(device.launch(*load(with("1")), "k", {1}, {32}, 0, {KernelArg::value(out)})).kind,
      FaultKind::Race);
}
