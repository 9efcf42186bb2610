// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The schedules that are ranked: fixed lists for each family and unit, filtered by what fits.

#include "Combine.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mpcore::performance;
namespace target = mpcore::target;

namespace {
struct Tile {
  unsigned m, n, warpsM, warpsN;
};
/// A tile for few rows or columns.
struct ThinTile : Tile {
  unsigned slices, stages;
};
} // namespace

// Tiles of the libraries' kernels. Rows of wgmma are 64 a warpgroup, 128 in the largest tiles.
static constexpr Tile kWgmma[] = {
    {128, 256, 8, 1}, {256, 128, 8, 1}, {128, 192, 8, 1}, {128, 128, 8, 1}, {192, 128, 12, 1},
    {128, 64, 8, 1},  {64, 256, 4, 1},  {256, 64, 8, 1},  {64, 128, 4, 1},  {64, 64, 4, 1}};
static constexpr Tile kTcgen05[] = {{256, 256, 4, 1}, {128, 256, 4, 1}, {256, 128, 4, 1},
                                    {128, 192, 4, 1}, {128, 128, 4, 1}, {128, 64, 4, 1}};
static constexpr Tile kMmaSync[] = {
    {128, 256, 2, 4}, {256, 128, 4, 2}, {128, 128, 2, 2}, {128, 128, 2, 4}, {128, 64, 2, 2},
    {64, 128, 2, 2},  {64, 64, 2, 2},   {128, 32, 4, 1},  {32, 128, 1, 4},  {16, 128, 1, 4}};
// Weights are read once, so that as much of them as possible should be under way: deep rings, or
// warps that share a sum.
static constexpr ThinTile kThin[] = {
    {{16, 32, 1, 2}, 1, 16}, {{16, 64, 1, 4}, 1, 12}, {{32, 32, 2, 1}, 1, 16},
    {{32, 64, 2, 2}, 1, 8},  {{64, 32, 4, 1}, 1, 8},  {{16, 32, 1, 1}, 4, 4},
    {{16, 32, 1, 1}, 8, 4},  {{16, 64, 1, 1}, 8, 3},  {{32, 32, 1, 1}, 4, 4},
    {{32, 32, 1, 1}, 8, 3},  {{32, 64, 2, 1}, 4, 3},  {{64, 32, 1, 1}, 8, 2},
    {{64, 32, 2, 1}, 4, 3},  {{64, 64, 2, 2}, 2, 4}};
// A warp's 8 x 4 lanes have up to 8 x 8 sums each.
static constexpr Tile kFma[] = {{128, 128, 2, 4}, {128, 64, 2, 2}, {64, 64, 2, 2}, {32, 32, 2, 2}};

static llvm::ArrayRef<Tile> tilesOf(MatrixUnit unit) {
  switch (unit) {
  case MatrixUnit::Wgmma: return kWgmma;
  case MatrixUnit::Tcgen05: return kTcgen05;
  case MatrixUnit::MmaSync: return kMmaSync;
  case MatrixUnit::Fma: return kFma;
  }
  llvm_unreachable("unknown matrix unit");
}

static Copy bestCopy(const Part &part, MatrixUnit unit) {
  const target::MemoryFeatures &memory = part.specific->memory;
  if (memory.tma && (unit == MatrixUnit::Wgmma || unit == MatrixUnit::Tcgen05))
    return Copy::Bulk;
  return memory.cpAsync ? Copy::Async : Copy::Loads;
}

/// Appends what suits the part.
template <class P> struct Collector {
  const P &problem;
  const Part &part;
  std::vector<Schedule> found = {};

  bool add(const Schedule &schedule) {
    if (llvm::Expected<Resources> fits = resourcesOf(problem, schedule, part)) {
      found.push_back(schedule);
      return true;
    } else {
      llvm::consumeError(fits.takeError());
      return false;
    }
  }
};

/// As many stages as fit, of the numbers from most to least.
static void addWithMostStages(Collector<MatmulProblem> &menu, MatmulSchedule s, unsigned most) {
  for (s.stages = most; s.stages >= 2; --s.stages)
    if (menu.add(s))
      return;
}

