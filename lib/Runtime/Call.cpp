// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calling compiled functions with arrays of the host.

#include "DeviceMemory.h"
#include "DeviceState.h"
#include "mp/Runtime/Runtime.h"

#include <cstdlib>
#include <cstring>
#include <vector>

using namespace mpcore::runtime;

namespace {

int64_t words(const mp_rt_parameter &parameter) {
  return parameter.is_buffer ? 3 + 2 * parameter.rank : 1;
}

std::string where(const mp_rt_function &function, const char *kind, int index) {
  return std::string(kind) + " " + std::to_string(index) + " of " + function.name;
}

int64_t byteSize(const mp_rt_parameter &parameter, const int64_t *sizes) {
  int64_t bytes = parameter.element_bytes;
  for (int i = 0; i < parameter.rank; ++i)
    bytes *= sizes[i];
  return bytes;
}

/// Appends the words of an argument; a buffer is uploaded.
void pass(const mp_rt_function &function, int index, const mp_rt_array &array,
          std::vector<int64_t> &in) {
  const mp_rt_parameter &parameter = function.parameters[index];
  if (!parameter.is_buffer) {
    if (!array.data)
      throw DeviceError{where(function, "argument", index) +
                        ": data is null, expected a scalar of " +
                        std::to_string(parameter.element_bytes) + " bytes"};
    int64_t word = 0;
    std::memcpy(&word, array.data, size_t(parameter.element_bytes));
    in.push_back(word);
    return;
  }
  for (int i = 0; i < parameter.rank; ++i)
    if (array.sizes[i] < 0 || (parameter.sizes[i] >= 0 && parameter.sizes[i] != array.sizes[i]))
      throw DeviceError{
          where(function, "argument", index) + ": size " + std::to_string(i) + " is " +
          std::to_string(array.sizes[i]) + ", expected " +
          (parameter.sizes[i] < 0 ? "at least 0" : std::to_string(parameter.sizes[i]))};
  int64_t bytes = byteSize(parameter, array.sizes);
  if (bytes > 0 && !array.data)
    throw DeviceError{where(function, "argument", index) + ": data is null, expected " +
                      std::to_string(bytes) + " bytes"};
  OpenDevice &device = mpcore::runtime::device();
  mp_cu_address address = allocateForCall(device, bytes);
  if (bytes > 0)
    device.check(device.driver.upload(address, array.data, size_t(bytes), device.stream),
                 "uploading " + where(function, "argument", index));
  in.insert(in.end(), {int64_t(address), int64_t(address), 0});
  in.insert(in.end(), array.sizes, array.sizes + parameter.rank);
  std::vector<int64_t> strides(size_t(parameter.rank), 1);
  for (int i = parameter.rank - 1; i > 0; --i)
    strides[i - 1] = strides[i] * array.sizes[i];
  in.insert(in.end(), strides.begin(), strides.end());
}

/// Takes the words of a result into fresh memory. Results are contiguous.
mp_rt_array take(const mp_rt_function &function, int index, const int64_t *out) {
  const mp_rt_parameter &parameter = function.parameters[function.argument_count + index];
  mp_rt_array array{};
  int64_t bytes = parameter.element_bytes;
  if (parameter.is_buffer) {
    std::memcpy(array.sizes, out + 3, size_t(parameter.rank) * sizeof(int64_t));
    bytes = byteSize(parameter, array.sizes);
  }
  array.data = std::malloc(size_t(bytes > 0 ? bytes : 1));
  if (!array.data)
    throw DeviceError{where(function, "result", index) + ": no memory for " +
                      std::to_string(bytes) + " bytes"};
  if (!parameter.is_buffer) {
    std::memcpy(array.data, out, size_t(bytes));
    return array;
  }
  OpenDevice &device = mpcore::runtime::device();
  int result = MP_CU_SUCCESS;
  if (bytes > 0)
    result =
        device.driver.download(array.data, mp_cu_address(out[1] + out[2] * parameter.element_bytes),
                               size_t(bytes), device.stream);
  if (result != MP_CU_SUCCESS) {
    std::free(array.data);
    device.check(result, "downloading " + where(function, "result", index));
  }
  return array;
}

std::vector<mp_rt_array> takeAll(const mp_rt_function &function, const int64_t *out) {
  std::vector<mp_rt_array> results;
  try {
    for (int i = 0; i < function.result_count; ++i) {
      results.push_back(take(function, i, out));
      out += words(function.parameters[function.argument_count + i]);
    }
    OpenDevice &device = mpcore::runtime::device();
    device.check(device.driver.synchronize(device.stream), "running " + std::string(function.name));
  } catch (const DeviceError &) {
    for (mp_rt_array &array : results)
      std::free(array.data);
    throw;
  }
  return results;
}

} // namespace

extern "C" int mp_rt_call(const mp_rt_function *function, const mp_rt_array *arguments,
                          mp_rt_array *results) {
  std::vector<int64_t> in, out;
  if (!function || (function->argument_count > 0 && !arguments) ||
      (function->result_count > 0 && !results)) {
    setDeviceError(std::string(function ? function->name : "mp_rt_call") +
                   (function ? ": arguments or results are null" : ": the function is null"));
    return -1;
  }
  int status = 0;
  {
    std::lock_guard guard(deviceLock());
    try {
      OpenDevice &device = mpcore::runtime::device();
      device.peak = device.held;
      for (int i = 0; i < function->argument_count; ++i)
        pass(*function, i, arguments[i], in);
    } catch (const DeviceError &error) {
      setDeviceError(error.message);
      status = -1;
    }
  }
  int64_t count = 0;
  for (int i = 0; i < function->result_count; ++i)
    count += words(function->parameters[function->argument_count + i]);
  out.resize(size_t(count));
  void *packed[] = {in.data(), out.data()};
  if (status == 0) {
    int64_t code = mp_rt_invoke(function->entry, packed);
    if (code > 0)
      setDeviceError(std::string(function->name) + " failed check " + std::to_string(code) + ": " +
                     mp_rt_failure_text());
    else if (code != 0 && code != MP_RT_DEVICE_FAILED)
      setDeviceError(std::string(function->name) + " failed with code " + std::to_string(code));
    status = int(code >= 0 ? code : -1);
  }
  std::lock_guard guard(deviceLock());
  try {
    if (status == 0) {
      std::vector<mp_rt_array> taken = takeAll(*function, out.data());
      std::copy(taken.begin(), taken.end(), results);
    }
    releaseCall(mpcore::runtime::device());
  } catch (const DeviceError &error) {
    setDeviceError(error.message);
    status = -1;
    try {
      releaseCall(mpcore::runtime::device());
    } catch (const DeviceError &) { // the first error says it
    }
  }
  return status;
}
