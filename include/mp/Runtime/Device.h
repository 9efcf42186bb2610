/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels on a device: what host code compiled beside kernels calls, and what calls such code.
 * One device; memory and launches are ordered by a stream, the runtime's own or the caller's.
 * Nothing is loaded or started before the first use. Threads may call at the same time. C ABI, no
 * LLVM.
 */
#ifndef MP_RUNTIME_DEVICE_H
#define MP_RUNTIME_DEVICE_H

#include "mp/Runtime/DriverAPI.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The device ---- */

/* Where kernels run: "cuda" (the installed driver) or "emulator" (libMPEmulatedDriver.so, or what
 * mp_rt_use_driver gave). Without a call the environment variable MP_DEVICE decides, else it is
 * "cuda". The driver is the library that MP_CUDA_DRIVER names, or libcuda.so.1. Returns 0, or -1
 * for an unknown name or when another device is already in use. */
int mp_rt_select_device(const char *name);

/* The table of functions that "emulator" stands for in this process. */
void mp_rt_use_driver(const mp_cu_driver *emulator);

typedef struct {
  char name[128];
  int major, minor; /* compute capability */
  int64_t memory_bytes;
  int multiprocessors;
  int clock_khz;
  int driver_version; /* 1000 * major + 10 * minor */
} mp_rt_device_facts;

/* Opens the device if need be. Returns 0, or -1 with mp_rt_device_error(). */
int mp_rt_query_device(mp_rt_device_facts *facts);

/* Why the last call that failed in this thread did; never null. */
const char *mp_rt_device_error(void);

/* ---- Called by compiled code. A failure ends the running mp_rt_invoke with this code. ---- */

enum { MP_RT_DEVICE_FAILED = -2 };

/* A device image (PTX as a string with its 0, cubin or fat binary), loaded on first use. */
typedef struct mp_rt_module {
  const void *image;
  int64_t bytes;
  mp_cu_module *loaded;
  struct mp_rt_constant *constants; /* those on the device */
} mp_rt_module;

typedef struct {
  mp_rt_module *module;
  const char *name;
  mp_cu_function *function; /* null before the first launch */
  int64_t shared_bytes;     /* allowed so far */
} mp_rt_kernel;

/* Data of the program that kernels read, uploaded on first use. */
typedef struct mp_rt_constant {
  mp_rt_module *module;
  const void *data;
  int64_t bytes;
  mp_cu_address address;
  struct mp_rt_constant *next;
} mp_rt_constant;

void *mp_rt_device_alloc(int64_t bytes);
void mp_rt_device_free(void *address);
void *mp_rt_device_constant(mp_rt_constant *constant);
/* Writes zeros, in the order of the call's launches. */
void mp_rt_device_clear(void *address, int64_t bytes);

/* Waits and returns the 1 to 8 bytes at `address`, zero-extended. */
int64_t mp_rt_device_read(int64_t address, int64_t bytes);

/* Waits and copies array `index` of the table `layout` (as in mp_rt_expect_close) from `address`
 * into memory of the host, at the same strides: returned is where its first element lies. Valid
 * until the call of compiled code ends. */
int64_t mp_rt_device_mirror(const int64_t *layout, int64_t index, int64_t address,
                            int64_t element_bytes);

/* shape: grid x, y, z, block x, y, z, dynamic shared bytes. arguments: one word each, low bytes
 * used. */
void mp_rt_device_launch(mp_rt_kernel *kernel, const int64_t *shape, int64_t *arguments,
                         int64_t count);

/* A check of the program failed, described by `message`. */
void mp_rt_check_failed(const char *message);

/* ---- Calling compiled code ---- */

enum { MP_RT_MAX_RANK = 16 };

/* An array on the host, row-major; rank 0 for scalars. */
typedef struct {
  void *data;
  int64_t sizes[MP_RT_MAX_RANK];
} mp_rt_array;

typedef struct {
  int rank;
  int element_bytes;
  int is_buffer; /* 0: passed by value */
  int element;   /* an mp_rt_format, or MP_RT_INTEGER plus the width; see Runtime.h */
  int64_t sizes[MP_RT_MAX_RANK]; /* -1: known at run time only */
} mp_rt_parameter;

/* entry: takes {words in, words out}. A buffer is its descriptor of 3 + 2 * rank words, a value one
 * word. */
typedef struct {
  const char *name;
  void (*entry)(void **);
  int argument_count, result_count;
  const mp_rt_parameter *parameters; /* of the arguments, then of the results */
} mp_rt_function;

/* Uploads the arguments, runs, downloads the results into fresh memory (free() it) and frees all
 * device memory the call took. Returns 0; the number of a check that did not hold; or -1. If it is
 * not 0 mp_rt_device_error() says why, and results are untouched. */
int mp_rt_call(const mp_rt_function *function, const mp_rt_array *arguments, mp_rt_array *results);

/* Where the data of an mp_rt_tensor lies. */
enum { MP_RT_ON_HOST = 0, MP_RT_ON_DEVICE = 1 };

/* A dense array, row-major, on the host or in the device's memory. */
typedef struct {
  void *data;  /* on the device: its address there */
  int element; /* as in mp_rt_parameter; 0 (f64) is checked like any other */
  int place;
  int rank;
  int64_t sizes[MP_RT_MAX_RANK];
} mp_rt_tensor;

/* As mp_rt_call, for arrays anywhere, with counts and element types checked. Arguments on the
 * device are read where they are; those on the host are uploaded. The caller sets the `place` of
 * each result: on the host they come in fresh memory to be freed by free(), on the device to be
 * freed by mp_rt_free_tensor.
 *
 * stream: the caller's CUstream, by which everything is ordered; the call waits only for results on
 * the host and for values that host control flow needs. Null: the runtime's own, and the call waits
 * for its end. */
int mp_rt_call_tensors(const mp_rt_function *function, const mp_rt_tensor *arguments,
                       int argument_count, mp_rt_tensor *results, int result_count, void *stream);

/* Copies an array to the other place, into fresh memory; waits for its end. Returns 0, or -1. */
int mp_rt_copy_tensor(const mp_rt_tensor *from, mp_rt_tensor *to);

/* Copies an array on the device into another of its element type and sizes there, ordered by
 * `stream` (null: the runtime's own). Returns 0, or -1. */
int mp_rt_copy_to(const mp_rt_tensor *from, const mp_rt_tensor *to, void *stream);

/* Frees the data of an array that the runtime made, on the device behind what `stream` (null: the
 * runtime's own) has been given so far, and clears its address. Null is allowed. */
int mp_rt_free_tensor(mp_rt_tensor *tensor, void *stream);

/* The same for code that runs on the host: arguments are read where they are, and stay as they are;
 * no device is opened, and threads may call at once. */
int mp_rt_call_host(const mp_rt_function *function, const mp_rt_array *arguments,
                    mp_rt_array *results);

/* Largest number of bytes on the device at once, constants included, since the last mp_rt_call
 * began. */
int64_t mp_rt_device_peak_bytes(void);

/* Frees what loading `module` and its constants took; its kernels must be forgotten by the caller.
 */
void mp_rt_unload(mp_rt_module *module);

#ifdef __cplusplus
}
#endif
#endif /* MP_RUNTIME_DEVICE_H */
