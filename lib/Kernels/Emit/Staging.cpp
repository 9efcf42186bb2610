// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the copies of an operand's tile to shared memory and the loads of its fragments.

#include "Staging.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mp;

OperandStaging::OperandStaging(GemmBuilder &device, const GemmPlan &plan, FragmentOperand operand)
    : d(device), plan(plan), operand(operand), isA(operand == FragmentOperand::A),
      stage(isA ? plan.stageA : plan.stageB) {}

/// Rows are padded so that eight rows of 16 bytes (ldmatrix), or four rows of eight words (plain
/// loads of tf32 across k), fall into different banks; a pad keeps rows aligned to 16 bytes.
int OperandStaging::rowStride() const {
  int inner = stage.alongK ? plan.tile.k : outerSize();
  return inner + (!usesLdmatrix() && elementBytes() == 4 ? 8 : 16 / elementBytes());
}

int64_t OperandStaging::place(int outer, int k) const {
  return stage.alongK ? int64_t(outer) * rowStride() + k : int64_t(k) * rowStride() + outer;
}

int64_t OperandStaging::bufferBytes() const {
  int rows = stage.alongK ? outerSize() : plan.tile.k;
  return llvm::alignTo(int64_t(rows) * rowStride() * elementBytes(), 16);
}

void OperandStaging::prepare(Value globalBase, Value sharedBase, Value baseOffset, Value outerStart,
                             Value thread, Value lane, Value warpStart) {
  global = globalBase;
  shared = sharedBase;
  int threads = plan.tile.threads();
  int vectors = outerSize() * plan.tile.k / stage.vector;
  int innerVectors = (stage.alongK ? plan.tile.k : outerSize()) / stage.vector;
  if (vectors < threads)
    inTile = d.less(thread, d.i32(vectors));
  Size extent = GemmPlan::extent(outerLoops());
  bool known = llvm::all_of(outerLoops(), [](const GemmLoop &loop) { return loop.size.isKnown(); });
  Value limit = d.ix(1);
  for (const GemmLoop &loop : outerLoops())
    limit = d.mul(limit, d.ix(loop.size));
  for (int first = 0; first < vectors; first += threads) {
    Value number = d.add(thread, d.i32(first));
    Value inner = d.mul(d.rem(number, d.i32(innerVectors)), d.i32(stage.vector));
    Value row = d.div(number, d.i32(innerVectors));
    Access access;
    access.kLocal = d.widen(stage.alongK ? inner : row);
    Value outer = d.add(outerStart, d.widen(stage.alongK ? row : inner));
    if (!known || extent.value % outerSize() != 0)
      access.outerOk = d.less(outer, limit);
    access.outerOffset = d.add(baseOffset, d.offsetOf(isA ? 0 : 1, outerLoops(), outer));
    access.sharedOffset = d.add(d.mul(row, d.i32(rowStride())), inner);
    accesses.push_back(access);
  }
  prepareFragments(lane, warpStart);
}

