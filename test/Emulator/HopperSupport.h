// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps of matrices, and kernels with their placeholders filled in.

#ifndef MP_TEST_EMULATOR_HOPPERSUPPORT_H
#define MP_TEST_EMULATOR_HOPPERSUPPORT_H

#include "TestSupport.h"
#include "mp/Emulator/TensorMap.h"

namespace mpcore::emulator::test {

using Swizzle = TensorMap::Swizzle;

inline std::string replace(std::string text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

inline TensorMap matrixMap(DevicePtr p, TensorMap::Type type, uint64_t rows, uint64_t cols,
                           uint32_t boxRows, uint32_t boxCols, Swizzle s) {
  TensorMap m;
  m.type = type;
  m.rank = 2;
  m.address = p;
  m.dims = {cols, rows, 1, 1, 1};
  m.strides[0] = cols * m.elementBytes();
  m.box = {boxCols, boxRows, 1, 1, 1};
  m.swizzle = s;
  check(m.verify());
  return m;
}
inline KernelArg mapArg(const TensorMap &m) { return KernelArg::bytes(m.encode()); }

} // namespace mpcore::emulator::test

#endif // MP_TEST_EMULATOR_HOPPERSUPPORT_H
