// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines the policy that holds: command line, file, defaults.

#include "mp/Policy/PolicyJSON.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Files.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mpcore::policy;
using namespace mpcore::support;
using llvm::StringRef;
using llvm::Twine;

llvm::Expected<Request> mpcore::policy::parseRequest(StringRef text) {
  Request request;
  const StringRef keys[] = {"format", "target", "policy"};
  llvm::SmallVector<StringRef> words;
  llvm::SplitString(text, words);
  for (StringRef word : words) {
    auto [key, value] = word.split('=');
    std::string *slot = key == "format"   ? &request.format
                        : key == "target" ? &request.target
                        : key == "policy" ? &request.policy
                                          : nullptr;
    if (!slot || value.empty())
      return llvm::createStringError("expected KEY=VALUE with format, target or policy, found '" +
                                     word + "'" + suggestWord(key, keys));
    *slot = value;
  }
  return request;
}

/// The request's word, or the policy's, or `fallback`; an error where the first two differ.
static llvm::Error settle(StringRef what, StringRef asked, std::string &inPolicy,
                          StringRef fallback, StringRef source) {
  if (!asked.empty() && !inPolicy.empty() && asked != inPolicy)
    return llvm::createStringError("option '" + what + "' is '" + asked + "', but policy '" +
                                   source + "' is written for '" + inPolicy + "'; leave '" + what +
                                   "' out, or use another policy");
  if (inPolicy.empty())
    inPolicy = asked.empty() ? fallback : asked;
  return llvm::Error::success();
}

static llvm::Error fileError(StringRef file, std::error_code code) {
  llvm::SmallVector<StringRef> names(builtInNames().begin(), builtInNames().end());
  std::string text = ("option 'policy' is '" + file + "', neither a built-in policy (" +
                      llvm::join(names, ", ") + ") nor a file that can be read: " + code.message())
                         .str();
  return error(ErrorCode::CannotRead, text + didYouMean(file, names));
}

llvm::Expected<Effective> mpcore::policy::findPolicy(const Request &request) {
  StringRef source = request.policy.empty() ? StringRef("inference") : request.policy;
  StringRef format = request.format.empty() ? StringRef("bf16") : request.format;
  Effective effective;
  if (std::optional<Policy> known = builtIn(source, format)) {
    effective.policy = std::move(*known);
  } else {
    if (llvm::Error failed = noteInput(source, ("policy=" + source).str()))
      return std::move(failed);
    auto buffer = llvm::MemoryBuffer::getFile(source, /*IsText=*/true);
    if (!buffer)
      return fileError(source, buffer.getError());
    StringRef text = (*buffer)->getBuffer();
    // A report is told by its version key; its rows are the pass's to read.
    llvm::Expected<llvm::json::Value> root = llvm::json::parse(text);
    const llvm::json::Object *object = root ? root->getAsObject() : nullptr;
    if (object && object->get("mp_report")) {
      effective.report = text;
      effective.policy.name = source;
      effective.policy.format = object->getString("format").value_or("");
      effective.policy.target = object->getString("target").value_or("");
    } else {
      llvm::consumeError(root.takeError());
      llvm::Expected<Policy> read = readPolicy(text, source, format);
      if (!read)
        return read.takeError();
      effective.policy = std::move(*read);
    }
  }
  Policy &policy = effective.policy;
  if (llvm::Error error = settle("format", request.format, policy.format, "bf16", source))
    return error;
  policy.target = target::canonicalName(policy.target);
  StringRef target = target::canonicalName(request.target);
  if (llvm::Error error = settle("target", target, policy.target, "sm_80", source))
    return error;
  return effective;
}
