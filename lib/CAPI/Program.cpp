// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of the C API: functions compiled for the host or a device, called with arrays.

#include "mp/Execution/Host/Program.h"
#include "Handles.h"
#include "Options.h"
#include "mp/Support/Words.h"

#include <cstdlib>
#include <cstring>
#include <new>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;

/// The string option `name`, or `otherwise`; errors name an option of another type.
static llvm::Expected<std::string> textOption(const llvm::json::Object &options, StringRef name,
                                              StringRef otherwise) {
  const llvm::json::Value *value = options.get(name);
  if (!value)
    return otherwise.str();
  if (auto text = value->getAsString())
    return text->str();
  return llvm::createStringError("option '" + name + "': expected a string such as \"" + otherwise +
                                 "\"");
}

/// Options of programs on the host.
static llvm::Expected<ProgramOptions> hostOptions(const llvm::json::Object &options) {
  ProgramOptions host;
  host.fuse = true;
  auto f64 = options.get("f64") ? options.getBoolean("f64") : std::optional(false);
  if (!f64)
    return llvm::createStringError("option 'f64': expected true or false");
  host.promoteToF64 = *f64;
  if (const llvm::json::Value *given = options.get("calls")) {
    auto calls = given->getAsInteger();
    if (!calls || *calls < 1)
      return llvm::createStringError("option 'calls': expected a whole number of at least 1");
    host.calls = *calls;
  }
  return host;
}

static Outcome compile(mp_module &module, StringRef entry, const char *text, mp_program &program) {
  auto options = parseObject(text, "options");
  if (!options)
    return usage(llvm::toString(options.takeError()));
  const StringRef known[] = {"device", "target", "f64", "calls"};
  for (const auto &[name, value] : *options)
    if (StringRef given = name; !llvm::is_contained(known, given))
      return usage("no option '" + given + "'" + support::suggestWord(given, known));
  auto device = textOption(*options, "device", "cpu");
  if (!device)
    return usage(llvm::toString(device.takeError()));
  auto target = textOption(*options, "target", "sm_80");
  if (!target)
    return usage(llvm::toString(target.takeError()));
  auto host = hostOptions(*options);
  if (!host)
    return usage(llvm::toString(host.takeError()));
  StringRef forHost = host->promoteToF64 ? "f64" : host->calls > 0 ? "calls" : "";
  if (!forHost.empty() && *device != "cpu")
    return usage("option '" + forHost + "' is for the device cpu, found '" + *device + "'");
  if (*device == "cpu") {
    auto compiled = Program::compile(*module.module, entry, *host);
    if (!compiled)
      return refused(compiled.takeError());
    program.executable = std::move(*compiled);
    return {};
  }
  if (*device != "emulator" && *device != "cuda")
    return usage("option 'device' is '" + *device + "'" +
                 support::suggestWord(*device, {"cpu", "emulator", "cuda"}));
  DeviceOptions kernels;
  kernels.device = *device;
  kernels.chip = *target;
  auto compiled = DeviceProgram::compile(*module.module, entry, kernels);
  if (!compiled)
    return refused(compiled.takeError());
  program.onDevice = compiled->get();
  program.executable = std::move(*compiled);
  return {};
}

/// An argument where it lies; what it is must be what the parameter says.
static llvm::Expected<ArrayView> viewArgument(const mp_array &given, const Parameter &parameter,
                                              size_t index) {
  std::string what = "argument " + std::to_string(index);
  if (!parameter.name.empty())
    what += " ('" + parameter.name + "')";
  if (given.struct_size != sizeof(mp_array))
    return llvm::createStringError(what + ": struct_size is " + Twine(given.struct_size) +
                                   ", expected " + Twine(sizeof(mp_array)));
  if (given.rank < 0 || given.rank > MP_MAX_RANK)
    return llvm::createStringError(what + ": rank is " + Twine(given.rank) + ", expected 0 to " +
                                   Twine(int(MP_MAX_RANK)));
  StringRef spelling(given.element, strnlen(given.element, sizeof given.element));
  auto element = ElementType::parse(spelling);
  if (!element)
    return llvm::createStringError(what + ": element is '" + spelling + "', expected '" +
                                   parameter.type.str() + "'");
  Array array; // without elements
  array.type = *element;
  array.shape.assign(given.sizes, given.sizes + given.rank);
  // Signs of integers are in the ops, not in the type.
  if (!element->isFloat && !parameter.type.isFloat && element->width == parameter.type.width)
    array.type = parameter.type;
  if (llvm::Error error = checkArgument(array, parameter, what))
    return std::move(error);
  uint64_t bytes = byteSize(array.type, array.shape);
  if (bytes > 0 && !given.data)
    return llvm::createStringError(what + ": data is null, expected " + Twine(bytes) + " bytes");
  return ArrayView{array.type, ArrayRef(given.sizes, size_t(given.rank)), given.data};
}

