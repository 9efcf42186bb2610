/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The entry points of a CUDA driver that the runtime calls, as a table of functions. Whoever fills
 * the table is the device: the installed driver, or the emulator. Types and numbers are those of
 * the driver's published interface; nothing of a toolkit is needed to build.
 */
#ifndef MP_RUNTIME_DRIVERAPI_H
#define MP_RUNTIME_DRIVERAPI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUresult; the values that somebody here looks at. */
enum {
  MP_CU_SUCCESS = 0,
  MP_CU_INVALID_VALUE = 1,
  MP_CU_OUT_OF_MEMORY = 2,
  MP_CU_NOT_INITIALIZED = 3,
  MP_CU_NO_DEVICE = 100,
  MP_CU_INVALID_DEVICE = 101,
  MP_CU_INVALID_IMAGE = 200,
  MP_CU_NO_BINARY_FOR_GPU = 209,
  MP_CU_INVALID_PTX = 218,
  MP_CU_UNSUPPORTED_PTX_VERSION = 222,
  MP_CU_NOT_FOUND = 500,
  MP_CU_LAUNCH_FAILED = 719
};

/* CUdevice_attribute. */
enum {
  MP_CU_CLOCK_RATE = 13,
  MP_CU_MULTIPROCESSOR_COUNT = 16,
  MP_CU_COMPUTE_CAPABILITY_MAJOR = 75,
  MP_CU_COMPUTE_CAPABILITY_MINOR = 76
};

/* CUjit_option: where the messages of the driver's assembler go. */
enum { MP_CU_JIT_ERROR_LOG_BUFFER = 5, MP_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };

/* CUfunction_attribute. */
enum { MP_CU_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

typedef uint64_t mp_cu_address; /* CUdeviceptr */
typedef struct mp_cu_context mp_cu_context;
typedef struct mp_cu_module mp_cu_module;
typedef struct mp_cu_function mp_cu_function;
typedef struct mp_cu_stream mp_cu_stream;

/* X(member, exported name, parameters, their names); each returns a CUresult. */
#define MP_CU_ENTRY_POINTS(X)                                                                      \
  X(init, "cuInit", (unsigned flags), (flags))                                                     \
  X(driver_version, "cuDriverGetVersion", (int *version), (version))                               \
  X(device_count, "cuDeviceGetCount", (int *count), (count))                                       \
  X(device, "cuDeviceGet", (int *device, int ordinal), (device, ordinal))                          \
  X(device_name, "cuDeviceGetName", (char *name, int size, int device), (name, size, device))      \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device),             \
    (value, attribute, device))                                                                    \
  X(device_memory, "cuDeviceTotalMem_v2", (size_t *bytes, int device), (bytes, device))            \
  X(retain_context, "cuDevicePrimaryCtxRetain", (mp_cu_context * *context, int device),            \
    (context, device))                                                                             \
  X(set_context, "cuCtxSetCurrent", (mp_cu_context * context), (context))                          \
  X(create_stream, "cuStreamCreate", (mp_cu_stream * *stream, unsigned flags), (stream, flags))    \
  X(synchronize, "cuStreamSynchronize", (mp_cu_stream * stream), (stream))                         \
  X(alloc, "cuMemAllocAsync", (mp_cu_address * address, size_t bytes, mp_cu_stream *stream),       \
    (address, bytes, stream))                                                                      \
  X(free, "cuMemFreeAsync", (mp_cu_address address, mp_cu_stream * stream), (address, stream))     \
  X(upload, "cuMemcpyHtoDAsync_v2",                                                                \
    (mp_cu_address to, const void *from, size_t bytes, mp_cu_stream *stream),                      \
    (to, from, bytes, stream))                                                                     \
  X(download, "cuMemcpyDtoHAsync_v2",                                                              \
    (void *to, mp_cu_address from, size_t bytes, mp_cu_stream *stream), (to, from, bytes, stream)) \
  X(load_module, "cuModuleLoadDataEx",                                                             \
    (mp_cu_module * *module, const void *image, unsigned count, int *options, void **values),      \
    (module, image, count, options, values))                                                       \
  X(unload_module, "cuModuleUnload", (mp_cu_module * module), (module))                            \
  X(module_function, "cuModuleGetFunction",                                                        \
    (mp_cu_function * *function, mp_cu_module * module, const char *name),                         \
    (function, module, name))                                                                      \
  X(set_function_attribute, "cuFuncSetAttribute",                                                  \
    (mp_cu_function * function, int attribute, int value), (function, attribute, value))           \
  X(launch, "cuLaunchKernel",                                                                      \
    (mp_cu_function * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,                 \
     unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,                  \
     mp_cu_stream *stream, void **parameters, void **extra),                                       \
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream,            \
     parameters, extra))                                                                           \
  X(error_name, "cuGetErrorName", (int error, const char **name), (error, name))                   \
  X(error_text, "cuGetErrorString", (int error, const char **text), (error, text))                 \
  X(copy, "cuMemcpyDtoDAsync_v2",                                                                  \
    (mp_cu_address to, mp_cu_address from, size_t bytes, mp_cu_stream *stream),                    \
    (to, from, bytes, stream))

typedef struct {
#define MP_CU_MEMBER(member, name, parameters, names) int(*member) parameters;
  MP_CU_ENTRY_POINTS(MP_CU_MEMBER)
#undef MP_CU_MEMBER
} mp_cu_driver;

#ifdef __cplusplus
}
#endif
#endif /* MP_RUNTIME_DRIVERAPI_H */
