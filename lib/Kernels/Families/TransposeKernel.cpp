// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes transposing maps. A tile lies in shared memory by lines along the loop it was read along,
// of 16-byte chunks; chunk number k of line c lies at place k xor (c / vector mod 8). Eight lanes
// that store eight chunks of a line, and a warp whose lanes read eight neighbouring vectors of four
// lines' elements, then each use every bank at most once.

#include "TransposeKernel.h"

#include "../Build/Elements.h"
#include "../Build/Evaluate.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

static int64_t strideAlong(const StreamAccess &access, unsigned loop) {
  int dimension = access.type ? access.dimensionOf(loop) : -1;
  return dimension < 0 ? 0 : access.type.getStridesAndOffset().first[dimension];
}

/// The loop along which neighbouring elements are neighbours in memory, or -1.
static int fastLoop(const StreamPlan &plan, const StreamAccess &access) {
  for (unsigned loop = 0; loop < plan.loops.size(); ++loop)
    if (access.type && access.dimensionOf(loop) >= 0 && strideAlong(access, loop) == 1)
      return loop;
  return -1;
}

FailureOr<TransposeShape>
mlir::mp::shapeTranspose(const StreamPlan &plan, const StreamOperands &operands,
                         std::optional<mpcore::performance::TransposeSchedule> asked,
                         std::string &reason) {
  TransposeShape shape;
  static_cast<StreamOperands &>(shape) = operands;
  shape.plan = plan;
  const auto &[reads, writes] = operands;
  auto refuse = [&](const Twine &why) {
    reason = why.str();
    return failure();
  };
  if (!plan.levels.empty())
    return refuse("it reduces");
  if (plan.gathers)
    return refuse("it gathers");
  int across = fastLoop(plan, writes.front()), along = -1;
  if (across < 0 ||
      llvm::any_of(
          writes, [&](const StreamAccess &write) { return fastLoop(plan, write) != across; }))
    return refuse("its results do not lie along one loop");
  int64_t widest = 1, narrowest = 16;
  for (auto [i, read] : llvm::enumerate(reads)) {
    int fast = fastLoop(plan, read);
    if (fast < 0 || fast == across || read.dimensionOf(across) < 0)
      continue;
    if (along >= 0 && fast != along)
      continue; // read across, element by element
    along = fast;
    shape.staged.push_back(i);
    const int64_t bytes = llvm::divideCeil(read.type.getElementTypeBitWidth(), 8);
    widest = std::max(widest, bytes);
    narrowest = std::min(narrowest, bytes);
  }
  if (along < 0)
    return refuse("no operand of it lies across its results");
  auto isShort = [&](int loop) {
    int64_t size = plan.loops[loop].size;
    return !ShapedType::isDynamic(size) && size < 8;
  };
  if (!asked && (isShort(along) || isShort(across)))
    return refuse("a loop of it is shorter than a sector");
  shape.along = along;
  shape.across = across;
  for (unsigned loop = 0; loop < plan.loops.size(); ++loop)
    if (int(loop) != along && int(loop) != across)
      shape.batch.push_back(loop);
  shape.vector = 16 / widest;
  shape.tile = std::max(64u, 8 * shape.vector);
  if (asked) {
    shape.block = asked->block;
    shape.tile = asked->tile;
    if (shape.tile < 8 * shape.vector)
      return refuse("its schedule: expected tile to be " + Twine(8 * shape.vector) +
                    " or more, eight vectors of its elements, found " + Twine(shape.tile));
    // Each thread copies whole vectors of the narrowest elements, too.
    if (uint64_t most = uint64_t(shape.tile) * shape.tile * narrowest / 16; shape.block > most)
      return refuse("its schedule: expected block to be at most " + Twine(most) +
                    ", the vectors of a tile, found " + Twine(shape.block));
  }
  if (shape.staged.size() * shape.tile * shape.tile * widest > 48 * 1024)
    return refuse("its tiles need more shared memory than a block has");
  return shape;
}

