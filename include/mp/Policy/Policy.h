// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A policy holds what a user, or a built-in policy, wants of the deciding passes: rules that select
// ops and say narrow, wide or inherit, and limits. Plain data; docs/reference/Policies.md describes
// the JSON form.

#ifndef MP_POLICY_POLICY_H
#define MP_POLICY_POLICY_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/Regex.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mpcore::policy {

/// Narrow: contractions compute in the narrow format, results of other ops are stored in it, and
/// so are arguments and results of functions. Wide: the op computes in its own format, operands and
/// results are stored in theirs. Inherit: the layers below decide.
enum class Wish { Narrow, Wide, Inherit };

/// A rule is about an op, or about an argument or a result of a public function, whose format in
/// memory is the caller's business.
enum class Place { Op, Argument, Result };

/// The facts a selector may look at; costly ones are asked for only where a rule needs them. Of
/// arguments and results only function and names are looked at.
struct Subject {
  llvm::StringRef op, function;
  char opClass;
  llvm::function_ref<std::string()> location;                 ///< file:line:column, or a name
  llvm::function_ref<llvm::SmallVector<std::string>()> names; ///< of its location, inner ones too
  llvm::function_ref<std::optional<std::string>(llvm::StringRef)> attribute; ///< text, if present
  Place place = Place::Op;
};

/// Every part that is given must match.
struct Selector {
  Place place = Place::Op; ///< of an argument or a result, `name` is searched in its names
  std::string op;          ///< name with wildcards: linalg.conv_2d_*
  std::string function;    ///< name with wildcards
  std::string classes;     ///< letters, any of them: AK
  std::string location;    ///< regular expression, searched in file:line:column
  std::string name;        ///< regular expression, searched in the names of the location
  /// Attribute and the text it must have; nothing: it must be there.
  std::vector<std::pair<std::string, std::optional<std::string>>> attributes;
};

struct Rule {
  std::string name;
  Selector select;
  Wish wish = Wish::Inherit;
  std::string format; ///< for narrow: this one instead of the policy's
  std::string reason;
  bool builtIn = false;
};

/// Bounds beyond which a contraction stays wide; none where nothing is said.
struct RewriteLimits {
  /// Magnitude that proved ranges of operands and results may reach.
  std::optional<double> largestActivation;
  /// Magnitude of constant operands.
  std::optional<double> largestConstant;
  /// Products summed into one element.
  std::optional<int64_t> longestReduction;
};

/// The evidence that f16 needs to be trusted with a value.
enum class RequiredEvidence {
  Assumed,  ///< the class assumption suffices (arguments, contraction results and sums of them)
  Measured, ///< ranges that a run has shown suffice
  Proved,   ///< checked constants, and ranges that are proved or stated
};

/// Tells whether formats in a public function's signature may change.
enum class SignatureKind { Keep, Narrow };

struct Policy {
  std::string name;
  std::string format, target; ///< empty: whatever is asked for
  RewriteLimits limits;
  RequiredEvidence evidence = RequiredEvidence::Assumed;
  SignatureKind parameters = SignatureKind::Keep;
  std::vector<Rule> rules; ///< the first that matches decides
};

/// Names of the built-in policies.
llvm::ArrayRef<llvm::StringLiteral> builtInNames();

/// The built-in policy `name` for `format`; nothing if there is none of that name.
std::optional<Policy> builtIn(llvm::StringRef name, llvm::StringRef format);

/// The rules of a policy, ready to be asked about many ops.
class Matcher {
public:
  /// The patterns of `policy`, which outlives this, are valid: readPolicy has checked them.
  explicit Matcher(const Policy &policy);

  /// The first rule that selects the subject; null if none does.
  const Rule *find(const Subject &subject);
  /// Rules of the user that have selected nothing so far.
  std::vector<const Rule *> unused() const;

private:
  struct Compiled {
    const Rule *rule;
    std::optional<llvm::GlobPattern> op, function;
    std::optional<llvm::Regex> location, name;
    bool used = false;
  };
  bool matches(Compiled &compiled, const Subject &subject);

  std::vector<Compiled> compiled;
};

llvm::StringRef toString(Place place); ///< op, argument, result
llvm::StringRef toString(Wish wish);
llvm::StringRef toString(RequiredEvidence kind);
llvm::StringRef toString(SignatureKind kind);

} // namespace mpcore::policy

#endif // MP_POLICY_POLICY_H
