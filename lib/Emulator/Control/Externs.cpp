// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the functions of the CUDA device runtime: formats the arguments of vprintf and reports
// __assertfail.

#include "Externs.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using llvm::Twine;

template <class T> static T argument(Warp &w, const Inst &i, unsigned lane, unsigned k) {
  const auto &site = *static_cast<const CallSite *>(i.aux);
  T value;
  std::memcpy(&value,
              w.local.data() + size_t(lane) * w.localStride + w.frame->localBase +
                  site.args[k].offset,
              sizeof(T));
  return value;
}

static std::string deviceString(Warp &w, uint64_t address) {
  std::string text;
  Allocation *a = w.launch->global->find(address);
  for (; a && address - a->base < a->size; ++address) {
    char c = char(a->data[address - a->base]);
    if (!c)
      break;
    text += c;
  }
  return text;
}

static Step execAssertFail(Warp &w, const Inst &i) {
  unsigned l = std::countr_zero(w.exec);
  return w.fault(FaultKind::Trap, i,
                 "assertion '" + deviceString(w, argument<uint64_t>(w, i, l, 0)) + "' failed at " +
                     deviceString(w, argument<uint64_t>(w, i, l, 1)) + ":" +
                     Twine(argument<uint32_t>(w, i, l, 2)),
                 l);
}

// Formats with arguments packed as the device compiler does: 4 or 8 bytes, aligned to their size,
// in local memory.
static bool format(Warp &w, unsigned lane, uint64_t formatAddress, uint64_t args,
                   std::string &out) {
  const std::string text = deviceString(w, formatAddress);
  uint64_t at = args - kLocalWindow;
  auto fetch = [&](auto &value) {
    at = llvm::alignTo(at, sizeof(value));
    if (at + sizeof(value) > w.localStride)
      return false;
    std::memcpy(&value, w.local.data() + size_t(lane) * w.localStride + at, sizeof(value));
    at += sizeof(value);
    return true;
  };
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] != '%') {
      out += text[k];
      continue;
    }
    std::string spec = "%";
    bool wide = false;
    for (++k; k < text.size() && !strchr("diuoxXcspfFeEgGaA%", text[k]); ++k) {
      if (strchr("lhzjt", text[k]))
        wide |= text[k] == 'l' || text[k] == 'z' || text[k] == 'j' || text[k] == 't';
      else if (spec.size() < 24 && strchr("0123456789.+-# ", text[k]))
        spec += text[k];
      else
        return false;
    }
    if (k == text.size())
      return false;
    char buffer[512];
    const char kind = text[k];
    if (kind == '%') {
      out += '%';
    } else if (kind == 's') {
      uint64_t address;
      if (!fetch(address))
        return false;
      std::snprintf(buffer, sizeof(buffer), (spec + "s").c_str(), deviceString(w, address).c_str());
      out += buffer;
    } else if (strchr("fFeEgGaA", kind)) {
      double value;
      if (!fetch(value))
        return false;
      std::snprintf(buffer, sizeof(buffer), (spec + kind).c_str(), value);
      out += buffer;
    } else if (wide || kind == 'p') {
      uint64_t value;
      if (!fetch(value))
        return false;
      std::snprintf(buffer, sizeof(buffer), kind == 'p' ? "0x%llx" : (spec + "ll" + kind).c_str(),
                    (unsigned long long)value);
      out += buffer;
    } else {
      uint32_t value;
      if (!fetch(value))
        return false;
      std::snprintf(buffer, sizeof(buffer), (spec + kind).c_str(), value);
      out += buffer;
    }
  }
  return true;
}

static Step execVprintf(Warp &w, const Inst &i) {
  const auto &site = *static_cast<const CallSite *>(i.aux);
  for (uint32_t m = w.exec; m; m &= m - 1) {
    unsigned l = std::countr_zero(m);
    std::string line;
    bool fine = format(w, l, argument<uint64_t>(w, i, l, 0), argument<uint64_t>(w, i, l, 1), line);
    if (!fine)
      return w.fault(FaultKind::Misuse, i, "printf with a format or arguments that cannot be read",
                     l);
    {
      std::lock_guard<std::mutex> lock(w.launch->mutex);
      if (w.launch->printed.size() < (1u << 20)) // as the device's buffer, the rest is lost
        w.launch->printed += line;
    }
    int32_t result = 0;
    std::memcpy(w.local.data() + size_t(l) * w.localStride + w.frame->localBase +
                    site.results[0].offset,
                &result, 4);
  }
  return Step::Next;
}

ExecFn mpcore::emulator::externFunction(const FunctionCode &f) {
  if (f.name == "__assertfail" && f.params.size() == 5)
    return execAssertFail;
  if (f.name == "vprintf" && f.params.size() == 2 && f.returns.size() == 1 &&
      f.returns[0].bytes == 4)
    return execVprintf;
  return nullptr;
}

bool mpcore::emulator::isNoReturn(ExecFn fn) { return fn == execAssertFail; }
