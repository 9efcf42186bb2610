// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The open device, and how errors are told.
#ifndef MP_LIB_RUNTIME_DEVICESTATE_H
#define MP_LIB_RUNTIME_DEVICESTATE_H

#include "mp/Runtime/Device.h"

#include <mutex>
#include <string>

namespace mpcore::runtime {

/// Thrown within the runtime only; at the C boundary it becomes a code.
struct DeviceError {
  std::string message;
};

struct OpenDevice {
  mp_cu_driver driver{};
  mp_cu_context *context = nullptr;
  mp_cu_stream *stream = nullptr;
  mp_rt_device_facts facts{};
  int64_t held = 0, peak = 0; ///< bytes

  /// The stream of the running call: the caller's, else `stream`.
  mp_cu_stream *queue() const;

  /// Throws unless `result` is success; `what` says what was tried.
  void check(int result, const std::string &what);
};

/// The device, opened on first use; throws DeviceError. The context is current in this thread.
OpenDevice &device();

/// Guards the device, caches and counts.
std::mutex &deviceLock();

void setDeviceError(const std::string &message);

/// While it lives, what this thread does goes to the caller's stream, unless that is null.
class StreamOfCall {
public:
  explicit StreamOfCall(void *stream);
  ~StreamOfCall();
};

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_DEVICESTATE_H
