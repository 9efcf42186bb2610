// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small CUDA kernels of the kinds that people write; NvccTest runs the PTX that nvcc makes of them.

#include <assert.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include <stdio.h>

__device__ float table[4] = {1, 2, 3, 4};
__constant__ int modulus[3] = {7, 8, 9};
__device__ float *middle = &table[2];

extern "C" __global__ void reduce(const float *x, float *sum, int n) {
  float s = 0;
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
    s += x[i];
  for (int o = 16; o; o >>= 1)
    s += __shfl_xor_sync(~0u, s, o);
  __shared__ float part[32];
  if (threadIdx.x % 32 == 0)
    part[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
    for (int o = 16; o; o >>= 1)
      s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x == 0)
      atomicAdd(sum, s);
  }
}

extern "C" __global__ void histogram(const unsigned char *x, unsigned *bins, int n) {
  __shared__ unsigned local[256];
  local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += blockDim.x * gridDim.x)
    atomicAdd(&local[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], local[threadIdx.x]);
}

// C = A * B, row major, tiles of 32 x 32 by four warps; sizes are multiples of 32.
extern "C" __global__ void gemm_wmma(const half *a, const half *b, float *c, int n, int k) {
  using namespace nvcuda::wmma;
  __shared__ half sa[32 * 40], sb[32 * 40];
  int warp = threadIdx.x / 32, row = warp / 2 * 16, col = warp % 2 * 16;
  fragment<matrix_a, 16, 16, 16, half, row_major> fa;
  fragment<matrix_b, 16, 16, 16, half, row_major> fb;
  fragment<accumulator, 16, 16, 16, float> fc;
  fill_fragment(fc, 0.0f);
  for (int k0 = 0; k0 < k; k0 += 32) {
    for (int i = threadIdx.x; i < 1024; i += 128) {
      sa[i / 32 * 40 + i % 32] = a[(blockIdx.y * 32 + i / 32) * k + k0 + i % 32];
      sb[i / 32 * 40 + i % 32] = b[(k0 + i / 32) * n + blockIdx.x * 32 + i % 32];
    }
    __syncthreads();
    for (int kk = 0; kk < 32; kk += 16) {
      load_matrix_sync(fa, sa + row * 40 + kk, 40);
      load_matrix_sync(fb, sb + kk * 40 + col, 40);
      mma_sync(fc, fa, fb, fc);
    }
    __syncthreads();
  }
  store_matrix_sync(c + (blockIdx.y * 32 + row) * n + blockIdx.x * 32 + col, fc, n, mem_row_major);
}

// Doubles n tiles of 128, reversing each, with two buffers in flight; and the same with a piece
// missing.
template <bool wait, bool barrier> __device__ void pipelined(const float *x, float *y, int n) {
  __shared__ float s[2][128];
  int t = threadIdx.x;
  __pipeline_memcpy_async(&s[0][t], &x[t], 4);
  __pipeline_commit();
  for (int i = 0; i < n; ++i) {
    if (i + 1 < n)
      __pipeline_memcpy_async(&s[(i + 1) & 1][t], &x[(i + 1) * 128 + t], 4);
    __pipeline_commit();
    if (wait)
      __pipeline_wait_prior(1);
    __syncthreads();
    y[i * 128 + t] = 2 * s[i & 1][127 - t];
    if (barrier)
      __syncthreads();
  }
}
extern "C" __global__ void double_buffer(const float *x, float *y, int n) {
  pipelined<true, true>(x, y, n);
}
extern "C" __global__ void missing_wait(const float *x, float *y, int n) {
  pipelined<false, true>(x, y, n);
}
extern "C" __global__ void missing_barrier(const float *x, float *y, int n) {
  pipelined<true, false>(x, y, n);
}

__device__ __noinline__ float helper(float a, int b) { return a * b + sinf(a); }

