// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TestSupport.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

static std::string withHeader(const std::string &text, const std::string &target) {
  return ".version 8.7\n.target " + target + "\n.address_size 64\n" + text;
}

std::unique_ptr<Module> test::load(const std::string &text, const std::string &target) {
  auto module = loadModule(withHeader(text, target), "test.ptx");
  if (!module) {
    ADD_FAILURE() << llvm::toString(module.takeError());
    return nullptr;
  }
  return std::move(*module);
}

std::string test::loadError(const std::string &text, const std::string &target) {
  auto module = loadModule(withHeader(text, target), "test.ptx");
  if (!module)
    return llvm::toString(module.takeError());
  ADD_FAILURE() << "loaded, although it should be refused:\n" << text;
  return "";
}

Fault test::faultOf(llvm::Expected<LaunchStats> result) {
  Fault fault;
  if (result) {
    ADD_FAILURE() << "the launch ended without a fault";
    return fault;
  }
  llvm::handleAllErrors(
      result.takeError(), [&](const FaultError &e) { fault = e.get(); },
      [](const llvm::ErrorInfoBase &e) { ADD_FAILURE() << e.message(); });
  return fault;
}

std::string test::evalText(const std::string &body, char result, const std::string &declarations) {
  std::string store = result == 'l'   ? "st.global.b64 [%out], %ld;"
                      : result == 'w' ? "cvt.u64.u32 %ld, %wd; st.global.b64 [%out], %ld;"
                      : result == 'h' ? "cvt.u64.u16 %ld, %hd; st.global.b64 [%out], %ld;"
                                      : "selp.b64 %ld, 1, 0, %pd; st.global.b64 [%out], %ld;";
  return declarations + R"(
.visible .entry k(.param .u64 A, .param .u64 B, .param .u64 C, .param .u64 OUT, .param .u32 N) {
  .reg .pred %pd, %out_of_range;
  .reg .b16 %ha, %hb, %hc, %hd;
  .reg .b32 %wa, %wb, %wc, %wd, %tid, %cta, %ntid, %n;
  .reg .b64 %la, %lb, %lc, %ld, %out, %offset;
  mov.u32 %tid, %tid.x; mov.u32 %cta, %ctaid.x; mov.u32 %ntid, %ntid.x;
  mad.lo.u32 %tid, %cta, %ntid, %tid;
  ld.param.u32 %n, [N];
  setp.ge.u32 %out_of_range, %tid, %n;
  @%out_of_range bra DONE;
  mul.wide.u32 %offset, %tid, 8;
  ld.param.u64 %la, [A]; add.u64 %la, %la, %offset; ld.global.b64 %la, [%la];
  ld.param.u64 %lb, [B]; add.u64 %lb, %lb, %offset; ld.global.b64 %lb, [%lb];
  ld.param.u64 %lc, [C]; add.u64 %lc, %lc, %offset; ld.global.b64 %lc, [%lc];
  ld.param.u64 %out, [OUT]; add.u64 %out, %out, %offset;
  cvt.u32.u64 %wa, %la; cvt.u32.u64 %wb, %lb; cvt.u32.u64 %wc, %lc;
  cvt.u16.u64 %ha, %la; cvt.u16.u64 %hb, %lb; cvt.u16.u64 %hc, %lc;
  mov.b64 %ld, 0; mov.b32 %wd, 0; mov.b16 %hd, 0; setp.ne.u32 %pd, 0, 0;
  )" + body +
         "\n  " + store + R"(
DONE:
  ret;
}
)";
}

std::vector<uint64_t> test::eval(const std::string &body, char result,
                                 const std::vector<std::vector<uint64_t>> &inputs,
                                 const std::string &declarations, const std::string &target) {
  auto module = load(evalText(body, result, declarations), target);
  if (!module)
    return {};
  size_t n = inputs[0].size();
  Device device;
  std::vector<KernelArg> args;
  for (unsigned k = 0; k < 3; ++k)
    args.push_back(KernelArg::value(
        upload(device, k < inputs.size() ? inputs[k] : std::vector<uint64_t>(n, 0))));
  DevicePtr out = take(device.alloc(8 * n));
  args.push_back(KernelArg::value(out));
  args.push_back(KernelArg::value(uint32_t(n)));
  auto stats = device.launch(*module, "k", {uint32_t((n + 127) / 128)}, {128}, 0, args);
  if (!stats) {
    ADD_FAILURE() << llvm::toString(stats.takeError());
    return std::vector<uint64_t>(n, 0);
  }
  return download<uint64_t>(device, out, n);
}