namespace {

class TransposeKernel : Evaluate::Source {
public:
  TransposeKernel(KernelFunction &kernel, const TransposeShape &shape, const MathForms &forms)
      : k(kernel), d(kernel.d), s(shape), evaluate(kernel.d.b, *this, forms) {}

  void emit() {
    thread = k.thread();
    place();
    stage();
    k.barrier();
    computeItems();
  }

private:
  Value sizeOf(unsigned loop) { return k.extent(s.plan, {loop}); }
  Value tilesAlong(unsigned loop) {
    int64_t size = s.plan.loops[loop].size;
    if (!ShapedType::isDynamic(size))
      return d.ix(llvm::divideCeil(size, s.tile));
    return d.div(d.add(sizeOf(loop), d.ix(s.tile - 1)), d.ix(s.tile));
  }

  /// Tiles along `across` are the fastest, then those along `along`, then the other loops.
  void place() {
    Value rest = d.widen(k.block());
    Value acrossTiles = tilesAlong(s.across), alongTiles = tilesAlong(s.along);
    first[s.across] = d.mul(d.rem(rest, acrossTiles), d.ix(s.tile));
    rest = d.div(rest, acrossTiles);
    if (s.batch.empty()) {
      first[s.along] = d.mul(rest, d.ix(s.tile));
      return;
    }
    first[s.along] = d.mul(d.rem(rest, alongTiles), d.ix(s.tile));
    rest = d.div(rest, alongTiles);
    for (size_t i = s.batch.size(); i-- > 0;) {
      Value size = sizeOf(s.batch[i]);
      first[s.batch[i]] = i == 0 ? rest : d.rem(rest, size);
      rest = i == 0 ? rest : d.div(rest, size);
    }
  }

  /// Address of the element at these indices of `along` and `across`.
  Value pointer(const StreamAccess &access, Value along, Value across) {
    const KernelOperand &operand = k.operands[access.operand];
    Value sum = d.ix(operand.offset);
    for (auto [dimension, loop] : llvm::enumerate(access.dims)) {
      if (loop < 0)
        continue;
      Value index = unsigned(loop) == s.along    ? along
                    : unsigned(loop) == s.across ? across
                                                 : first[loop];
      sum = d.add(sum, d.mul(index, d.ix(operand.strides[dimension])));
    }
    return d.advance(operand.pointer, sum, operand.bytes());
  }

  /// Null if all tiles are full along the loop by a multiple of `step`.
  Value inside(unsigned loop, Value index) {
    int64_t size = s.plan.loops[loop].size;
    if (!ShapedType::isDynamic(size) && size % s.tile == 0)
      return {};
    return d.less(index, sizeOf(loop));
  }

  int64_t widthAlong(const StreamAccess &access, unsigned loop, int64_t most) {
    if (strideAlong(access, loop) != 1)
      return 1;
    int64_t width = k.operands[access.operand].alignment(
        most, [&](unsigned dimension) { return access.dims[dimension] == int(loop); });
    int64_t size = s.plan.loops[loop].size;
    while (width > 1 && (ShapedType::isDynamic(size) || size % width != 0))
      width /= 2;
    return width;
  }

  /// Byte of element (along, across) of a tile, both i32.
  Value sharedPlace(Value along, Value across, int64_t bytes) {
    Value chunk = d.div(along, d.i32(16 / bytes));
    Value turned = d.rem(d.div(across, d.i32(s.vector)), d.i32(8));
    chunk = d.b.createOrFold<arith::XOrIOp>(chunk, turned);
    Value inChunk = d.mul(d.rem(along, d.i32(16 / bytes)), d.i32(bytes));
    Value line = d.mul(across, d.i32(s.tile * bytes));
    return d.add(d.add(line, d.mul(chunk, d.i32(16))), inChunk);
  }

