// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that use the libraries which come with nvcc: CUB, libcu++, cooperative groups.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cub/cub.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace groups = cooperative_groups;

extern "C" __global__ void radix_sort(const int *x, int *y) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ typename Sort::TempStorage storage;
  int keys[4];
  for (int i = 0; i < 4; ++i)
    keys[i] = x[threadIdx.x * 4 + i];
  Sort(storage).Sort(keys);
  for (int i = 0; i < 4; ++i)
    y[threadIdx.x * 4 + i] = keys[i];
}

extern "C" __global__ void scan(const int *x, int *y) {
  using Scan = cub::BlockScan<int, 128>;
  __shared__ typename Scan::TempStorage storage;
  int in[2] = {x[2 * threadIdx.x], x[2 * threadIdx.x + 1]}, out[2];
  Scan(storage).InclusiveSum(in, out);
  y[2 * threadIdx.x] = out[0];
  y[2 * threadIdx.x + 1] = out[1];
}

// Loads and stores through shared memory, each thread with four neighbours.
extern "C" __global__ void transpose(const int *x, int *y) {
  using Load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  int v[4];
  Load(storage.load).Load(x, v);
  __syncthreads();
  Store(storage.store).Store(y, v);
}

extern "C" __global__ void sum(const int *x, int *y) {
  using Reduce = cub::BlockReduce<int, 256>;
  __shared__ typename Reduce::TempStorage storage;
  int total = Reduce(storage).Sum(x[threadIdx.x]);
  y[threadIdx.x] = total;
}

extern "C" __global__ void object_barrier(const int *x, int *y) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[256];
  if (threadIdx.x == 0)
    init(&barrier, 256);
  __syncthreads();
  s[threadIdx.x] = x[threadIdx.x];
  barrier.wait(barrier.arrive());
  y[threadIdx.x] = s[255 - threadIdx.x];
}

// Reverses n tiles with two of them on their way.
extern "C" __global__ void object_pipeline(const int *x, int *y, int n) {
  auto block = groups::this_thread_block();
  extern __shared__ int s[];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  auto pipeline = cuda::make_pipeline(block, &state);
  int size = block.size();
  for (int tile = 0, fetched = 0; tile < n; ++tile) {
    for (; fetched < n && fetched < tile + 2; ++fetched) {
      pipeline.producer_acquire();
      cuda::memcpy_async(block, s + fetched % 2 * size, x + fetched * size, sizeof(int) * size,
                         pipeline);
      pipeline.producer_commit();
    }
    pipeline.consumer_wait();
    y[tile * size + threadIdx.x] = s[tile % 2 * size + size - 1 - threadIdx.x];
    block.sync();
    pipeline.consumer_release();
  }
}

extern "C" __global__ void atomic_ref(int *x) {
  cuda::atomic_ref<int, cuda::thread_scope_device> count(x[0]), largest(x[1]);
  count.fetch_add(2, cuda::memory_order_relaxed);
  largest.fetch_max(int(blockIdx.x * blockDim.x + threadIdx.x), cuda::memory_order_acq_rel);
}

// Sums over those of a warp whose values are both odd or both even.
extern "C" __global__ void labelled(const int *x, int *y) {
  auto warp = groups::tiled_partition<32>(groups::this_thread_block());
  int v = x[warp.thread_rank()];
  y[warp.thread_rank()] =
      groups::reduce(groups::labeled_partition(warp, v & 1), v, groups::plus<int>());
}
