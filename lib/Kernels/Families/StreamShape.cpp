// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merges loops, and chooses vectors and threads of kernels of rows and maps.

#include "StreamShape.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::mp;
using mpcore::performance::Residence;

int StreamAccess::dimensionOf(unsigned loop) const {
  auto it = llvm::find(dims, int(loop));
  return it == dims.end() ? -1 : int(it - dims.begin());
}

void StreamShape::print(llvm::raw_ostream &os) const {
  os << threadsPerRow << " threads a row " << (lanesAlongColumns ? "" : "across rows ") << "x "
     << rowsPerBlock << " rows, vectors of " << vector << ", " << chunks << " held, "
     << (tiled   ? "tiled"
         : whole ? "whole rows"
                 : "rows read again");
}

namespace {

int64_t bytesOf(MemRefType type) {
  return llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8);
}

int64_t strideOf(const StreamAccess &access, int dimension) {
  return access.type.getStridesAndOffset().first[dimension];
}

/// True if `inner` continues `outer` in the operand, or neither is in it.
bool merges(const StreamAccess &access, unsigned outer, unsigned inner, int64_t innerSize) {
  if (!access.type)
    return true;
  int x = access.dimensionOf(outer), y = access.dimensionOf(inner);
  if (x < 0 && y < 0)
    return true;
  if (x < 0 || y < 0)
    return false;
  if (access.type.getLayout().isIdentity()) { // dynamic sizes, too
    for (int between = x + 1; between < y; ++between)
      if (access.type.getDimSize(between) != 1)
        return false;
    return x < y;
  }
  int64_t outerStride = strideOf(access, x), innerStride = strideOf(access, y);
  return !ShapedType::isDynamic(outerStride) && !ShapedType::isDynamic(innerStride) &&
         !ShapedType::isDynamic(innerSize) && outerStride == innerStride * innerSize;
}

class Shaper {
public:
  Shaper(StreamShape &shape, const StreamChoice &choice) : s(shape), choice(choice) {}

  void run() {
    const bool isMap = s.plan.levels.empty();
    if (isMap) {
      s.rowGroups = merge(s.plan.rows);
      if (!s.rowGroups.empty()) {
        s.columnGroups = {s.rowGroups.pop_back_val()};
        s.plan.columns.assign(s.columnGroups[0].begin(), s.columnGroups[0].end());
        llvm::erase_if(s.plan.rows,
                       [&](unsigned loop) { return llvm::is_contained(s.plan.columns, loop); });
      }
    } else {
      s.rowGroups = merge(s.plan.rows);
      s.columnGroups = merge(s.plan.columns);
    }
    s.rows = s.plan.extent(s.plan.rows);
    s.columns = s.plan.extent(s.plan.columns);
    s.lanesAlongColumns = isMap || alongColumns();
    chooseVector();
    if (isMap)
      chooseMap();
    else
      chooseRows();
  }

private:
  SmallVector<LoopGroup> merge(ArrayRef<unsigned> loops) {
    SmallVector<LoopGroup> groups;
    for (unsigned loop : loops) {
      bool one = !groups.empty();
      for (ArrayRef<StreamAccess> accesses : {ArrayRef(s.reads), ArrayRef(s.writes)})
        for (const StreamAccess &access : accesses)
          one = one && merges(access, groups.back().back(), loop, s.plan.loops[loop].size);
      if (one)
        groups.back().push_back(loop);
      else
        groups.push_back({loop});
    }
    return groups;
  }

  /// Neighbours in memory are neighbouring columns, or there are no others.
  bool alongColumns() const {
    if (s.columnGroups.empty() || s.rowGroups.empty())
      return true;
    bool rowsLieCloser = false;
    for (const StreamAccess &access : s.reads) {
      if (!access.type)
        continue;
      int column = access.dimensionOf(s.columnGroups.back().back());
      int row = access.dimensionOf(s.rowGroups.back().back());
      if (column < 0 || row < 0)
        continue;
      if (strideOf(access, column) == 1)
        return true;
      rowsLieCloser |= strideOf(access, row) == 1;
    }
    return !rowsLieCloser;
  }

