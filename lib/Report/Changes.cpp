// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares two reports: pair their ops, then say what differs in each pair and in the totals.

#include "mp/Report/Changes.h"
#include "mp/Report/Report.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/JSON.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace mlir;
using namespace mlir::mp;
namespace json = llvm::json;

/// Decisions printed one by one; the JSON and the page have all of them.
static constexpr size_t kPrintedDecisions = 20;

/// Parses a report. The error says what was found in place of one.
static llvm::Expected<json::Value> parseReport(StringRef text) {
  llvm::Expected<json::Value> root = mpcore::support::parseJSON(text);
  if (!root)
    return root.takeError();
  const json::Object *object = root->getAsObject();
  std::optional<int64_t> version = object ? object->getInteger("mp_report") : std::nullopt;
  if (!version)
    return support::error(support::ErrorCode::BadInput,
                          "it is no report: it has no number 'mp_report' (report=FILE writes one)");
  if (*version != kReportVersion)
    return support::error(support::ErrorCode::BadInput, "expected 'mp_report' to be " +
                                                            Twine(kReportVersion) + ", found " +
                                                            Twine(*version));
  if (!object->getArray("ops") || !object->getObject("totals"))
    return support::error(support::ErrorCode::BadInput, "it has no list 'ops' or no 'totals'");
  return root;
}

static std::string textOf(const json::Value *value) {
  if (!value)
    return "";
  if (auto text = value->getAsString())
    return text->str();
  return llvm::formatv("{0}", *value).str();
}

static std::string wordsOf(const json::Object &row, StringRef key) {
  std::string words;
  if (const json::Array *array = row.getArray(key))
    for (const json::Value &word : *array)
      words += (words.empty() ? "" : " ") + textOf(&word);
  return words;
}

/// The formats an op computes, accumulates, reads and stores in.
static std::string describeFormats(const json::Object &row) {
  std::string text, compute = textOf(row.get("compute")), acc = textOf(row.get("acc"));
  auto add = [&](StringRef what, StringRef formats) {
    if (!formats.empty())
      text += (Twine(text.empty() ? "" : ", ") + what + " " + formats).str();
  };
  add("computes in", compute);
  add("accumulates in", acc == compute ? "" : acc);
  add("reads", wordsOf(row, "in"));
  add("stores", wordsOf(row, "out"));
  return text;
}

static std::string describeReason(const json::Object &row) {
  return textOf(row.get("by")) + ": " + textOf(row.get("reason"));
}

/// The op as both versions of a model would know it.
static std::string identify(const json::Object &row) {
  std::string name = textOf(row.get("name"));
  return textOf(row.get("function")) + '\0' + textOf(row.get("op")) + '\0' +
         textOf(row.get("body")) + '\0' + (name.empty() ? textOf(row.get("type")) : name);
}

static ChangedDecision describeRow(const json::Object &row) {
  return {textOf(row.get("function")),
          row.getInteger("ordinal").value_or(0),
          textOf(row.get("op")),
          textOf(row.get("name")),
          "",
          "",
          row.getString("class") == "T"};
}

static std::string describeDecision(const json::Object &row) {
  return describeFormats(row) + "; " + describeReason(row);
}

static void compareOps(const json::Array &before, const json::Array &after,
                       ReportChanges &changes) {
  llvm::StringMap<std::deque<const json::Object *>> earlier;
  for (const json::Value &value : before)
    if (const json::Object *row = value.getAsObject())
      earlier[identify(*row)].push_back(row);
  for (const json::Value &value : after) {
    const json::Object *row = value.getAsObject();
    if (!row)
      continue;
    ChangedDecision changed = describeRow(*row);
    auto same = earlier.find(identify(*row));
    if (same == earlier.end() || same->second.empty()) {
      changed.after = describeDecision(*row);
      changes.decisions.push_back(std::move(changed));
      continue;
    }
    const json::Object &old = *same->second.front();
    same->second.pop_front();
    ++changes.compared;
    if (describeFormats(old) == describeFormats(*row)) {
      changes.rereasoned += describeReason(old) != describeReason(*row);
      continue;
    }
    changed.before = describeDecision(old);
    changed.after = describeDecision(*row);
    changes.decisions.push_back(std::move(changed));
  }
  for (const json::Value &value : before) { // in the order of the report, not of the hash
    const json::Object *row = value.getAsObject();
    if (!row)
      continue;
    std::deque<const json::Object *> &left = earlier[identify(*row)];
    if (left.empty() || left.front() != row)
      continue;
    left.pop_front();
    ChangedDecision gone = describeRow(*row);
    gone.before = describeDecision(*row);
    changes.decisions.push_back(std::move(gone));
  }
}

