// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines what the handles of the C API hold, and the shell around each of its functions.

#ifndef MP_LIB_CAPI_HANDLES_H
#define MP_LIB_CAPI_HANDLES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mp-c/MP.h"
#include "mp/Execution/DeviceProgram.h"
#include "mp/Execution/Host/Program.h"
#include "mp/Report/Report.h"

#include <memory>
#include <mutex>
#include <string>

namespace mlir::mp::capi {

/// A context lives as long as any handle that was made from it.
struct Context {
  MLIRContext mlir;
  mp_diagnostic_callback callback = nullptr;
  void *user = nullptr;
  Context(const DialectRegistry &registry) : mlir(registry, MLIRContext::Threading::DISABLED) {}
};

enum class HandleKind { Context, Module, Report, Program };

/// Keeps account of the handles that live, so that one that is none is recognised untouched.
void enrol(const void *handle, HandleKind kind);
void strike(const void *handle);
bool isAlive(const void *handle, HandleKind kind);

/// Begins every handle.
template <HandleKind kind> struct Handle {
  static constexpr HandleKind kKind = kind;
  Handle() { enrol(this, kind); }
  ~Handle() { strike(this); }
  Handle(const Handle &) = delete;
  Handle &operator=(const Handle &) = delete;
};

/// Outcome of a call: a status, and why where it is not MP_OK.
struct Outcome {
  mp_status status = MP_OK;
  std::string why;
};

inline Outcome usage(const llvm::Twine &why) { return {MP_USAGE, why.str()}; }
inline Outcome refused(const llvm::Twine &why) { return {MP_REFUSED, why.str()}; }
/// A refusal whose reason the diagnostics gave, or `otherwise`.
inline Outcome refused(llvm::Error error) { return {MP_REFUSED, llvm::toString(std::move(error))}; }

/// Runs `body` with exceptions turned into a status; sets mp_last_error().
mp_status run(const char *function, llvm::function_ref<Outcome()> body);

/// The same on a thread with a stack for deep nesting, while diagnostics of `context` go to its
/// callback. A refusal without words says what the first error said.
mp_status runWithin(const char *function, Context &context, llvm::function_ref<Outcome()> body);

/// Deepest nesting of brackets that the stack of runWithin takes.
unsigned nestingLimit();

mp_text makeText(llvm::StringRef text);

/// The dialects and extensions of every context; registers passes at the first call.
const DialectRegistry &contextRegistry();

/// Arguments and results as JSON.
std::string describeSignature(llvm::StringRef function, const Signature &signature);

/// Held while kernels of any program run: the emulator has the settings of one.
std::mutex &kernelLock();

/// Calls a program with arrays of the host; those that run there read them in place.
llvm::Error runOnHost(mp_program &program, llvm::ArrayRef<ArrayView> arguments, TakeResult take);

/// Ends what mp_program_publish began, once no call of the program runs.
void withdraw(mp_program *program);

/// A sentence about a handle that cannot be used, or nothing.
template <typename T> std::string checkHandle(const T *handle, const char *what) {
  if (!handle)
    return std::string(what) + " is null";
  if (!isAlive(handle, T::kKind))
    return std::string(what) + " is no handle, or was destroyed";
  return "";
}

} // namespace mlir::mp::capi

struct mp_context : mlir::mp::capi::Handle<mlir::mp::capi::HandleKind::Context> {
  std::shared_ptr<mlir::mp::capi::Context> context;
};

struct mp_module : mlir::mp::capi::Handle<mlir::mp::capi::HandleKind::Module> {
  std::shared_ptr<mlir::mp::capi::Context> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The module goes before its context.
  ~mp_module() { module = {}; }
};

struct mp_report : mlir::mp::capi::Handle<mlir::mp::capi::HandleKind::Report> {
  std::shared_ptr<mlir::mp::capi::Context> context;
  std::shared_ptr<mlir::mp::Report> report;
  ~mp_report() { report.reset(); }
};

struct mp_program : mlir::mp::capi::Handle<mlir::mp::capi::HandleKind::Program> {
  std::shared_ptr<mlir::mp::capi::Context> context;
  std::string entry;
  std::unique_ptr<mlir::mp::Executable> executable;
  mlir::mp::DeviceProgram *onDevice = nullptr; ///< the same, where it runs kernels
  ~mp_program() { executable.reset(); }
};

/// Returns MP_USAGE from a function of the C API where `handle` cannot be used.
#define MP_CHECK_HANDLE(handle)                                                                    \
  if (std::string problem = mlir::mp::capi::checkHandle(handle, #handle); !problem.empty())        \
  return mlir::mp::capi::run(__func__, [&] { return mlir::mp::capi::usage(problem); })
/// Returns MP_USAGE where `pointer` is null.
#define MP_CHECK_POINTER(pointer)                                                                  \
  if (!(pointer))                                                                                  \
  return mlir::mp::capi::run(__func__, [&] { return mlir::mp::capi::usage(#pointer " is null"); })

#endif // MP_LIB_CAPI_HANDLES_H
