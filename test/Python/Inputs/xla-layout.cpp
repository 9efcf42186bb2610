// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp's declarations of XLA's interface beside XLA's own: the same sizes, offsets and numbers.

#include "xla/ffi/api/c_api.h"

#include "../../../lib/CAPI/XlaInterface.h"

namespace xla = mlir::mp::capi::xla;

#define SAME(theirs, theirMember, ours, ourMember)                                                 \
  static_assert(offsetof(theirs, theirMember) == offsetof(xla::ours, ourMember));                  \
  static_assert(sizeof(theirs::theirMember) == sizeof(xla::ours::ourMember))

SAME(XLA_FFI_Extension_Base, struct_size, Extension, structSize);
SAME(XLA_FFI_Extension_Base, type, Extension, type);
SAME(XLA_FFI_Extension_Base, next, Extension, next);
SAME(XLA_FFI_Api_Version, major_version, Version, major);
SAME(XLA_FFI_Api_Version, minor_version, Version, minor);
SAME(XLA_FFI_Metadata, api_version, Metadata, version);
SAME(XLA_FFI_Metadata, traits, Metadata, traits);
SAME(XLA_FFI_Metadata_Extension, metadata, MetadataExtension, metadata);
SAME(XLA_FFI_Error_Create_Args, message, CreateError, message);
SAME(XLA_FFI_Error_Create_Args, errc, CreateError, code);
SAME(XLA_FFI_Stream_Get_Args, ctx, GetStream, context);
SAME(XLA_FFI_Stream_Get_Args, stream, GetStream, stream);
SAME(XLA_FFI_Api, api_version, Api, version);
SAME(XLA_FFI_Api, XLA_FFI_Error_Create, Api, createError);
SAME(XLA_FFI_Api, XLA_FFI_Stream_Get, Api, getStream);
SAME(XLA_FFI_Buffer, dtype, Buffer, type);
SAME(XLA_FFI_Buffer, data, Buffer, data);
SAME(XLA_FFI_Buffer, rank, Buffer, rank);
SAME(XLA_FFI_Buffer, dims, Buffer, sizes);
SAME(XLA_FFI_Args, size, Buffers, size);
SAME(XLA_FFI_Args, types, Buffers, kinds);
SAME(XLA_FFI_Args, args, Buffers, buffers);
SAME(XLA_FFI_Rets, size, Buffers, size);
SAME(XLA_FFI_Rets, types, Buffers, kinds);
SAME(XLA_FFI_Rets, rets, Buffers, buffers);
SAME(XLA_FFI_ByteSpan, ptr, Span, data);
SAME(XLA_FFI_ByteSpan, len, Span, size);
SAME(XLA_FFI_Attrs, size, Attributes, size);
SAME(XLA_FFI_Attrs, types, Attributes, kinds);
SAME(XLA_FFI_Attrs, names, Attributes, names);
SAME(XLA_FFI_Attrs, attrs, Attributes, values);
SAME(XLA_FFI_CallFrame, extension_start, CallFrame, extensions);
SAME(XLA_FFI_CallFrame, api, CallFrame, api);
SAME(XLA_FFI_CallFrame, ctx, CallFrame, context);
SAME(XLA_FFI_CallFrame, stage, CallFrame, stage);
SAME(XLA_FFI_CallFrame, args, CallFrame, arguments);
SAME(XLA_FFI_CallFrame, rets, CallFrame, results);
SAME(XLA_FFI_CallFrame, attrs, CallFrame, attributes);

static_assert(XLA_FFI_API_MAJOR == xla::kMajor && XLA_FFI_API_MINOR >= xla::kMinor);
static_assert(XLA_FFI_Error_Code_INVALID_ARGUMENT == int(xla::kInvalidArgument));
static_assert(XLA_FFI_Error_Code_NOT_FOUND == int(xla::kNotFound));
static_assert(XLA_FFI_Error_Code_INTERNAL == int(xla::kInternal));
static_assert(XLA_FFI_ExecutionStage_EXECUTE == int(xla::kExecute));
static_assert(XLA_FFI_Extension_Metadata == int(xla::kMetadata));
static_assert(XLA_FFI_AttrType_STRING == int(xla::kString));
#define TYPE(theirs, ours) static_assert(XLA_FFI_DataType_##theirs == int(xla::ours))
TYPE(PRED, kPred);
TYPE(S8, kS8);
TYPE(S16, kS16);
TYPE(S32, kS32);
TYPE(S64, kS64);
TYPE(U8, kU8);
TYPE(U16, kU16);
TYPE(U32, kU32);
TYPE(U64, kU64);
TYPE(F16, kF16);
TYPE(F32, kF32);
TYPE(F64, kF64);
TYPE(BF16, kBF16);
TYPE(F8E5M2, kF8E5M2);
TYPE(F8E4M3FN, kF8E4M3FN);
TYPE(F8E5M2FNUZ, kF8E5M2FNUZ);
TYPE(F8E4M3FNUZ, kF8E4M3FNUZ);