llvm::Expected<ReportChanges> mlir::mp::compareReports(StringRef before, StringRef after) {
  llvm::Expected<json::Value> first = parseReport(before);
  if (!first)
    return first.takeError();
  llvm::Expected<json::Value> second = parseReport(after);
  if (!second)
    return second.takeError();
  const json::Object &older = *first->getAsObject(), &newer = *second->getAsObject();
  ReportChanges changes;
  auto compare = [&](StringRef key, const json::Object &a, const json::Object &b) {
    std::string was = textOf(a.get(key)), is = textOf(b.get(key));
    if (was != is)
      changes.totals.push_back({key.str(), was, is});
  };
  for (StringRef key : {"format", "target", "assumed_dim"})
    compare(key, older, newer);
  for (StringRef key : {"ops", "contractions", "narrowed", "by", "casts", "cast_bytes",
                        "cast_bytes_of_arguments", "bytes_before", "bytes_after"})
    compare(key, *older.getObject("totals"), *newer.getObject("totals"));
  compareOps(*older.getArray("ops"), *newer.getArray("ops"), changes);
  std::stable_partition(changes.decisions.begin(), changes.decisions.end(),
                        [](const ChangedDecision &decision) { return decision.isContraction; });
  return changes;
}

void mlir::mp::printChanges(const ReportChanges &changes, StringRef earlier, raw_ostream &os) {
  int64_t changed = llvm::count_if(changes.decisions, [](const ChangedDecision &decision) {
    return !decision.before.empty() && !decision.after.empty();
  });
  int64_t added = llvm::count_if(
      changes.decisions, [](const ChangedDecision &decision) { return decision.before.empty(); });
  int64_t gone = changes.decisions.size() - changed - added;
  os << "mp: against " << earlier << ": " << changed << " of " << changes.compared
     << " ops are decided otherwise";
  if (changes.rereasoned)
    os << ", " << changes.rereasoned << " alike for another reason";
  if (added)
    os << ", " << added << " are new";
  if (gone)
    os << ", " << gone << " are gone";
  os << "\n";
  for (const ChangedTotal &total : changes.totals)
    os << "  " << llvm::left_justify(total.key, 24) << total.before << " -> " << total.after
       << "\n";
  for (const ChangedDecision &decision :
       ArrayRef(changes.decisions).take_front(kPrintedDecisions)) {
    os << "  @" << decision.function << ":" << decision.ordinal << " " << decision.op;
    if (!decision.name.empty())
      os << " (" << decision.name << ")";
    os << "\n";
    if (!decision.before.empty())
      os << "    - " << decision.before << "\n";
    if (!decision.after.empty())
      os << "    + " << decision.after << "\n";
  }
  if (changes.decisions.size() > kPrintedDecisions)
    os << "  and " << changes.decisions.size() - kPrintedDecisions
       << " more, which the page has (html=FILE)\n";
}

json::Value mlir::mp::toJSON(const ReportChanges &changes) {
  json::Array totals, decisions;
  for (const ChangedTotal &total : changes.totals)
    totals.push_back(
        json::Object{{"key", total.key}, {"before", total.before}, {"after", total.after}});
  for (const ChangedDecision &decision : changes.decisions)
    decisions.push_back(json::Object{{"function", decision.function},
                                     {"ordinal", decision.ordinal},
                                     {"op", decision.op},
                                     {"name", decision.name},
                                     {"before", decision.before},
                                     {"after", decision.after}});
  return json::Object{{"totals", std::move(totals)},
                      {"decisions", std::move(decisions)},
                      {"compared", changes.compared},
                      {"rereasoned", changes.rereasoned}};
}
