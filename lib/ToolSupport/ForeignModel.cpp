// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the Python package on a model file and reads what it writes.

#include "ForeignModel.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Progress.h"
#include "mp/Support/ScratchFile.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace mpcore::support;

static bool hasPackage(StringRef python) {
  const StringRef words[] = {python, "-c",
                             "import importlib.util as u, sys; "
                             "sys.exit(not (u.find_spec('mp') and u.find_spec('mp.frontends')))"};
  const std::optional<StringRef> nowhere[] = {StringRef(), StringRef(), StringRef()};
  return sys::ExecuteAndWait(python, words, std::nullopt, nowhere) == 0;
}

Expected<std::unique_ptr<MemoryBuffer>> mlir::mp::readForeignModel(StringRef path) {
  if (!path.ends_with(".pt2") && !path.ends_with(".onnx") && !path.ends_with(".tflite"))
    return nullptr;
  ErrorOr<std::string> python = sys::findProgramByName("python3");
  if (!python || !hasPackage(*python))
    return nullptr;
  setStage("importing " + path.str());
  auto text = ScratchFile::create("mp-import", "mlir");
  if (!text)
    return text.takeError();
  if (verbosity() != Verbosity::Quiet)
    errs() << "mp-opt: note: '" << path << "' is imported by 'python3 -m mp'\n";
  const StringRef words[] = {*python, "-m", "mp", path, "-o", text->path()};
  std::string message;
  if (int status = sys::ExecuteAndWait(*python, words, std::nullopt, {}, 0, 0, &message))
    return error(ErrorCode::BadInput, "'python3 -m mp " + path + "' failed with status " +
                                          Twine(status) + (message.empty() ? "" : ": " + message));
  auto made = MemoryBuffer::getFile(text->path());
  if (!made)
    return error(ErrorCode::CannotRead, "'" + text->path() + "': " + made.getError().message());
  // Positions in errors name the model, not the file that is gone by then.
  return MemoryBuffer::getMemBufferCopy((*made)->getBuffer(), path);
}
