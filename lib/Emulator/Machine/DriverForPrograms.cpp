// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entry points that other programs call and mp's own runtime does not: calls that wait, tensor
// maps, and addresses of entry points by name. Names and numbers: CUDA driver API 13.0.

#include "mp/Emulator/Driver.h"
#include "mp/Emulator/TensorMap.h"
#include "llvm/ADT/StringMap.h"

#include <cstring>
#include <vector>

using namespace mpcore::emulator;

namespace {

const mp_cu_driver &driver() { return emulatedDriverTable(); }

int refuse(const llvm::Twine &why) {
  return reportDriverError(MP_CU_INVALID_VALUE, llvm::createStringError(why));
}

/// Holds what the two kinds of maps have in common.
struct MapRequest {
  void *map;
  int type;
  uint32_t rank;
  void *address;
  const uint64_t *dims, *strides;
  const uint32_t *elementStrides;
  int interleave, swizzle, fill;
};

/// CUtensorMapDataType; formats that flush subnormals or unpack bytes are not emulated.
std::optional<TensorMap::Type> elementType(int number) {
  using Type = TensorMap::Type;
  constexpr Type types[] = {Type::U8,  Type::U16, Type::U32, Type::S32, Type::U64,
                            Type::S64, Type::F16, Type::F32, Type::F64, Type::BF16};
  if (number >= 0 && number < int(std::size(types)))
    return types[number];
  return number == 11 ? std::optional(Type::TF32) : std::nullopt;
}

/// Fills what `request` says, completes the map by `fillRest`, checks and encodes it.
template <class Rest> int encode(const MapRequest &request, Rest fillRest) {
  auto type = elementType(request.type);
  if (!type)
    return refuse("tensor map: data type " + llvm::Twine(request.type) + " is not emulated");
  if (request.interleave != 0)
    return refuse("tensor map: interleaved layouts are not emulated");
  if (request.swizzle < 0 || request.swizzle > 3)
    return refuse("tensor map: swizzle " + llvm::Twine(request.swizzle) + " is not emulated");
  if (!request.map || !request.dims || (request.rank > 1 && !request.strides) ||
      !request.elementStrides)
    return refuse("tensor map: a pointer is null");
  if (request.rank < 1 || request.rank > 5)
    return refuse("tensor map: rank " + llvm::Twine(request.rank) + " is not 1 to 5");
  TensorMap map;
  map.type = *type;
  map.rank = uint8_t(request.rank);
  map.address = reinterpret_cast<uint64_t>(request.address);
  map.swizzle = TensorMap::Swizzle(request.swizzle);
  map.nanFill = request.fill != 0;
  for (uint32_t d = 0; d < request.rank; ++d) {
    map.dims[d] = request.dims[d];
    map.elementStrides[d] = request.elementStrides[d];
    if (d > 0)
      map.strides[d - 1] = request.strides[d - 1];
  }
  fillRest(map);
  if (llvm::Error error = map.verify())
    return reportDriverError(MP_CU_INVALID_VALUE, std::move(error));
  auto bytes = map.encode();
  std::memcpy(request.map, bytes.data(), bytes.size());
  return MP_CU_SUCCESS;
}

} // namespace

#define MP_ENTRY extern "C" __attribute__((visibility("default"))) int

MP_ENTRY cuModuleLoadData(mp_cu_module **module, const void *image) {
  return driver().load_module(module, image, 0, nullptr, nullptr);
}

MP_ENTRY cuMemAlloc_v2(mp_cu_address *address, size_t bytes) {
  return driver().alloc(address, bytes, nullptr);
}

MP_ENTRY cuMemFree_v2(mp_cu_address address) {
  return address == 0 ? MP_CU_SUCCESS : driver().free(address, nullptr);
}

MP_ENTRY cuMemcpyHtoD_v2(mp_cu_address to, const void *from, size_t bytes) {
  return driver().upload(to, from, bytes, nullptr);
}

MP_ENTRY cuMemcpyDtoH_v2(void *to, mp_cu_address from, size_t bytes) {
  return driver().download(to, from, bytes, nullptr);
}

