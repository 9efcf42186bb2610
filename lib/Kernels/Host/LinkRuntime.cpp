// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-link-runtime: place memory of lowered host code on the device and make its public
// functions callable (exact).

#include "Globals.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Kernels/Host/Passes.h"
#include "mp/Runtime/Device.h"
#include "mp/Runtime/Runtime.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LINKRUNTIME
#include "mp/Kernels/Host/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Size of a constant or a variable of the program; nothing for texts and records of the runtime.
/// One of rank 0 has become a plain number.
static std::optional<int64_t> dataBytes(LLVM::GlobalOp global) {
  Attribute value = global.getValueOrNull();
  if (auto elements = dyn_cast_or_null<ElementsAttr>(value))
    return elements.getNumElements() * elementBytes(elements.getElementType());
  if (auto number = dyn_cast_or_null<TypedAttr>(value);
      number && isa<FloatAttr, IntegerAttr>(value))
    return elementBytes(number.getType());
  return std::nullopt;
}

/// The element type as the runtime numbers it, of values that it can pass.
static int64_t elementCode(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto format = getNumericsFormat(element))
    return int64_t(*format);
  return MP_RT_INTEGER + (element.isIndex() ? 64 : element.getIntOrFloatBitWidth());
}

/// Words that pass a value of `type`: a buffer's descriptor, or the value.
static int64_t partCount(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer ? 3 + 2 * buffer.getRank() : 1;
}

FunctionType mlir::mp::getTypeOnBuffers(Operation *function) {
  // The wrappers that upstream's conversion makes have the attributes of what they wrap.
  if (SymbolTable::getSymbolName(function).getValue().starts_with("_mlir_ciface_"))
    return {};
  for (StringRef name : {kHostTypeAttrName, kCPUTypeAttrName})
    if (auto type = function->getAttrOfType<TypeAttr>(name))
      return cast<FunctionType>(type.getValue());
  return {};
}

namespace {

class RuntimeLinking {
public:
  explicit RuntimeLinking(ModuleOp module)
      : module(module), globals(module), b(module.getContext()), loc(module.getLoc()),
        pointer(globals.pointer()), word(globals.word()), number(b.getI32Type()) {}

