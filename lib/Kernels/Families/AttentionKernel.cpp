// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes attention kernels. A block keeps some rows of query and goes through the keys:
//   1. scores = query key, in registers; then the copies of a later tile are started
//   2. logits = the elementwise ops around scores and masks, keys beyond the end at minus infinity
//   3. probabilities = exp(logits - maximum so far); a warp whose maximum grew rescales its output
//   4. output += probabilities value, which go from one product to the other in registers
// and, behind the last tile, divides by the sum and writes what the ops behind make of that. One
// barrier a tile says both that all have read it and that the next one has arrived.
//
// Tiles in which no query of the block sees a key are left out where the mask compares indices. If
// such a key has a finite logit and some row has none that exceeds it by far (a row that is masked
// whole), the block goes through all keys after all.

#include "AttentionKernel.h"

#include "AttentionLogits.h"
#include "AttentionParts.h"
#include "AttentionProducts.h"
#include "AttentionResult.h"
#include "SeenTiles.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class AttentionKernel {
public:
  AttentionKernel(KernelFunction &kernel, const AttentionShape &shape, const MathForms &forms)
      : k(kernel), d(kernel.d), s(shape), p(shape.plan), products(k, s), query(products.query),
        key(products.key), value(products.value), logits(k, s, forms), seen(k, s) {
    softmax.emplace(d, forms.approximate, foldedScale(p, forms));
    if (s.splits > 1)
      parts.emplace(k, s);
    if (s.splits == 1 || s.splitFrom != 0)
      result.emplace(k, p, forms);
  }

  void emit() {
    locate();
    finish(seen.goThrough([&](Value all) -> SeenTiles::Outcome {
      boundTiles(all);
      fill();
      SmallVector<Value> carried = loop();
      carried.truncate(rowTiles() * headTiles() * 4 + 2 * rows());
      SmallVector<Value> maxima;
      for (const SoftmaxRow &row : unpack(carried).rows)
        maxima.push_back(row.maximum);
      return {carried, maxima};
    }));
  }

