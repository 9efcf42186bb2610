// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements read-modify-write of one element for each type and operation.

#include "Reduction.h"

using namespace mpcore::emulator;

template <class T, Rmw O> static void combine(uint8_t *to, const uint8_t *from, bool shared) {
  std::lock_guard<std::mutex> lock(atomicLock(to));
  T a, b;
  std::memcpy(&a, to, sizeof(T));
  std::memcpy(&b, from, sizeof(T));
  a = applyIn<T, O>(shared, a, b, b);
  std::memcpy(to, &a, sizeof(T));
}

template <class T> static CombineFn extremum(Rmw op) {
  return op == Rmw::Min ? combine<T, Rmw::Min> : op == Rmw::Max ? combine<T, Rmw::Max> : nullptr;
}
template <class T> static CombineFn sumOrExtremum(Rmw op) {
  return op == Rmw::Add ? combine<T, Rmw::Add> : extremum<T>(op);
}
template <class T> static CombineFn bitwise(Rmw op) {
  return op == Rmw::And   ? combine<T, Rmw::And>
         : op == Rmw::Or  ? combine<T, Rmw::Or>
         : op == Rmw::Xor ? combine<T, Rmw::Xor>
                          : nullptr;
}

CombineFn mpcore::emulator::combineFor(Type type, Rmw op) {
  switch (type) {
  case Type::B32: return bitwise<uint32_t>(op);
  case Type::B64: return bitwise<uint64_t>(op);
  case Type::U32:
    return op == Rmw::Inc   ? combine<uint32_t, Rmw::Inc>
           : op == Rmw::Dec ? combine<uint32_t, Rmw::Dec>
                            : sumOrExtremum<uint32_t>(op);
  case Type::S32: return op == Rmw::Add ? combine<uint32_t, Rmw::Add> : extremum<int32_t>(op);
  case Type::U64: return sumOrExtremum<uint64_t>(op);
  case Type::S64: return extremum<int64_t>(op);
  case Type::F16: return sumOrExtremum<F16Bits>(op);
  case Type::BF16: return sumOrExtremum<BF16Bits>(op);
  case Type::F32: return op == Rmw::Add ? combine<float, Rmw::Add> : nullptr;
  case Type::F64: return op == Rmw::Add ? combine<double, Rmw::Add> : nullptr;
  default: return nullptr;
  }
}
