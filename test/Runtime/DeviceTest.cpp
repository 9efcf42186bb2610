// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls that the runtime makes of a driver, against a driver that writes them down; a failure
// anywhere is told with its reason, and leaves nothing allocated.

#include "mp/Runtime/Device.h"
#include "mp/Runtime/Runtime.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <vector>

namespace {

struct FakeDriver {
  std::vector<std::string> calls;
  std::map<std::string, int> failures; ///< result of an entry point, instead of success
  int version = 12040, devices = 1;
  mp_cu_stream *stream = nullptr; ///< of the last launch
  std::map<mp_cu_address, std::vector<char>> memory;
} fake;

/// Notes the call; the result that the test wants.
int note(const std::string &name, const std::string &details = "") {
  fake.calls.push_back(details.empty() ? name : name + " " + details);
  auto found = fake.failures.find(name);
  return found == fake.failures.end() ? MP_CU_SUCCESS : found->second;
}

int attribute(int *value, int which, int) {
  *value = which == MP_CU_COMPUTE_CAPABILITY_MAJOR   ? 8
           : which == MP_CU_COMPUTE_CAPABILITY_MINOR ? 6
                                                     : 1000;
  return note("attribute");
}

int allocate(mp_cu_address *address, size_t bytes, mp_cu_stream *) {
  int result = note("alloc", std::to_string(bytes));
  if (result == MP_CU_SUCCESS) {
    char *block = static_cast<char *>(std::malloc(bytes));
    *address = reinterpret_cast<mp_cu_address>(block);
    fake.memory[*address].resize(bytes);
  }
  return result;
}

int release(mp_cu_address address, mp_cu_stream *) {
  fake.memory.erase(address);
  std::free(reinterpret_cast<void *>(address));
  return note("free");
}

int upload(mp_cu_address to, const void *from, size_t bytes, mp_cu_stream *) {
  std::memcpy(reinterpret_cast<void *>(to), from, bytes);
  return note("upload", std::to_string(bytes));
}

int download(void *to, mp_cu_address from, size_t bytes, mp_cu_stream *) {
  std::memcpy(to, reinterpret_cast<void *>(from), bytes);
  return note("download", std::to_string(bytes));
}

int copy(mp_cu_address to, mp_cu_address from, size_t bytes, mp_cu_stream *) {
  std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<void *>(from), bytes);
  return note("copy", std::to_string(bytes));
}

/// The one kernel: doubles arguments[1] floats at arguments[0].
int launch(mp_cu_function *, unsigned gx, unsigned, unsigned, unsigned bx, unsigned, unsigned,
           unsigned shared, mp_cu_stream *stream, void **arguments, void **) {
  fake.stream = stream;
  float *data;
  int64_t count;
  std::memcpy(&data, arguments[0], 8);
  std::memcpy(&count, arguments[1], 8);
  for (int64_t i = 0; i < count; ++i)
    data[i] *= 2;
  return note("launch",
              std::to_string(gx) + " " + std::to_string(bx) + " " + std::to_string(shared));
}

int loadModule(mp_cu_module **module, const void *, unsigned, int *options, void **values) {
  *module = reinterpret_cast<mp_cu_module *>(1);
  int result = note("load");
  if (result != MP_CU_SUCCESS && options[0] == MP_CU_JIT_ERROR_LOG_BUFFER)
    std::strcpy(static_cast<char *>(values[0]), "line 1: what is this");
  return result;
}

const mp_cu_driver table = {
    [](unsigned) { return note("init"); },
    [](int *version) { return *version = fake.version, note("version"); },
    [](int *count) { return *count = fake.devices, note("count"); },
    [](int *device, int) { return *device = 0, note("device"); },
    [](char *name, int, int) { return std::strcpy(name, "Fake 86"), note("name"); },
    attribute,
    [](size_t *bytes, int) { return *bytes = 1 << 30, note("memory"); },
    [](mp_cu_context **, int) { return note("context"); },
    [](mp_cu_context *) { return fake.failures["use"]; }, // called all the time, not noted
    [](mp_cu_stream **, unsigned) { return note("stream"); },
    [](mp_cu_stream *) { return note("synchronize"); },
    allocate,
    release,
    upload,
    download,
    loadModule,
    [](mp_cu_module *) { return note("unload"); },
    [](mp_cu_function **function, mp_cu_module *, const char *name) {
      *function = reinterpret_cast<mp_cu_function *>(2);
      return note("function", name);
    },
    [](mp_cu_function *, int, int value) { return note("shared", std::to_string(value)); },
    launch,
    [](int error, const char **name) { return *name = "CUDA_ERROR_FAKE", error ? 0 : 1; },
    [](int, const char **text) { return *text = "on purpose", 0; },
    copy};

