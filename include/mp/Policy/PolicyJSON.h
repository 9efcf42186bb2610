// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Policies as versioned JSON, and the policy that holds for a run.

#ifndef MP_POLICY_POLICYJSON_H
#define MP_POLICY_POLICYJSON_H

#include "mp/Policy/Policy.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace mpcore::policy {

/// Version of the layout; a reader refuses others.
inline constexpr int64_t policyVersion = 1;

/// Reads a policy. `format` is what its built-in base (`extends`) is made for where the text
/// names none. An error says file, line and column, what was expected, and the nearest valid word.
llvm::Expected<Policy> readPolicy(llvm::StringRef text, llvm::StringRef file,
                                  llvm::StringRef format);

/// Writes all of it, rules of the base included, so that reading it back gives the same policy.
void writePolicy(const Policy &policy, llvm::raw_ostream &os);

/// The settings asked for on a command line; empty where nothing was said.
struct Request {
  std::string format, target;
  std::string policy; ///< name of a built-in policy, or a file
};

/// Reads `format=bf16 target=sm_90 policy=FILE`.
llvm::Expected<Request> parseRequest(llvm::StringRef text);

/// The policy that holds: the request's own words, else the file's, else bf16 for sm_80 and
/// inference. An error if request and file contradict each other, or the target lacks the format.
struct Effective {
  Policy policy;
  /// The text of `policy=FILE` where that is the report of an earlier run, to be replayed.
  std::optional<std::string> report;
};
llvm::Expected<Effective> findPolicy(const Request &request);

/// Line and column, from 1, of the value that `path` (keys, and numbers as "[3]") leads to in
/// valid JSON `text`; of the key itself where `atKey`.
std::pair<unsigned, unsigned> findPosition(llvm::StringRef text, llvm::ArrayRef<std::string> path,
                                           bool atKey);

} // namespace mpcore::policy

#endif // MP_POLICY_POLICYJSON_H