/// Tiles that have all rows, or all columns.
static void addThin(Collector<MatmulProblem> &menu, MatmulSchedule s) {
  for (const ThinTile &tile : kThin) {
    if (menu.problem.m > tile.m && menu.problem.n > tile.n)
      continue;
    s.m = tile.m, s.n = tile.n, s.warpsM = tile.warpsM, s.warpsN = tile.warpsN;
    s.slices = tile.slices;
    if (s.slices == 1 || menu.problem.k >= int64_t(2) * s.depth())
      addWithMostStages(menu, s, s.copy == Copy::Loads ? 2 : tile.stages);
  }
}

std::vector<Schedule> mpcore::performance::menu(const MatmulProblem &p, const Part &part,
                                                MatrixUnit unit, Copy copy) {
  Collector<MatmulProblem> menu{p, part};
  const unsigned bytes = storageBits(p.format) / 8;
  for (const Tile &tile : tilesOf(unit)) {
    MatmulSchedule s;
    s.unit = unit;
    s.m = tile.m, s.n = tile.n, s.warpsM = tile.warpsM, s.warpsN = tile.warpsN;
    s.k = unit == MatrixUnit::Fma ? 16 : 128 / std::max(bytes, 1u);
    s.copy = copy;
    s.overlappedStores = s.copy == Copy::Bulk;
    const unsigned most = s.copy == Copy::Loads ? 2 : s.copy == Copy::Async ? 5 : 8;
    for (unsigned split : {1, 2, 4}) {
      s.splitK = split;
      if (split > 1 && p.k < int64_t(2) * split * s.k)
        continue;
      for (auto [cm, cn] : {std::pair(1u, 1u), {2u, 1u}, {1u, 2u}}) {
        s.clusterM = cm, s.clusterN = cn;
        if (cm * cn == 1 || s.copy == Copy::Bulk)
          addWithMostStages(menu, s, most);
      }
    }
  }
  if (unit == MatrixUnit::MmaSync) {
    MatmulSchedule s;
    s.k = 128 / std::max(bytes, 1u);
    s.copy = copy;
    addThin(menu, s);
  }
  return std::move(menu.found);
}

std::optional<MatrixUnit> mpcore::performance::writtenUnit(const Part &part,
                                                           llvm::StringRef format) {
  if (format != "f32" && part.peakTera(MatrixUnit::MmaSync, format) > 0)
    return MatrixUnit::MmaSync;
  return format == "f32" ? std::optional(MatrixUnit::Fma) : std::nullopt;
}

/// A tile of less than 64 rows or columns is for products that have no more: others it makes read
/// an operand many times from L2, of whose speed the model knows too little on most parts.
/// Tiles that have all of one are for these: the other operand is read once, anyway. On the scalar
/// units a byte of the smallest tile is 8 operations, which take longer than L2 does.
static bool suitsShape(const MatmulProblem &problem, const MatmulSchedule &s) {
  const bool isThin = problem.m <= s.m || problem.n <= s.n;
  return isThin || s.unit == MatrixUnit::Fma || (s.m >= 64 && s.n >= 64);
}

std::vector<Schedule> mpcore::performance::writtenMenu(const MatmulProblem &p, const Part &part,
                                                       std::optional<Copy> copy) {
  std::optional<MatrixUnit> unit = writtenUnit(part, p.format);
  if (!unit)
    return {};
  std::vector<Schedule> written = menu(p, part, *unit, copy.value_or(bestCopy(part, *unit)));
  llvm::erase_if(written, [&](const Schedule &schedule) {
    const auto &s = std::get<MatmulSchedule>(schedule);
    return !suitsShape(p, s) || (s.unit == MatrixUnit::Fma && s.splitK > 1);
  });
  return written;
}

/// Blocks that share the keys of a row so that memory is read from most of the multiprocessors,
/// each of two tiles at least.
static unsigned splitsFor(const AttentionProblem &problem, const AttentionSchedule &s,
                          const Part &part) {
  const double blocks =
      double(problem.batch) * std::ceil(double(problem.queries * problem.heads) / s.queries);
  unsigned splits = 1;
  while (splits < kMostKeySplits && blocks * splits < 0.8 * part.multiprocessors() &&
         (problem.keysVary || problem.keys >= int64_t(4) * splits * s.keys))
    splits *= 2;
  return splits;
}

