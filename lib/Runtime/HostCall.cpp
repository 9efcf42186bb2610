// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calling compiled functions of which no part runs on a device.

#include "CallWords.h"
#include "DeviceState.h"
#include "mp/Runtime/Runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace mpcore::runtime;

/// Appends the words of an argument, which is read where it is.
static void pass(const mp_rt_function &function, int index, const mp_rt_array &array,
                 std::vector<int64_t> &in) {
  const mp_rt_parameter &parameter = function.parameters[index];
  mp_rt_tensor tensor{};
  tensor.data = array.data;
  tensor.element = parameter.element; // the caller's word for it
  tensor.place = MP_RT_ON_HOST;
  tensor.rank = parameter.rank;
  std::copy(array.sizes, array.sizes + parameter.rank, tensor.sizes);
  checkTensor(where(function, "argument", index), parameter, tensor);
  if (!parameter.is_buffer) {
    int64_t word = 0;
    std::memcpy(&word, array.data, size_t(parameter.element_bytes));
    in.push_back(word);
    return;
  }
  in.insert(in.end(), {int64_t(array.data), int64_t(array.data), 0});
  in.insert(in.end(), array.sizes, array.sizes + parameter.rank);
  std::vector<int64_t> strides(size_t(parameter.rank), 1);
  for (int i = parameter.rank - 1; i > 0; --i)
    strides[size_t(i - 1)] = strides[size_t(i)] * array.sizes[i];
  in.insert(in.end(), strides.begin(), strides.end());
}

/// Copies a result, which is contiguous, into memory of the caller.
static mp_rt_array take(const mp_rt_function &function, int index, const int64_t *out) {
  const mp_rt_parameter &parameter = function.parameters[function.argument_count + index];
  mp_rt_array array{};
  const void *from = out;
  if (parameter.is_buffer) {
    std::memcpy(array.sizes, out + 3, size_t(parameter.rank) * sizeof(int64_t));
    from = reinterpret_cast<const void *>(out[1] + out[2] * parameter.element_bytes);
  }
  int64_t bytes = byteSize(parameter, array.sizes);
  array.data = std::malloc(size_t(bytes > 0 ? bytes : 1));
  if (!array.data)
    throw DeviceError{where(function, "result", index) + ": no memory for " +
                      std::to_string(bytes) + " bytes"};
  if (bytes > 0)
    std::memcpy(array.data, from, size_t(bytes));
  return array;
}

/// Throws, or returns the number of a check that did not hold.
static int callOnHost(const mp_rt_function &function, const mp_rt_array *arguments,
                      mp_rt_array *results) {
  std::vector<int64_t> in;
  for (int i = 0; i < function.argument_count; ++i)
    pass(function, i, arguments[i], in);
  int64_t count = 0;
  for (int i = 0; i < function.result_count; ++i)
    count += words(function.parameters[function.argument_count + i]);
  std::vector<int64_t> out(static_cast<size_t>(count));
  void *packed[] = {in.data(), out.data()};
  int64_t code = mp_rt_invoke(function.entry, packed);
  if (code < 0)
    throw DeviceError{std::string(function.name) + " failed with code " + std::to_string(code)};
  if (code > 0) {
    setDeviceError(std::string(function.name) + " failed check " + std::to_string(code) + ": " +
                   mp_rt_failure_text());
    return int(code);
  }
  std::vector<mp_rt_array> taken;
  const int64_t *at = out.data();
  try {
    for (int i = 0; i < function.result_count; ++i) {
      taken.push_back(take(function, i, at));
      at += words(function.parameters[function.argument_count + i]);
    }
  } catch (const DeviceError &) {
    for (mp_rt_array &array : taken)
      std::free(array.data);
    throw;
  }
  std::copy(taken.begin(), taken.end(), results);
  return 0;
}

extern "C" int mp_rt_call_host(const mp_rt_function *function, const mp_rt_array *arguments,
                               mp_rt_array *results) {
  int status = -1;
  try {
    if (!function)
      throw DeviceError{"mp_rt_call_host: the function is null"};
    if ((function->argument_count > 0 && !arguments) || (function->result_count > 0 && !results))
      throw DeviceError{std::string(function->name) + ": arguments or results are null"};
    status = callOnHost(*function, arguments, results);
  } catch (const DeviceError &error) {
    setDeviceError(error.message);
  }
  mp_rt_release();
  return status;
}
