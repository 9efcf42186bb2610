// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes ops, types, attributes and the wiring of a function, in an order that does not depend on
// addresses.

#include "mp/Analysis/FunctionHash.h"
#include "mlir/IR/SymbolTable.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/Scaling.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::mp;

namespace {
/// Gathers 64-bit words; texts and constants are hashed once and remembered by identity.
class Hasher {
public:
  uint64_t finish() const {
    return llvm::xxh3_64bits(
        ArrayRef(reinterpret_cast<const uint8_t *>(words.data()), words.size() * sizeof(uint64_t)));
  }

  void addOp(Operation *op) {
    add(op->getName().getStringRef());
    for (Value operand : op->getOperands())
      words.push_back(numbers.lookup(operand));
    for (Block *successor : op->getSuccessors())
      words.push_back(blocks.lookup(successor));
    for (OpResult result : op->getResults())
      addValue(result);
    for (NamedAttribute attribute : op->getAttrDictionary())
      if (!isOwn(attribute.getName())) {
        if (attribute.getName() == "arg_attrs") {
          addArgumentAttributes(cast<ArrayAttr>(attribute.getValue()));
          continue;
        }
        Attribute value = attribute.getValue();
        if (attribute.getName() == "res_attrs" && !(value = withoutOwn(cast<ArrayAttr>(value))))
          continue;
        add(attribute.getName().strref());
        addAttribute(value);
      }
    for (Region &region : op->getRegions())
      addRegion(region);
  }

  void addRegion(Region &region) {
    words.push_back(region.getBlocks().size());
    for (Block &block : region)
      blocks[&block] = blocks.size() + 1;
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        addValue(argument);
      for (Operation &op : block)
        addOp(&op);
    }
  }

private:
  static bool isOwn(StringRef name) {
    return name == kPrecisionAttrName || name == kPhaseAttrName || name == kStorageAttrName ||
           name == kCopyOfAttrName || name == kSplitAttrName || name == kScaledAttrName ||
           name == SymbolTable::getSymbolAttrName();
  }

  /// The attributes of results without what mp writes; null if nothing else is left.
  static Attribute withoutOwn(ArrayAttr results) {
    SmallVector<Attribute> kept;
    for (auto dictionary : results.getAsRange<DictionaryAttr>())
      kept.push_back(DictionaryAttr::get(
          results.getContext(), llvm::filter_to_vector(dictionary, [](NamedAttribute attribute) {
            return !isOwn(attribute.getName());
          })));
    const bool any =
        llvm::any_of(kept, [](Attribute a) { return !cast<DictionaryAttr>(a).empty(); });
    return any ? ArrayAttr::get(results.getContext(), kept) : Attribute();
  }

  /// Dictionaries that hold only what mp writes count as if they were not there.
  void addArgumentAttributes(ArrayAttr arguments) {
    for (auto [index, dictionary] : llvm::enumerate(arguments.getAsRange<DictionaryAttr>()))
      for (NamedAttribute attribute : dictionary)
        if (!isOwn(attribute.getName())) {
          words.push_back(index);
          add(attribute.getName().strref());
          addAttribute(attribute.getValue());
        }
  }

  void add(StringRef text) { words.push_back(llvm::xxh3_64bits(text)); }

  void addValue(Value value) {
    numbers[value] = numbers.size() + 1;
    uint64_t &hash = known[value.getType().getAsOpaquePointer()];
    if (!hash) {
      std::string text;
      llvm::raw_string_ostream(text) << value.getType();
      hash = llvm::xxh3_64bits(text);
    }
    words.push_back(hash);
  }

  void addAttribute(Attribute attribute) {
    uint64_t &hash = known[attribute.getAsOpaquePointer()];
    if (!hash)
      hash = hashAttribute(attribute);
    words.push_back(hash);
  }

  static uint64_t hashAttribute(Attribute attribute) {
    auto elements = dyn_cast<ElementsAttr>(attribute);
    if (!elements) {
      std::string text;
      llvm::raw_string_ostream(text) << attribute;
      return llvm::xxh3_64bits(text);
    }
    std::string type;
    llvm::raw_string_ostream(type) << elements.getType();
    std::optional<ArrayRef<char>> raw = getRawElements(elements);
    if (!raw) { // a resource of integers, or one whose data is missing: its name counts
      llvm::raw_string_ostream(type) << attribute;
      return llvm::xxh3_64bits(type);
    }
    return llvm::xxh3_64bits(type) ^ llvm::xxh3_64bits(StringRef(raw->data(), raw->size()));
  }

  std::vector<uint64_t> words;
  DenseMap<Value, uint64_t> numbers;
  DenseMap<Block *, uint64_t> blocks;
  DenseMap<const void *, uint64_t> known; ///< types and attributes
};
} // namespace

std::string mlir::mp::hashFunction(FunctionOpInterface function) {
  Hasher hasher;
  hasher.addOp(function);
  return llvm::utohexstr(hasher.finish(), /*LowerCase=*/true, /*Width=*/16);
}
