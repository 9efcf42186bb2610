// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contraction behind matmul, batch_matmul, generic contractions and
// convolutions: tiles of C are independent tasks, each sums its depth in order.

#include "Formats.h"
#include "Kernels.h"
#include "Loops.h"

#include <algorithm>
#include <atomic>
#include <thread>

using namespace mpcore::runtime;

static std::atomic<mp_rt_product_hook> productHook{nullptr};
static std::atomic<void *> productHookUser{nullptr};
static std::atomic<int> requestedThreads{0};

/// Sizes of the blocks kept in cache: rows and columns of a task, depth packed
/// at once.
static constexpr int64_t kTaskRows = 240, kTaskColumns = 512, kTaskDepth = 384;

/// Runs body(task, thread) for all tasks; which thread runs what does not matter
/// to the result.
template <typename Body> static void forEachTask(int64_t tasks, double work, Body body) {
  int threads = requestedThreads.load();
  if (threads <= 0)
    threads = int(std::max(1u, std::thread::hardware_concurrency()));
  // Starting a thread costs tens of microseconds.
  if (work < 4e6)
    threads = 1;
  threads = int(std::min<int64_t>(threads, tasks));
  std::atomic<int64_t> next{0};
  auto worker = [&] {
    auto state = body.makeState();
    for (int64_t task; (task = next.fetch_add(1)) < tasks;)
      body.run(task, state);
  };
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i)
    others.emplace_back(worker);
  worker();
  for (std::thread &other : others)
    other.join();
}

namespace {

/// Blocked product of one contraction. LoadA and LoadB widen elements to T.
template <typename T, typename LoadA, typename LoadB> struct Blocked {
  const Product &p;
  const typename LoadA::Element *a;
  const typename LoadB::Element *b;
  T *c;
  LoadA loadA;
  LoadB loadB;
  const Kernel<T> &inner = kernel<T>();
  int64_t rowTasks = (p.m + kTaskRows - 1) / kTaskRows;
  int64_t columnTasks = (p.n + kTaskColumns - 1) / kTaskColumns;

  struct State {
    std::vector<T> left, right;
  };
  State makeState() const { return {}; }
  int64_t tasks() const { return p.batches * rowTasks * columnTasks; }

  /// `count` elements at base + table[i], zero-padded to `width`.
  template <typename Load>
  static void packLine(const typename Load::Element *base, const int64_t *table, int64_t count,
                       int64_t width, bool contiguous, const Load &load, T *out) {
    if (contiguous) {
      const typename Load::Element *line = base + table[0];
      for (int64_t i = 0; i < count; ++i)
        out[i] = load(line + i);
    } else {
      for (int64_t i = 0; i < count; ++i)
        out[i] = load(base + table[i]);
    }
    for (int64_t i = count; i < width; ++i)
      out[i] = T(0);
  }

  /// Strips of `width` lines, depth-major: out[strip][k][line].
  template <typename Load>
  static void pack(const typename Load::Element *base, const int64_t *lines, int64_t count,
                   const int64_t *depth, int64_t k, int64_t width, const Load &load,
                   std::vector<T> &out) {
    int64_t strips = (count + width - 1) / width;
    out.resize(size_t(strips * width * k));
    for (int64_t strip = 0; strip < strips; ++strip) {
      const int64_t *table = lines + strip * width;
      int64_t used = std::min(width, count - strip * width);
      bool contiguous = true;
      for (int64_t i = 1; i < used; ++i)
        contiguous &= table[i] == table[0] + i;
      T *target = out.data() + strip * width * k;
      for (int64_t step = 0; step < k; ++step)
        packLine(base + depth[step], table, used, width, contiguous, load, target + step * width);
    }
  }

  void run(int64_t task, State &state) const {
    int64_t batch = task / (rowTasks * columnTasks);
    int64_t row = task / columnTasks % rowTasks * kTaskRows;
    int64_t column = task % columnTasks * kTaskColumns;
    int64_t rows = std::min(kTaskRows, p.m - row), columns = std::min(kTaskColumns, p.n - column);
    alignas(64) T tile[kMaxTile];
    for (int64_t depth = 0; depth < p.k; depth += kTaskDepth) {
      int64_t k = std::min(kTaskDepth, p.k - depth);
      pack(a + p.batchA[batch], &p.rowA[row], rows, &p.depthA[depth], k, inner.rows, loadA,
           state.left);
      pack(b + p.batchB[batch], &p.columnB[column], columns, &p.depthB[depth], k, inner.columns,
           loadB, state.right);
      T *result = c + p.batchC[batch];
      for (int64_t j = 0; j < columns; j += inner.columns)
        for (int64_t i = 0; i < rows; i += inner.rows) {
          inner.run(k, state.left.data() + i * k, state.right.data() + j * k, tile);
          addTile(tile, result, row + i, std::min(inner.rows, rows - i), column + j,
                  std::min(inner.columns, columns - j));
        }
    }
  }

  void addTile(const T *tile, T *result, int64_t row, int64_t rows, int64_t column,
               int64_t columns) const {
    for (int64_t i = 0; i < rows; ++i) {
      T *line = result + p.rowC[row + i];
      for (int64_t j = 0; j < columns; ++j)
        line[p.columnC[column + j]] += tile[i * inner.columns + j];
    }
  }
};

/// Few columns: dot products of gathered rows, a task being a range of rows.
template <typename T, typename LoadA, typename LoadB> struct Thin {
  const Product &p;
  const typename LoadA::Element *a;
  const typename LoadB::Element *b;
  T *c;
  LoadA loadA;
  LoadB loadB;
  static constexpr int64_t kRows = 256;
  int64_t rowTasks = (p.m + kRows - 1) / kRows;

  struct State {
    std::vector<T> row, columns;
  };
  State makeState() const { return {}; }
  int64_t tasks() const { return p.batches * rowTasks; }

  /// Sixteen running sums, added in order at the end.
  static T dot(const T *x, const T *y, int64_t count) {
    constexpr int64_t lanes = 16;
    T sums[lanes] = {};
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (int64_t lane = 0; lane < lanes; ++lane)
        sums[lane] += x[i + lane] * y[i + lane];
    T total = T(0);
    for (T sum : sums)
      total += sum;
    for (; i < count; ++i)
      total += x[i] * y[i];
    return total;
  }

  void run(int64_t task, State &state) const {
    int64_t batch = task / rowTasks, first = task % rowTasks * kRows;
    int64_t last = std::min(first + kRows, p.m);
    state.row.resize(size_t(p.k));
    state.columns.resize(size_t(p.k * p.n));
    for (int64_t j = 0; j < p.n; ++j)
      for (int64_t k = 0; k < p.k; ++k)
        state.columns[j * p.k + k] = loadB(b + p.batchB[batch] + p.columnB[j] + p.depthB[k]);
    for (int64_t i = first; i < last; ++i) {
      for (int64_t k = 0; k < p.k; ++k)
        state.row[k] = loadA(a + p.batchA[batch] + p.rowA[i] + p.depthA[k]);
      T *line = c + p.batchC[batch] + p.rowC[i];
      for (int64_t j = 0; j < p.n; ++j)
        line[p.columnC[j]] += dot(state.row.data(), state.columns.data() + j * p.k, p.k);
    }
  }
};

} // namespace

