// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses tensor maps from JSON and checks them against their arrays.

#include "TensorMapInput.h"

#include "mp/Support/Files.h"
#include "mp/Support/JSON.h"
#include "mp/Support/Words.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::mp;
using emulator::TensorMap;
using llvm::createStringError;
using llvm::Twine;

bool mlir::mp::isTensorMapInput(llvm::StringRef text) {
  return text.starts_with("{") || (text.starts_with("@") && text.ends_with(".json"));
}

static llvm::Error bad(const Twine &text) { return createStringError("tensor map: " + text); }

static constexpr llvm::StringRef typeNames[] = {"u8",  "u16", "u32", "s32",  "u64", "s64",
                                                "f16", "f32", "f64", "bf16", "tf32"};
static constexpr llvm::StringRef swizzleNames[] = {"none", "32B", "64B", "128B"};

/// Position of a string among the names, the first where the key is missing.
static llvm::Expected<size_t> oneOf(const llvm::json::Object &object, llvm::StringRef key,
                                    llvm::ArrayRef<llvm::StringRef> names) {
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return 0;
  auto text = value->getAsString();
  for (auto [i, name] : llvm::enumerate(names))
    if (text && *text == name)
      return i;
  std::string all;
  for (llvm::StringRef name : names)
    all += (all.empty() ? "" : ", ") + name.str();
  return bad("\"" + key + "\": expected one of " + all + ", found " +
             llvm::formatv("{0}", *value).str());
}

template <class T>
static llvm::Error numbers(const llvm::json::Object &object, llvm::StringRef key,
                           llvm::SmallVectorImpl<T> &to) {
  const llvm::json::Value *value = object.get(key);
  if (!value)
    return llvm::Error::success();
  const llvm::json::Array *list = value->getAsArray();
  for (size_t i = 0; list && i < list->size(); ++i)
    if (auto number = (*list)[i].getAsInteger(); number && (std::is_signed_v<T> || *number >= 0))
      to.push_back(T(*number));
  if (!list || to.size() != list->size() || to.empty() || to.size() > 5)
    return bad("\"" + key + "\": expected one to five numbers, as in [64, 32], found " +
               llvm::formatv("{0}", *value).str());
  return llvm::Error::success();
}

/// The keys of im2col mode, which "pixels" stands for.
static llvm::Error readIm2col(const llvm::json::Object &object, TensorMapInput &input) {
  auto count = [&](llvm::StringRef key) {
    return std::clamp<int64_t>(object.getInteger(key).value_or(0), 0, UINT32_MAX);
  };
  if (!object.get("pixels")) {
    for (llvm::StringRef key : {"channels", "lower", "upper", "elementStrides"})
      if (object.get(key))
        return bad("\"" + key + "\" is of im2col mode, which needs \"pixels\"");
    return llvm::Error::success();
  }
  if (object.get("box"))
    return bad("\"box\" and \"pixels\": expected one of them");
  input.pixels = uint32_t(count("pixels"));
  input.channels = uint32_t(count("channels"));
  if (llvm::Error error = numbers(object, "elementStrides", input.elementStrides))
    return error;
  for (auto [key, to] :
       {std::pair<llvm::StringRef, llvm::SmallVectorImpl<int64_t> *>{"lower", &input.lower},
        {"upper", &input.upper}})
    if (llvm::Error error = numbers(object, key, *to))
      return error;
  return llvm::Error::success();
}

