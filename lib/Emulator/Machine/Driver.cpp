// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One emulated device with the interface of a CUDA driver. Everything happens at once: a stream
// orders what is already done. An error of the emulator is told by cuGetErrorString.

#include "mp/Emulator/Driver.h"

#include "InjectedFaults.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Process.h"
#include <mutex>

using namespace mpcore::emulator;

// The pointees of the table's types.
struct mp_cu_context {};
struct mp_cu_stream {};
struct mp_cu_module {
  std::unique_ptr<Module> code;
  llvm::StringMap<std::unique_ptr<mp_cu_function>> functions;
};
struct mp_cu_function {
  mp_cu_module *module;
  const KernelInfo *kernel;
};

namespace {

struct State {
  EmulatedDriver shown;
  Device device;
  llvm::StringMap<size_t> counted; ///< index into shown.kernels
  std::string message;             ///< of the last failure
  mp_cu_context context;
  std::mutex lock;
};

State &state() {
  static State theState;
  return theState;
}

int fail(int code, llvm::Error error) { return reportDriverError(code, std::move(error)); }

int init(unsigned) { return MP_CU_SUCCESS; }

int driverVersion(int *version) {
  *version = 13000;
  return MP_CU_SUCCESS;
}

int deviceCount(int *count) {
  *count = 1;
  return MP_CU_SUCCESS;
}

int device(int *device, int ordinal) {
  *device = ordinal;
  return ordinal == 0 ? MP_CU_SUCCESS : MP_CU_INVALID_DEVICE;
}

int deviceName(char *name, int size, int) {
  llvm::StringRef text = "PTX emulator";
  if (size <= 0)
    return MP_CU_INVALID_VALUE;
  size_t length = std::min(text.size(), size_t(size) - 1);
  std::memcpy(name, text.data(), length);
  name[length] = 0;
  return MP_CU_SUCCESS;
}

/// MP_EMULATED_CHIP=sm_90 makes the device one of compute capability 9.0; the default is 8.0.
/// Launches follow the target of their PTX unless options say otherwise.
unsigned capability() {
  unsigned number = 80;
  if (auto chip = llvm::sys::Process::GetEnv("MP_EMULATED_CHIP")) {
    llvm::StringRef text(*chip);
    if (!text.consume_front("sm_") || text.rtrim("af").getAsInteger(10, number))
      number = 80;
  }
  return number;
}

int deviceAttribute(int *value, int attribute, int) {
  switch (attribute) {
  case MP_CU_COMPUTE_CAPABILITY_MAJOR: *value = int(capability() / 10); return MP_CU_SUCCESS;
  case MP_CU_COMPUTE_CAPABILITY_MINOR: *value = int(capability() % 10); return MP_CU_SUCCESS;
  case MP_CU_MULTIPROCESSOR_COUNT: *value = 1; return MP_CU_SUCCESS;
  case MP_CU_CLOCK_RATE: *value = 1; return MP_CU_SUCCESS;
  }
  return MP_CU_INVALID_VALUE;
}

int deviceMemory(size_t *bytes, int) {
  *bytes = size_t(64) << 30;
  return MP_CU_SUCCESS;
}

int retainContext(mp_cu_context **context, int) {
  *context = &state().context;
  return MP_CU_SUCCESS;
}

int setContext(mp_cu_context *) { return MP_CU_SUCCESS; }

int createStream(mp_cu_stream **stream, unsigned) {
  static mp_cu_stream theStream;
  *stream = &theStream;
  return MP_CU_SUCCESS;
}

int synchronize(mp_cu_stream *) { return MP_CU_SUCCESS; }

int alloc(mp_cu_address *address, size_t bytes, mp_cu_stream *) {
  if (bytes == 0)
    return MP_CU_INVALID_VALUE;
  std::lock_guard guard(state().lock);
  auto pointer = state().device.alloc(bytes);
  if (!pointer)
    return fail(MP_CU_OUT_OF_MEMORY, pointer.takeError());
  *address = *pointer;
  return MP_CU_SUCCESS;
}

int release(mp_cu_address address, mp_cu_stream *) {
  std::lock_guard guard(state().lock);
  if (llvm::Error error = state().device.free(address))
    return fail(MP_CU_INVALID_VALUE, std::move(error));
  return MP_CU_SUCCESS;
}

int upload(mp_cu_address to, const void *from, size_t bytes, mp_cu_stream *) {
  std::lock_guard guard(state().lock);
  if (llvm::Error error = state().device.write(to, {static_cast<const uint8_t *>(from), bytes}))
    return fail(MP_CU_INVALID_VALUE, std::move(error));
  return MP_CU_SUCCESS;
}

int download(void *to, mp_cu_address from, size_t bytes, mp_cu_stream *) {
  std::lock_guard guard(state().lock);
  if (llvm::Error error = state().device.read(from, {static_cast<uint8_t *>(to), bytes},
                                              !state().shown.options.checkUninitialized))
    return fail(MP_CU_INVALID_VALUE, std::move(error));
  return MP_CU_SUCCESS;
}
int copy(mp_cu_address to, mp_cu_address from, size_t bytes, mp_cu_stream *stream) {
  std::vector<uint8_t> content(bytes);
  int result = download(content.data(), from, bytes, stream);
  return result == MP_CU_SUCCESS ? upload(to, content.data(), bytes, stream) : result;
}

int loadImage(mp_cu_module **module, const void *image, unsigned, int *, void **) {
  // Machine code is no text; PTX begins with a comment or a directive.
  llvm::StringRef text(static_cast<const char *>(image));
  if (text.empty() || !(llvm::isSpace(text[0]) || text[0] == '/' || text[0] == '.'))
    return fail(MP_CU_INVALID_IMAGE,
                llvm::createStringError("the emulator runs PTX only: lower with emit=ptx"));
  std::lock_guard guard(state().lock);
  auto code = mpcore::emulator::loadModule(text, "kernels.ptx");
  if (!code)
    return fail(MP_CU_INVALID_PTX, code.takeError());
  *module = new mp_cu_module{std::move(*code), {}};
  return MP_CU_SUCCESS;
}

int unloadModule(mp_cu_module *module) {
  delete module;
  return MP_CU_SUCCESS;
}

int moduleFunction(mp_cu_function **function, mp_cu_module *module, const char *name) {
  const KernelInfo *kernel = module->code->findKernel(name);
  if (!kernel)
    return fail(MP_CU_NOT_FOUND, llvm::createStringError(llvm::Twine("no kernel '") + name + "'"));
  auto &entry = module->functions[name];
  if (!entry)
    entry.reset(new mp_cu_function{module, kernel});
  *function = entry.get();
  return MP_CU_SUCCESS;
}

int setFunctionAttribute(mp_cu_function *, int attribute, int) {
  return attribute == MP_CU_MAX_DYNAMIC_SHARED_SIZE_BYTES ? MP_CU_SUCCESS : MP_CU_INVALID_VALUE;
}

int launch(mp_cu_function *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
           unsigned by, unsigned bz, unsigned shared, mp_cu_stream *, void **parameters, void **) {
  std::vector<KernelArg> arguments;
  for (auto [i, parameter] : llvm::enumerate(function->kernel->params))
    arguments.push_back(
        KernelArg::bytes({static_cast<const uint8_t *>(parameters[i]), parameter.bytes}));
  State &s = state();
  std::lock_guard guard(s.lock);
  auto stats = s.device.launch(*function->module->code, function->kernel->name, Dim3{gx, gy, gz},
                               Dim3{bx, by, bz}, shared, arguments, s.shown.options);
  if (!stats)
    return fail(MP_CU_LAUNCH_FAILED, stats.takeError());
  if (s.shown.kernels.empty())
    s.counted.clear();
  auto [entry, fresh] = s.counted.try_emplace(function->kernel->name, s.shown.kernels.size());
  if (fresh)
    s.shown.kernels.push_back({function->kernel->name, 0, {}});
  KernelCounts &counts = s.shown.kernels[entry->second];
  ++counts.launches;
  counts.stats.add(*stats);
  if (s.shown.recordLaunches)
    s.shown.launches.push_back({function->kernel->name, std::move(*stats)});
  return MP_CU_SUCCESS;
}

int errorName(int error, const char **name) {
  switch (error) {
  case MP_CU_INVALID_VALUE: *name = "CUDA_ERROR_INVALID_VALUE"; break;
  case MP_CU_OUT_OF_MEMORY: *name = "CUDA_ERROR_OUT_OF_MEMORY"; break;
  case MP_CU_INVALID_IMAGE: *name = "CUDA_ERROR_INVALID_IMAGE"; break;
  case MP_CU_INVALID_PTX: *name = "CUDA_ERROR_INVALID_PTX"; break;
  case MP_CU_NOT_FOUND: *name = "CUDA_ERROR_NOT_FOUND"; break;
  case MP_CU_LAUNCH_FAILED: *name = "CUDA_ERROR_LAUNCH_FAILED"; break;
  default: return MP_CU_INVALID_VALUE;
  }
  return MP_CU_SUCCESS;
}

int errorText(int, const char **text) {
  *text = state().message.c_str();
  return MP_CU_SUCCESS;
}

} // namespace

int mpcore::emulator::reportDriverError(int code, llvm::Error error) {
  state().message = llvm::toString(std::move(error));
  return code;
}

EmulatedDriver &mpcore::emulator::emulatedDriver() { return state().shown; }

/// The entry points that do what they say.
static const mp_cu_driver &soundTable() {
  static const mp_cu_driver table = {init,
                                     driverVersion,
                                     deviceCount,
                                     device,
                                     deviceName,
                                     deviceAttribute,
                                     deviceMemory,
                                     retainContext,
                                     setContext,
                                     createStream,
                                     synchronize,
                                     alloc,
                                     release,
                                     upload,
                                     download,
                                     loadImage,
                                     unloadModule,
                                     moduleFunction,
                                     setFunctionAttribute,
                                     launch,
                                     errorName,
                                     errorText,
                                     copy};
  return table;
}

const mp_cu_driver &mpcore::emulator::emulatedDriverTable() {
  static const mp_cu_driver &table = []() -> const mp_cu_driver & {
    auto fault = llvm::sys::Process::GetEnv("MP_EMULATED_FAULT");
    return fault ? withFault(soundTable(), *fault) : soundTable();
  }();
  return table;
}