template <typename T>
static bool multiply(Product &p, const void *a, int formatA, const void *b, int formatB, T *c) {
  // The kernel writes C along columns, and Thin wants few of them.
  bool rowsContiguous = p.m > 1 && p.rowC[1] - p.rowC[0] == 1;
  if (p.m < 4 || (rowsContiguous && p.n >= 4)) {
    transpose(p);
    std::swap(a, b);
    std::swap(formatA, formatB);
  }
  double work = 2.0 * double(p.batches) * double(p.m) * double(p.n) * double(p.k);
  bool known = false;
  withLoader<T>(formatA, [&](auto loadA) {
    known = withLoader<T>(formatB, [&](auto loadB) {
      auto *left = static_cast<const typename decltype(loadA)::Element *>(a);
      auto *right = static_cast<const typename decltype(loadB)::Element *>(b);
      if (p.n < 4) {
        Thin<T, decltype(loadA), decltype(loadB)> body{p, left, right, c, loadA, loadB};
        forEachTask(body.tasks(), work * 8, body);
      } else {
        Blocked<T, decltype(loadA), decltype(loadB)> body{p, left, right, c, loadA, loadB};
        forEachTask(body.tasks(), work, body);
      }
    });
  });
  return known;
}

/// Copies a matrix out of an offset table, row-major, format kept.
static std::vector<char> gather(const void *base, int64_t offset, const std::vector<int64_t> &outer,
                                const std::vector<int64_t> &inner, int64_t bytes) {
  std::vector<char> result(outer.size() * inner.size() * size_t(bytes));
  char *out = result.data();
  for (int64_t i : outer)
    for (int64_t j : inner) {
      std::memcpy(out, static_cast<const char *>(base) + (offset + i + j) * bytes, size_t(bytes));
      out += bytes;
    }
  return result;
}

/// Offers each batch to the hook; false if the hook declined the first one.
static bool multiplyByHook(mp_rt_product_hook hook, const Product &p, const void *a, int formatA,
                           const void *b, int formatB, float *c) {
  void *user = productHookUser.load();
  for (int64_t batch = 0; batch < p.batches; ++batch) {
    std::vector<char> left = gather(a, p.batchA[batch], p.rowA, p.depthA, storageBytes(formatA));
    std::vector<char> right =
        gather(b, p.batchB[batch], p.depthB, p.columnB, storageBytes(formatB));
    std::vector<char> sums = gather(c, p.batchC[batch], p.rowC, p.columnC, 4);
    auto *result = reinterpret_cast<float *>(sums.data());
    mp_rt_product product{p.m, p.n, p.k, left.data(), right.data(), formatA, formatB, result};
    if (!hook(user, &product))
      return false;
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j)
        c[p.batchC[batch] + p.rowC[i] + p.columnC[j]] = result[i * p.n + j];
  }
  return true;
}

extern "C" {

void mp_rt_contract(const int64_t *loops, const void *a, const void *b, void *c, int64_t formats) {
  int formatA = int(formats & 0xFF), formatB = int(formats >> 8 & 0xFF);
  int formatC = int(formats >> 16 & 0xFF);
  Product product = classify(loops);
  if (!product.m || !product.n || !product.k || !product.batches)
    return;
  bool known = false;
  if (formatC == MP_RT_F64) {
    known = multiply(product, a, formatA, b, formatB, static_cast<double *>(c));
  } else if (formatC == MP_RT_F32) {
    mp_rt_product_hook hook = productHook.load();
    auto *result = static_cast<float *>(c);
    known = (hook && multiplyByHook(hook, product, a, formatA, b, formatB, result)) ||
            multiply(product, a, formatA, b, formatB, result);
  }
  if (!known)
    mp_rt_fail(-2);
}

void mp_rt_set_product_hook(mp_rt_product_hook hook, void *user) {
  productHookUser.store(user);
  productHook.store(hook);
}

void mp_rt_set_threads(int threads) { requestedThreads.store(threads); }

} // extern "C"
