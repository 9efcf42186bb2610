// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements what compiled host code does with the device: memory, constants, launches.

#include "DeviceMemory.h"
#include "DeviceState.h"
#include "mp/Runtime/Runtime.h"

#include <algorithm>
#include <map>
#include <vector>

using namespace mpcore::runtime;

namespace {

/// Live allocations of the running call, so that everything goes when it ends.
thread_local std::map<mp_cu_address, int64_t> live;

/// Copies of device memory that the running call looks at.
thread_local std::vector<std::vector<char>> mirrors;

mp_cu_address allocate(OpenDevice &device, int64_t bytes, const std::string &what) {
  mp_cu_address address = 0;
  // The driver refuses allocations of no bytes; distinct addresses are still promised.
  device.check(device.driver.alloc(&address, size_t(bytes > 0 ? bytes : 1), device.queue()),
               "allocating " + std::to_string(bytes) + " bytes " + what);
  device.held += bytes;
  device.peak = device.held > device.peak ? device.held : device.peak;
  return address;
}

void load(OpenDevice &device, mp_rt_module &module) {
  if (module.loaded)
    return;
  char log[8192] = "";
  int options[] = {MP_CU_JIT_ERROR_LOG_BUFFER, MP_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
  int result = device.driver.load_module(&module.loaded, module.image, 2, options, values);
  std::string what = "loading kernels for " + std::string(device.facts.name);
  if (result == MP_CU_UNSUPPORTED_PTX_VERSION)
    what += ", whose driver is too old for this PTX";
  device.check(result, what + (*log ? std::string(": ") + log : ""));
}

/// Runs `body`; a failure leaves the compiled code, without unwinding through it.
template <typename Body> auto withDevice(Body body) {
  bool failed = false;
  decltype(body(std::declval<OpenDevice &>())) result{};
  {
    std::lock_guard guard(deviceLock());
    try {
      result = body(device());
    } catch (const DeviceError &error) {
      setDeviceError(error.message);
      failed = true;
    }
  }
  if (failed)
    mp_rt_fail(MP_RT_DEVICE_FAILED);
  return result;
}

} // namespace

mp_cu_address mpcore::runtime::allocateForCall(OpenDevice &device, int64_t bytes) {
  mp_cu_address address = allocate(device, bytes, "on the device");
  live.emplace(address, bytes);
  return address;
}

bool mpcore::runtime::handOver(mp_cu_address address) { return live.erase(address) > 0; }

void mpcore::runtime::releaseCall(OpenDevice &device) {
  for (auto [address, bytes] : live) {
    device.driver.free(address, device.queue());
    device.held -= bytes;
  }
  forgetCall();
}

void mpcore::runtime::forgetCall() {
  live.clear();
  mirrors.clear();
}

extern "C" {

void *mp_rt_device_alloc(int64_t bytes) {
  return withDevice([&](OpenDevice &device) {
    if (bytes < 0)
      throw DeviceError{"a buffer of " + std::to_string(bytes) + " bytes: its size overflowed"};
    return reinterpret_cast<void *>(allocateForCall(device, bytes));
  });
}

void mp_rt_device_free(void *pointer) {
  withDevice([&](OpenDevice &device) {
    auto found = live.find(reinterpret_cast<mp_cu_address>(pointer));
    if (found == live.end())
      return 0; // an argument or a constant: not the code's to free
    device.check(device.driver.free(found->first, device.queue()), "freeing memory of the device");
    device.held -= found->second;
    live.erase(found);
    return 0;
  });
}

void *mp_rt_device_constant(mp_rt_constant *constant) {
  return withDevice([&](OpenDevice &device) {
    if (!constant->address) {
      mp_cu_address address = allocate(device, constant->bytes, "for a constant");
      if (constant->bytes > 0)
        device.check(
            device.driver.upload(address, constant->data, size_t(constant->bytes), device.queue()),
            "uploading a constant");
      // Calls on other streams read it, too.
      device.check(device.driver.synchronize(device.queue()), "waiting for a constant");
      constant->address = address;
      constant->next = constant->module->constants;
      constant->module->constants = constant;
    }
    return reinterpret_cast<void *>(constant->address);
  });
}

void mp_rt_device_clear(void *address, int64_t bytes) {
  static const char zeros[4096] = {};
  withDevice([&](OpenDevice &device) {
    for (int64_t at = 0; at < bytes; at += sizeof zeros)
      device.check(device.driver.upload(reinterpret_cast<mp_cu_address>(address) + at, zeros,
                                        std::min(size_t(bytes - at), sizeof zeros), device.queue()),
                   "clearing memory");
    return 0;
  });
}

int64_t mp_rt_device_read(int64_t address, int64_t bytes) {
  return withDevice([&](OpenDevice &device) {
    int64_t word = 0;
    device.check(
        device.driver.download(&word, mp_cu_address(address), size_t(bytes), device.queue()),
        "reading a value back");
    device.check(device.driver.synchronize(device.queue()), "waiting for a value");
    return word;
  });
}

int64_t mp_rt_device_mirror(const int64_t *layout, int64_t index, int64_t address,
                            int64_t element_bytes) {
  int64_t rank = layout[0];
  const int64_t *sizes = layout + 1 + 2 * rank * index, *strides = sizes + rank;
  int64_t last = 0;
  bool empty = false;
  for (int64_t dim = 0; dim < rank; ++dim) {
    empty |= sizes[dim] == 0;
    last += (sizes[dim] - 1) * strides[dim];
  }
  return withDevice([&](OpenDevice &device) {
    int64_t bytes = empty ? 0 : (last + 1) * element_bytes;
    void *copy = mirrors.emplace_back(size_t(bytes)).data();
    if (bytes > 0) {
      device.check(
          device.driver.download(copy, mp_cu_address(address), size_t(bytes), device.queue()),
          "reading an array back for a check");
      device.check(device.driver.synchronize(device.queue()), "waiting for an array to check");
    }
    return int64_t(reinterpret_cast<intptr_t>(copy));
  });
}

void mp_rt_device_launch(mp_rt_kernel *kernel, const int64_t *shape, int64_t *arguments,
                         int64_t count) {
  withDevice([&](OpenDevice &device) {
    std::string what = "launching kernel '" + std::string(kernel->name) + "'";
    for (int i = 0; i < 7; ++i)
      if (shape[i] < 0 || shape[i] > 0x7fffffff)
        throw DeviceError{what + ": an extent is " + std::to_string(shape[i]) +
                          ", expected at most 2147483647"};
    load(device, *kernel->module);
    if (!kernel->function)
      device.check(
          device.driver.module_function(&kernel->function, kernel->module->loaded, kernel->name),
          "finding kernel '" + std::string(kernel->name) + "'");
    // Beyond 48 KiB a kernel must ask.
    if (shape[6] > 48 * 1024 && shape[6] > kernel->shared_bytes) {
      device.check(device.driver.set_function_attribute(
                       kernel->function, MP_CU_MAX_DYNAMIC_SHARED_SIZE_BYTES, int(shape[6])),
                   what + " with " + std::to_string(shape[6]) + " bytes of shared memory");
      kernel->shared_bytes = shape[6];
    }
    std::vector<void *> addresses;
    for (int64_t i = 0; i < count; ++i)
      addresses.push_back(arguments + i);
    auto extent = [&](int i) { return unsigned(shape[i]); };
    device.check(device.driver.launch(kernel->function, extent(0), extent(1), extent(2), extent(3),
                                      extent(4), extent(5), extent(6), device.queue(),
                                      addresses.data(), nullptr),
                 what);
    return 0;
  });
}

void mp_rt_check_failed(const char *message) {
  setDeviceError(std::string("the program failed a check: ") + message);
  mp_rt_fail(MP_RT_DEVICE_FAILED);
}

int64_t mp_rt_device_peak_bytes(void) {
  std::lock_guard guard(deviceLock());
  try {
    return device().peak;
  } catch (const DeviceError &) {
    return 0;
  }
}

void mp_rt_unload(mp_rt_module *module) {
  if (!module->loaded && !module->constants)
    return;
  std::lock_guard guard(deviceLock());
  OpenDevice *device = nullptr;
  try {
    device = &mpcore::runtime::device();
  } catch (const DeviceError &) {
    // A context that is lost has taken everything with it.
  }
  for (mp_rt_constant *constant = module->constants; constant;) {
    if (device) {
      device->driver.free(constant->address, device->stream);
      device->held -= constant->bytes;
    }
    mp_rt_constant *next = constant->next;
    constant->address = 0;
    constant->next = nullptr;
    constant = next;
  }
  module->constants = nullptr;
  if (device)
    device->driver.synchronize(device->stream);
  if (device && module->loaded)
    device->driver.unload_module(module->loaded);
  module->loaded = nullptr;
}

} // extern "C"
