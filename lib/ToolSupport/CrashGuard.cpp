// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signal handlers. Only async-signal-safe calls, except for the stack trace a developer asks for.

#include "CrashGuard.h"
#include "Reproducer.h"
#include "mp/Runtime/Runtime.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <poll.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mpcore::support;

namespace {

char toolName[64];
bool wantsBacktrace = false;
char crashBlame[4608], timeoutBlame[4608]; ///< a path and a sentence
std::atomic<bool> crashed{false};
thread_local uintptr_t stackLow = 0;

/// Allocates nothing: memory may have run out.
void put(llvm::StringRef text) {
  ssize_t ignored = write(STDERR_FILENO, text.data(), text.size());
  (void)ignored;
}

/// True where this process cannot have 64 MiB more: code that does not check an allocation crashes
/// then, which is no defect of it.
bool isMemoryExhausted() {
  const size_t bytes = size_t(64) << 20;
  void *at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return true;
  munmap(at, bytes);
  return false;
}

/// Ends a line of a message. May run in a signal handler.
void putTag(ErrorCode code) {
  char digits[] = " [MP000]\n";
  int number = int(code);
  for (int at = 6; at >= 4; --at, number /= 10)
    digits[at] = char('0' + number % 10);
  put(digits);
}

/// Says what happened, and the number it has.
struct Verdict {
  const char *text;
  ErrorCode code;
};

Verdict judge(int signal, const siginfo_t *info) {
  if (isMemoryExhausted())
    return {"out of memory; no output was written", ErrorCode::OutOfMemory};
  switch (signal) {
  case SIGSEGV:
  case SIGBUS: {
    uintptr_t at = reinterpret_cast<uintptr_t>(info->si_addr);
    const uintptr_t guard = 1 << 20;
    if (stackLow && at + guard > stackLow && at < stackLow + guard)
      return {"ran out of stack: the input is nested too deeply for the passes that ran",
              ErrorCode::TooDeep};
    if (mp_rt_is_running())
      return {"the program accessed memory outside its buffers: it holds an op whose bounds are "
              "not checked, such as memref.reinterpret_cast, an in_bounds vector transfer or a raw "
              "pointer",
              ErrorCode::OutOfBounds};
    return {"internal error: invalid memory access", ErrorCode::Internal};
  }
  case SIGFPE: return {"internal error: invalid integer arithmetic", ErrorCode::Internal};
  case SIGILL: return {"internal error: illegal instruction", ErrorCode::Internal};
  default: return {"internal error: a check failed (see above)", ErrorCode::Internal};
  }
}

/// The process ends as an error of something else.
[[noreturn]] void blame(const char *what) {
  put(what);
  llvm::sys::RunInterruptHandlers();
  _exit(int(ExitStatus::BadInput));
}

void reportOnce() {
  static thread_local bool reports = false;
  if (reports) // reporting has failed, too
    _exit(int(ExitStatus::Internal));
  if (crashed.exchange(true))
    for (;;) // another thread is already reporting
      pause();
  reports = true;
}

void onTimeout(int) {
  if (!timeoutBlame[0])
    return; // ended just before the timer ran out
  reportOnce();
  blame(timeoutBlame);
}

void onCrash(int number, siginfo_t *info, void *) {
  reportOnce();
  signal(SIGALRM, SIG_DFL);
  alarm(30); // a stack trace allocates, and the crash may hold the lock of malloc
  if (crashBlame[0] && !wantsBacktrace)
    blame(crashBlame);
  Verdict verdict = judge(number, info);
  put(toolName);
  put(": ");
  put(verdict.text);
  putTag(verdict.code);
  llvm::sys::RunInterruptHandlers();
  if (wantsBacktrace && verdict.code != ErrorCode::OutOfMemory)
    llvm::sys::PrintStackTrace(llvm::errs());
  else if (verdict.code == ErrorCode::OutOfBounds)
    put("note: nothing more is known about where; MP_BACKTRACE=1 prints the stack\n");
  else if (verdict.code == ErrorCode::Internal)
    put("note: no output was written; this is a defect worth reporting (MP_BACKTRACE=1 prints the "
        "stack)\n");
  if (verdict.code == ErrorCode::Internal)
    mlir::mp::writeReproducer();
  _exit(int(statusOf(verdict.code)));
}

/// The process dies of the signal, as if there were no handler.
void dieOf(int number) {
  llvm::sys::RunInterruptHandlers();
  signal(number, SIG_DFL);
  raise(number);
}

void onInterrupt(int number) {
  if (number == SIGXCPU) {
    put(toolName);
    put(": the system's limit of processor time is reached (ulimit -t); no output was written\n");
  }
  dieOf(number);
}

/// Somebody who read has gone. A run that has files to write goes on, and so does one whose results
/// are still read; its write returns an error.
void onBrokenPipe(int number) {
  pollfd out = {STDOUT_FILENO, POLLOUT, 0};
  bool isOutGone = poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
  if (isOutGone && mpcore::support::pendingOutputs() == 0)
    dieOf(number);
}

/// Memory ran out in an allocation: this is no defect.
void onBadAllocation() {
  mlir::mp::endProcess(ErrorCode::OutOfMemory, "out of memory; no output was written");
}

void onBadAllocationInLLVM(void *, const char *, bool) { onBadAllocation(); }

/// LLVM gives up with a message. Most are defects, and end as a failed check does.
void onFatalError(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  if (text.starts_with("Can't add pass"))
    mlir::mp::endProcess(ErrorCode::BadPipeline, ("error: --pass-pipeline: " + text).str());
  if (text.starts_with("pthread_create failed"))
    mlir::mp::endProcess(ErrorCode::OutOfMemory,
                         "no thread can be started; raise the limits of address space (ulimit -v, "
                         "256 MiB a thread) and of processes (ulimit -u); no output was written");
  if (text.contains("out of memory") || text.contains("Allocation failed"))
    onBadAllocation();
  put("LLVM ERROR: ");
  put(reason);
  put("\n");
  abort();
}

} // namespace

void mlir::mp::endProcess(ErrorCode code, llvm::StringRef message) {
  reportOnce();
  put(toolName);
  put(": ");
  put(message);
  putTag(code);
  llvm::sys::RunInterruptHandlers();
  _exit(int(statusOf(code)));
}

void mlir::mp::installCrashGuard(llvm::StringRef tool) {
  size_t length = std::min(tool.size(), sizeof(toolName) - 1);
  memcpy(toolName, tool.data(), length);
  toolName[length] = 0;
  wantsBacktrace = getenv("MP_BACKTRACE") != nullptr;
  static std::once_flag once;
  std::call_once(once, [] {
    std::set_new_handler(onBadAllocation);
    llvm::install_fatal_error_handler(onFatalError);
    llvm::install_bad_alloc_error_handler(onBadAllocationInLLVM);
  });
  llvm::SmallVector<int> interrupts; // that are not ignored, as nohup leaves some
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU, SIGALRM, SIGVTALRM}) {
    struct sigaction before = {};
    if (sigaction(number, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      interrupts.push_back(number);
  }
  llvm::sys::SetInterruptFunction(nullptr); // LLVM installs its handlers now, and never again
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
  for (int number : interrupts)
    sigaction(number, &interrupt, nullptr);
  signal(SIGXFSZ, SIG_IGN); // writing returns an error then, which is told with the file's name
  struct sigaction pipe = {};
  pipe.sa_handler = onBrokenPipe;
  pipe.sa_flags = SA_RESTART | SA_ONSTACK;
  sigaction(SIGPIPE, &pipe, nullptr);
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
