// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expectations of the check dialect about arrays.

#include "Element.h"
#include "Failure.h"

#include <cmath>
#include <cstdio>
#include <vector>

using namespace mpcore::runtime;

namespace {

/// Rank, and of each array sizes and strides.
struct Layout {
  int64_t rank;
  const int64_t *words;

  explicit Layout(const int64_t *table) : rank(table[0]), words(table + 1) {}
  const int64_t *sizes(int array) const { return words + 2 * rank * array; }
  const int64_t *strides(int array) const { return sizes(array) + rank; }
};

std::string listText(const int64_t *values, int64_t count) {
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

/// The arrays an expectation is about; `expected` may be null.
struct Arrays {
  Layout layout;
  const void *actual, *expected;
  Element element;
};

/// Calls holds(actual, expected) for all elements, in row-major order. If it is
/// false for some, keeps a text that describe(actual, expected) ends, and
/// returns false.
template <typename Holds, typename Describe>
bool checkAll(const Arrays &arrays, const char *what, Holds holds, Describe describe) {
  const Layout &layout = arrays.layout;
  const int64_t *sizes = layout.sizes(0);
  int64_t count = 1;
  for (int64_t dim = 0; dim < layout.rank; ++dim) {
    count *= sizes[dim];
    if (arrays.expected && layout.sizes(1)[dim] != sizes[dim]) {
      failureText() = "expected shape " + listText(layout.sizes(1), layout.rank) + ", found " +
                      listText(sizes, layout.rank);
      return false;
    }
  }
  std::vector<int64_t> index(size_t(layout.rank)), first;
  int64_t failures = 0;
  uint64_t firstActual = 0, firstExpected = 0;
  for (int64_t n = 0; n < count; ++n) {
    int64_t offsets[2] = {0, 0};
    for (int64_t dim = 0; dim < layout.rank; ++dim) {
      offsets[0] += index[dim] * layout.strides(0)[dim];
      if (arrays.expected)
        offsets[1] += index[dim] * layout.strides(1)[dim];
    }
    uint64_t actual = arrays.element.load(arrays.actual, offsets[0]);
    uint64_t expected = arrays.expected ? arrays.element.load(arrays.expected, offsets[1]) : 0;
    if (!holds(actual, expected) && failures++ == 0) {
      first = index;
      firstActual = actual;
      firstExpected = expected;
    }
    for (int64_t dim = layout.rank; dim-- > 0 && ++index[dim] == sizes[dim];)
      index[dim] = 0;
  }
  if (failures == 0)
    return true;
  failureText() = std::to_string(failures) + " of " + std::to_string(count) + " elements " + what +
                  "; the first at " + listText(first.data(), layout.rank) + ": " +
                  describe(firstActual, firstExpected);
  return false;
}

struct Limits {
  int64_t ulp;
  double relative, absolute;

  std::string text() const {
    char buffer[64];
    std::string all;
    if (ulp >= 0)
      all += " ulp " + std::to_string(ulp);
    for (auto [name, limit] : {std::pair{"rel", relative}, std::pair{"abs", absolute}})
      if (limit >= 0) {
        std::snprintf(buffer, sizeof(buffer), " %s %g", name, limit);
        all += buffer;
      }
    return all;
  }
};

uint64_t distance(const Element &element, uint64_t actual, uint64_t expected) {
  uint64_t x = uint64_t(element.rank(actual)), y = uint64_t(element.rank(expected));
  return int64_t(x) > int64_t(y) ? x - y : y - x;
}

bool isClose(const Element &element, uint64_t actual, uint64_t expected, const Limits &limits) {
  double x = element.value(actual), y = element.value(expected);
  if (std::isnan(x) || std::isnan(y))
    return std::isnan(x) && std::isnan(y);
  if (limits.ulp >= 0 && distance(element, actual, expected) <= uint64_t(limits.ulp))
    return true;
  if (std::isinf(x) || std::isinf(y))
    return x == y && (limits.relative >= 0 || limits.absolute >= 0);
  double difference = std::fabs(x - y);
  return (limits.relative >= 0 && difference <= limits.relative * std::fabs(y)) ||
         (limits.absolute >= 0 && difference <= limits.absolute);
}

bool checkClose(const Arrays &arrays, const Limits &limits) {
  const Element &element = arrays.element;
  return checkAll(
      arrays, "are not close",
      [&](uint64_t actual, uint64_t expected) {
        return isClose(element, actual, expected, limits);
      },
      [&](uint64_t actual, uint64_t expected) {
        std::string text = "expected " + element.text(expected) + ", found " + element.text(actual);
        double x = element.value(actual), y = element.value(expected);
        if (!std::isnan(x) && !std::isnan(y)) {
          char buffer[96];
          double difference = std::fabs(x - y);
          std::snprintf(buffer, sizeof(buffer), ": %llu ULP, %.3g relative, %.3g absolute",
                        (unsigned long long)distance(element, actual, expected),
                        difference / std::fabs(y), difference);
          text += buffer;
        }
        return text + ", limits" + limits.text();
      });
}

bool checkBits(const Arrays &arrays) {
  const Element &element = arrays.element;
  return checkAll(
      arrays, "have other bits",
      [](uint64_t actual, uint64_t expected) { return actual == expected; },
      [&](uint64_t actual, uint64_t expected) {
        return "expected " + element.text(expected) + ", found " + element.text(actual);
      });
}

bool checkFinite(const Arrays &arrays) {
  const Element &element = arrays.element;
  return checkAll(
      arrays, "are not finite",
      [&](uint64_t actual, uint64_t) { return std::isfinite(element.value(actual)); },
      [&](uint64_t actual, uint64_t) {
        return "expected a finite number, found " + element.text(actual);
      });
}

} // namespace

extern "C" {

// mp_rt_fail jumps, so nothing with a destructor may be alive beside it.

void mp_rt_expect_close(int64_t code, const int64_t *layout, const void *actual,
                        const void *expected, int64_t element, int64_t ulp, double relative,
                        double absolute) {
  if (!checkClose({Layout(layout), actual, expected, Element(element)}, {ulp, relative, absolute}))
    mp_rt_fail(code);
}

void mp_rt_expect_bits(int64_t code, const int64_t *layout, const void *actual,
                       const void *expected, int64_t element) {
  if (!checkBits({Layout(layout), actual, expected, Element(element)}))
    mp_rt_fail(code);
}

void mp_rt_expect_finite(int64_t code, const int64_t *layout, const void *actual, int64_t element) {
  if (!checkFinite({Layout(layout), actual, nullptr, Element(element)}))
    mp_rt_fail(code);
}

} // extern "C"