const char image[] = "// PTX";
mp_rt_module module = {image, sizeof image, nullptr, nullptr};
mp_rt_kernel kernel = {&module, "double_it", nullptr, 0};
const float weights[] = {10, 20};
mp_rt_constant constant = {&module, weights, sizeof weights, 0, nullptr};
int64_t sharedBytes = 0;
bool failCheck = false;

/// As compiled code does: scales its argument in place twice, returns it and the first weight.
void entry(void **packed) {
  auto *in = static_cast<int64_t *>(packed[0]), *out = static_cast<int64_t *>(packed[1]);
  void *temporary = mp_rt_device_alloc(64);
  int64_t count = in[3];
  int64_t shape[7] = {1, 1, 1, 32, 1, 1, sharedBytes}, arguments[2] = {in[1], count};
  mp_rt_device_launch(&kernel, shape, arguments, 2);
  mp_rt_device_launch(&kernel, shape, arguments, 2);
  if (failCheck)
    mp_rt_check_failed("assertion failed: fits");
  mp_rt_device_free(temporary);
  std::memcpy(out, in, 5 * sizeof(int64_t));
  out[5] = mp_rt_device_read(reinterpret_cast<int64_t>(mp_rt_device_constant(&constant)), 4);
}

const mp_rt_parameter parameters[] = {
    {1, 4, 1, MP_RT_F32, {-1}}, {1, 4, 1, MP_RT_F32, {-1}}, {0, 4, 0, MP_RT_F32, {}}};
const mp_rt_function function = {"scale", entry, 1, 2, parameters};

class DeviceCalls : public testing::Test {
protected:
  void SetUp() override {
    fake.calls.clear();
    fake.failures.clear();
    failCheck = false;
    sharedBytes = 0;
    mp_rt_use_driver(&table);
    ASSERT_EQ(mp_rt_select_device("emulator"), 0);
  }

  /// Calls the function; empty, or the error.
  std::string call(std::vector<float> values = {1, 2, 3}) {
    mp_rt_array argument = {values.data(), {int64_t(values.size())}}, results[2];
    if (mp_rt_call(&function, &argument, results) != 0)
      return mp_rt_device_error();
    const float *scaled = static_cast<float *>(results[0].data);
    EXPECT_EQ(results[0].sizes[0], int64_t(values.size()));
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_EQ(scaled[i], 4 * values[i]);
    EXPECT_EQ(*static_cast<float *>(results[1].data), 10);
    std::free(results[0].data);
    std::free(results[1].data);
    return "";
  }

  int64_t count(const std::string &prefix) {
    int64_t found = 0;
    for (const std::string &each : fake.calls)
      found += each.compare(0, prefix.size(), prefix) == 0;
    return found;
  }
};

// The first test opens the device; what prevents that comes before.
TEST_F(DeviceCalls, DriversThatCannotServeSayWhy) {
  mp_rt_device_facts facts;
  fake.version = 11010;
  EXPECT_EQ(mp_rt_query_device(&facts), -1);
  EXPECT_STREQ(mp_rt_device_error(), "the driver supports CUDA 11.1, expected 11.2 or newer");
  fake.version = 12040;
  fake.devices = 0;
  EXPECT_EQ(call(), "the driver found no device");
  fake.devices = 1;
  fake.failures["init"] = MP_CU_NO_DEVICE;
  EXPECT_EQ(call(), "starting the driver: CUDA_ERROR_FAKE (on purpose)");
  EXPECT_EQ(mp_rt_select_device("gpu"), -1);
  EXPECT_STREQ(mp_rt_device_error(), "device 'gpu': expected cuda or emulator");
  ASSERT_EQ(mp_rt_select_device("cuda"), 0);
  setenv("MP_CUDA_DRIVER", "/nowhere/libcuda.so", 1);
  std::string error = call();
  EXPECT_EQ(error.find("no driver: /nowhere/libcuda.so"), 0u) << error;
  EXPECT_NE(error.find("; the device emulator runs kernels without a GPU: "), std::string::npos)
      << error;
}

