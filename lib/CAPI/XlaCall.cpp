// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of programs by compiled code of XLA, through its foreign function interface.

#include "Handles.h"
#include "XlaInterface.h"
#include "mp/Runtime/Runtime.h"
#include "llvm/ADT/ScopeExit.h"

#include <cstring>
#include <map>
#include <mutex>
#include <shared_mutex>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;

namespace {

/// Programs by key. Calls share the lock, so that none outlives its program.
struct Published {
  std::shared_mutex lock;
  std::map<std::string, mp_program *, std::less<>> programs;
};

Published &published() {
  static Published *registry = new Published; // calls may come while the process ends
  return *registry;
}

llvm::Error invalid(const Twine &why) { return llvm::createStringError(why); }

std::optional<ElementType> elementOf(int type) {
  using numerics::Format;
  switch (type) {
  case xla::kPred: return ElementType::integer(1);
  case xla::kS8: return ElementType::integer(8);
  case xla::kS16: return ElementType::integer(16);
  case xla::kS32: return ElementType::integer(32);
  case xla::kS64: return ElementType::integer(64);
  case xla::kU8: return ElementType::integer(8, true);
  case xla::kU16: return ElementType::integer(16, true);
  case xla::kU32: return ElementType::integer(32, true);
  case xla::kU64: return ElementType::integer(64, true);
  case xla::kF16: return ElementType::floating(Format::F16);
  case xla::kF32: return ElementType::floating(Format::F32);
  case xla::kF64: return ElementType::floating(Format::F64);
  case xla::kBF16: return ElementType::floating(Format::BF16);
  case xla::kF8E5M2: return ElementType::floating(Format::F8E5M2);
  case xla::kF8E4M3FN: return ElementType::floating(Format::F8E4M3FN);
  case xla::kF8E5M2FNUZ: return ElementType::floating(Format::F8E5M2FNUZ);
  case xla::kF8E4M3FNUZ: return ElementType::floating(Format::F8E4M3FNUZ);
  default: return std::nullopt;
  }
}

/// The buffer as an array of the parameter's type; signs of integers are in the ops, not in types.
llvm::Expected<ArrayView> viewBuffer(const xla::Buffers &buffers, size_t index,
                                     const Parameter &parameter, const Twine &what) {
  const auto &buffer = *static_cast<const xla::Buffer *>(buffers.buffers[index]);
  std::optional<ElementType> element = elementOf(buffer.type);
  if (!element)
    return invalid(what + ": XLA's data type " + Twine(buffer.type) +
                   " is unknown to mp, expected " + parameter.type.str());
  if (!element->isFloat && !parameter.type.isFloat && element->width == parameter.type.width)
    element = parameter.type;
  ArrayView view = {*element, ArrayRef(buffer.sizes, size_t(buffer.rank)), buffer.data};
  Array probe; // without elements
  probe.type = view.type;
  probe.shape.assign(view.shape.begin(), view.shape.end());
  if (llvm::Error error = checkArgument(probe, parameter, what))
    return std::move(error);
  if (!view.data && byteSize(view.type, view.shape) > 0)
    return invalid(what + ": data is null");
  return view;
}

/// All buffers of one side, checked.
llvm::Expected<std::vector<ArrayView>> viewBuffers(const xla::Buffers &buffers,
                                                   ArrayRef<Parameter> parameters, StringRef kind) {
  if (buffers.size != int64_t(parameters.size()))
    return invalid("found " + Twine(buffers.size) + " " + kind + "s, expected " +
                   Twine(parameters.size()));
  std::vector<ArrayView> views;
  for (auto [i, parameter] : llvm::enumerate(parameters)) {
    std::string what = (kind + " " + Twine(i)).str();
    if (!parameter.name.empty())
      what += " ('" + parameter.name + "')";
    auto view = viewBuffer(buffers, i, parameter, what);
    if (!view)
      return view.takeError();
    views.push_back(*view);
  }
  return views;
}

/// Copies a result to where XLA wants it.
llvm::Error place(size_t index, const ArrayView &wanted, ArrayRef<int64_t> shape,
                  const void *data) {
  if (shape != wanted.shape)
    return invalid("result " + Twine(index) + " is " + typeString(shape, wanted.type) +
                   ", but the caller expects " + typeString(wanted.shape, wanted.type));
  if (size_t bytes = byteSize(wanted.type, shape))
    std::memcpy(const_cast<void *>(wanted.data), data, bytes);
  return llvm::Error::success();
}

/// Runs where arguments lie on the host.
llvm::Error callOnHost(mp_program &program, ArrayRef<ArrayView> arguments,
                       ArrayRef<ArrayView> results) {
  return runOnHost(program, arguments, [&](size_t i, const ArrayView &result) {
    return place(i, results[i], result.shape, result.data);
  });
}

/// An array of the device as the runtime takes it.
mp_rt_tensor tensorOf(const ArrayView &view) {
  mp_rt_tensor tensor{};
  tensor.data = const_cast<void *>(view.data);
  tensor.element = view.type.isFloat ? int(view.type.format) : MP_RT_INTEGER + int(view.type.width);
  tensor.place = MP_RT_ON_DEVICE;
  tensor.rank = int(view.shape.size());
  llvm::copy(view.shape, tensor.sizes);
  return tensor;
}

/// Runs where arguments lie on the device: all is ordered by the caller's stream.
llvm::Error callOnDevice(mp_program &program, ArrayRef<ArrayView> arguments,
                         ArrayRef<ArrayView> results, void *stream) {
  if (!program.onDevice)
    return invalid("the program was compiled for the cpu, but XLA calls it on a device");
  for (ArrayRef<ArrayView> views : {arguments, results})
    for (const ArrayView &view : views)
      if (view.shape.size() > MP_RT_MAX_RANK)
        return invalid("an array of rank " + Twine(view.shape.size()) +
                       " is more than a kernel takes");
  std::vector<mp_rt_tensor> in, out(results.size());
  for (const ArrayView &view : arguments)
    in.push_back(tensorOf(view));
  for (mp_rt_tensor &tensor : out)
    tensor.place = MP_RT_ON_DEVICE;
  std::lock_guard guard(kernelLock());
  if (llvm::Error error = program.onDevice->call(in, out, stream))
    return error;
  auto release = llvm::make_scope_exit([&] {
    for (mp_rt_tensor &tensor : out)
      mp_rt_free_tensor(&tensor, stream);
  });
  for (auto [i, tensor] : llvm::enumerate(out)) {
    ArrayRef<int64_t> shape(tensor.sizes, size_t(tensor.rank));
    if (shape != results[i].shape)
      return place(i, results[i], shape, nullptr);
    mp_rt_tensor wanted = tensorOf(results[i]);
    if (mp_rt_copy_to(&tensor, &wanted, stream) != 0)
      return invalid(mp_rt_device_error());
  }
  return llvm::Error::success();
}

/// The string attribute "program" of the call, which is its key.
std::optional<StringRef> keyOf(const xla::Attributes &attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    StringRef name(attributes.names[i]->data, attributes.names[i]->size);
    if (name != "program" || attributes.kinds[i] != xla::kString)
      continue;
    auto *value = static_cast<const xla::Span *>(attributes.values[i]);
    return StringRef(value->data, value->size);
  }
  return std::nullopt;
}