  /// Elements that an access of neighbouring columns can move at once.
  int64_t widest(const StreamAccess &access) const {
    if (!access.type)
      return 1;
    unsigned inner = s.columnGroups.back().back();
    int column = access.dimensionOf(inner);
    if (column < 0 || strideOf(access, column) != 1)
      return 1;
    int64_t width = 16 / std::min<int64_t>(bytesOf(access.type), 16);
    auto [strides, offset] = access.type.getStridesAndOffset();
    auto suits = [&](int64_t value) {
      while (width > 1 && (ShapedType::isDynamic(value) || value % width != 0))
        width /= 2;
    };
    suits(offset);
    for (auto [i, stride] : llvm::enumerate(strides))
      if (int(i) != column && access.type.getDimSize(i) != 1 && access.dims[i] >= 0 &&
          !llvm::is_contained(s.columnGroups.back(), unsigned(access.dims[i])))
        suits(stride);
    return width;
  }

  void chooseVector() {
    s.vector = 1;
    if (s.columnGroups.empty() || !s.lanesAlongColumns)
      return;
    const int64_t asked = choice.rows  ? choice.rows->vectorBytes
                          : choice.map ? choice.map->vectorBytes
                                       : 16;
    // The widest elements fill that many bytes: more of them would take two accesses that each
    // touch all sectors of the other.
    int64_t inner = s.plan.extent(s.columnGroups.back()), width = 1, most = 16;
    for (ArrayRef<StreamAccess> accesses : {ArrayRef(s.reads), ArrayRef(s.writes)})
      for (const StreamAccess &access : accesses)
        if (int64_t own = widest(access); own > 1) {
          width = std::max(width, own);
          most = std::min(most, std::max<int64_t>(asked / bytesOf(access.type), 1));
        }
    width = std::min(width, most);
    while (width > 1 && (ShapedType::isDynamic(inner) || inner % width != 0))
      width /= 2;
    s.vector = width;
  }

  void chooseMap() {
    using mpcore::performance::MapSchedule;
    MapSchedule asked = choice.map.value_or(MapSchedule{16, 16, 256});
    s.chunks = llvm::divideCeil(asked.elementsPerThread, s.vector);
    const unsigned block = asked.block;
    // Short rows share a block.
    const bool isShort = !ShapedType::isDynamic(s.columns) && s.columns < int64_t(block) * s.vector;
    s.threadsPerRow =
        isShort ? std::min<uint64_t>(block, llvm::bit_ceil(uint64_t(std::max<int64_t>(
                                                llvm::divideCeil(s.columns, s.vector), 1))))
                : block;
    s.rowsPerBlock = block / s.threadsPerRow;
    if (isShort)
      s.chunks = 1;
    s.tiled = true;
    s.whole = true;
  }

  /// Threads for a row of known length: as many elements each as it may hold, and a warp as long as
  /// that lasts.
  unsigned threadsFor(int64_t columns, int64_t mostHeld) const {
    uint64_t vectors = std::max<int64_t>(llvm::divideCeil(columns, s.vector), 1);
    if (columns <= 32 * mostHeld)
      return std::min<uint64_t>(32, llvm::bit_ceil(vectors));
    return std::min<uint64_t>(1024, llvm::bit_ceil(uint64_t(llvm::divideCeil(columns, mostHeld))));
  }

