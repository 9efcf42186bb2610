/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A program for a CUDA driver that knows nothing of mp: it asks for entry points by name, as CUDA's
 * own runtime does, makes a tensor map, and copies a tile of a matrix.
 *   driver-program DRIVER KERNELS.ptx */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef int (*get_t)(const char *, void **, int, uint64_t, int *);
static get_t get;

static void *find(const char *name) {
  void *address = 0;
  int status = -1, code = get(name, &address, 13000, 0, &status);
  printf("%s: %d, status %d\n", name, code, status);
  return address;
}

static void check(int code, const char *what) {
  if (code) {
    printf("%s gives %d\n", what, code);
    exit(1);
  }
}

int main(int count, char **words) {
  void *library = dlopen(count > 2 ? words[1] : "", RTLD_NOW);
  if (!library || !(get = (get_t)dlsym(library, "cuGetProcAddress_v2"))) {
    printf("%s\n", dlerror());
    return 1;
  }
  int (*init)(unsigned) = (int (*)(unsigned))find("cuInit");
  int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))find("cuMemAlloc");
  int (*release)(uint64_t) = (int (*)(uint64_t))find("cuMemFree");
  int (*upload)(uint64_t, const void *, size_t) =
      (int (*)(uint64_t, const void *, size_t))find("cuMemcpyHtoD");
  int (*download)(void *, uint64_t, size_t) = (int (*)(void *, uint64_t, size_t))find("cuMemcpyDtoH");
  int (*set)(uint64_t, unsigned char, size_t) = (int (*)(uint64_t, unsigned char, size_t))find("cuMemsetD8");
  int (*load)(void **, const void *) = (int (*)(void **, const void *))find("cuModuleLoadData");
  int (*function)(void **, void *, const char *) =
      (int (*)(void **, void *, const char *))find("cuModuleGetFunction");
  int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,
                void **, void **) = (void *)find("cuLaunchKernel");
  int (*wait)(void) = (int (*)(void))find("cuCtxSynchronize");
  int (*encode)(void *, int, uint32_t, void *, const uint64_t *, const uint64_t *, const uint32_t *,
                const uint32_t *, int, int, int, int) = (void *)find("cuTensorMapEncodeTiled");
  int (*text)(int, const char **) = (int (*)(int, const char **))find("cuGetErrorString");
  find("cuNonsense");

  static char source[1 << 16];
  FILE *file = fopen(words[2], "r");
  source[fread(source, 1, sizeof source - 1, file)] = 0;
  void *module = 0, *kernel = 0;
  uint64_t matrix = 0, tile = 0;
  float values[32], result[8];
  for (int i = 0; i < 32; ++i)
    values[i] = (float)i;
  check(init(0), "cuInit");
  check(load(&module, source), "cuModuleLoadData");
  check(function(&kernel, module, "tile"), "cuModuleGetFunction");
  check(alloc(&matrix, sizeof values), "cuMemAlloc");
  check(alloc(&tile, sizeof result), "cuMemAlloc");
  check(upload(matrix, values, sizeof values), "cuMemcpyHtoD");
  check(set(tile, 0, sizeof result), "cuMemsetD8");

  _Alignas(64) unsigned char map[128];
  const uint64_t dims[2] = {8, 4}, strides[1] = {32};
  const uint32_t box[2] = {4, 2}, ones[2] = {1, 1}, odd[2] = {3, 2};
  const char *why = "";
  int float32 = 7, code = encode(map, float32, 2, (void *)matrix, dims, strides, odd, ones, 0, 0, 0, 0);
  text(code, &why);
  printf("a box of 3: %d, %s\n", code, why);
  code = encode(map, 10, 2, (void *)matrix, dims, strides, box, ones, 0, 0, 0, 0);
  text(code, &why);
  printf("a format that flushes: %d, %s\n", code, why);
  code = encode(map, float32, 2, (void *)matrix, dims, strides, 0, ones, 0, 0, 0, 0);
  text(code, &why);
  printf("no box: %d, %s\n", code, why);
  code = encode(0, float32, 2, (void *)matrix, dims, strides, box, ones, 0, 0, 0, 0);
  text(code, &why);
  printf("no map: %d, %s\n", code, why);
  code = encode(map, float32, 6, (void *)matrix, dims, strides, box, ones, 0, 0, 0, 0);
  text(code, &why);
  printf("six dimensions: %d, %s\n", code, why);
  code = encode(map, float32, 2, (void *)matrix, dims, strides, box, ones, 1, 0, 0, 0);
  text(code, &why);
  printf("interleaved: %d, %s\n", code, why);
  code = get(0, 0, 13000, 0, 0);
  text(code, &why);
  printf("no name: %d, %s\n", code, why);
  check(encode(map, float32, 2, (void *)matrix, dims, strides, box, ones, 0, 0, 0, 0), "encode");

  uint32_t x = 4, y = 1;
  void *parameters[] = {map, &tile, &x, &y};
  check(launch(kernel, 1, 1, 1, 32, 1, 1, 0, 0, parameters, 0), "cuLaunchKernel");
  check(wait(), "cuCtxSynchronize");
  check(download(result, tile, sizeof result), "cuMemcpyDtoH");
  printf("tile:");
  for (int i = 0; i < 8; ++i)
    printf(" %g", result[i]);
  printf("\n");
  check(release(matrix), "cuMemFree");
  check(release(tile), "cuMemFree");
  printf("freed twice: %d\n", release(tile));
  return 0;
}