SmallVector<Value> OperandStaging::load(Value kStart) {
  Value limit = d.ix(1);
  for (const GemmLoop &loop : plan.k)
    limit = d.mul(limit, d.ix(loop.size));
  unsigned bytes = stage.vector * elementBytes();
  Type type = d.accessType(bytes);
  SmallVector<Value> values;
  for (const Access &access : accesses) {
    Value k = d.add(kStart, access.kLocal);
    Value inside = d.logicalAnd(d.logicalAnd(inTile, access.outerOk), d.less(k, limit));
    auto branch = scf::IfOp::create(d.b, TypeRange{type}, inside, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(d.b);
    d.b.setInsertionPointToStart(branch.thenBlock());
    Value offset = d.add(access.outerOffset, d.offsetOf(isA ? 0 : 1, plan.k, k));
    Value value = d.load(type, d.advance(global, offset, elementBytes()), bytes);
    scf::YieldOp::create(d.b, value);
    d.b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(d.b, arith::ConstantOp::create(d.b, d.b.getZeroAttr(type)).getResult());
    values.push_back(branch.getResult(0));
  }
  return values;
}

Value OperandStaging::bufferStart(Value buffer) {
  return d.advance(shared, d.mul(buffer, d.i32(bufferBytes())), 1);
}

void OperandStaging::store(ArrayRef<Value> values, Value buffer) {
  OpBuilder::InsertionGuard guard(d.b);
  if (inTile) {
    auto branch = scf::IfOp::create(d.b, inTile, /*withElseRegion=*/false);
    d.b.setInsertionPointToStart(branch.thenBlock());
  }
  Value start = bufferStart(buffer);
  for (auto [access, value] : llvm::zip_equal(accesses, values))
    d.store(value, d.advance(start, access.sharedOffset, elementBytes()),
            stage.vector * elementBytes());
}

/// Matrices that one ldmatrix brings: the registers of one or more neighbouring instruction tiles.
int OperandStaging::matricesPerLoad() const {
  int tiles = warpSize() / instructionOuter();
  return std::min<int>(4, tiles * plan.instruction->registers(operand));
}

void OperandStaging::prepareFragments(Value lane, Value warpStart) {
  const FragmentLayout &layout = plan.instruction->layout(operand);
  SmallVector<int> weights;
  if (usesLdmatrix()) {
    // Lane 8q + r gives the address of row r of matrix q. Bits of q are bits of the register's
    // number and, above those, of the instruction tile's.
    for (int bit = 0; bit < 3; ++bit)
      weights.push_back((1 << bit) * rowStride());
    unsigned packBits = llvm::Log2_32(32 / plan.instruction->elementBits);
    unsigned registerBits = llvm::Log2_32(plan.instruction->registers(operand));
    for (unsigned bit = 0; bit < unsigned(llvm::Log2_32(matricesPerLoad())); ++bit) {
      FragmentPosition origin;
      if (bit < registerBits)
        origin = layout.elementBits[packBits + bit];
      else
        (isA ? origin.row : origin.column) = instructionOuter() << (bit - registerBits);
      weights.push_back(place(outerOf(origin), kOf(origin)));
    }
  } else {
    for (FragmentPosition bit : layout.laneBits)
      weights.push_back(place(outerOf(bit), kOf(bit)));
  }
  Value warpOffset = d.mul(warpStart, d.i32(place(1, 0)));
  laneOffset = d.add(d.weighBits(lane, weights), warpOffset);
}

SmallVector<Value> OperandStaging::loadMatrices(Value start, int count) {
  Type i32 = d.b.getI32Type();
  Type type = i32;
  if (count > 1)
    type = LLVM::LLVMStructType::getLiteral(d.b.getContext(), SmallVector<Type>(count, i32));
  auto shape = NVVM::LdStMatrixShapeAttr::get(d.b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(
      d.b, type, start, count, stage.alongK ? NVVM::MMALayout::row : NVVM::MMALayout::col, shape,
      NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {loaded};
  SmallVector<Value> result;
  for (int i = 0; i < count; ++i)
    result.push_back(LLVM::ExtractValueOp::create(d.b, loaded, i));
  return result;
}

/// One register from elements that do not lie side by side in shared memory.
Value OperandStaging::gatherRegister(Value start, int tile, int number, int k) {
  const FragmentLayout &layout = plan.instruction->layout(operand);
  int pack = 4 / elementBytes(), bits = plan.instruction->elementBits;
  Value word;
  for (int i = 0; i < pack; ++i) {
    FragmentPosition p = layout.position(0, number * pack + i);
    int64_t offset = place(tile * instructionOuter() + outerOf(p), k + kOf(p));
    Value pointer = d.advanceBytes(start, offset * elementBytes());
    Value element = d.load(d.b.getIntegerType(bits), pointer, elementBytes());
    if (pack > 1)
      element = arith::ExtUIOp::create(d.b, d.b.getI32Type(), element);
    if (i > 0)
      element = arith::ShLIOp::create(d.b, element, d.i32(i * bits));
    word = word ? arith::OrIOp::create(d.b, word, element).getResult() : element;
  }
  return word;
}

SmallVector<SmallVector<Value>> OperandStaging::fragments(Value buffer, int step) {
  int tiles = warpSize() / instructionOuter();
  int registers = plan.instruction->registers(operand);
  int k = step * plan.instruction->k;
  Value start = d.advance(bufferStart(buffer), laneOffset, elementBytes());
  SmallVector<SmallVector<Value>> result(tiles);
  if (!usesLdmatrix()) {
    for (int tile = 0; tile < tiles; ++tile)
      for (int i = 0; i < registers; ++i)
        result[tile].push_back(gatherRegister(start, tile, i, k));
    return result;
  }
  int perLoad = matricesPerLoad();
  const FragmentLayout &layout = plan.instruction->layout(operand);
  unsigned pack = 32 / plan.instruction->elementBits;
  for (int matrix = 0; matrix < tiles * registers; matrix += perLoad) {
    int tile = matrix / registers;
    FragmentPosition p = layout.position(0, (matrix % registers) * pack);
    int64_t offset = place(tile * instructionOuter() + outerOf(p), k + kOf(p));
    SmallVector<Value> loaded =
        loadMatrices(d.advanceBytes(start, offset * elementBytes()), perLoad);
    for (int i = 0; i < perLoad; ++i)
      result[(matrix + i) / registers].push_back(loaded[i]);
  }
  return result;
}