/// True if the schedule is faster where blocks share keys than where none do.
static bool sharingPays(const AttentionProblem &problem, AttentionSchedule s, const Part &part) {
  auto seconds = [&](int64_t from) {
    s.splitFrom = unsigned(from);
    llvm::Expected<Estimate> e =
        estimate(problem, s, part, detail::calibrationOf(problem, s, part));
    if (e)
      return e->seconds;
    llvm::consumeError(e.takeError());
    return 0.0;
  };
  return seconds(1) < seconds(problem.keys);
}

/// Returns how many keys sharing must spare a block so that it pays, as it then does for more;
/// nothing if it does not up to `most` keys.
static std::optional<unsigned> leastSparedKeys(AttentionProblem problem, AttentionSchedule s,
                                               const Part &part, int64_t most = int64_t(1) << 20) {
  // The time that sharing saves grows with the keys; that of the second launch does not.
  for (int64_t keys = 4 * int64_t(s.keys); keys <= most; keys += 2 * int64_t(s.keys)) {
    problem.keys = keys;
    if (sharingPays(problem, s, part)) {
      const int64_t blocks = problem.batch * problem.heads; // of one tile of rows each
      s.splitFrom = 1;
      return unsigned(keys - keys / sharersOf(s, keys, blocks));
    }
  }
  return std::nullopt;
}

/// Bounds how many blocks share keys so that this pays for any number of rows: up to a number of
/// all blocks, that of the multiprocessors or less, at which two that share save time, too, though
/// all together move more.
static void boundSharers(AttentionProblem problem, AttentionSchedule &s, const Part &part) {
  problem.heads = problem.batch = 1;
  problem.queries = std::min<int64_t>(problem.queries, s.queries);
  s.splitFrom = 0;
  s.splitBlocks = part.multiprocessors();
  const std::optional<unsigned> fewest = leastSparedKeys(problem, s, part);
  if (!fewest)
    return;
  problem.keys = 4 * int64_t(*fewest);
  for (; s.splitBlocks >= 2; s.splitBlocks -= (s.splitBlocks + 7) / 8) {
    problem.batch = s.splitBlocks / 2; // of which two share, each half of the keys
    if (sharingPays(problem, s, part)) {
      s.splitFrom = std::max(*fewest, leastSparedKeys(problem, s, part).value_or(0));
      return;
    }
  }
}

/// Most blocks that share keys if the number of rows is known at run time only.
static unsigned mostSplits(const AttentionProblem &problem, const AttentionSchedule &s) {
  const int64_t pairs = problem.keys / (2 * int64_t(s.keys));
  return problem.keysVary ? kMostKeySplits
                          : unsigned(std::clamp<int64_t>(pairs, 1, kMostKeySplits));
}

/// Adds the schedule with blocks that share keys if there are to be such. Where sizes vary it
/// leaves few keys, and those of many rows, to one block, so that it stands for the schedule
/// itself.
static void addShared(Collector<AttentionProblem> &menu, AttentionSchedule s) {
  const AttentionProblem &p = menu.problem;
  const bool varies = p.keysVary || p.rowsVary;
  AttentionSchedule alone = s;
  if (p.rowsVary) {
    s.splitKeys = mostSplits(p, s);
    if (s.splitKeys > 1)
      boundSharers(p, s, menu.part);
  } else {
    s.splitKeys = splitsFor(p, s, menu.part);
    if (s.splitKeys > 1 && p.keysVary)
      s.splitFrom = leastSparedKeys(p, s, menu.part).value_or(0);
  }
  const bool pays = !p.rowsVary || p.keysVary || sharersOf(s, p.keys, 1) > 1;
  if (s.splitKeys > 1 && (s.splitFrom > 0 || !varies) && pays)
    menu.add(s);
  else if (varies)
    menu.add(alone);
}

