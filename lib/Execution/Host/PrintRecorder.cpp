// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the recorder of printed numbers.

#include "mp/Execution/Host/PrintRecorder.h"

#include "mp/Runtime/Print.h"

#include <cstring>

using namespace mlir::mp;

PrintRecorder::PrintRecorder(bool quiet) {
  mp_rt_listen_to_prints(
      [](void *user, double number) {
        static_cast<std::vector<double> *>(user)->push_back(number);
      },
      &heard, quiet);
}

PrintRecorder::~PrintRecorder() { mp_rt_listen_to_prints(nullptr, nullptr, 0); }

Array PrintRecorder::numbers() const {
  Array array(ElementType::floating(numerics::Format::F64), {int64_t(heard.size())});
  if (!heard.empty()) // nor may memcpy be given null for no bytes
    std::memcpy(array.data.data(), heard.data(), heard.size() * sizeof(double));
  return array;
}
