// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cp.async.bulk.tensor and cp.reduce.async.bulk.tensor, form by form, on data.

#include "BulkKernels.h"
#include "mp/Emulator/TensorMap.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;
using Map = TensorMap;

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

TEST(BulkTensorForms, TensorLoadsAndStores) {
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

TEST(BulkTensorForms, TensorReductions) {
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
