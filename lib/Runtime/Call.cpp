// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calling compiled functions with arrays of the host and of the device.

#include "CallWords.h"
#include "DeviceMemory.h"
#include "DeviceState.h"
#include "mp/Runtime/Runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace mpcore::runtime;

int64_t mpcore::runtime::words(const mp_rt_parameter &parameter) {
  return parameter.is_buffer ? 3 + 2 * parameter.rank : 1;
}

std::string mpcore::runtime::where(const mp_rt_function &function, const char *kind, int index) {
  return std::string(kind) + " " + std::to_string(index) + " of " + function.name;
}

/// An element type as MLIR spells it.
static std::string elementName(int element) {
  static const char *const names[] = {"f64",        "f32",        "tf32",          "bf16",
                                      "f16",        "f8E5M2",     "f8E4M3",        "f8E4M3FN",
                                      "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4",
                                      "f8E8M0FNU",  "f6E3M2FN",   "f6E2M3FN",      "f4E2M1FN"};
  static_assert(sizeof names / sizeof *names == MP_RT_FORMAT_COUNT);
  if (element >= 0 && element < MP_RT_FORMAT_COUNT)
    return names[element];
  if (element > MP_RT_INTEGER && element <= MP_RT_INTEGER + 64)
    return "i" + std::to_string(element - MP_RT_INTEGER);
  return "no element type (" + std::to_string(element) + ")";
}

int64_t mpcore::runtime::byteSize(const mp_rt_parameter &parameter, const int64_t *sizes) {
  int64_t bytes = parameter.element_bytes;
  for (int i = 0; i < parameter.rank; ++i)
    bytes *= sizes[i];
  return bytes;
}

void mpcore::runtime::checkTensor(const std::string &what, const mp_rt_parameter &parameter,
                                  const mp_rt_tensor &tensor) {
  auto differ = [&](const std::string &kind, const std::string &found, const std::string &wanted) {
    throw DeviceError{what + ": " + kind + " is " + found + ", expected " + wanted};
  };
  if (tensor.element != parameter.element)
    differ("element type", elementName(tensor.element), elementName(parameter.element));
  if (tensor.rank != parameter.rank)
    differ("rank", std::to_string(tensor.rank), std::to_string(parameter.rank));
  if (tensor.place != MP_RT_ON_HOST && tensor.place != MP_RT_ON_DEVICE)
    differ("place", std::to_string(tensor.place), "MP_RT_ON_HOST or MP_RT_ON_DEVICE");
  for (int i = 0; i < parameter.rank; ++i)
    if (tensor.sizes[i] < 0 || (parameter.sizes[i] >= 0 && parameter.sizes[i] != tensor.sizes[i]))
      differ("size " + std::to_string(i), std::to_string(tensor.sizes[i]),
             parameter.sizes[i] < 0 ? "at least 0" : std::to_string(parameter.sizes[i]));
  if (!parameter.is_buffer && tensor.place == MP_RT_ON_DEVICE)
    differ("its place", "the device", "the host, because it is passed by value");
  int64_t bytes = byteSize(parameter, tensor.sizes);
  if (bytes > 0 && !tensor.data)
    throw DeviceError{what + ": data is null, expected " + std::to_string(bytes) + " bytes"};
}