TEST_F(DeviceCalls, KernelsAreLoadedOnceAndEverythingIsFreed) {
  mp_rt_device_facts facts;
  ASSERT_EQ(mp_rt_query_device(&facts), 0) << mp_rt_device_error();
  EXPECT_STREQ(facts.name, "Fake 86");
  EXPECT_EQ(facts.major * 10 + facts.minor, 86);
  EXPECT_EQ(call(), "");
  EXPECT_EQ(call({5}), "");
  EXPECT_EQ(count("load"), 1);
  EXPECT_EQ(count("function double_it"), 1);
  EXPECT_EQ(count("launch 1 32 0"), 4);
  EXPECT_EQ(count("upload 8"), 1);    // the constant
  EXPECT_EQ(count("synchronize"), 5); // the constant, a value and the end of each call
  EXPECT_EQ(fake.memory.size(), 1u);  // the constant
  EXPECT_EQ(mp_rt_device_peak_bytes(), 8 + 4 + 64);
  EXPECT_EQ(mp_rt_select_device("cuda"), -1);
  EXPECT_STREQ(mp_rt_device_error(), "device 'cuda': emulator is already in use");
}

TEST_F(DeviceCalls, FailuresNameTheStepAndFreeEverything) {
  EXPECT_EQ(call(), ""); // so that the constant is there
  failCheck = true;
  EXPECT_EQ(call(), "the program failed a check: assertion failed: fits");
  failCheck = false;
  size_t kept = fake.memory.size();
  fake.failures["launch"] = MP_CU_LAUNCH_FAILED;
  EXPECT_EQ(call(), "launching kernel 'double_it': CUDA_ERROR_FAKE (on purpose)");
  EXPECT_EQ(fake.memory.size(), kept);
  fake.failures = {{"alloc", MP_CU_OUT_OF_MEMORY}};
  EXPECT_EQ(call(), "allocating 12 bytes on the device: CUDA_ERROR_FAKE (on purpose)");
  fake.failures = {{"download", MP_CU_LAUNCH_FAILED}};
  EXPECT_EQ(call(), "reading a value back: CUDA_ERROR_FAKE (on purpose)");
  EXPECT_EQ(fake.memory.size(), kept);
  fake.failures.clear();
  EXPECT_EQ(call(), "");
}

TEST_F(DeviceCalls, SizesAreChecked) {
  const mp_rt_parameter fixed[] = {{1, 4, 1, MP_RT_F32, {4}}};
  const mp_rt_function narrow = {"narrow", entry, 1, 0, fixed};
  float data[3] = {};
  mp_rt_array argument = {data, {3}};
  EXPECT_EQ(mp_rt_call(&narrow, &argument, nullptr), -1);
  EXPECT_STREQ(mp_rt_device_error(), "argument 0 of narrow: size 0 is 3, expected 4");
}

TEST_F(DeviceCalls, LargeSharedMemoryIsAskedForOnce) {
  sharedBytes = 96 * 1024;
  EXPECT_EQ(call(), "");
  EXPECT_EQ(count("shared 98304"), 1);
  EXPECT_EQ(count("launch 1 32 98304"), 2);
}

mp_rt_tensor tensorOf(float *data, int64_t count) {
  mp_rt_tensor tensor{};
  tensor.data = data;
  tensor.element = MP_RT_F32;
  tensor.rank = 1;
  tensor.sizes[0] = count;
  return tensor;
}

TEST_F(DeviceCalls, TensorsOfTheDeviceStayThereAndTheCallersStreamOrders) {
  EXPECT_EQ(call(), ""); // loads, and uploads the constant
  float values[] = {1, 2, 3};
  mp_rt_tensor host = tensorOf(values, 3), argument, results[2] = {};
  ASSERT_EQ(mp_rt_copy_tensor(&host, &argument), 0) << mp_rt_device_error();
  EXPECT_EQ(argument.place, MP_RT_ON_DEVICE);
  results[0].place = MP_RT_ON_DEVICE;
  results[1].place = MP_RT_ON_DEVICE;
  size_t kept = fake.memory.size();
  fake.calls.clear();
  auto *stream = reinterpret_cast<mp_cu_stream *>(0x77);
  ASSERT_EQ(mp_rt_call_tensors(&function, &argument, 1, results, 2, stream), 0)
      << mp_rt_device_error();
  EXPECT_EQ(count("upload"), 0);
  EXPECT_EQ(count("download"), 1);    // a value that the host needs
  EXPECT_EQ(count("synchronize"), 1); // for that value, and not at the end
  EXPECT_EQ(count("copy 12"), 1);     // an argument that is returned is not given away
  EXPECT_EQ(fake.stream, stream);
  EXPECT_NE(results[0].data, argument.data);
  EXPECT_EQ(static_cast<float *>(results[0].data)[2], 12);
  EXPECT_EQ(results[0].sizes[0], 3);
  EXPECT_EQ(results[1].place, MP_RT_ON_HOST); // passed by value
  EXPECT_EQ(*static_cast<float *>(results[1].data), 10);
  EXPECT_EQ(fake.memory.size(), kept + 1);
  for (mp_rt_tensor *tensor : {&results[0], &results[1], &argument, &argument})
    EXPECT_EQ(mp_rt_free_tensor(tensor, stream), 0);
  EXPECT_EQ(fake.memory.size(), kept - 1);
  EXPECT_EQ(call(), "");
  EXPECT_NE(fake.stream, stream);
}

