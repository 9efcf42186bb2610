// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns arguments and results into words, wherever their memory is.
#ifndef MP_LIB_RUNTIME_CALLWORDS_H
#define MP_LIB_RUNTIME_CALLWORDS_H

#include "mp/Runtime/Device.h"

#include <string>

namespace mpcore::runtime {

/// Words that pass it: a buffer's descriptor, or the value.
int64_t words(const mp_rt_parameter &parameter);

/// "argument 0 of main"
std::string where(const mp_rt_function &function, const char *kind, int index);

int64_t byteSize(const mp_rt_parameter &parameter, const int64_t *sizes);

/// Throws DeviceError unless `tensor` is what the parameter says.
void checkTensor(const std::string &what, const mp_rt_parameter &parameter,
                 const mp_rt_tensor &tensor);

} // namespace mpcore::runtime

#endif // MP_LIB_RUNTIME_CALLWORDS_H