private:
  unsigned rowTiles() const { return s.rowsOfWarp() / 16; }
  unsigned rows() const { return 2 * rowTiles(); }  ///< of a lane
  unsigned columns() const { return s.atOnce / 4; } ///< keys of a lane, at once
  unsigned headTiles() const { return s.width() / 8; }
  int64_t stageBytes() const { return int64_t(key.tile().bytes()) + value.tile().bytes(); }

  Value base(BlockArgument argument) {
    Value sum = d.ix(k.operands[argument.getArgNumber()].offset);
    for (unsigned loop : p.batch)
      sum = d.add(sum, d.mul(batchIndex[loop], d.ix(stepAlong(k, p, argument, loop))));
    return sum;
  }

  /// Rows of a batch follow each other, so that blocks that run at once share keys and values.
  void locate() {
    thread = k.thread();
    lane = d.rem(thread, 32);
    warp = d.div(thread, 32);
    Value block = k.block();
    keyCount = k.extent(p, p.keys);
    if (parts) { // of a row follow each other
      sharers = d.narrow(sharersOf(k, s));
      part = d.rem(block, sharers);
      block = d.div(block, sharers);
    }
    block = d.widen(block);
    rowCount = k.extent(p, p.rows);
    Value blocks = d.div(d.add(rowCount, int64_t(s.queries) - 1), int64_t(s.queries));
    Value tile = d.rem(block, blocks);
    if (seen.growsWithRows()) // the longest first
      tile = d.sub(d.sub(blocks, d.ix(1)), tile);
    firstRow = d.mul(tile, int64_t(s.queries));
    batch = d.div(block, blocks);
    batchIndex = AttentionResult::indicesOf(k, p, p.batch, batch);
    logits.setBatch(batchIndex);
    if (result)
      result->setBatch(batchIndex);
    logits.setKeys(keyCount,
                   d.narrow(d.div(d.add(keyCount, int64_t(s.keys) - 1), int64_t(s.keys))));
    // Rows and columns of accumulators: lane / 4 and twice lane % 4.
    Value first =
        d.add(firstRow, d.widen(d.add(d.mul(warp, int64_t(s.rowsOfWarp())), d.div(lane, 4))));
    laneColumn = d.mul(d.rem(lane, 4), 2);
    for (unsigned row = 0; row < rows(); ++row) {
      rowNumber.push_back(d.add(first, int64_t(row / 2 * 16 + row % 2 * 8)));
      placeRow(rowNumber.back());
    }
  }

  /// Indices of the loops of a row; those of the last for rows beyond the end.
  void placeRow(Value number) {
    DenseMap<unsigned, Value> indices =
        AttentionResult::indicesOf(k, p, p.rows, d.min(number, d.sub(rowCount, d.ix(1))));
    logits.addRow(indices);
    if (result)
      result->addRow(indices);
  }

  /// Chooses the tiles that the loop goes through, all of them if `all` holds.
  void boundTiles(Value all) {
    tiles = seen.range(firstRow, rowCount, keyCount, all, part, sharers);
    Value before = d.mul(d.widen(tiles.first), int64_t(s.keys));
    auto start = [&](BlockArgument argument) {
      Value from = base(argument);
      if (p.keys.empty())
        return from;
      return d.add(from, d.mul(before, d.ix(stepAlong(k, p, argument, p.keys[0]))));
    };
    query.prepare(base(p.query), firstRow, thread, lane, warp);
    key.prepare(start(p.key), thread, lane, /*sumsHead=*/true);
    value.prepare(start(p.value), thread, lane, /*sumsHead=*/false);
  }

  void commit() {
    if (s.hasAsyncCopies)
      NVVM::CpAsyncCommitGroupOp::create(d.b);
  }

  void synchronize() {
    if (s.hasAsyncCopies)
      NVVM::CpAsyncWaitGroupOp::create(d.b, d.b.getI32IntegerAttr(int32_t(s.stages) - 2));
    gpu::BarrierOp::create(d.b);
  }

  /// Lists the copies of tile `number` of keys and values.
  void listTile(Value stage, Value number, Value keyAt, Value valueAt,
                SmallVectorImpl<Work> &work) {
    key.list(stage, 0, keyAt, number, tiles.end, work);
    value.list(stage, key.tile().bytes(), valueAt, number, tiles.end, work);
  }

  void fill() {
    Value shared = k.dynamicShared();
    ring = d.add(shared, query.bytes());
    SmallVector<Work> work;
    query.list(shared, work);
    for (unsigned ahead = 0; ahead + 1 < s.stages; ++ahead) {
      listTile(d.add(ring, ahead * stageBytes()), d.add(tiles.first, int64_t(ahead)),
               key.copies().advance(key.copies().start(), int(ahead)),
               value.copies().advance(value.copies().start(), int(ahead)), work);
      for (const Work &item : work)
        item();
      work.clear();
      commit();
    }
    synchronize();
    products.setQuery(shared);
  }

  /// Holds the values that the loop over tiles carries.
  struct State {
    SmallVector<Value> output; ///< accumulators: registers of tile (row tile, head tile)
    SmallVector<SoftmaxRow> rows;
    Value read, write;    ///< stages
    Value keyAt, valueAt; ///< pointers of the copies
  };
  static SmallVector<Value> pack(const State &state) {
    SmallVector<Value> values(state.output);
    for (const SoftmaxRow &row : state.rows)
      llvm::append_values(values, row.maximum, row.sum);
    for (Value v : {state.read, state.write, state.keyAt, state.valueAt})
      if (v)
        values.push_back(v);
    return values;
  }
  State unpack(ValueRange values) {
    State state;
    auto next = [&] {
      Value v = values.front();
      values = values.drop_front();
      return v;
    };
    for (unsigned i = 0; i < rowTiles() * headTiles() * 4; ++i)
      state.output.push_back(next());
    for (unsigned i = 0; i < rows(); ++i) {
      Value maximum = next();
      state.rows.push_back({maximum, next()});
    }
    if (values.empty()) // behind the loop
      return state;
    state.read = next();
    state.write = next();
    state.keyAt = key.copies().start() ? next() : Value();
    state.valueAt = value.copies().start() ? next() : Value();
    return state;
  }

  SmallVector<Value> loop() {
    const int ahead = int(s.stages) - 1;
    State start;
    start.output.assign(rowTiles() * headTiles() * 4, d.zero(d.b.getF32Type()));
    for (unsigned i = 0; i < rows(); ++i)
      start.rows.push_back(softmax->begin());
    start.read = ring;
    start.write = d.add(ring, ahead * stageBytes());
    start.keyAt = key.copies().advance(key.copies().start(), ahead);
    start.valueAt = value.copies().advance(value.copies().start(), ahead);
    auto made = scf::ForOp::create(d.b, tiles.first, tiles.end, d.i32(1), pack(start));
    keepWhole(made);
    logits.hoistBefore(made);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(made.getBody());
    State state = unpack(made.getRegionIterArgs());
    step(made.getInductionVar(), state);
    scf::YieldOp::create(d.b, pack(state));
    return llvm::to_vector_of<Value>(made.getResults());
  }

  void step(Value number, State &state) {
    SmallVector<Work> work;
    listTile(state.write, d.add(number, int64_t(s.stages) - 1), state.keyAt, state.valueAt, work);
    const unsigned parts = s.keys / s.atOnce;
    for (unsigned part = 0; part < parts; ++part) {
      // Copies follow the products of each part. Between loads of fragments of a tile, ptxas would
      // put three instructions before each one on sm_80.
      ArrayRef<Work> all(work);
      const size_t from = all.size() * part / parts, to = all.size() * (part + 1) / parts;
      const unsigned firstKey = part * s.atOnce;
      SmallVector<Value> x = products.scores(state.read, firstKey);
      for (const Work &item : all.slice(from, to - from))
        item();
      logits.replace(x, number, firstKey, laneColumn);
      rescale(state, takeColumns(state, x));
      products.addOutput(state.output, x, state.read, firstKey);
    }
    commit();
    synchronize();
    Value end = d.add(ring, int64_t(s.stages) * stageBytes());
    Value following = d.add(state.read, stageBytes());
    state.write = state.read;
    state.read = d.select(d.equal(following, end), ring, following);
    state.keyAt = key.copies().advance(state.keyAt, 1);
    state.valueAt = value.copies().advance(state.valueAt, 1);
  }

  /// Makes probabilities of logits; the factor of each row's output.
  SmallVector<Value> takeColumns(State &state, MutableArrayRef<Value> x) {
    const unsigned tiles = s.atOnce / 8;
    SmallVector<Value> factors;
    for (unsigned row = 0; row < rows(); ++row) {
      SmallVector<Value> line;
      for (unsigned column = 0; column < columns(); ++column)
        line.push_back(x[accumulatorOf(row, column, tiles)]);
      factors.push_back(softmax->take(state.rows[row], line));
      for (unsigned column = 0; column < columns(); ++column)
        x[accumulatorOf(row, column, tiles)] = line[column];
    }
    return factors;
  }

  /// Multiplies the output, unless no row of the warp has a factor but one, which changes no bit.
  void rescale(State &state, ArrayRef<Value> factors) {
    Value one = arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(1)), any;
    for (Value factor : factors) {
      Value differs = arith::CmpFOp::create(d.b, arith::CmpFPredicate::UNE, factor, one);
      any = any ? arith::OrIOp::create(d.b, any, differs).getResult() : differs;
    }
    any = NVVM::VoteSyncOp::create(d.b, d.b.getI1Type(), d.i32(-1), any, NVVM::VoteSyncKind::any);
    auto branch =
        scf::IfOp::create(d.b, SmallVector<Type>(state.output.size(), d.b.getF32Type()), any,
                          /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(d.b, state.output);
    d.b.setInsertionPointToStart(branch.thenBlock());
    SmallVector<Value> scaled;
    for (auto [i, value] : llvm::enumerate(state.output)) {
      unsigned row = i / 4 / headTiles() * 2 + i % 4 / 2;
      scaled.push_back(arith::MulFOp::create(d.b, value, factors[row]));
    }
    scf::YieldOp::create(d.b, scaled);
    state.output.assign(branch.getResults().begin(), branch.getResults().end());
  }

  /// Divides by the sums and writes the results, or leaves both for the kernel that merges parts.
  void finish(ValueRange carried) {
    State state = unpack(carried);
    SmallVector<Value> totals, columns;
    for (const SoftmaxRow &row : state.rows)
      totals.push_back(softmax->total(row));
    for (unsigned column = 0; column < headTiles() * 2; ++column)
      columns.push_back(d.add(d.widen(laneColumn), int64_t(column / 2 * 8 + column % 2)));
    for (unsigned row = 0; row < rows(); ++row) {
      OpBuilder::InsertionGuard guard(d.b);
      enterIf(rowNumber[row]);
      auto held = [&](unsigned column) {
        return state.output[accumulatorOf(row, column, headTiles())];
      };
      auto store = [&] {
        result->store(row, columns, [&](unsigned column) -> Value {
          return divideRow(d, p, held(column), totals[row]);
        });
      };
      auto leave = [&] { leavePart(row, columns, held, state.rows[row].maximum, totals[row]); };
      if (parts && result)
        either(d.equal(sharers, d.i32(1)), store, leave);
      else
        result ? store() : leave();
    }
  }

  void either(Value condition, function_ref<void()> one, function_ref<void()> other) {
    auto branch = scf::IfOp::create(d.b, condition, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(branch.thenBlock());
    one();
    d.b.setInsertionPointToStart(branch.elseBlock());
    other();
  }

  void leavePart(unsigned row, ArrayRef<Value> columns, function_ref<Value(unsigned)> held,
                 Value maximum, Value total) {
    Value number = parts->rowOf(batch, rowNumber[row]);
    for (unsigned column = 0; column < columns.size(); column += 2)
      parts->putOutput(part, number, columns[column], held(column), held(column + 1));
    Value isFirst = d.equal(laneColumn, d.i32(0)); // of the four lanes of a row
    auto branch = scf::IfOp::create(d.b, isFirst, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
    parts->putStatistics(part, number, maximum, total);
  }

  void enterIf(Value row) {
    int64_t extent = p.extent(p.rows);
    if (!ShapedType::isDynamic(extent) && extent % s.queries == 0)
      return;
    auto branch = scf::IfOp::create(d.b, d.less(row, rowCount), /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }

  KernelFunction &k;
  DeviceBuilder &d;
  const AttentionShape &s;
  const AttentionPlan &p;
  AttentionProducts products;
  QueryTile &query;
  KeyTiles &key, &value;
  AttentionLogits logits;
  std::optional<AttentionResult> result; ///< if the block may see all keys
  std::optional<AttentionParts> parts;   ///< if it may not
  std::optional<OnlineSoftmax> softmax;
  SeenTiles seen;
  Value thread, lane, warp, laneColumn, rowCount, firstRow, keyCount, ring;
  Value batch; ///< number of it
  DenseMap<unsigned, Value> batchIndex;
  Value part;      ///< which part of the keys the block has (i32); null: all
  Value sharers;   ///< blocks that have one (i32)
  TileRange tiles; ///< those that are gone through
  SmallVector<Value> rowNumber;
};

} // namespace

gpu::GPUFuncOp mlir::mp::emitAttentionKernel(gpu::GPUModuleOp module, Location loc, StringRef name,
                                             const AttentionShape &shape, TypeRange operands,
                                             const MathForms &forms) {
  KernelFunction kernel(module, loc, name, operands, shape.threads());
  // One block a multiprocessor is fine: without this ptxas may spill to fit more of them.
  kernel.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                           kernel.d.b.getI32IntegerAttr(1));
  AttentionKernel(kernel, shape, forms).emit();
  return kernel.function;
}