std::vector<Schedule> mpcore::performance::writtenMenu(const AttentionProblem &p,
                                                       const Part &part) {
  Collector<AttentionProblem> menu{p, part};
  if (writtenUnit(part, p.format) != MatrixUnit::MmaSync)
    return {};
  for (auto [queries, warps] : {std::pair(128u, 4u), {128u, 8u}, {64u, 4u}, {32u, 2u}, {16u, 1u}}) {
    // 32 rows a warp leave no registers for the masks of a wider head: ptxas spills.
    if (queries / warps == 32 && p.headDim > 64)
      continue;
    if (queries < 64 && p.queries * p.heads > queries)
      continue; // fewer warps are for those that would have no row
    for (unsigned keys : {64u, 32u}) {
      AttentionSchedule s{MatrixUnit::MmaSync, queries, keys, warps, 2, 1, false};
      if (!p.keysVary && !p.rowsVary)
        menu.add(s);
      addShared(menu, s);
    }
  }
  return std::move(menu.found);
}

static std::vector<Schedule> menuOf(const MatmulProblem &p, const Part &part) {
  std::optional<MatrixUnit> unit = part.bestUnit(p.format);
  return unit ? menu(p, part, *unit, bestCopy(part, *unit)) : std::vector<Schedule>();
}

static std::vector<Schedule> menuOf(const MapProblem &p, const Part &part) {
  Collector<MapProblem> menu{p, part};
  for (unsigned perThread : {8, 16, 4, 32, 1})
    for (unsigned block : {256, 128, 512})
      menu.add(MapSchedule{16, perThread, block});
  return std::move(menu.found);
}

static std::vector<Schedule> menuOf(const RowProblem &p, const Part &part) {
  Collector<RowProblem> menu{p, part};
  for (Residence residence : {Residence::Registers, Residence::Shared, Residence::Reread})
    for (unsigned threads : {8, 16, 32, 64, 128, 256, 512, 1024}) {
      const unsigned rows = std::max(1u, 128 / threads);
      menu.add(RowSchedule{threads, rows, 16, residence});
    }
  return std::move(menu.found);
}

static std::vector<Schedule> menuOf(const ColumnReductionProblem &p, const Part &part) {
  Collector<ColumnReductionProblem> menu{p, part};
  for (unsigned columns : {64, 128, 256, 32})
    for (unsigned splits : {1, 2, 4, 8, 16, 32, 64, 128})
      if (splits == 1 || int64_t(splits) * 32 <= p.rows)
        menu.add(ColumnReductionSchedule{columns, splits, 256, 16});
  return std::move(menu.found);
}

static std::vector<Schedule> menuOf(const TransposeProblem &p, const Part &part) {
  Collector<TransposeProblem> menu{p, part};
  for (unsigned tile : {64, 32, 128})
    for (unsigned block : {256, 128})
      menu.add(TransposeSchedule{tile, block, 16});
  return std::move(menu.found);
}

static std::vector<Schedule> menuOf(const AttentionProblem &p, const Part &part) {
  Collector<AttentionProblem> menu{p, part};
  std::optional<MatrixUnit> unit = part.bestUnit(p.format);
  if (!unit || *unit == MatrixUnit::Fma)
    return {};
  if ((p.keysVary || p.rowsVary) && *unit == MatrixUnit::MmaSync)
    return writtenMenu(p, part);
  for (unsigned queries : {192, 128, 64})
    for (unsigned keys : {176, 128, 112, 96, 80, 64, 32})
      for (unsigned split : {1, 2, 4, 8, 16}) {
        if (split > 1 && p.keys < int64_t(2) * split * keys)
          continue;
        AttentionSchedule s{*unit, queries, keys, 4, 2, split, false};
        if (*unit == MatrixUnit::MmaSync) {
          for (s.warps = 8; s.warps >= 4; s.warps -= 4)
            menu.add(s);
        } else {
          s.overlapped = true;
          s.warps = std::max(4u, queries / 16);
          menu.add(s);
        }
      }
  return std::move(menu.found);
}

std::vector<Schedule> mpcore::performance::menu(const Problem &problem, const Part &part) {
  return std::visit([&](const auto &p) { return menuOf(p, part); }, problem);
}