  /// Copies the tiles of operands that lie along `along`.
  void stage() {
    int64_t room = 0;
    SmallVector<int64_t> starts;
    for (unsigned read : s.staged) {
      starts.push_back(room);
      room += int64_t(s.tile) * s.tile * k.operands[s.reads[read].operand].bytes();
    }
    Value shared = k.sharedRoom(room);
    for (auto [read, start] : llvm::zip_equal(s.staged, starts)) {
      tiles[read] = start == 0 ? shared : d.advanceBytes(shared, start);
      stageTile(s.reads[read], tiles[read]);
    }
  }

  void stageTile(const StreamAccess &access, Value tile) {
    const KernelOperand &operand = k.operands[access.operand];
    const int64_t bytes = operand.bytes(), width = widthAlong(access, s.along, 16 / bytes);
    Type type = d.accessType(width * bytes);
    if (width * bytes == 1)
      type = d.b.getI8Type();
    const int64_t items = int64_t(s.tile) * s.tile / width;
    SmallVector<std::pair<Value, Value>> copies; // all loads before the first store
    for (int64_t i = 0; i < items / s.block; ++i) {
      Value item = d.add(thread, d.i32(i * s.block));
      Value along = d.mul(d.rem(item, d.i32(s.tile / width)), d.i32(width));
      Value across = d.div(item, d.i32(s.tile / width));
      Value alongAll = d.add(first[s.along], d.widen(along));
      Value acrossAll = d.add(first[s.across], d.widen(across));
      Value ok = d.logicalAnd(inside(s.along, alongAll), inside(s.across, acrossAll));
      Value loaded = guarded(ok, type, [&] {
        return d.load(type, pointer(access, alongAll, acrossAll), width * bytes, access.isConstant);
      });
      copies.push_back({loaded, sharedPlace(along, across, bytes)});
    }
    for (auto [value, place] : copies)
      d.store(value, d.advance(tile, place, 1), width * bytes);
  }

  Value guarded(Value ok, Type type, function_ref<Value()> make) {
    return k.where(ok, type, [&]() -> SmallVector<Value> { return {make()}; })[0];
  }

  /// Each thread computes vectors along `across`: eight neighbouring vectors in neighbouring lanes,
  /// then the next element along `along`.
  void computeItems() {
    const unsigned items = s.tile * s.tile / s.vector / s.block;
    for (unsigned i = 0; i < items; ++i) {
      Value item = d.add(thread, d.i32(i * s.block));
      Value along = d.rem(d.div(item, d.i32(8)), d.i32(s.tile));
      Value panel = d.div(item, d.i32(8 * s.tile));
      Value across = d.mul(d.add(d.rem(item, d.i32(8)), d.mul(panel, d.i32(8))), d.i32(s.vector));
      held.push_back({along, across, d.add(first[s.along], d.widen(along)),
                      d.add(first[s.across], d.widen(across))});
      storeItem(i);
    }
  }

  void storeItem(unsigned item) {
    for (auto [result, access] : llvm::zip_equal(s.plan.results, s.writes)) {
      const int64_t bytes = k.operands[access.operand].bytes();
      const int64_t width = widthAlong(access, s.across, s.vector);
      for (unsigned at = 0; at < s.vector; at += width) {
        SmallVector<Value> elements;
        for (unsigned q = 0; q < width; ++q)
          elements.push_back(
              toMemory(d, evaluate.at(result, {item, item * s.vector + at + unsigned(q)})));
        Value across = d.add(held[item].acrossAll, d.ix(at));
        // Vectors are whole where sizes are multiples of them; else elements end where the loop
        // does.
        Value ok = d.logicalAnd(inside(s.along, held[item].alongAll), inside(s.across, across));
        OpBuilder::InsertionGuard restore(d.b);
        if (ok) {
          auto branch = scf::IfOp::create(d.b, ok, /*withElseRegion=*/false);
          d.b.setInsertionPointToStart(branch.thenBlock());
        }
        d.store(packVector(d, elements), pointer(access, held[item].alongAll, across),
                width * bytes);
      }
    }
  }