namespace {

/// Appends the words of an argument; a buffer of the host is uploaded.
void pass(const mp_rt_function &function, int index, const mp_rt_tensor &tensor,
          std::vector<int64_t> &in) {
  const mp_rt_parameter &parameter = function.parameters[index];
  checkTensor(where(function, "argument", index), parameter, tensor);
  if (!parameter.is_buffer) {
    int64_t word = 0;
    std::memcpy(&word, tensor.data, size_t(parameter.element_bytes));
    in.push_back(word);
    return;
  }
  auto address = reinterpret_cast<mp_cu_address>(tensor.data);
  if (tensor.place == MP_RT_ON_HOST) {
    int64_t bytes = byteSize(parameter, tensor.sizes);
    OpenDevice &device = mpcore::runtime::device();
    address = allocateForCall(device, bytes);
    if (bytes > 0)
      device.check(device.driver.upload(address, tensor.data, size_t(bytes), device.queue()),
                   "uploading " + where(function, "argument", index));
  }
  in.insert(in.end(), {int64_t(address), int64_t(address), 0});
  in.insert(in.end(), tensor.sizes, tensor.sizes + parameter.rank);
  std::vector<int64_t> strides(size_t(parameter.rank), 1);
  for (int i = parameter.rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * tensor.sizes[i];
  in.insert(in.end(), strides.begin(), strides.end());
}

void *allocateOnHost(int64_t bytes, const std::string &what) {
  void *data = std::malloc(size_t(bytes > 0 ? bytes : 1));
  if (!data)
    throw DeviceError{what + ": no memory for " + std::to_string(bytes) + " bytes"};
  return data;
}

/// Hands the memory of a result over to the caller; what is not the call's to give, such as an
/// argument that is returned, is copied.
mp_cu_address keepOnDevice(OpenDevice &device, const int64_t *out, mp_cu_address address,
                           int64_t bytes, const std::string &what) {
  if (mp_cu_address(out[0]) == address && handOver(address))
    return address;
  mp_cu_address copy = allocateForCall(device, bytes);
  if (bytes > 0)
    device.check(device.driver.copy(copy, address, size_t(bytes), device.queue()),
                 "copying " + what);
  handOver(copy);
  return copy;
}

/// Takes the words of a result, which is contiguous, into memory of the caller.
mp_rt_tensor take(const mp_rt_function &function, int index, const int64_t *out, int place) {
  const mp_rt_parameter &parameter = function.parameters[function.argument_count + index];
  std::string what = where(function, "result", index);
  mp_rt_tensor tensor{};
  tensor.element = parameter.element;
  tensor.rank = parameter.rank;
  tensor.place = parameter.is_buffer ? place : int(MP_RT_ON_HOST);
  if (!parameter.is_buffer) {
    tensor.data = allocateOnHost(parameter.element_bytes, what);
    std::memcpy(tensor.data, out, size_t(parameter.element_bytes));
    return tensor;
  }
  std::memcpy(tensor.sizes, out + 3, size_t(parameter.rank) * sizeof(int64_t));
  int64_t bytes = byteSize(parameter, tensor.sizes);
  mp_cu_address address = mp_cu_address(out[1] + out[2] * parameter.element_bytes);
  OpenDevice &device = mpcore::runtime::device();
  if (place == MP_RT_ON_DEVICE) {
    tensor.data = reinterpret_cast<void *>(keepOnDevice(device, out, address, bytes, what));
    return tensor;
  }
  tensor.data = allocateOnHost(bytes, what);
  int result = MP_CU_SUCCESS;
  if (bytes > 0)
    result = device.driver.download(tensor.data, address, size_t(bytes), device.queue());
  if (result != MP_CU_SUCCESS) {
    std::free(tensor.data);
    device.check(result, "downloading " + what);
  }
  return tensor;
}

int64_t bytesOf(const mp_rt_tensor &tensor) {
  int64_t bits = tensor.element >= MP_RT_INTEGER ? tensor.element - MP_RT_INTEGER : 0;
  int64_t bytes = bits                                                          ? (bits <= 8    ? 1
                                                                                   : bits <= 16 ? 2
                                                                                   : bits <= 32 ? 4
                                                                                                : 8)
                  : tensor.element == MP_RT_F64                                 ? 8
                  : tensor.element == MP_RT_F32 || tensor.element == MP_RT_TF32 ? 4
                  : tensor.element == MP_RT_BF16 || tensor.element == MP_RT_F16 ? 2
                                                                                : 1;
  for (int i = 0; i < tensor.rank; ++i)
    bytes *= tensor.sizes[i];
  return bytes;
}

bool isSameType(const mp_rt_tensor &a, const mp_rt_tensor &b) {
  return a.element == b.element && a.rank == b.rank && a.rank >= 0 && a.rank <= MP_RT_MAX_RANK &&
         std::equal(a.sizes, a.sizes + a.rank, b.sizes);
}

void release(OpenDevice &device, mp_rt_tensor &tensor) {
  if (tensor.place == MP_RT_ON_HOST) {
    std::free(tensor.data);
  } else if (tensor.data) {
    device.driver.free(reinterpret_cast<mp_cu_address>(tensor.data), device.queue());
    device.held -= bytesOf(tensor);
  }
  tensor.data = nullptr;
}

std::vector<mp_rt_tensor> takeAll(const mp_rt_function &function, const int64_t *out,
                                  const std::vector<int> &places, bool waits) {
  std::vector<mp_rt_tensor> results;
  OpenDevice &device = mpcore::runtime::device();
  try {
    for (int i = 0; i < function.result_count; ++i) {
      results.push_back(take(function, i, out, places[size_t(i)]));
      out += words(function.parameters[function.argument_count + i]);
    }
    if (waits)
      device.check(device.driver.synchronize(device.queue()),
                   "running " + std::string(function.name));
  } catch (const DeviceError &) {
    for (mp_rt_tensor &tensor : results)
      release(device, tensor);
    throw;
  }
  return results;
}

/// Runs `body` with the device to itself; what it throws becomes -1 and a message.
template <typename Body> int guarded(Body body) {
  std::lock_guard guard(deviceLock());
  try {
    body();
    return 0;
  } catch (const DeviceError &error) {
    setDeviceError(error.message);
    return -1;
  }
}

/// Uploads, runs, downloads; `waits`: until everything is done.
int call(const mp_rt_function &function, const std::vector<mp_rt_tensor> &arguments,
         const std::vector<int> &places, bool waits, std::vector<mp_rt_tensor> &results) {
  std::vector<int64_t> in, out;
  int64_t count = 0;
  for (int i = 0; i < function.result_count; ++i)
    count += words(function.parameters[function.argument_count + i]);
  out.resize(size_t(count));
  int status = guarded([&] {
    OpenDevice &device = mpcore::runtime::device();
    device.peak = device.held;
    for (int i = 0; i < function.argument_count; ++i)
      pass(function, i, arguments[size_t(i)], in);
  });
  void *packed[] = {in.data(), out.data()};
  if (status == 0) {
    int64_t code = mp_rt_invoke(function.entry, packed);
    if (code > 0)
      setDeviceError(std::string(function.name) + " failed check " + std::to_string(code) + ": " +
                     mp_rt_failure_text());
    else if (code != 0 && code != MP_RT_DEVICE_FAILED)
      setDeviceError(std::string(function.name) + " failed with code " + std::to_string(code));
    status = int(code >= 0 ? code : -1);
  }
  if (status == 0)
    status = guarded([&] { results = takeAll(function, out.data(), places, waits); });
  // The first of two failures is the one that is said.
  std::string said = mp_rt_device_error();
  if (guarded([] { releaseCall(mpcore::runtime::device()); }) != 0) {
    forgetCall();
    if (status != 0)
      setDeviceError(said);
  }
  return status;
}

/// The tensor at the other place, in memory of the caller; waits for it.
mp_rt_tensor copyAcross(const mp_rt_tensor &from) {
  int64_t bytes = from.rank >= 0 && from.rank <= MP_RT_MAX_RANK ? bytesOf(from) : -1;
  if (bytes < 0 || (bytes > 0 && !from.data))
    throw DeviceError{"copying a tensor: its data, rank or sizes are wrong"};
  OpenDevice &device = mpcore::runtime::device();
  mp_rt_tensor copy = from;
  copy.data = nullptr;
  bool up = from.place == MP_RT_ON_HOST;
  copy.place = up ? MP_RT_ON_DEVICE : MP_RT_ON_HOST;
  try {
    mp_cu_address address =
        up ? allocateForCall(device, bytes) : reinterpret_cast<mp_cu_address>(from.data);
    copy.data = up ? reinterpret_cast<void *>(address) : allocateOnHost(bytes, "copying a tensor");
    if (bytes > 0)
      device.check(up ? device.driver.upload(address, from.data, size_t(bytes), device.queue())
                      : device.driver.download(copy.data, address, size_t(bytes), device.queue()),
                   "copying a tensor");
    device.check(device.driver.synchronize(device.queue()), "waiting for a copy");
    handOver(address);
  } catch (const DeviceError &) {
    if (!up)
      std::free(copy.data);
    releaseCall(device);
    throw;
  }
  return copy;
}

int refuse(const char *name, const std::string &why) {
  setDeviceError(std::string(name) + ": " + why);
  return -1;
}

int refuse(const mp_rt_function *function, const std::string &why) {
  return refuse(function && function->name ? function->name : "mp_rt_call", why);
}

} // namespace

extern "C" {

int mp_rt_call(const mp_rt_function *function, const mp_rt_array *arguments, mp_rt_array *results) {
  if (!function)
    return refuse(function, "the function is null");
  if ((function->argument_count > 0 && !arguments) || (function->result_count > 0 && !results))
    return refuse(function, "arguments or results are null");
  std::vector<mp_rt_tensor> in(size_t(function->argument_count)), out;
  for (int i = 0; i < function->argument_count; ++i) {
    mp_rt_tensor &tensor = in[size_t(i)];
    tensor.data = arguments[i].data;
    tensor.element = function->parameters[i].element; // the caller's word for it
    tensor.place = MP_RT_ON_HOST;
    tensor.rank = function->parameters[i].rank;
    std::copy(arguments[i].sizes, arguments[i].sizes + tensor.rank, tensor.sizes);
  }
  std::vector<int> places(size_t(function->result_count), MP_RT_ON_HOST);
  int status = call(*function, in, places, /*waits=*/true, out);
  for (int i = 0; status == 0 && i < function->result_count; ++i) {
    results[i] = {};
    results[i].data = out[size_t(i)].data;
    std::copy(out[size_t(i)].sizes, out[size_t(i)].sizes + out[size_t(i)].rank, results[i].sizes);
  }
  return status;
}

int mp_rt_call_tensors(const mp_rt_function *function, const mp_rt_tensor *arguments,
                       int argument_count, mp_rt_tensor *results, int result_count, void *stream) {
  if (!function)
    return refuse(function, "the function is null");
  if (argument_count != function->argument_count)
    return refuse(function, "found " + std::to_string(argument_count) + " arguments, expected " +
                                std::to_string(function->argument_count));
  if (result_count != function->result_count)
    return refuse(function, "found places for " + std::to_string(result_count) +
                                " results, expected " + std::to_string(function->result_count));
  if ((argument_count > 0 && !arguments) || (result_count > 0 && !results))
    return refuse(function, "arguments or results are null");
  std::vector<int> places;
  bool waits = !stream;
  for (int i = 0; i < result_count; ++i) {
    if (results[i].place != MP_RT_ON_HOST && results[i].place != MP_RT_ON_DEVICE)
      return refuse(function, "the place of result " + std::to_string(i) + " is " +
                                  std::to_string(results[i].place) +
                                  ", expected MP_RT_ON_HOST or MP_RT_ON_DEVICE");
    places.push_back(results[i].place);
    waits |= results[i].place == MP_RT_ON_HOST;
  }
  StreamOfCall ordered(stream);
  std::vector<mp_rt_tensor> in(arguments, arguments + argument_count), out;
  int status = call(*function, in, places, waits, out);
  if (status == 0)
    std::copy(out.begin(), out.end(), results);
  return status;
}

int mp_rt_copy_tensor(const mp_rt_tensor *from, mp_rt_tensor *to) {
  if (!from || !to)
    return refuse("mp_rt_copy_tensor", "a tensor is null");
  return guarded([&] { *to = copyAcross(*from); });
}

int mp_rt_copy_to(const mp_rt_tensor *from, const mp_rt_tensor *to, void *stream) {
  if (!from || !to)
    return refuse("mp_rt_copy_to", "a tensor is null");
  if (from->place != MP_RT_ON_DEVICE || to->place != MP_RT_ON_DEVICE || !isSameType(*from, *to))
    return refuse("mp_rt_copy_to", "places, element types or sizes are different");
  StreamOfCall ordered(stream);
  return guarded([&] {
    OpenDevice &device = mpcore::runtime::device();
    if (int64_t bytes = bytesOf(*from))
      device.check(device.driver.copy(reinterpret_cast<mp_cu_address>(to->data),
                                      reinterpret_cast<mp_cu_address>(from->data), size_t(bytes),
                                      device.queue()),
                   "copying a tensor");
  });
}

int mp_rt_free_tensor(mp_rt_tensor *tensor, void *stream) {
  if (!tensor || !tensor->data)
    return 0;
  StreamOfCall ordered(stream);
  return guarded([&] { release(mpcore::runtime::device(), *tensor); });
}

} // extern "C"
