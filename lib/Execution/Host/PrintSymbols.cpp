// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the printing functions of MLIR's runner libraries and their implementations.

#include "PrintSymbols.h"

#include "mp/Runtime/Print.h"
#include "mp/Runtime/Runtime.h"

namespace {

/// A buffer without rank as C sees it.
struct Unranked {
  int64_t rank;
  const void *descriptor;
};

using Print = void (*)(int64_t rank, const void *descriptor, int64_t element);

template <int64_t element, Print print> void printBuffer(int64_t rank, const void *descriptor) {
  print(rank, descriptor, element);
}

template <int64_t element, Print print> void printWrapped(const Unranked *buffer) {
  print(buffer->rank, buffer->descriptor, element);
}

struct BufferSymbols {
  llvm::StringRef suffix;
  void (*plain)(int64_t, const void *);
  void (*wrapped)(const Unranked *);
};

template <int64_t element>
constexpr BufferSymbols bufferSymbols(llvm::StringRef suffix, bool onDevice) {
  if (onDevice)
    return {suffix, &printBuffer<element, mp_rt_print_device_buffer>,
            &printWrapped<element, mp_rt_print_device_buffer>};
  return {suffix, &printBuffer<element, mp_rt_print_buffer>,
          &printWrapped<element, mp_rt_print_buffer>};
}

} // namespace

void mlir::mp::forEachPrintSymbol(bool onDevice,
                                  llvm::function_ref<void(llvm::StringRef, void *)> add) {
  auto addFunction = [&](llvm::StringRef name, auto *function) {
    add(name, reinterpret_cast<void *>(function));
  };
  addFunction("printI64", &mp_rt_print_i64);
  addFunction("printU64", &mp_rt_print_u64);
  addFunction("printF16", &mp_rt_print_f16);
  addFunction("printBF16", &mp_rt_print_bf16);
  addFunction("printF32", &mp_rt_print_f32);
  addFunction("printF64", &mp_rt_print_f64);
  addFunction("printString", &mp_rt_print_string);
  addFunction("printOpen", &mp_rt_print_open);
  addFunction("printClose", &mp_rt_print_close);
  addFunction("printComma", &mp_rt_print_comma);
  addFunction("printNewline", &mp_rt_print_newline);
  addFunction("rtclock", &mp_rt_clock);
  addFunction("_mlir_ciface_rtclock", &mp_rt_clock);
  for (const BufferSymbols &symbols :
       {bufferSymbols<MP_RT_F64>("F64", onDevice), bufferSymbols<MP_RT_F32>("F32", onDevice),
        bufferSymbols<MP_RT_F16>("F16", onDevice), bufferSymbols<MP_RT_BF16>("BF16", onDevice),
        bufferSymbols<MP_RT_INTEGER + 8>("I8", onDevice),
        bufferSymbols<MP_RT_INTEGER + 16>("I16", onDevice),
        bufferSymbols<MP_RT_INTEGER + 32>("I32", onDevice),
        bufferSymbols<MP_RT_INTEGER + 64>("I64", onDevice),
        bufferSymbols<MP_RT_INTEGER + 64>("Ind", onDevice)}) {
    addFunction(("printMemref" + symbols.suffix).str(), symbols.plain);
    addFunction(("_mlir_ciface_printMemref" + symbols.suffix).str(), symbols.wrapped);
  }
}
