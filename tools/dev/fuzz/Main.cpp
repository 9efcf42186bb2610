// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   PROGRAM list                      names the harnesses
//   PROGRAM HARNESS FILE...           gives each file to the harness
//   PROGRAM HARNESS [OPTION...] DIR   in a build with MP_FUZZING: libFuzzer's main, with its
//   options

#include "Harness.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>

using namespace mpcore::fuzz;

void mpcore::fuzz::broken(const llvm::Twine &promise) {
  llvm::errs() << "broken promise: " << promise << "\n";
  abort();
}

void mpcore::fuzz::expectWords(llvm::Error error) {
  if (llvm::StringRef(llvm::toString(std::move(error))).trim().empty())
    broken("an error says what is wrong");
}

static const Harness *find(llvm::StringRef name) {
  static const std::vector<Harness> known = harnesses();
  for (const Harness &harness : known)
    if (name == harness.name)
      return &harness;
  llvm::errs() << "no harness '" << name << "'; there are:";
  for (const Harness &harness : known)
    llvm::errs() << " " << harness.name;
  llvm::errs() << "\n";
  return nullptr;
}

#ifdef MP_FUZZING
static const Harness *chosen = nullptr;
static const char *const kVariable = "MP_FUZZ_HARNESS"; // processes that libFuzzer starts read it

extern "C" int LLVMFuzzerInitialize(int *count, char ***words) {
  if (!getenv(kVariable)) {
    if (*count < 2)
      exit(2);
    setenv(kVariable, (*words)[1], 1);
    std::memmove(*words + 1, *words + 2, sizeof(char *) * size_t(*count - 1));
    --*count;
  }
  chosen = find(getenv(kVariable));
  if (!chosen)
    exit(2);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  chosen->run({reinterpret_cast<const char *>(data), size});
  return 0;
}
#else
int main(int count, char **words) {
  if (count == 2 && llvm::StringRef(words[1]) == "list") {
    for (const Harness &harness : harnesses())
      llvm::outs() << harness.name << "\n";
    return 0;
  }
  const Harness *harness = find(count > 1 ? words[1] : "");
  if (!harness)
    return 2;
  for (int i = 2; i < count; ++i) {
    auto file = llvm::MemoryBuffer::getFile(words[i], /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
    if (!file) {
      llvm::errs() << words[i] << ": " << file.getError().message() << "\n";
      return 2;
    }
    llvm::errs() << words[i] << "\n"; // the last line names the input of a crash
    harness->run((*file)->getBuffer());
  }
  llvm::outs() << words[1] << ": " << count - 2 << " inputs\n";
  return 0;
}
#endif
