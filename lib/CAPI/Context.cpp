// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contexts of the C API: diagnostics, errors, and the stack that calls run on.

#include "Handles.h"
#include "mlir/IR/Diagnostics.h"
#include "mp/Analysis/Locations.h"
#include "mp/Support/Version.h"
#include "mp/ToolSupport/BigStack.h"
#include "mp/ToolSupport/InputCheck.h"

#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;

static thread_local std::string lastError;

/// Mebibytes of the stack that this thread's call runs on.
static thread_local size_t stackMegabytes = 8;

unsigned capi::nestingLimit() {
  return unsigned(kMaxNesting * stackMegabytes / kStackMegabytes[0]);
}

/// Exceptions end here: none may cross into C.
static Outcome contain(llvm::function_ref<Outcome()> body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return {MP_NO_MEMORY, "memory ran out"};
  } catch (const std::exception &error) {
    return {MP_INTERNAL, std::string("a defect of mp, worth reporting: ") + error.what()};
  }
}

static mp_status finish(const char *function, Outcome outcome) {
  if (outcome.status != MP_OK)
    lastError = std::string(function) + ": " + outcome.why;
  return outcome.status;
}

mp_status capi::run(const char *function, llvm::function_ref<Outcome()> body) {
  return finish(function, contain(body));
}

static mp_severity severityOf(DiagnosticSeverity severity) {
  switch (severity) {
  case DiagnosticSeverity::Note: return MP_NOTE;
  case DiagnosticSeverity::Remark: return MP_REMARK;
  case DiagnosticSeverity::Warning: return MP_WARNING;
  case DiagnosticSeverity::Error: return MP_ERROR;
  }
  return MP_ERROR;
}

mp_status capi::runWithin(const char *function, Context &context,
                          llvm::function_ref<Outcome()> body) {
  std::string firstError;
  auto tell = [&](Diagnostic &diagnostic) {
    std::string message = diagnostic.str();
    std::string location = describeLocation(diagnostic.getLocation());
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error && firstError.empty())
      firstError = (location == "unknown" ? "" : location + ": ") + message;
    if (context.callback)
      context.callback(context.user, severityOf(diagnostic.getSeverity()), message.c_str(),
                       location.c_str());
  };
  auto listening = [&]() -> Outcome {
    ScopedDiagnosticHandler handler(&context.mlir, [&](Diagnostic &diagnostic) {
      tell(diagnostic);
      for (Diagnostic &note : diagnostic.getNotes())
        tell(note);
      return success();
    });
    return body();
  };
  Outcome outcome{MP_NO_MEMORY, "the system gave no thread"};
  for (size_t megabytes : kStackMegabytes)
    if (runOnStack(megabytes, [&] {
          stackMegabytes = megabytes;
          outcome = contain(listening);
        }))
      break;
  if (outcome.status == MP_REFUSED && !firstError.empty())
    outcome.why = outcome.why.empty() ? firstError : outcome.why + ": " + firstError;
  return finish(function, std::move(outcome));
}

static std::mutex handlesLock;

/// Never destroyed: handles may be, after the static objects of the process.
static llvm::DenseMap<const void *, HandleKind> &handles() {
  static auto *handles = new llvm::DenseMap<const void *, HandleKind>;
  return *handles;
}

void capi::enrol(const void *handle, HandleKind kind) {
  std::lock_guard guard(handlesLock);
  handles()[handle] = kind;
}

void capi::strike(const void *handle) {
  std::lock_guard guard(handlesLock);
  handles().erase(handle);
}

bool capi::isAlive(const void *handle, HandleKind kind) {
  std::lock_guard guard(handlesLock);
  auto found = handles().find(handle);
  return found != handles().end() && found->second == kind;
}

mp_text capi::makeText(llvm::StringRef text) {
  char *data = static_cast<char *>(std::malloc(text.size() + 1));
  if (!data)
    throw std::bad_alloc();
  if (!text.empty())
    std::memcpy(data, text.data(), text.size());
  data[text.size()] = 0;
  return {data, text.size()};
}

extern "C" {

int mp_api_version(void) { return MP_API_VERSION; }

const char *mp_version(void) {
  static const std::string text = [] {
    std::string text;
    llvm::raw_string_ostream os(text);
    support::printVersion(os);
    return StringRef(text).trim().str();
  }();
  return text.c_str();
}

const char *mp_last_error(void) { return lastError.c_str(); }

void mp_text_free(mp_text *text) {
  if (!text)
    return;
  std::free(const_cast<char *>(text->data));
  *text = {nullptr, 0};
}

mp_status mp_context_create(mp_context **context) {
  MP_CHECK_POINTER(context);
  return run(__func__, [&] {
    auto handle = std::make_unique<mp_context>();
    handle->context = std::make_shared<Context>(contextRegistry());
    handle->context->mlir.printOpOnDiagnostic(false);
    *context = handle.release();
    return Outcome();
  });
}

void mp_context_destroy(mp_context *context) {
  if (checkHandle(context, "context").empty())
    delete context;
}

mp_status mp_context_set_callback(mp_context *context, mp_diagnostic_callback callback,
                                  void *user) {
  MP_CHECK_HANDLE(context);
  context->context->callback = callback;
  context->context->user = user;
  return MP_OK;
}

} // extern "C"