extern "C" __global__ void math(const float *x, float *y, const double *d, int n) {
  int i = threadIdx.x;
  assert(n > 0);
  float v = x[i];
  y[i] = helper(middle[0] * modulus[i % 3], n) + expf(v) + tanhf(v) + float(d[i] / 3.0) +
         powf(v, 2.5f) + float(n % 7) + erff(v) + logf(v + 1) + cosf(100000.0f * v);
}

extern "C" __global__ void halves(__half2 *h, __nv_bfloat162 *b) {
  int i = threadIdx.x;
  h[i] = __hfma2(h[i], h[i], __float2half2_rn(1.5f));
  b[i] = __hadd2(__hmul2(b[i], b[i]), b[i]);
}

// Quicksort-like recursion depth is known to nobody at compile time.
__device__ __noinline__ int ackermann(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
extern "C" __global__ void recursion(int *y) { y[threadIdx.x] = ackermann(2, threadIdx.x % 4); }

extern "C" __global__ void choose(const int *x, int *y) {
  int v;
  switch (x[threadIdx.x]) {
  case 0: v = 11; break;
  case 1: v = x[threadIdx.x + 1] * 3; break;
  case 2: v = 17; break;
  case 3: v = x[0] - 4; break;
  case 4: v = 23; break;
  case 5: v = x[2] ^ 77; break;
  case 6: v = 31; break;
  default: v = -1;
  }
  y[threadIdx.x] = v;
}

// The halves of a warp work on their own.
extern "C" __global__ void half_warps(const int *x, int *y) {
  int i = threadIdx.x, v = x[i];
  unsigned mask = i % 32 < 16 ? 0xffffu : 0xffff0000u;
  for (int o = 8; o; o >>= 1)
    v += __shfl_xor_sync(mask, v, o, 16);
  y[i] = v + 1000 * __reduce_add_sync(mask, 1) + (__any_sync(mask, i == 3) ? 100000 : 0);
}

extern "C" __global__ void hello(int n) {
  if (threadIdx.x == 1)
    printf("n is %d, %5.2f %s %llx%%\n", n, 1.5, "text", 1ll << 40);
}

typedef int (*Operation)(int, int);
__device__ __noinline__ int add(int a, int b) { return a + b; }
__device__ __noinline__ int multiply(int a, int b) { return a * b; }
__device__ __noinline__ int subtract(int a, int b) { return a - b; }
__device__ Operation operations[3] = {add, multiply, subtract};
extern "C" __global__ void pointers(const int *x, int *y, int n) {
  int i = threadIdx.x;
  y[i] = operations[i % 3](x[i], n);
}

struct Shift {
  int by;
  __device__ virtual int apply(int x) { return x + by; }
};
struct Scale : Shift {
  int times;
  __device__ int apply(int x) override { return x * times - by; }
};
extern "C" __global__ void virtuals(const int *x, int *y) {
  int i = threadIdx.x;
  Shift shift;
  shift.by = 3;
  Scale scale;
  scale.by = 7, scale.times = 5;
  Shift *chosen = x[i] & 1 ? &scale : &shift;
  y[i] = chosen->apply(x[i]);
}

// Threads return before a barrier, and from inside a loop.
extern "C" __global__ void early_return(const int *x, int *y, int n) {
  __shared__ int s[128];
  int i = threadIdx.x;
  if (i >= n)
    return;
  s[i] = x[i];
  __syncthreads();
  int v = s[n - 1 - i];
  for (int k = 0; k < x[i]; ++k) {
    if (k == 7)
      return;
    v += k;
  }
  __syncthreads();
  y[i] = v + 1000 * __syncthreads_count(v >= 0);
}

// Distances of bytes and halves, as in images.
extern "C" __global__ void distances(const unsigned *x, const unsigned *y, unsigned *out) {
  int i = threadIdx.x;
  out[3 * i] = __vabsdiffu4(x[i], y[i]);
  out[3 * i + 1] = __vsadu4(x[i], y[i]);
  out[3 * i + 2] = __vsads2(x[i], y[i]);
}
