// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits mma.sync products and the loads of their fragments.

#include "MatrixUnit.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mp/Layouts/Fragments.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mpcore::layouts;
using LayoutPoint = mpcore::layouts::Point;

/// (register, lane) to (Row = outer, Column = k) of operand B, which the manual has as (k, n).
static LinearLayout outerFirst(const LinearLayout &b) {
  SmallVector<Basis, 2> bases;
  for (const Axis &axis : b.inputs()) {
    Basis basis{axis.dim, {}};
    for (unsigned bit = 0; bit < axis.bits; ++bit) {
      LayoutPoint image = b.image(axis.dim, bit);
      basis.images.push_back(
          LayoutPoint{{Dim::Row, image[Dim::Column]}, {Dim::Column, image[Dim::Row]}});
    }
    bases.push_back(basis);
  }
  return LinearLayout(bases);
}

MmaSync::MmaSync(DeviceBuilder &device, const MmaInstruction &instruction, const SharedTile &a,
                 const SharedTile &b, int warpM, int warpN, int slices, const SharedTile *metadata)
    : d(device), instruction(instruction), warpM(warpM), warpN(warpN), slices(slices),
      a{a,
        mmaA(instruction.m, instruction.storedK(), instruction.elementBits),
        instruction.m,
        instruction.storedK(),
        warpM / instruction.m,
        instruction.registersA(),
        0,
        Value()},
      b{b,
        outerFirst(mmaB(instruction.k, instruction.elementBits)),
        instruction.n,
        instruction.k,
        warpN / instruction.n,
        instruction.registersB(),
        a.bytes(),
        Value()},
      metadata(metadata) {}

uint32_t MmaSync::Operand::place(LayoutPoint point, int number, int k) const {
  return tile.place(point[Dim::Row] + number * size, point[Dim::Column] + k);
}

/// Matrices that one ldmatrix brings: the registers of one or more neighbouring tiles.
int MmaSync::matricesPerLoad(const Operand &operand) const {
  return std::min(4, operand.registers());
}

void MmaSync::prepare(Value lane, Value warpRow, Value warpColumn, Value slice) {
  prepare(a, lane, warpRow, warpM, slice);
  prepare(b, lane, warpColumn, warpN, slice);
  if (metadata)
    prepareMetadata(lane, warpRow, slice);
}

void MmaSync::prepare(Operand &operand, Value lane, Value warp, int warpSize, Value slice) {
  SmallVector<uint32_t> images;
  if (usesLdmatrix(operand)) {
    // Lane 8q + r points at row r of matrix q. Bits of q are bits of the register's number and,
    // above those, of the tile's.
    for (uint32_t row : {1, 2, 4})
      images.push_back(operand.tile.alongK() ? operand.tile.place(row, 0)
                                             : operand.tile.place(0, row));
    const uint32_t pack = 32 / instruction.elementBits;
    for (int matrix = 1; matrix < matricesPerLoad(operand); matrix *= 2) {
      LayoutPoint origin;
      int tile = matrix / operand.registersPerTile;
      if (tile == 0)
        origin = operand.fragment.apply(LayoutPoint{{Dim::Register, matrix * pack}});
      images.push_back(operand.place(origin, tile, 0));
    }
  } else {
    for (unsigned bit = 0; bit < 5; ++bit)
      images.push_back(operand.place(operand.fragment.image(Dim::Lane, bit), 0, 0));
  }
  SmallVector<uint32_t> warpImages;
  for (int first = warpSize; first < operand.tile.outer(); first *= 2)
    warpImages.push_back(operand.tile.place(first, 0));
  Value byte =
      d.b.createOrFold<arith::XOrIOp>(d.applyLinear(lane, images), d.applyLinear(warp, warpImages));
  if (slice) {
    SmallVector<uint32_t> sliceImages;
    for (int first = operand.tile.k() / slices; first < operand.tile.k(); first *= 2)
      sliceImages.push_back(operand.tile.place(0, first));
    byte = d.b.createOrFold<arith::XOrIOp>(byte, d.applyLinear(slice, sliceImages));
  }
  operand.laneByte = d.add(byte, int64_t(operand.base));
}