TEST_F(DeviceCalls, WrongTensorsAreErrors) {
  float values[] = {1, 2, 3};
  mp_rt_tensor results[2] = {};
  auto refused = [&](mp_rt_tensor argument, int arguments = 1, int resultCount = 2) {
    EXPECT_EQ(mp_rt_call_tensors(&function, &argument, arguments, results, resultCount, nullptr),
              -1);
    return std::string(mp_rt_device_error());
  };
  mp_rt_tensor good = tensorOf(values, 3), bad = good;
  bad.element = MP_RT_BF16;
  EXPECT_EQ(refused(bad), "argument 0 of scale: element type is bf16, expected f32");
  bad = good;
  bad.rank = 2;
  EXPECT_EQ(refused(bad), "argument 0 of scale: rank is 2, expected 1");
  bad = good;
  bad.sizes[0] = -1;
  EXPECT_EQ(refused(bad), "argument 0 of scale: size 0 is -1, expected at least 0");
  bad = good;
  bad.data = nullptr;
  EXPECT_EQ(refused(bad), "argument 0 of scale: data is null, expected 12 bytes");
  bad = good;
  bad.place = 3;
  EXPECT_EQ(refused(bad), "argument 0 of scale: place is 3, expected MP_RT_ON_HOST or "
                          "MP_RT_ON_DEVICE");
  EXPECT_EQ(refused(good, 2), "scale: found 2 arguments, expected 1");
  EXPECT_EQ(refused(good, 1, 1), "scale: found places for 1 results, expected 2");
  results[1].place = 5;
  EXPECT_NE(refused(good).find("the place of result 1 is 5"), std::string::npos);
  EXPECT_EQ(mp_rt_call_tensors(nullptr, &good, 1, results, 2, nullptr), -1);
  EXPECT_EQ(mp_rt_call_tensors(&function, nullptr, 1, results, 2, nullptr), -1);
  EXPECT_STREQ(mp_rt_device_error(), "scale: arguments or results are null");
  EXPECT_EQ(mp_rt_call(&function, nullptr, nullptr), -1);
  EXPECT_STREQ(mp_rt_device_error(), "scale: arguments or results are null");
  EXPECT_EQ(mp_rt_copy_tensor(nullptr, nullptr), -1);
  EXPECT_STREQ(mp_rt_device_error(), "mp_rt_copy_tensor: a tensor is null");
  EXPECT_EQ(mp_rt_copy_to(&good, nullptr, nullptr), -1);
  EXPECT_STREQ(mp_rt_device_error(), "mp_rt_copy_to: a tensor is null");
  EXPECT_EQ(mp_rt_free_tensor(nullptr, nullptr), 0);
}

TEST_F(DeviceCalls, ALostContextIsSaidAndItsKernelsAreForgottenWithoutACall) {
  fake.failures = {{"launch", MP_CU_LAUNCH_FAILED}};
  EXPECT_EQ(call(), "launching kernel 'double_it': CUDA_ERROR_FAKE (on purpose)");
  fake.failures["use"] = MP_CU_LAUNCH_FAILED;
  EXPECT_EQ(call(), "using the context: CUDA_ERROR_FAKE (on purpose)");
  fake.calls.clear();
  mp_rt_unload(&module);
  kernel.function = nullptr;
  EXPECT_EQ(count("unload") + count("free"), 0);
  for (auto &[address, bytes] : fake.memory) // went with the context
    std::free(reinterpret_cast<void *>(address));
  fake.memory.clear();
  fake.failures.clear();
  EXPECT_EQ(call(), ""); // loads them again
  EXPECT_EQ(count("load"), 1);
}

// The last test: it forgets the kernels.
TEST_F(DeviceCalls, UnloadingFreesConstantsAndAFaultyImageIsShownWithItsLog) {
  mp_rt_unload(&module);
  kernel.function = nullptr;
  EXPECT_EQ(fake.memory.size(), 0u);
  EXPECT_EQ(count("unload"), 1);
  fake.failures["load"] = MP_CU_UNSUPPORTED_PTX_VERSION;
  EXPECT_EQ(
      call(),
      "loading kernels for Fake 86, whose driver is too old for this PTX: line 1: what is this: "
      "CUDA_ERROR_FAKE (on purpose)");
}

} // namespace
