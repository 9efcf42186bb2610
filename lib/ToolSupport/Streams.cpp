// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Descriptors 0 to 2 at the start, LLVM's streams at the end.

#include "Streams.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace mpcore::support;

static std::string *toolName = nullptr;

/// Standard input opened for writing cannot be read, and the others, for reading, not be written.
static void openWhatIsClosed() {
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) == -1 && errno == EBADF) {
      int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
      if (opened >= 0 && opened != stream) {
        dup2(opened, stream);
        close(opened);
      }
    }
}

/// LLVM's streams end the process with an "LLVM ERROR" if they are destroyed with an error.
static void finishStreams() {
  llvm::outs().flush();
  std::error_code code = llvm::outs().error();
  llvm::outs().clear_error();
  if (code == std::errc::broken_pipe) {
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  if (code)
    llvm::errs() << *toolName << ": error: cannot write standard output: " << code.message()
                 << tag(ErrorCode::CannotWrite) << "\n";
  llvm::errs().clear_error();
  if (code)
    _exit(int(statusOf(ErrorCode::CannotWrite)));
}

void mlir::mp::prepareStreams(llvm::StringRef tool) {
  openWhatIsClosed();
  llvm::outs(); // made now, they are destroyed behind finishStreams()
  llvm::errs();
  if (!toolName)
    atexit(finishStreams);
  else
    delete toolName;
  toolName = new std::string(tool);
}
