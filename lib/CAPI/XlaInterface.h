// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Declares what mp uses of XLA's foreign function interface, version 0.3: its layout in memory is
// stable, so that neither its headers nor jaxlib are needed to build. A test compares it with the
// headers where they are installed (test/Python/xla-layout.test).
#ifndef MP_LIB_CAPI_XLAINTERFACE_H
#define MP_LIB_CAPI_XLAINTERFACE_H

#include <cstddef>
#include <cstdint>

namespace mlir::mp::capi::xla {

constexpr int kMajor = 0, kMinor = 3;

enum ErrorCode { kInvalidArgument = 3, kNotFound = 5, kInternal = 13 };
enum Stage { kExecute = 3 };
enum { kMetadata = 1, kString = 4 };
/// Data types by number; other numbers are refused.
enum DataType {
  kPred = 1,
  kS8 = 2,
  kS16 = 3,
  kS32 = 4,
  kS64 = 5,
  kU8 = 6,
  kU16 = 7,
  kU32 = 8,
  kU64 = 9,
  kF16 = 10,
  kF32 = 11,
  kF64 = 12,
  kBF16 = 16,
  kF8E5M2 = 19,
  kF8E4M3FN = 20,
  kF8E5M2FNUZ = 24,
  kF8E4M3FNUZ = 25
};

struct Extension {
  size_t structSize;
  int type;
  Extension *next;
};

struct Version {
  size_t structSize;
  Extension *extensions;
  int major, minor;
};

struct Metadata {
  size_t structSize;
  Version version;
  uint32_t traits;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

struct CreateError {
  size_t structSize;
  Extension *extensions;
  const char *message;
  int code;
};

struct GetStream {
  size_t structSize;
  Extension *extensions;
  void *context;
  void *stream;
};

/// Functions of XLA, of which those between are not used.
struct Api {
  size_t structSize;
  Extension *extensions;
  Version version;
  const void *internal;
  void *(*createError)(CreateError *);
  void *getMessage, *destroyError, *registerHandler;
  void *(*getStream)(GetStream *);
};

struct Buffer {
  size_t structSize;
  Extension *extensions;
  int type;
  void *data;
  int64_t rank;
  int64_t *sizes;
};

/// Arguments and results alike.
struct Buffers {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  int *kinds; ///< 1 each: a buffer
  void **buffers;
};

struct Span {
  const char *data;
  size_t size;
};

struct Attributes {
  size_t structSize;
  Extension *extensions;
  int64_t size;
  int *kinds;
  Span **names;
  void **values;
};

struct CallFrame {
  size_t structSize;
  Extension *extensions;
  const Api *api;
  void *context;
  int stage;
  Buffers arguments, results;
  Attributes attributes;
};

} // namespace mlir::mp::capi::xla

#endif // MP_LIB_CAPI_XLAINTERFACE_H
