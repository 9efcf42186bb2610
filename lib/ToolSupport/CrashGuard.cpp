// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal handlers. Only async-signal-safe calls, except for the stack trace a developer asks for.

#include "CrashGuard.h"
#include "mp/Runtime/Runtime.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <unistd.h>

namespace {

char toolName[64];
int crashStatus = 1;
bool wantsBacktrace = false;
char fileToRemove[4096];
char crashBlame[4608], timeoutBlame[4608]; ///< a path and a sentence
std::atomic<bool> crashed{false};
thread_local uintptr_t stackLow = 0;

void put(const char *text) {
  ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
  (void)ignored;
}

const char *describe(int signal, const siginfo_t *info) {
  switch (signal) {
  case SIGSEGV:
  case SIGBUS: {
    uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
    const uintptr_t guard = 1 << 20;
    if (stackLow && at + guard > stackLow && at < stackLow + guard)
      return "ran out of stack: the input is nested too deeply for the passes that ran";
    return mp_rt_is_running()
               ? "the program accessed memory outside its buffers: it holds an op whose bounds are "
                 "not checked, "
                 "such as memref.reinterpret_cast, an in_bounds vector transfer or a raw pointer"
               : "internal error: invalid memory access";
  }
  case SIGFPE: return "internal error: invalid integer arithmetic";
  case SIGILL: return "internal error: illegal instruction";
  default: return "internal error: a check failed or memory ran out (see above)";
  }
}

/// The process ends as an error of something else.
[[noreturn]] void blame(const char *what) {
  put(what);
  if (fileToRemove[0])
    unlink(fileToRemove);
  _exit(crashStatus);
}

void reportOnce() {
  if (crashed.exchange(true))
    for (;;) // another thread is already reporting
      pause();
}

void onTimeout(int) {
  if (!timeoutBlame[0])
    return; // ended just before the timer ran out
  reportOnce();
  blame(timeoutBlame);
}

void onCrash(int signal, siginfo_t *info, void *) {
  reportOnce();
  if (crashBlame[0] && !wantsBacktrace)
    blame(crashBlame);
  put(toolName);
  put(": ");
  put(describe(signal, info));
  put("\n");
  if (fileToRemove[0])
    unlink(fileToRemove);
  if (wantsBacktrace)
    llvm::sys::PrintStackTrace(llvm::errs());
  else if (mp_rt_is_running())
    put("note: nothing more is known about where; MP_BACKTRACE=1 prints the stack\n");
  else
    put("note: no output was written; this is a defect worth reporting with the input and the "
        "command line (MP_BACKTRACE=1 prints the stack)\n");
  _exit(crashStatus);
}

void onInterrupt(int number) {
  if (fileToRemove[0])
    unlink(fileToRemove);
  signal(number, SIG_DFL);
  raise(number);
}

} // namespace

void mlir::mp::installCrashGuard(llvm::StringRef tool, int status) {
  size_t length = std::min(tool.size(), sizeof(toolName) - 1);
  memcpy(toolName, tool.data(), length);
  toolName[length] = 0;
  crashStatus = status;
  wantsBacktrace = getenv("MP_BACKTRACE") != nullptr;
#if !defined(__SANITIZE_ADDRESS__)
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  return; // the sanitizer's own report says more
#endif
#endif
  struct sigaction crash = {};
  crash.sa_sigaction = onCrash;
  crash.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP})
    sigaction(number, &crash, nullptr);
#endif
  struct sigaction timeout = {};
  timeout.sa_handler = onTimeout;
  timeout.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGPROF, &timeout, nullptr);
  struct sigaction interrupt = {};
  interrupt.sa_handler = onInterrupt;
  for (int number : {SIGINT, SIGTERM, SIGHUP})
    sigaction(number, &interrupt, nullptr);
}

void mlir::mp::guardThisThread() {
  const size_t size = 1 << 17;
  stack_t handlerStack = {}, present = {};
  // A sanitizer has given the thread one already, and frees it when the thread ends: it stays.
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE)) {
    handlerStack.ss_sp = malloc(size); // lives as long as the program
    handlerStack.ss_size = size;
    if (handlerStack.ss_sp)
      sigaltstack(&handlerStack, nullptr);
  }
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void *low = nullptr;
  size_t stackSize = 0;
  if (pthread_attr_getstack(&attributes, &low, &stackSize) == 0)
    stackLow = reinterpret_cast<uintptr_t>(low);
  pthread_attr_destroy(&attributes);
}

/// Copies as much as fits; the first character comes last, for handlers look at it.
static void copyText(char (&to)[4608], llvm::StringRef text) {
  to[0] = 0;
  size_t length = std::min(text.size(), sizeof(to) - 1);
  if (length == 0)
    return;
  memcpy(to + 1, text.data() + 1, length - 1);
  to[length] = 0;
  to[0] = text[0];
}

void mlir::mp::setBlame(llvm::StringRef crash, llvm::StringRef timeout) {
  copyText(crashBlame, crash);
  copyText(timeoutBlame, timeout);
}

void mlir::mp::setFileToRemove(llvm::StringRef path) {
  size_t length = path.size() < sizeof(fileToRemove) ? path.size() : 0;
  memcpy(fileToRemove, path.data(), length);
  fileToRemove[length] = 0;
}