  Value read(Value tensor, Point point) override {
    unsigned number = cast<BlockArgument>(tensor).getArgNumber();
    const StreamAccess &access = s.reads[number];
    const KernelOperand &operand = k.operands[access.operand];
    if (!access.type)
      return operand.scalar;
    const Item &item = held[point.row];
    const unsigned q = point.column % s.vector;
    Type type = memoryType(d.b, operand.element());
    if (auto tile = tiles.find(number); tile != tiles.end()) {
      Value place = sharedPlace(item.along, item.across, operand.bytes());
      // The swizzle is the same for all lines of a vector.
      place = d.add(place, d.i32(int64_t(q) * s.tile * operand.bytes()));
      return fromMemory(d, d.load(type, d.advance(tile->second, place, 1), operand.bytes()),
                        operand.element());
    }
    Value across = d.add(item.acrossAll, d.ix(q));
    Value ok = d.logicalAnd(inside(s.along, item.alongAll), inside(s.across, across));
    Value loaded = guarded(ok, type, [&] {
      return d.load(type, pointer(access, item.alongAll, across), operand.bytes(),
                    access.isConstant);
    });
    return fromMemory(d, loaded, operand.element());
  }

  Value gather(BlockArgument, ValueRange, Point, unsigned) override {
    llvm_unreachable("shapeTranspose refuses gathers");
  }

  Value index(Operation *op, unsigned loop, Point point) override {
    int own = s.plan.opLoops.lookup(op)[loop];
    Value flat = own < 0                    ? d.ix(0)
                 : unsigned(own) == s.along ? held[point.row].alongAll
                 : unsigned(own) == s.across
                     ? d.add(held[point.row].acrossAll, d.ix(point.column % s.vector))
                     : first[own];
    return arith::IndexCastOp::create(d.b, d.b.getIndexType(), flat);
  }

  /// `along` is the loop of rows here, `across` that of columns.
  unsigned bitsOf(int loop) const {
    return loop < 0                     ? kUniform
           : unsigned(loop) == s.along  ? kAlongRows
           : unsigned(loop) == s.across ? kAlongColumns
                                        : kUniform;
  }
  unsigned varies(Value tensor) override {
    unsigned bits = kUniform;
    for (int loop : s.plan.dims.lookup(tensor))
      bits |= bitsOf(loop);
    return bits;
  }
  unsigned varies(Operation *op, unsigned loop) override {
    return bitsOf(s.plan.opLoops.lookup(op)[loop]);
  }

  /// A thread's vector: its place in the tile (i32) and in the loops.
  struct Item {
    Value along, across, alongAll, acrossAll;
  };

  KernelFunction &k;
  DeviceBuilder &d;
  const TransposeShape &s;
  Evaluate evaluate;
  Value thread;
  DenseMap<unsigned, Value> first; ///< index of each loop at the tile's first element
  DenseMap<unsigned, Value> tiles; ///< in shared memory, by read
  SmallVector<Item> held;
};

} // namespace

gpu::GPUFuncOp mlir::mp::emitTransposeKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                             const TransposeShape &shape, TypeRange operands,
                                             const MathForms &forms) {
  KernelFunction kernel(module, loc, name, operands, shape.block);
  TransposeKernel(kernel, shape, forms).emit();
  return kernel.function;
}

Value mlir::mp::transposeBlocks(OpBuilder &host, Location loc, const TransposeShape &shape,
                                ValueRange operands) {
  Value blocks = hostExtent(host, loc, shape.plan, shape.batch, operands);
  Value tile = arith::ConstantIndexOp::create(host, loc, shape.tile);
  for (unsigned loop : {shape.along, shape.across})
    blocks = host.createOrFold<arith::MulIOp>(
        loc, blocks,
        host.createOrFold<arith::CeilDivUIOp>(
            loc, hostExtent(host, loc, shape.plan, {loop}, operands), tile));
  return blocks;
}
