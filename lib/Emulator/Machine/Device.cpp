// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements allocation, copies and launches of the emulated device.

#include "mp/Emulator/Device.h"
#include "../State/Memory.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::createStringError;
using llvm::Twine;

Device::Device() : memory(std::make_unique<GlobalMemory>()) {}
Device::~Device() = default;

llvm::Expected<DevicePtr> Device::alloc(uint64_t bytes, uint64_t align) {
  if (align & (align - 1))
    return createStringError("alignment " + Twine(align) + " is no power of two");
  if (bytes > uint64_t(1) << 36)
    return createStringError("allocation of " + Twine(bytes) +
                             " bytes: the emulated device has 64 GiB");
  Allocation *a = memory->create(memory->reserve(bytes, align), bytes, "");
  if (!a)
    return createStringError("the host has no memory for an allocation of " + Twine(bytes) +
                             " bytes");
  return a->base;
}

llvm::Error Device::free(DevicePtr ptr) {
  if (memory->destroy(ptr))
    return llvm::Error::success();
  return createStringError("free of 0x" + llvm::utohexstr(ptr) +
                           ", which alloc did not return or which is freed");
}

static llvm::Expected<Allocation *> range(GlobalMemory &memory, DevicePtr ptr, uint64_t bytes) {
  Allocation *a = memory.find(ptr);
  if (!a || bytes > a->size - (ptr - a->base))
    return createStringError(memory.describe(ptr, bytes));
  return a;
}

llvm::Error Device::write(DevicePtr ptr, llvm::ArrayRef<uint8_t> data) {
  if (data.empty())
    return llvm::Error::success();
  auto a = range(*memory, ptr, data.size());
  if (!a)
    return a.takeError();
  std::memcpy((*a)->data.get() + (ptr - (*a)->base), data.data(), data.size());
  if (data.size() == (*a)->size)
    (*a)->allWritten = true;
  else
    (*a)->markWritten(ptr - (*a)->base, data.size());
  return llvm::Error::success();
}

llvm::Error Device::read(DevicePtr ptr, llvm::MutableArrayRef<uint8_t> data,
                         bool allowUninitialized) {
  if (data.empty())
    return llvm::Error::success();
  auto a = range(*memory, ptr, data.size());
  if (!a)
    return a.takeError();
  if (!allowUninitialized && !(*a)->isWritten(ptr - (*a)->base, data.size())) {
    uint64_t k = 0;
    while ((*a)->isWritten(ptr - (*a)->base + k, 1))
      ++k;
    return createStringError("byte " + Twine(k) + " of the " + Twine(data.size()) + " bytes at 0x" +
                             llvm::utohexstr(ptr) + " was never written");
  }
  std::memcpy(data.data(), (*a)->data.get() + (ptr - (*a)->base), data.size());
  return llvm::Error::success();
}

llvm::Error Device::fill(DevicePtr ptr, uint8_t value, uint64_t bytes) {
  return write(ptr, std::vector<uint8_t>(bytes, value));
}

llvm::Error Device::copy(DevicePtr to, DevicePtr from, uint64_t bytes) {
  std::vector<uint8_t> data(bytes);
  if (llvm::Error e = read(from, data))
    return e;
  return write(to, data);
}

llvm::Error Device::place(const Module &module) {
  const Program &program = module.program();
  if (!memory->placed.insert(program.id).second)
    return llvm::Error::success();
  for (const GlobalVar &v : program.globals) {
    Allocation *a = memory->create(v.address, v.bytes, v.name);
    if (!a)
      return createStringError("the host has no memory for the " + Twine(v.bytes) +
                               " bytes of variable '" + v.name + "'");
    if (!v.image.empty())
      std::memcpy(a->data.get(), v.image.data(), v.image.size());
    a->allWritten = true;
    a->readOnly = v.constant;
  }
  return llvm::Error::success();
}

llvm::Expected<std::pair<DevicePtr, uint64_t>> Device::global(const Module &module,
                                                              llvm::StringRef name) {
  if (llvm::Error e = place(module))
    return std::move(e);
  for (const GlobalVar &v : module.program().globals)
    if (v.name == name)
      return std::make_pair(DevicePtr(v.address), v.bytes);
  return createStringError("no variable '" + name + "' in " + module.program().file);
}