static void giveResult(const ArrayView &array, mp_array &result) {
  size_t bytes = byteSize(array.type, array.shape);
  result = {};
  result.struct_size = sizeof(mp_array);
  // Whole lines of 64: some frameworks copy what is not aligned so.
  result.data = std::aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!result.data)
    throw std::bad_alloc();
  if (bytes > 0)
    std::memcpy(result.data, array.data, bytes);
  std::strncpy(result.element, array.type.str().c_str(), sizeof result.element - 1);
  result.rank = int32_t(array.shape.size());
  llvm::copy(array.shape, result.sizes);
}

std::mutex &mlir::mp::capi::kernelLock() {
  static std::mutex *lock = new std::mutex; // calls may come while the process ends
  return *lock;
}

/// Runs the kernels of a program on copies.
static llvm::Error runKernels(mp_program &program, ArrayRef<ArrayView> arguments, TakeResult take) {
  std::vector<Array> copies;
  for (const ArrayView &view : arguments) {
    Array &copy = copies.emplace_back(view.type, view.shape);
    if (!copy.data.empty())
      std::memcpy(copy.data.data(), view.data, copy.data.size());
  }
  std::lock_guard guard(kernelLock());
  auto outputs = program.executable->run(copies);
  if (!outputs)
    return outputs.takeError();
  for (auto [i, output] : llvm::enumerate(*outputs))
    if (llvm::Error error = take(i, {output.type, output.shape, output.data.data()}))
      return error;
  return llvm::Error::success();
}

llvm::Error mlir::mp::capi::runOnHost(mp_program &program, ArrayRef<ArrayView> arguments,
                                      TakeResult take) {
  if (program.onDevice)
    return runKernels(program, arguments, take);
  int64_t peak = 0;
  return static_cast<Program &>(*program.executable).callInPlace(arguments, take, peak);
}

static Outcome call(mp_program &program, ArrayRef<mp_array> given, mp_array *results,
                    size_t resultCount) {
  const Signature &signature = program.executable->signature();
  if (given.size() != signature.arguments.size())
    return usage("argument_count is " + Twine(given.size()) + ", but the function takes " +
                 Twine(signature.arguments.size()));
  if (resultCount != signature.results.size())
    return usage("result_count is " + Twine(resultCount) + ", but the function gives " +
                 Twine(signature.results.size()));
  std::vector<ArrayView> arguments;
  for (auto [i, array] : llvm::enumerate(given)) {
    auto argument = viewArgument(array, signature.arguments[i], i);
    if (!argument)
      return usage(llvm::toString(argument.takeError()));
    arguments.push_back(*argument);
  }
  std::vector<mp_array> taken(resultCount); // results are untouched where any fails
  llvm::Error error = runOnHost(program, arguments, [&](size_t i, const ArrayView &result) {
    giveResult(result, taken[i]);
    return llvm::Error::success();
  });
  if (error) {
    llvm::for_each(taken, [](mp_array &array) { std::free(array.data); });
    return refused(std::move(error));
  }
  llvm::copy(taken, results);
  return {};
}

extern "C" {

mp_status mp_program_compile(mp_module *module, const char *entry, const char *options,
                             mp_program **program) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(program);
  return runWithin(__func__, *module->context, [&] {
    auto handle = std::make_unique<mp_program>();
    handle->context = module->context;
    Outcome outcome = compile(*module, entry ? entry : "", options, *handle);
    if (outcome.status == MP_OK) {
      auto function = findEntry(*module->module, entry ? entry : "");
      handle->entry = llvm::cantFail(std::move(function)).getName().str();
      *program = handle.release();
    }
    return outcome;
  });
}

mp_status mp_program_signature(const mp_program *program, mp_text *json) {
  MP_CHECK_HANDLE(program);
  MP_CHECK_POINTER(json);
  return run(__func__, [&] {
    *json = makeText(describeSignature(program->entry, program->executable->signature()));
    return Outcome();
  });
}

mp_status mp_program_run(mp_program *program, const mp_array *arguments, size_t argument_count,
                         mp_array *results, size_t result_count) {
  MP_CHECK_HANDLE(program);
  if (argument_count > 0)
    MP_CHECK_POINTER(arguments);
  if (result_count > 0)
    MP_CHECK_POINTER(results);
  return run(__func__, [&] {
    return call(*program, ArrayRef(arguments, argument_count), results, result_count);
  });
}

mp_status mp_program_call(mp_program *program, const mp_rt_tensor *arguments, size_t argument_count,
                          mp_rt_tensor *results, size_t result_count, void *stream) {
  MP_CHECK_HANDLE(program);
  if (argument_count > 0)
    MP_CHECK_POINTER(arguments);
  if (result_count > 0)
    MP_CHECK_POINTER(results);
  return run(__func__, [&]() -> Outcome {
    if (!program->onDevice)
      return usage("the program runs on the cpu, which takes mp_program_run");
    std::lock_guard guard(kernelLock());
    if (llvm::Error error = program->onDevice->call(ArrayRef(arguments, argument_count),
                                                    MutableArrayRef(results, result_count), stream))
      return refused(std::move(error));
    return {};
  });
}

void mp_program_destroy(mp_program *program) {
  if (!checkHandle(program, "program").empty())
    return;
  withdraw(program);
  delete program;
}

void mp_array_free(mp_array *array) {
  if (!array)
    return;
  std::free(array->data);
  array->data = nullptr;
}

} // extern "C"