llvm::Expected<TensorMapInput> mlir::mp::parseTensorMapInput(llvm::StringRef text) {
  std::unique_ptr<llvm::MemoryBuffer> file;
  if (text.consume_front("@")) {
    auto buffer = support::readFile(text, ("@" + text).str());
    if (!buffer)
      return buffer.takeError();
    file = std::move(*buffer);
    text = file->getBuffer();
  }
  auto json = mpcore::support::parseJSON(text);
  if (!json)
    return bad(llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    return bad("expected an object, as in {\"array\": \"64x96xf16=0\", \"box\": [64, 32]}");
  const llvm::StringRef keys[] = {"array",    "type",    "dims",    "strides",
                                  "box",      "swizzle", "outside", "pixels",
                                  "channels", "lower",   "upper",   "elementStrides"};
  for (const auto &[key, value] : *object)
    if (!llvm::is_contained(keys, llvm::StringRef(key))) {
      llvm::StringRef word = key;
      return bad("unknown key '" + word + "'" + support::suggestWord(word, keys));
    }
  TensorMapInput input;
  if (auto number = object->getInteger("array"); number && *number >= 0)
    input.inputNumber = size_t(*number);
  else if (auto array = object->getString("array"))
    input.array = array->str();
  else
    return bad("\"array\": expected an array as --input takes it, or the number of the --input "
               "that is one");
  input.type = object->getString("type").value_or("").str();
  if (object->get("type"))
    if (auto known = oneOf(*object, "type", typeNames); !known)
      return known.takeError();
  for (auto [key, to] :
       {std::pair<llvm::StringRef, llvm::SmallVectorImpl<uint64_t> *>{"dims", &input.dims},
        {"strides", &input.strides},
        {"box", &input.box}})
    if (llvm::Error error = numbers(*object, key, *to))
      return std::move(error);
  if (llvm::Error error = readIm2col(*object, input))
    return std::move(error);
  if (input.box.empty() && !input.pixels)
    return bad("\"box\" is missing: the elements of one copy, the fastest dimension first");
  auto swizzle = oneOf(*object, "swizzle", swizzleNames);
  if (!swizzle)
    return swizzle.takeError();
  auto outside = oneOf(*object, "outside", {"zero", "nan"});
  if (!outside)
    return outside.takeError();
  input.swizzle = TensorMap::Swizzle(*swizzle);
  input.nanOutside = *outside == 1;
  return input;
}

static llvm::Expected<TensorMap::Type> typeOf(const TensorMapInput &input,
                                              const ElementType &type) {
  std::string name = input.type;
  if (name.empty() && type.isFloat)
    name = type.bits() == 8 ? "u8" : type.str();
  else if (name.empty())
    name = (type.isUnsigned || type.bytes() < 4 ? "u" : "s") + std::to_string(8 * type.bytes());
  for (auto [i, known] : llvm::enumerate(typeNames))
    if (known == name)
      return TensorMap::Type(i);
  return bad("an array of " + type.str() + " has no type of tensor maps; say \"type\"");
}

static llvm::Error fillIm2col(const TensorMapInput &input, TensorMap &map) {
  map.im2col = true;
  map.pixels = *input.pixels;
  map.channels = input.channels;
  for (auto [from, to] : {std::pair{&input.lower, &map.lower}, {&input.upper, &map.upper}}) {
    if (!from->empty() && from->size() + 2 != map.rank)
      return bad("corners of " + Twine(from->size()) + " dimensions, rank " +
                 Twine(unsigned(map.rank)) + " has two more");
    for (auto [i, corner] : llvm::enumerate(*from)) {
      if (corner != int16_t(corner))
        return bad("corner " + Twine(corner) + " has more than 16 bits");
      (*to)[i] = int16_t(corner);
    }
  }
  if (!input.elementStrides.empty() && input.elementStrides.size() != map.rank)
    return bad(Twine(input.elementStrides.size()) + " element strides for rank " +
               Twine(unsigned(map.rank)));
  for (auto [i, stride] : llvm::enumerate(input.elementStrides))
    map.elementStrides[i] = uint32_t(std::min<uint64_t>(stride, UINT32_MAX));
  return llvm::Error::success();
}

llvm::Expected<TensorMap> mlir::mp::makeTensorMap(const TensorMapInput &input, const Array &array,
                                                  uint64_t address) {
  TensorMap map;
  auto type = typeOf(input, array.type);
  if (!type)
    return type.takeError();
  map.type = *type;
  map.address = address;
  map.swizzle = input.swizzle;
  map.nanFill = input.nanOutside;
  llvm::SmallVector<uint64_t> dims = input.dims, strides = input.strides;
  if (dims.empty())
    for (int64_t size : llvm::reverse(array.shape))
      dims.push_back(uint64_t(size));
  if (dims.empty() || dims.size() > 5)
    return bad("an array of rank " + Twine(dims.size()) + ": 1 to 5 are allowed");
  for (size_t d = strides.size() + 1; input.strides.empty() && d < dims.size(); ++d)
    strides.push_back(dims[d - 1] * (d == 1 ? map.elementBytes() : strides.back()));
  const size_t boxes = input.pixels ? dims.size() : input.box.size();
  if (strides.size() + 1 != dims.size() || boxes != dims.size())
    return bad(Twine(dims.size()) +
               " dimensions need a box of as many and one stride less, found " + Twine(boxes) +
               " and " + Twine(strides.size()));
  map.rank = uint8_t(dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    map.dims[d] = dims[d];
    if (!input.pixels)
      map.box[d] = uint32_t(std::min<uint64_t>(input.box[d], UINT32_MAX));
    if (d)
      map.strides[d - 1] = strides[d - 1];
  }
  if (input.pixels)
    if (llvm::Error error = fillIm2col(input, map))
      return std::move(error);
  if (llvm::Error error = map.verify())
    return std::move(error);
  // Accesses beyond the array would be a fault of the kernel; the error is clearer here.
  uint64_t last = map.elementBytes() * map.dims[0];
  for (size_t d = 1; d < dims.size(); ++d)
    last += map.strides[d - 1] * (map.dims[d] - 1);
  if (last > array.data.size())
    return bad("dims and strides reach " + Twine(last) + " bytes, the array " + array.typeStr() +
               " has " + Twine(array.data.size()));
  return map;
}
