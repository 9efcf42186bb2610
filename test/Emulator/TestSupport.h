// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_TEST_EMULATOR_TESTSUPPORT_H
#define MP_TEST_EMULATOR_TESTSUPPORT_H

#include "mp/Emulator/Device.h"
#include "mp/Emulator/Fault.h"
#include "mp/Emulator/Module.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace mpcore::emulator::test {

/// The module of PTX text without its header, or null with a test failure.
std::unique_ptr<Module> load(const std::string &text, const std::string &target = "sm_90a");
/// Returns the error of loading; "" with a test failure when loading succeeds.
std::string loadError(const std::string &text, const std::string &target = "sm_90a");

/// Takes the value or fails the test.
template <class T> T take(llvm::Expected<T> value) {
  if (!value) {
    ADD_FAILURE() << llvm::toString(value.takeError());
    std::abort();
  }
  return std::move(*value);
}
inline void check(llvm::Error error) {
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
}

template <class T> DevicePtr upload(Device &device, const std::vector<T> &values) {
  DevicePtr p = take(device.alloc(values.size() * sizeof(T)));
  check(device.write(p, llvm::ArrayRef(reinterpret_cast<const uint8_t *>(values.data()),
                                       values.size() * sizeof(T))));
  return p;
}
template <class T> std::vector<T> download(Device &device, DevicePtr p, size_t count) {
  std::vector<T> values(count);
  check(device.read(
      p, llvm::MutableArrayRef(reinterpret_cast<uint8_t *>(values.data()), count * sizeof(T))));
  return values;
}

/// The fault a launch ends with; fails the test when it ends otherwise.
Fault faultOf(llvm::Expected<LaunchStats> result);

/// Runs `body` once per element of the inputs, each element in a thread of its own. The body reads
/// %la %lb %lc (b64), their low parts %wa %wb %wc (b32) and %ha %hb %hc (b16), and writes %ld, %wd,
/// %hd or %pd, as `result` says: 'l', 'w', 'h', 'p'. `declarations` come first.
std::vector<uint64_t> eval(const std::string &body, char result,
                           const std::vector<std::vector<uint64_t>> &inputs,
                           const std::string &declarations = "",
                           const std::string &target = "sm_90a");

/// The body's source text inside eval(), for load errors.
std::string evalText(const std::string &body, char result, const std::string &declarations = "");

} // namespace mpcore::emulator::test

#endif
