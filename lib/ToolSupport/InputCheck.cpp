// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scan of text before parsing, and a watch over what reads bytecode.

#include "mp/ToolSupport/InputCheck.h"
#include "CrashGuard.h"
#include "mlir/Bytecode/BytecodeReader.h"

#include <sys/time.h>

using namespace llvm;

/// "FILE:LINE:COLUMN: error: " for an offset into the buffer.
static std::string position(MemoryBufferRef buffer, size_t offset) {
  StringRef before = buffer.getBuffer().take_front(offset);
  size_t lineStart = before.rfind('\n') == StringRef::npos ? 0 : before.rfind('\n') + 1;
  return (buffer.getBufferIdentifier() + ":" + Twine(before.count('\n') + 1) + ":" +
          Twine(offset - lineStart + 1) + ": error: ")
      .str();
}

static Error refuse(MemoryBufferRef buffer, size_t offset, const Twine &why) {
  return createStringError(inconvertibleErrorCode(), Twine(position(buffer, offset)) + why);
}

/// The end of the string literal that starts at `i`: the closing quote, or the end of the line.
static size_t skipString(StringRef text, size_t i) {
  for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
    if (text[i] == '\\')
      ++i;
  return i;
}

Error mlir::mp::checkText(MemoryBufferRef buffer, unsigned limit) {
  StringRef text = buffer.getBuffer();
  if (text.starts_with("\xef\xbb\xbf"))
    return refuse(buffer, 0, "starts with a UTF-8 byte order mark; save the file without it");
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff"))
    return refuse(buffer, 0, "is UTF-16 text; save it as UTF-8 or ASCII");
  if (size_t nul = text.find('\0'); nul != StringRef::npos)
    return refuse(buffer, nul,
                  "found a NUL byte: this is no MLIR text, nor MLIR bytecode, which "
                  "starts with 'ML\\xefR'");
  unsigned depth = 0;
  for (size_t i = 0, e = text.size(); i < e; ++i) {
    switch (text[i]) {
    case '"': i = skipString(text, i); break;
    case '/':
      if (i + 1 < e && text[i + 1] == '/') {
        if (text.substr(i).starts_with("// -----"))
          depth = 0;
        i = std::min(text.find('\n', i), e);
      }
      break;
    case '<':
      if (i + 1 < e && text[i + 1] == '=')
        break;
      [[fallthrough]];
    case '{':
    case '(':
    case '[':
      if (++depth > limit)
        return refuse(buffer, i,
                      "nested more than " + Twine(limit) +
                          " brackets deep; mp accepts at most that");
      break;
    case '>':
      if (i > 0 && (text[i - 1] == '-' || text[i - 1] == '='))
        break;
      if (i + 1 < e && text[i + 1] == '=')
        break;
      [[fallthrough]];
    case '}':
    case ')':
    case ']': depth -= depth > 0; break;
    default: break;
    }
  }
  return Error::success();
}

mlir::mp::BytecodeWatch::BytecodeWatch(MemoryBufferRef buffer, unsigned seconds) {
  auto says = [&](const Twine &what) {
    return (buffer.getBufferIdentifier() + ": error: damaged bytecode: the reader " + what +
            "; bytecode from strangers is not supported, text is\n")
        .str();
  };
  setBlame(says("crashed"), says("did not finish within " + Twine(seconds) + " s"));
  itimerval limit = {{0, 0}, {seconds, 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
}

void mlir::mp::BytecodeWatch::end() {
  itimerval none = {};
  setitimer(ITIMER_PROF, &none, nullptr);
  setBlame("", "");
}

Error mlir::mp::checkInput(MemoryBufferRef buffer, std::optional<BytecodeWatch> &watch) {
  if (!isBytecode(buffer))
    return checkText(buffer);
  watch.emplace(buffer, 2 + buffer.getBufferSize() / 2'000'000);
  return Error::success();
}