MP_ENTRY cuMemsetD8_v2(mp_cu_address to, unsigned char value, size_t bytes) {
  std::vector<unsigned char> filled(bytes, value);
  return cuMemcpyHtoD_v2(to, filled.data(), bytes);
}

/// Everything has happened.
MP_ENTRY cuCtxSynchronize() { return MP_CU_SUCCESS; }
MP_ENTRY cuStreamDestroy_v2(mp_cu_stream *) { return MP_CU_SUCCESS; }
MP_ENTRY cuDevicePrimaryCtxRelease_v2(int) { return MP_CU_SUCCESS; }

MP_ENTRY cuTensorMapEncodeTiled(void *map, int type, uint32_t rank, void *address,
                                const uint64_t *dims, const uint64_t *strides, const uint32_t *box,
                                const uint32_t *elementStrides, int interleave, int swizzle,
                                int /*promotion*/, int fill) {
  if (!box)
    return refuse("tensor map: a pointer is null");
  return encode(
      {map, type, rank, address, dims, strides, elementStrides, interleave, swizzle, fill},
      [&](TensorMap &tiled) { std::copy(box, box + rank, tiled.box.begin()); });
}

MP_ENTRY cuTensorMapEncodeIm2col(void *map, int type, uint32_t rank, void *address,
                                 const uint64_t *dims, const uint64_t *strides, const int *lower,
                                 const int *upper, uint32_t channels, uint32_t pixels,
                                 const uint32_t *elementStrides, int interleave, int swizzle,
                                 int /*promotion*/, int fill) {
  if (rank < 3 || !lower || !upper)
    return refuse("tensor map: im2col needs rank 3 to 5, and corners");
  return encode(
      {map, type, rank, address, dims, strides, elementStrides, interleave, swizzle, fill},
      [&](TensorMap &image) {
        image.im2col = true;
        image.channels = channels, image.pixels = pixels;
        for (uint32_t d = 0; d + 2 < rank; ++d)
          image.lower[d] = int16_t(lower[d]), image.upper[d] = int16_t(upper[d]);
      });
}

MP_ENTRY cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                             int *status);
MP_ENTRY cuGetProcAddress(const char *name, void **address, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, address, version, flags, nullptr);
}

/// Every entry point by its exported name.
static const llvm::StringMap<void *> &entryPoints() {
  static const llvm::StringMap<void *> known = [] {
    llvm::StringMap<void *> all;
#define MP_NAME(member, name, parameters, names)                                                   \
  all[name] = reinterpret_cast<void *>(driver().member);
    MP_CU_ENTRY_POINTS(MP_NAME)
#undef MP_NAME
#define MP_NAME(function) all[#function] = reinterpret_cast<void *>(&function)
    MP_NAME(cuModuleLoadData);
    MP_NAME(cuMemAlloc_v2);
    MP_NAME(cuMemFree_v2);
    MP_NAME(cuMemcpyHtoD_v2);
    MP_NAME(cuMemcpyDtoH_v2);
    MP_NAME(cuMemsetD8_v2);
    MP_NAME(cuCtxSynchronize);
    MP_NAME(cuStreamDestroy_v2);
    MP_NAME(cuDevicePrimaryCtxRelease_v2);
    MP_NAME(cuTensorMapEncodeTiled);
    MP_NAME(cuTensorMapEncodeIm2col);
    MP_NAME(cuGetProcAddress);
    MP_NAME(cuGetProcAddress_v2);
#undef MP_NAME
    return all;
  }();
  return known;
}

/// Programs ask by names without suffix, and mean the newest; every version of CUDA has these.
MP_ENTRY cuGetProcAddress_v2(const char *name, void **address, int version, uint64_t flags,
                             int *status) {
  if (!name || !address)
    return refuse("cuGetProcAddress: a pointer is null");
  *address = entryPoints().lookup(std::string(name) + "_v2");
  if (!*address)
    *address = entryPoints().lookup(name);
  constexpr int kFound = 0, kNotFound = 1; // CUdriverProcAddressQueryResult
  if (status)
    *status = *address ? kFound : kNotFound;
  if (*address)
    return MP_CU_SUCCESS;
  return reportDriverError(
      MP_CU_NOT_FOUND, llvm::createStringError("the emulated driver has no " + llvm::Twine(name)));
}