static Type accumulatorOf(const MmaInstruction &instruction, OpBuilder &b) {
  return instruction.isInteger() ? Type(b.getI32Type()) : Type(b.getF32Type());
}

Type MmaSync::accumulatorType() { return accumulatorOf(instruction, d.b); }

void MmaSync::read(Value stage, int part, Fragments &into, SmallVectorImpl<Work> &loads) {
  into.assign(fragmentRegisters(), Value());
  MutableArrayRef<Value> all(into);
  read(a, stage, part, all.take_front(a.registers()), loads);
  read(b, stage, part, all.slice(a.registers(), b.registers()), loads);
  if (metadata)
    for (int tile = 0; tile < tilesM(); ++tile)
      loads.push_back(
          [this, stage, tile, part, word = &into[a.registers() + b.registers() + tile]] {
            *word = readMetadata(stage, tile, part);
          });
}

/// Lane l has word l of each 16 rows and instruction (two of 16 bits).
void MmaSync::prepareMetadata(Value lane, Value warpRow, Value slice) {
  SmallVector<uint32_t> laneImages, warpImages, sliceImages;
  for (uint32_t word : {1, 2, 4, 8, 16})
    laneImages.push_back(metadata->place(0, word));
  for (int first = tilesM(); first < metadata->outer(); first *= 2)
    warpImages.push_back(metadata->place(first, 0));
  Value byte = d.b.createOrFold<arith::XOrIOp>(d.applyLinear(lane, laneImages),
                                               d.applyLinear(warpRow, warpImages));
  if (slice) {
    for (int first = metadata->k() / slices; first < metadata->k(); first *= 2)
      sliceImages.push_back(metadata->place(0, first));
    byte = d.b.createOrFold<arith::XOrIOp>(byte, d.applyLinear(slice, sliceImages));
  }
  metadataByte = d.add(byte, int64_t(a.tile.bytes() + b.tile.bytes()));
}

Value MmaSync::readMetadata(Value stage, int tile, int part) {
  const int word = (instruction.elementBits == 16 ? part / 2 : part) * 32;
  Value address = SharedTile::at(d, d.add(stage, metadataByte), metadata->place(tile, word));
  return d.load(d.b.getI32Type(), d.sharedPointer(address), 4);
}

void MmaSync::read(Operand &operand, Value stage, int part, MutableArrayRef<Value> into,
                   SmallVectorImpl<Work> &loads) {
  Value base = d.add(stage, operand.laneByte);
  const uint32_t pack = 32 / instruction.elementBits;
  const int perLoad = usesLdmatrix(operand) ? matricesPerLoad(operand) : 1;
  for (int first = 0; first < operand.registers(); first += perLoad)
    loads.push_back([=, this, &operand] {
      int tile = first / operand.registersPerTile, number = first % operand.registersPerTile;
      if (!usesLdmatrix(operand)) {
        into[first] = gather(operand, base, tile, number, part);
        return;
      }
      LayoutPoint origin = operand.fragment.apply(LayoutPoint{{Dim::Register, number * pack}});
      uint32_t offset = operand.place(origin, tile, part * operand.k);
      loadMatrices(d, SharedTile::at(d, base, offset), !operand.tile.alongK(),
                   into.slice(first, perLoad));
    });
}

