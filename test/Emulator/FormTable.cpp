// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "FormTable.h"
#include "mp/Emulator/Forms.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::test;

std::vector<std::string> test::expand(const std::vector<std::string> &patterns) {
  std::vector<std::string> all;
  for (const std::string &pattern : patterns)
    for (std::string &form : expandForms(pattern))
      all.push_back(std::move(form));
  return all;
}

void test::expectPtxasForms(const std::vector<std::string> &forms, const std::string &target,
                            size_t least, const RefusedForms &refused) {
  auto accepted = acceptedByPtxas(forms, target);
  if (!accepted)
    GTEST_SKIP() << "no ptxas at '" << MP_PTXAS << "'";
  size_t known = 0;
  for (size_t i = 0; i < forms.size(); ++i) {
    auto module = loadModule(".version 9.0\n.target " + target + "\n.address_size 64\n" +
                                 formKernel(forms[i]),
                             "form.ptx");
    const std::string error = module ? "" : llvm::toString(module.takeError());
    known += (*accepted)[i];
    const llvm::StringRef opcode =
        llvm::StringRef(forms[i]).take_until([](char c) { return c == ' ' || c == ';'; });
    const KnownForm *listed = findForm(opcode);
    const llvm::StringRef reason = listed ? listed->refusedReason : refusedFamily(opcode);
    bool left = !reason.empty() && error.find(reason.str()) != std::string::npos;
    for (const auto &[part, why] : refused)
      left |= forms[i].find(part) != std::string::npos && error.find(why) != std::string::npos;
    if (!left && error.empty() != (*accepted)[i])
      ADD_FAILURE() << ((*accepted)[i] ? "only ptxas accepts " : "only the emulator accepts ")
                    << forms[i] << "\n"
                    << error;
  }
  EXPECT_GE(known, least);
}