  void chooseRows() {
    const bool known = !ShapedType::isDynamic(s.columns);
    // Sums alone keep none of their elements.
    const bool sumsOnly = llvm::none_of(
        s.plan.results, [&](Value result) { return s.plan.varies(result) & kAlongColumns; });
    const int64_t mostHeld =
        sumsOnly && s.plan.levels.size() == 1 ? 64 : mpcore::performance::kMostElementsHeld;
    if (choice.ordered) {
      s.threadsPerRow = 1;
      s.rowsPerBlock = 128;
    } else if (!s.lanesAlongColumns) {
      s.threadsPerRow =
          known ? std::min<uint64_t>(8, llvm::bit_ceil(uint64_t(std::max<int64_t>(s.columns, 1))))
                : 8;
      s.rowsPerBlock = 32;
    } else if (choice.rows) {
      s.threadsPerRow = choice.rows->threadsPerRow;
      s.rowsPerBlock = choice.rows->rowsPerBlock;
    } else {
      s.threadsPerRow = known ? threadsFor(s.columns, mostHeld) : 128;
      s.rowsPerBlock = std::max(1u, 128 / s.threadsPerRow);
    }
    int64_t each = known ? llvm::divideCeil(s.columns, int64_t(s.threadsPerRow) * s.vector) : 0;
    s.whole = known && each * s.vector <= std::max<int64_t>(mostHeld, s.vector) &&
              !(choice.rows && choice.rows->residence == Residence::Reread);
    s.chunks = s.whole ? std::max<int64_t>(each, 1) : std::max(1u, 8 / s.vector);
    if (choice.ordered && !s.whole)
      s.chunks = 1;
    // A block reads so many elements in the time that a second launch takes, as modelled.
    constexpr int64_t ofALaunch = 1 << 16;
    if (sumsOnly && s.plan.levels.size() == 1 && !choice.ordered && !s.whole &&
        (!choice.rows || s.columns > ofALaunch))
      chooseSplits();
  }

  /// As many blocks as a large GPU runs at once, each with a few turns at least.
  void chooseSplits() {
    constexpr int64_t enoughBlocks = 264;
    if (ShapedType::isDynamic(s.rows) || ShapedType::isDynamic(s.columns) || s.rows == 0)
      return;
    int64_t blocks = llvm::divideCeil(s.rows, s.rowsPerBlock);
    int64_t turns = llvm::divideCeil(s.columns, 2 * s.span());
    s.splits = std::max<int64_t>(1, std::min(enoughBlocks / blocks, turns));
  }

  StreamShape &s;
  const StreamChoice &choice;
};

} // namespace

/// Elements that a kernel can load and store: whole bytes, or bits that lie in bytes of their own.
static bool isPlain(Type element) {
  return isa<FloatType, IntegerType>(element) && element.getIntOrFloatBitWidth() <= 64 &&
         (element.getIntOrFloatBitWidth() % 8 == 0 || element.isInteger(1)) &&
         llvm::isPowerOf2_32(element.getIntOrFloatBitWidth());
}

FailureOr<StreamOperands> mlir::mp::accessesOf(const StreamPlan &plan, Block &body,
                                               TypeRange operands, std::string &reason) {
  for (Type type : operands) {
    auto buffer = dyn_cast<MemRefType>(type);
    if (buffer && !isPlain(buffer.getElementType())) {
      llvm::raw_string_ostream(reason) << "its elements are " << buffer.getElementType();
      return failure();
    }
  }
  auto access = [&](unsigned operand, Value value) {
    StreamAccess made{operand, dyn_cast<MemRefType>(operands[operand]), {}, false};
    if (made.type)
      made.dims = plan.dims.lookup(value);
    return made;
  };
  StreamOperands made;
  for (BlockArgument argument : body.getArguments()) {
    made.reads.push_back(access(argument.getArgNumber(), argument));
    if (argument.use_empty() || !plan.dims.count(argument))
      made.reads.back().type = MemRefType();
  }
  const unsigned inputs = operands.size() - plan.results.size();
  for (auto [i, result] : llvm::enumerate(plan.results))
    made.writes.push_back(access(inputs + i, result));
  return made;
}

StreamShape mlir::mp::shapeStream(const StreamPlan &plan, const StreamOperands &operands,
                                  const StreamChoice &choice) {
  StreamShape shape;
  static_cast<StreamOperands &>(shape) = operands;
  shape.plan = plan;
  Shaper(shape, choice).run();
  return shape;
}