void mlir::mp::loadMatrices(DeviceBuilder &d, Value address, bool transposed,
                            MutableArrayRef<Value> into) {
  Type type = d.b.getI32Type();
  if (into.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(d.b.getContext(), SmallVector<Type>(into.size(), type));
  auto shape = NVVM::LdStMatrixShapeAttr::get(d.b.getContext(), 8, 8);
  Value loaded = NVVM::LdMatrixOp::create(d.b, type, d.sharedPointer(address), into.size(),
                                          transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
                                          shape, NVVM::LdStMatrixEltType::B16);
  for (auto [i, value] : llvm::enumerate(into))
    value = into.size() == 1 ? loaded : LLVM::ExtractValueOp::create(d.b, loaded, int64_t(i));
}

/// One register of a fragment across the rows of shared memory: a load for each element.
Value MmaSync::gather(const Operand &operand, Value base, int tile, int number, int part) {
  const unsigned bits = instruction.elementBits, pack = 32 / bits;
  Value word;
  for (unsigned i = 0; i < pack; ++i) {
    LayoutPoint point = operand.fragment.apply(LayoutPoint{{Dim::Register, number * pack + i}});
    Value address = SharedTile::at(d, base, operand.place(point, tile, part * operand.k));
    Value element = d.load(d.b.getIntegerType(bits), d.sharedPointer(address), bits / 8);
    if (pack > 1)
      element = arith::ExtUIOp::create(d.b, d.b.getI32Type(), element);
    if (i > 0)
      element = arith::ShLIOp::create(d.b, element, d.i32(i * bits));
    word = word ? arith::OrIOp::create(d.b, word, element).getResult() : element;
  }
  return word;
}

void MmaSync::multiply(ArrayRef<Value> fragments, int part, MutableArrayRef<Value> sums,
                       ArrayRef<Work> between) {
  const size_t products = size_t(tilesM()) * tilesN();
  size_t done = 0, number = 0;
  for (int m = 0; m < tilesM(); ++m)
    for (int step = 0; step < tilesN(); ++step, ++number) {
      while (done < between.size() && number * between.size() >= done * products)
        between[done++]();
      // Back and forth, so that neighbouring products share an operand.
      int n = m % 2 == 0 ? step : tilesN() - 1 - step;
      multiplyAdd(d, instruction, fragments.slice(m * a.registersPerTile, a.registersPerTile),
                  fragments.slice(a.registers() + n * b.registersPerTile, b.registersPerTile),
                  sums.slice((m * tilesN() + n) * 4, 4),
                  {metadata ? fragments[a.registers() + b.registers() + m] : Value(),
                   instruction.elementBits == 16 ? part % 2 : 0});
    }
  for (; done < between.size(); ++done)
    between[done]();
}

static Value instructionResult(DeviceBuilder &d, const MmaInstruction &instruction,
                               ArrayRef<Value> rows, ArrayRef<Value> columns, ArrayRef<Value> sums,
                               Metadata metadata) {
  Type result = LLVM::LLVMStructType::getLiteral(
      d.b.getContext(), SmallVector<Type>(4, accumulatorOf(instruction, d.b)));
  if (!instruction.intrinsic.empty()) {
    SmallVector<Value> operands(rows);
    operands.append(columns.begin(), columns.end());
    if (instruction.format == "f16")
      for (Value &value : operands)
        value = LLVM::BitcastOp::create(d.b, VectorType::get({2}, d.b.getF16Type()), value);
    operands.append(sums.begin(), sums.end());
    if (metadata.word)
      operands.append({metadata.word, d.i32(metadata.selector)});
    return LLVM::CallIntrinsicOp::create(d.b, result, d.b.getStringAttr(instruction.intrinsic),
                                         operands)
        .getResult(0);
  }
  SmallVector<Value> operandA(rows), operandB(columns);
  std::optional<std::array<NVVM::MMATypes, 2>> types;
  if (instruction.format == "f16") {
    Type pair = VectorType::get({2}, d.b.getF16Type());
    for (SmallVector<Value> *operand : {&operandA, &operandB})
      for (Value &value : *operand)
        value = LLVM::BitcastOp::create(d.b, pair, value);
  } else {
    NVVM::MMATypes type =
        instruction.format == "bf16" ? NVVM::MMATypes::bf16 : NVVM::MMATypes::tf32;
    types = {type, type};
  }
  int64_t shape[] = {instruction.m, instruction.n, instruction.k};
  return NVVM::MmaOp::create(
      d.b, result, operandA, operandB, sums, shape, std::nullopt, std::nullopt, types,
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row, NVVM::MMALayout::col});
}

void mlir::mp::multiplyAdd(DeviceBuilder &d, const MmaInstruction &instruction,
                           ArrayRef<Value> rows, ArrayRef<Value> columns,
                           MutableArrayRef<Value> sums, Metadata metadata) {
  Value result = instructionResult(d, instruction, rows, columns, sums, metadata);
  for (int i = 0; i < 4; ++i)
    sums[i] = LLVM::ExtractValueOp::create(d.b, result, i);
}
