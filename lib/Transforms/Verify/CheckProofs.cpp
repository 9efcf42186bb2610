// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-check-proofs: derive again what a report calls proved (exact). All of it is in
// lib/Proofs, which shares nothing with the analysis that decided.

#include "mp/Proofs/Checker.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Transforms/Verify/Derivations.h"
#include "mp/Transforms/Verify/Passes.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CHECKPROOFS
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
struct CheckProofs : mlir::mp::impl::CheckProofsBase<CheckProofs> {
  using CheckProofsBase::CheckProofsBase;

  void runOnOperation() override {
    auto fail = [&](const Twine &what) {
      emitError(UnknownLoc::get(&getContext())) << "mp-check-proofs: " << what;
      signalPassFailure();
    };
    llvm::Expected<proofs::Derivation> derivation = read();
    if (!derivation)
      return fail(llvm::toString(derivation.takeError()));
    proofs::CheckResult result = proofs::checkDerivation(getOperation(), *derivation);
    if (summary)
      print(result);
    if (result.refused == 0 && result.openConclusions > 0)
      fail(Twine(result.openConclusions) + " factors rest on claims that are not checked" +
           describeUnknown(result) + ", expected none; 'summary' counts them");
    else if (!result.isConfirmed())
      signalPassFailure();
    markAllAnalysesPreserved();
  }

private:
  /// The derivation of the file, or what mp-write-proofs would write now.
  llvm::Expected<proofs::Derivation> read() {
    if (proofs.empty())
      return deriveProofs(getOperation());
    auto buffer = support::readFile(proofs, "proofs=" + proofs);
    if (!buffer)
      return buffer.takeError();
    auto derivation = proofs::parseDerivation((*buffer)->getBuffer());
    if (!derivation)
      return support::error(support::ErrorCode::BadInput,
                            "'" + proofs +
                                "' is no derivation: " + llvm::toString(derivation.takeError()));
    return derivation;
  }

  static std::string describeUnknown(const proofs::CheckResult &result) {
    std::vector<std::string> names;
    for (const auto &entry : result.unknownOps)
      names.push_back("'" + entry.getKey().str() + "'");
    llvm::sort(names);
    return names.empty() ? "" : " (" + llvm::join(names, ", ") + ")";
  }

  static void print(const proofs::CheckResult &result) {
    llvm::errs() << "claims: " << result.confirmed << " confirmed, " << result.notChecked
                 << " not checked" << describeUnknown(result) << ", " << result.refused
                 << " refused\nfactors: " << result.conclusions << " confirmed, "
                 << result.openConclusions << " rest on what is not checked, "
                 << result.refusedConclusions << " refused\n";
  }
};
} // namespace
