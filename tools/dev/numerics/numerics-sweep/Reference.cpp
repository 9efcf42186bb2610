// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Reference.h"

#include "llvm/Support/raw_ostream.h"

#include <dlfcn.h>

using namespace mpcore::numerics;
using namespace mpcore::numerics::sweep;
using mpcore::numerics::test::Oracle;

bool Reference::load() {
  if (opinion != Opinion::Runtime)
    return true;
  void *library = dlopen(MP_APFLOAT_RUNTIME, RTLD_NOW | RTLD_LOCAL);
  if (library)
    runtimeConvert = reinterpret_cast<RuntimeConvert>(dlsym(library, "_mlir_apfloat_convert"));
  if (!runtimeConvert)
    llvm::errs() << "--oracle=runtime: cannot load " MP_APFLOAT_RUNTIME ": " << dlerror() << "\n";
  return runtimeConvert;
}

llvm::StringRef Reference::name() const {
  switch (opinion) {
  case Opinion::Apfloat: return "apfloat";
  case Opinion::Runtime: return "runtime";
  case Opinion::Definition: return "definition";
  }
  return "";
}

bool Reference::knows(Rounding rounding) const {
  if (opinion == Opinion::Runtime)
    return rounding == Rounding::RNE;
  return opinion == Opinion::Definition || test::apfloatRounding(rounding);
}

Oracle Reference::askRuntime(uint32_t bits, const FormatInfo &to) const {
  Unpacked value = unpack(bits, Format::F32);
  bool finite = value.kind == ValueClass::Finite || value.kind == ValueClass::Zero;
  bool lacksZeroOrSign = !to.hasSign && (value.negative || value.kind == ValueClass::Zero);
  if (lacksZeroOrSign || (!to.hasNaN && !finite))
    return {false, false, 0};
  uint64_t answer = runtimeConvert(llvm::APFloatBase::SemanticsToEnum(*info(Format::F32).semantics),
                                   llvm::APFloatBase::SemanticsToEnum(*to.semantics), bits);
  return {true, isNaN(answer, to.format), answer};
}

Reference::Answers Reference::ask(const Task &task, uint32_t bits, uint32_t draw) const {
  const FormatInfo &from = info(Format::F32);
  if (opinion == Opinion::Definition) {
    auto define = [&](Overflow overflow) -> Oracle {
      return {true, false,
              convert(bits, Format::F32, task.to.format, task.rounding, overflow, draw)};
    };
    return {define(Overflow::IEEE), define(Overflow::Saturate)};
  }
  Oracle ieee =
      opinion == Opinion::Runtime
          ? askRuntime(bits, task.to)
          : test::apfloatConvert(bits, from, task.to, *test::apfloatRounding(task.rounding));
  return {ieee, test::saturated(ieee, bits, from, task.to)};
}