  LogicalResult run() {
    SmallVector<LLVM::LLVMFuncOp> entries;
    bool isOnHost = false;
    for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
      isOnHost |= function->hasAttr(kCPUTypeAttrName);
      if (getTypeOnBuffers(function) &&
          !module.lookupSymbol((kFunctionRecordPrefix + function.getName()).str()))
        entries.push_back(function);
    }
    if (!isOnHost) { // every buffer of the host code is on the device
      rename("_mlir_memref_to_llvm_alloc", "mp_rt_device_alloc");
      rename("_mlir_memref_to_llvm_free", "mp_rt_device_free");
      placeConstants();
    }
    for (LLVM::LLVMFuncOp function : entries)
      if (failed(makeCallable(function)))
        return failure();
    return success();
  }

private:
  void rename(StringRef from, StringRef to) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(from);
    if (!function)
      return;
    (void)SymbolTable::replaceAllSymbolUses(function, b.getStringAttr(to), module);
    function.setSymName(to);
  }

  Value integer(OpBuilder &at, Type type, int64_t value) {
    return LLVM::ConstantOp::create(at, loc, type, at.getIntegerAttr(type, value));
  }

  /// The module of kernels that constants go with; an empty one where there is none.
  LLVM::GlobalOp findOwner() {
    for (auto global : module.getOps<LLVM::GlobalOp>())
      if (global.getSymName().ends_with(kModuleRecordSuffix))
        return global;
    auto type =
        LLVM::LLVMStructType::getLiteral(module.getContext(), {pointer, word, pointer, pointer});
    auto owner = globals.record(
        ("mp_constants" + kModuleRecordSuffix).str(), type, false,
        [&](OpBuilder &inner) { return LLVM::ZeroOp::create(inner, loc, type).getResult(); });
    owner.setLinkage(LLVM::Linkage::External);
    return owner;
  }

  /// Uses of the address of a constant or a variable become its address on the device, where a
  /// variable stays between calls.
  void placeConstants() {
    SmallVector<LLVM::AddressOfOp> uses;
    module.walk([&](LLVM::LLVMFuncOp function) {
      function.walk([&](LLVM::AddressOfOp op) {
        auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
        if (global && dataBytes(global))
          uses.push_back(op);
      });
    });
    if (uses.empty())
      return;
    LLVM::GlobalOp owner = findOwner();
    llvm::StringMap<LLVM::GlobalOp> records;
    auto type = LLVM::LLVMStructType::getLiteral(module.getContext(),
                                                 {pointer, pointer, word, word, pointer});
    auto place = globals.function("mp_rt_device_constant", pointer, {pointer});
    for (LLVM::AddressOfOp op : uses) {
      auto global = module.lookupSymbol<LLVM::GlobalOp>(op.getGlobalName());
      LLVM::GlobalOp &record = records[global.getSymName()];
      if (!record)
        record = globals.record(
            (global.getSymName() + "_device").str(), type, false, [&](OpBuilder &inner) {
              Value null = LLVM::ZeroOp::create(inner, loc, pointer);
              Value module = LLVM::AddressOfOp::create(inner, loc, owner);
              Value data = LLVM::AddressOfOp::create(inner, loc, global);
              Value bytes = integer(inner, word, *dataBytes(global));
              return Globals::makeStruct(inner, loc, type,
                                         {module, data, bytes, integer(inner, word, 0), null});
            });
      b.setInsertionPoint(op);
      Value at = LLVM::AddressOfOp::create(b, loc, record);
      op.replaceAllUsesWith(LLVM::CallOp::create(b, loc, place, at).getResult());
      op.erase();
    }
  }

  Value wordAt(Value memory, int64_t index) {
    return LLVM::GEPOp::create(b, loc, pointer, word, memory,
                               ArrayRef<LLVM::GEPArg>{int32_t(index)});
  }

  /// @mp_entry_F({words in, words out}) calls @F.
  LLVM::LLVMFuncOp makeEntry(LLVM::LLVMFuncOp function, FunctionType type) {
    auto nothing = LLVM::LLVMVoidType::get(module.getContext());
    LLVM::LLVMFuncOp entry =
        globals.function(("mp_entry_" + function.getName()).str(), nothing, {pointer});
    entry->moveAfter(function);
    b.setInsertionPointToStart(entry.addEntryBlock(b));
    Value packed = entry.getArgument(0);
    Value in = LLVM::LoadOp::create(b, loc, pointer, packed);
    Value out = LLVM::LoadOp::create(b, loc, pointer, wordAt(packed, 1));
    SmallVector<Value> arguments;
    for (auto [i, argument] : llvm::enumerate(function.getArgumentTypes()))
      arguments.push_back(LLVM::LoadOp::create(b, loc, argument, wordAt(in, int64_t(i))));
    auto call = LLVM::CallOp::create(b, loc, function, arguments);
    int64_t at = 0;
    for (auto [i, result] : llvm::enumerate(type.getResults())) {
      Value value = call.getResult();
      if (type.getNumResults() > 1)
        value = LLVM::ExtractValueOp::create(b, loc, value, int64_t(i));
      LLVM::StoreOp::create(b, loc, value, wordAt(out, at));
      at += partCount(result);
    }
    LLVM::ReturnOp::create(b, loc, ValueRange());
    return entry;
  }

  Value parameter(OpBuilder &inner, Type record, Type type) {
    auto buffer = dyn_cast<MemRefType>(type);
    int64_t rank = buffer ? buffer.getRank() : 0;
    Value sizes = LLVM::UndefOp::create(inner, loc, LLVM::LLVMArrayType::get(word, MP_RT_MAX_RANK));
    for (int64_t i = 0; i < MP_RT_MAX_RANK; ++i) {
      int64_t size = i >= rank ? 0 : buffer.isDynamicDim(i) ? -1 : buffer.getDimSize(i);
      sizes = LLVM::InsertValueOp::create(inner, loc, sizes, integer(inner, word, size), i);
    }
    return Globals::makeStruct(
        inner, loc, record,
        {integer(inner, number, rank), integer(inner, number, elementBytes(type)),
         integer(inner, number, buffer ? 1 : 0), integer(inner, number, elementCode(type)), sizes});
  }

  LogicalResult makeCallable(LLVM::LLVMFuncOp function) {
    FunctionType type = getTypeOnBuffers(function);
    SmallVector<Type> types(type.getInputs());
    llvm::append_range(types, type.getResults());
    for (Type each : types) {
      auto buffer = dyn_cast<MemRefType>(each);
      if (!buffer && !each.isIntOrIndexOrFloat())
        return function.emitOpError("has a parameter that other programs cannot pass: ") << each;
      if (buffer && buffer.getRank() > MP_RT_MAX_RANK)
        return function.emitOpError("has a parameter of rank ")
               << buffer.getRank() << ", expected at most " << int(MP_RT_MAX_RANK);
    }
    LLVM::LLVMFuncOp entry = makeEntry(function, type);
    StringRef name = function.getName();
    auto sizes = LLVM::LLVMArrayType::get(word, MP_RT_MAX_RANK);
    auto one = LLVM::LLVMStructType::getLiteral(module.getContext(),
                                                {number, number, number, number, sizes});
    auto all = LLVM::LLVMArrayType::get(one, types.size());
    LLVM::GlobalOp parameters =
        globals.record(("mp_parameters_" + name).str(), all, true, [&](OpBuilder &inner) {
          Value value = LLVM::UndefOp::create(inner, loc, all);
          for (auto [i, each] : llvm::enumerate(types))
            value = LLVM::InsertValueOp::create(inner, loc, value, parameter(inner, one, each),
                                                int64_t(i));
          return value;
        });
    LLVM::GlobalOp text = globals.string(("mp_name_" + name).str(), name);
    auto record = LLVM::LLVMStructType::getLiteral(module.getContext(),
                                                   {pointer, pointer, number, number, pointer});
    LLVM::GlobalOp callable =
        globals.record((kFunctionRecordPrefix + name).str(), record, true, [&](OpBuilder &inner) {
          Value named = LLVM::AddressOfOp::create(inner, loc, text);
          Value code = LLVM::AddressOfOp::create(inner, loc, entry);
          Value described = LLVM::AddressOfOp::create(inner, loc, parameters);
          return Globals::makeStruct(inner, loc, record,
                                     {named, code, integer(inner, number, type.getNumInputs()),
                                      integer(inner, number, type.getNumResults()), described});
        });
    callable.setLinkage(LLVM::Linkage::External);
    return success();
  }

  ModuleOp module;
  Globals globals;
  OpBuilder b;
  Location loc;
  Type pointer, word, number;
};

struct LinkRuntime : mlir::mp::impl::LinkRuntimeBase<LinkRuntime> {
  using Base::Base;

  void runOnOperation() override {
    if (failed(RuntimeLinking(getOperation()).run()))
      signalPassFailure();
  }
};

} // namespace
