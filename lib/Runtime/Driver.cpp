// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads the driver when it is first needed, and holds the device behind it.

#include "DeviceState.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>

using namespace mpcore::runtime;

namespace {

/// Stream-ordered allocation came with CUDA 11.2.
constexpr int kOldestDriver = 11020;

std::string chosen; // by mp_rt_select_device
const mp_cu_driver *givenEmulator = nullptr;
std::optional<OpenDevice> opened;
std::string openedName;
thread_local std::string lastError;
thread_local mp_cu_stream *streamOfCall = nullptr;

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string deviceName() {
  if (!chosen.empty())
    return chosen;
  const char *named = std::getenv("MP_DEVICE");
  return named && *named ? named : "cuda";
}

/// Fills the table from a shared library; what is missing is named.
mp_cu_driver loadLibrary(const std::string &path, const std::string &advice) {
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw DeviceError{"no driver: " + std::string(dlerror()) + advice + " [MP701]"};
  mp_cu_driver driver{};
  auto find = [&](auto &member, const char *name) {
    void *symbol = dlsym(library, name);
    if (!symbol)
      throw DeviceError{"the driver '" + path + "' has no " + name + ": it is older than CUDA " +
                        versionText(kOldestDriver) + ", which is needed" + advice};
    std::memcpy(&member, &symbol, sizeof symbol);
  };
#define MP_FIND(member, name, parameters, names) find(driver.member, name);
  MP_CU_ENTRY_POINTS(MP_FIND)
#undef MP_FIND
  return driver;
}

mp_cu_driver loadDriver(const std::string &name) {
  if (name == "emulator") {
    if (givenEmulator)
      return *givenEmulator;
    return loadLibrary("libMPEmulatedDriver.so", "");
  }
  if (name != "cuda")
    throw DeviceError{"MP_DEVICE=" + name + ": expected cuda or emulator"};
  const char *path = std::getenv("MP_CUDA_DRIVER");
  return loadLibrary(path && *path ? path : "libcuda.so.1",
                     "; the device emulator runs kernels without a GPU: " +
                         std::string(givenEmulator ? "--device=emulator" : "MP_DEVICE=emulator"));
}

void open(OpenDevice &device) {
  mp_cu_driver &driver = device.driver;
  int version = 0, count = 0, ordinal = 0;
  device.check(driver.init(0), "starting the driver");
  device.check(driver.driver_version(&version), "asking for the driver's version");
  if (version < kOldestDriver)
    throw DeviceError{"the driver supports CUDA " + versionText(version) + ", expected " +
                      versionText(kOldestDriver) + " or newer"};
  device.check(driver.device_count(&count), "counting devices");
  if (count == 0)
    throw DeviceError{"the driver found no device"};
  device.check(driver.device(&ordinal, 0), "opening device 0");
  mp_rt_device_facts &facts = device.facts;
  auto attribute = [&](int which, int &value) {
    device.check(driver.device_attribute(&value, which, ordinal), "asking for facts of the device");
  };
  device.check(driver.device_name(facts.name, sizeof facts.name, ordinal),
               "asking for the device's name");
  attribute(MP_CU_COMPUTE_CAPABILITY_MAJOR, facts.major);
  attribute(MP_CU_COMPUTE_CAPABILITY_MINOR, facts.minor);
  attribute(MP_CU_MULTIPROCESSOR_COUNT, facts.multiprocessors);
  attribute(MP_CU_CLOCK_RATE, facts.clock_khz);
  size_t memory = 0;
  device.check(driver.device_memory(&memory, ordinal), "asking for the device's memory");
  facts.memory_bytes = int64_t(memory);
  facts.driver_version = version;
  device.check(driver.retain_context(&device.context, ordinal), "making a context");
  device.check(driver.set_context(device.context), "using the context");
  constexpr unsigned nonBlocking = 1;
  device.check(driver.create_stream(&device.stream, nonBlocking), "making a stream");
}

} // namespace

std::mutex &mpcore::runtime::deviceLock() {
  static std::mutex lock;
  return lock;
}

void mpcore::runtime::setDeviceError(const std::string &message) { lastError = message; }

mp_cu_stream *OpenDevice::queue() const { return streamOfCall ? streamOfCall : stream; }

StreamOfCall::StreamOfCall(void *stream) { streamOfCall = static_cast<mp_cu_stream *>(stream); }
StreamOfCall::~StreamOfCall() { streamOfCall = nullptr; }

void OpenDevice::check(int result, const std::string &what) {
  if (result == MP_CU_SUCCESS)
    return;
  const char *name = nullptr, *text = nullptr;
  if (driver.error_name(result, &name) != MP_CU_SUCCESS)
    name = nullptr;
  if (driver.error_text(result, &text) != MP_CU_SUCCESS)
    text = nullptr;
  throw DeviceError{what + ": " + (name ? name : "error " + std::to_string(result)) +
                    (text ? std::string(" (") + text + ")" : "")};
}

OpenDevice &mpcore::runtime::device() {
  if (!opened) {
    OpenDevice fresh;
    std::string name = deviceName();
    fresh.driver = loadDriver(name);
    open(fresh);
    opened = fresh;
    openedName = name;
  }
  opened->check(opened->driver.set_context(opened->context), "using the context");
  return *opened;
}

extern "C" {

int mp_rt_select_device(const char *name) {
  std::lock_guard guard(deviceLock());
  std::string wanted = name;
  if (wanted != "cuda" && wanted != "emulator")
    lastError = "device '" + wanted + "': expected cuda or emulator";
  else if (opened && openedName != wanted)
    lastError = "device '" + wanted + "': " + openedName + " is already in use";
  else {
    chosen = wanted;
    return 0;
  }
  return -1;
}

void mp_rt_use_driver(const mp_cu_driver *emulator) {
  std::lock_guard guard(deviceLock());
  givenEmulator = emulator;
}

int mp_rt_query_device(mp_rt_device_facts *facts) {
  std::lock_guard guard(deviceLock());
  try {
    *facts = device().facts;
    return 0;
  } catch (const DeviceError &error) {
    lastError = error.message;
    return -1;
  }
}

const char *mp_rt_device_error(void) { return lastError.c_str(); }

} // extern "C"
