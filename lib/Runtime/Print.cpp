// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the printing functions of MLIR's runner libraries.

#include "mp/Runtime/Print.h"

#include "Element.h"
#include "mp/Runtime/Device.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>

using namespace mpcore::runtime;

namespace {

struct Listener {
  mp_rt_print_listener listener = nullptr;
  void *user = nullptr;
  bool quiet = false;

  void hear(double number) const {
    if (listener)
      listener(user, number);
  }
  bool writes() const { return !listener || !quiet; }
};

Listener &current() {
  static thread_local Listener listener;
  return listener;
}

void write(const char *text) {
  if (current().writes())
    std::fputs(text, stdout);
}

void writeList(const int64_t *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    std::printf("%s%" PRId64, i ? ", " : "", values[i]);
}

void printFloat(double value) {
  current().hear(value);
  if (current().writes())
    std::printf("%g", value);
}

/// A buffer of any rank, as its descriptor says.
class Buffer {
public:
  Buffer(int64_t rank, const void *descriptor, int64_t element)
      : element(element), rank(rank), data(static_cast<const void *const *>(descriptor)[1]),
        words(static_cast<const int64_t *>(descriptor) + 2) {}

  void print() const {
    if (current().writes()) {
      std::printf("Unranked Memref base@ = %p rank = %" PRId64 " offset = %" PRId64 " sizes = [",
                  data, rank, words[0]);
      writeList(sizes(), rank);
      std::fputs("] strides = [", stdout);
      writeList(strides(), rank);
      std::fputs("] data = \n", stdout);
    }
    if (rank == 0)
      write("[");
    printRows(0, words[0]);
    write(rank == 0 ? "]\n" : "\n");
  }

private:
  const int64_t *sizes() const { return words + 1; }
  const int64_t *strides() const { return words + 1 + rank; }

  void printRows(int64_t dim, int64_t offset) const {
    if (dim == rank)
      return printElement(offset);
    write("[");
    for (int64_t i = 0; i < sizes()[dim]; ++i) {
      if (i > 0) {
        write(dim + 1 < rank ? ", \n" : ", ");
        for (int64_t space = 0; space <= dim; ++space)
          write(" ");
      }
      printRows(dim + 1, offset + i * strides()[dim]);
    }
    write("]");
  }

  void printElement(int64_t offset) const {
    uint64_t pattern = element.load(data, offset);
    if (element.isFloat)
      printFloat(element.value(pattern));
    else
      mp_rt_print_i64(element.integer(pattern));
  }

  Element element;
  int64_t rank;
  const void *data;
  const int64_t *words; ///< offset, sizes, strides
};

} // namespace

extern "C" {

void mp_rt_listen_to_prints(mp_rt_print_listener listener, void *user, int quiet) {
  current() = {listener, user, quiet != 0};
}

void mp_rt_print_i64(int64_t value) {
  current().hear(double(value));
  if (current().writes())
    std::printf("%" PRId64, value);
}

void mp_rt_print_u64(uint64_t value) {
  current().hear(double(value));
  if (current().writes())
    std::printf("%" PRIu64, value);
}

void mp_rt_print_f16(uint16_t pattern) { printFloat(mp_rt_decode(pattern, MP_RT_F16)); }
void mp_rt_print_bf16(uint16_t pattern) { printFloat(mp_rt_decode(pattern, MP_RT_BF16)); }
void mp_rt_print_f32(float value) { printFloat(value); }
void mp_rt_print_f64(double value) { printFloat(value); }
void mp_rt_print_string(const char *text) { write(text); }
void mp_rt_print_open(void) { write("( "); }
void mp_rt_print_close(void) { write(" )"); }
void mp_rt_print_comma(void) { write(", "); }
void mp_rt_print_newline(void) { write("\n"); }

void mp_rt_print_buffer(int64_t rank, const void *descriptor, int64_t element) {
  Buffer(rank, descriptor, element).print();
}

void mp_rt_print_device_buffer(int64_t rank, const void *descriptor, int64_t element) {
  int64_t words[3 + 2 * MP_RT_MAX_RANK], layout[1 + 2 * MP_RT_MAX_RANK] = {rank};
  if (rank > MP_RT_MAX_RANK)
    return mp_rt_check_failed("a buffer that is printed has more dimensions than MP_RT_MAX_RANK");
  const auto *given = static_cast<const int64_t *>(descriptor);
  std::copy_n(given, 3 + 2 * rank, words);
  std::copy_n(given + 3, 2 * rank, layout + 1);
  int64_t bytes = Element(element).bytes;
  words[0] = words[1] = mp_rt_device_mirror(layout, 0, given[1] + given[2] * bytes, bytes);
  words[2] = 0;
  mp_rt_print_buffer(rank, words, element);
}

double mp_rt_clock(void) {
  if (current().listener)
    return 0;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

} // extern "C"