llvm::Error execute(const xla::CallFrame &frame, bool onDevice, int &code) {
  std::optional<StringRef> key = keyOf(frame.attributes);
  if (!key)
    return invalid("the call has no string attribute 'program'");
  std::shared_lock guard(published().lock);
  auto found = published().programs.find(*key);
  if (found == published().programs.end()) {
    code = xla::kNotFound;
    return invalid("no program '" + *key + "' in this process: convert the function here first");
  }
  mp_program &program = *found->second;
  const Signature &signature = program.executable->signature();
  auto arguments = viewBuffers(frame.arguments, signature.arguments, "argument");
  if (!arguments)
    return arguments.takeError();
  auto results = viewBuffers(frame.results, signature.results, "result");
  if (!results)
    return results.takeError();
  code = xla::kInternal;
  if (!onDevice)
    return callOnHost(program, *arguments, *results);
  xla::GetStream request = {sizeof request, nullptr, frame.context, nullptr};
  if (frame.api->getStream(&request))
    return invalid("XLA gave no stream");
  return callOnDevice(program, *arguments, *results, request.stream);
}

/// Tells XLA which version of its interface this is written against, as far as it knows it.
bool answerMetadata(const xla::CallFrame &frame) {
  for (xla::Extension *each = frame.extensions; each; each = each->next)
    if (each->type == xla::kMetadata) {
      xla::Metadata &metadata = *reinterpret_cast<xla::MetadataExtension *>(each)->metadata;
      metadata.version.major = xla::kMajor;
      metadata.version.minor = std::min(xla::kMinor, frame.api->version.minor);
      metadata.traits = 0;
      return true;
    }
  return false;
}

void *handle(void *pointer, bool onDevice) {
  if (!pointer)
    return nullptr;
  const auto &frame = *static_cast<const xla::CallFrame *>(pointer);
  if (answerMetadata(frame) || frame.stage != xla::kExecute)
    return nullptr;
  int code = xla::kInvalidArgument;
  mp_status status = run("mp_xla_call", [&]() -> Outcome {
    if (llvm::Error error = execute(frame, onDevice, code))
      return refused(std::move(error));
    return {};
  });
  if (status == MP_OK)
    return nullptr;
  xla::CreateError request = {sizeof request, nullptr, mp_last_error(), code};
  return frame.api->createError(&request);
}

} // namespace

void mlir::mp::capi::withdraw(mp_program *program) {
  std::unique_lock guard(published().lock);
  for (auto each = published().programs.begin(); each != published().programs.end();)
    each = each->second == program ? published().programs.erase(each) : std::next(each);
}

extern "C" {

mp_status mp_program_publish(mp_program *program, const char *key) {
  MP_CHECK_HANDLE(program);
  MP_CHECK_POINTER(key);
  return run(__func__, [&]() -> Outcome {
    std::unique_lock guard(published().lock);
    mp_program *&place = published().programs[key];
    if (place && place != program)
      return usage("another program has the key '" + Twine(key) + "'");
    place = program;
    return {};
  });
}

void *mp_xla_host_call(void *frame) { return handle(frame, /*onDevice=*/false); }

void *mp_xla_device_call(void *frame) { return handle(frame, /*onDevice=*/true); }

} // extern "C"
