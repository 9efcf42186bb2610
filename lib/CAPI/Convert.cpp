// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pipelines of the C API, the reports they give, and facts that need no model.

#include "Handles.h"
#include "Options.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mp/Policy/PolicyJSON.h"
#include "mp/Report/Changes.h"
#include "mp/Report/Exports.h"
#include "mp/Support/ErrorCode.h"
#include "mp/Support/Words.h"
#include "mp/Target/Targets.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::capi;

static Outcome runPipeline(mp_module &module, StringRef pipeline, const char *options) {
  auto given = parseObject(options, "options");
  if (!given)
    return usage(llvm::toString(given.takeError()));
  bool isList = pipeline.find_first_of("({,") != StringRef::npos;
  if (isList && !given->empty())
    return usage("pipeline '" + pipeline +
                 "' is a list, whose options stand in braces; options are given besides");
  if (llvm::Error error = isList ? checkOptionsIn(pipeline) : checkOptions(pipeline, *given))
    return usage(llvm::toString(std::move(error)));
  auto text = optionText(*given);
  if (!text)
    return usage(llvm::toString(text.takeError()));
  // The anchor may be written, as in --pass-pipeline, or left out.
  if (pipeline.starts_with("builtin.module(") && pipeline.ends_with(")"))
    pipeline = pipeline.drop_front(strlen("builtin.module(")).drop_back();
  std::string full =
      isList || given->empty() ? pipeline.str() : (pipeline + "{" + *text + "}").str();
  std::string problem;
  llvm::raw_string_ostream os(problem);
  PassManager manager(module.module->getContext());
  support::RefusedWords words;
  if (failed(parsePassPipeline(full, manager, os)))
    return usage(words.text.empty() ? StringRef(problem).trim() : StringRef(words.text));
  if (failed(manager.run(*module.module)))
    return refused("");
  return {};
}

/// Parses what checkOptions accepts.
template <typename Options>
static void parseInto(Options &options, const llvm::json::Object &given) {
  (void)options.parseFromString(llvm::cantFail(optionText(given)));
  if (!given.get("table"))
    options.table = false;
}

static Outcome convert(mp_module &module, StringRef pipeline, const char *text,
                       mp_report **report) {
  if (pipeline != "mp-mixed-precision" && pipeline != "mp-train-step")
    return usage("pipeline is '" + pipeline + "', expected mp-mixed-precision or mp-train-step");
  auto given = parseObject(text, "options");
  if (!given)
    return usage(llvm::toString(given.takeError()));
  if (llvm::Error error = checkOptions(pipeline, *given))
    return usage(llvm::toString(std::move(error)));
  auto handle = std::make_unique<mp_report>();
  handle->context = module.context;
  handle->report = std::make_shared<Report>();
  PassManager manager(module.module->getContext());
  if (pipeline == "mp-train-step") {
    TrainStepOptions options;
    parseInto(options, *given);
    buildTrainStepPipeline(manager, options, handle->report);
  } else {
    MixedPrecisionOptions options;
    parseInto(options, *given);
    buildMixedPrecisionPipeline(manager, options, handle->report);
  }
  if (failed(manager.run(*module.module)))
    return refused("");
  if (report)
    *report = handle.release();
  return {};
}

static llvm::Expected<std::string> describe(StringRef what, StringRef argument) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (what == "targets") {
    target::printTargets(os);
    return text;
  }
  if (what == "options")
    return describeOptions(argument);
  if (what == "error") {
    if (llvm::Error error = support::printErrorPages(argument, os))
      return std::move(error);
    return text;
  }
  if (what == "policy") {
    auto request = policy::parseRequest(argument);
    if (!request)
      return request.takeError();
    auto effective = policy::findPolicy(*request);
    if (!effective)
      return effective.takeError();
    policy::writePolicy(effective->policy, os);
    return text;
  }
  return llvm::createStringError(
      "what is '" + what + "'" +
      support::suggestWord(what, {"targets", "policy", "error", "options"}));
}

extern "C" {

mp_status mp_module_run(mp_module *module, const char *pipeline, const char *options) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(pipeline);
  return runWithin(__func__, *module->context,
                   [&] { return runPipeline(*module, pipeline, options); });
}

mp_status mp_module_convert(mp_module *module, const char *pipeline, const char *options,
                            mp_report **report) {
  MP_CHECK_HANDLE(module);
  MP_CHECK_POINTER(pipeline);
  return runWithin(__func__, *module->context,
                   [&] { return convert(*module, pipeline, options, report); });
}

mp_status mp_report_print(const mp_report *report, mp_report_form form, mp_text *text) {
  MP_CHECK_HANDLE(report);
  MP_CHECK_POINTER(text);
  return runWithin(__func__, *report->context, [&] {
    std::string printed;
    llvm::raw_string_ostream os(printed);
    switch (form) {
    case MP_REPORT_TEXT:
      report->report->printTable(os);
      if (report->report->changes)
        printChanges(*report->report->changes, report->report->against, os);
      break;
    case MP_REPORT_JSON: os << llvm::formatv("{0:2}", report->report->toJSON()) << "\n"; break;
    case MP_REPORT_HTML: writeHTML(*report->report, os); break;
    case MP_REPORT_EXPLANATION: os << report->report->explanation; break;
    default: return usage("form is " + Twine(int(form)) + ", expected an mp_report_form");
    }
    *text = makeText(printed);
    return Outcome();
  });
}

void mp_report_destroy(mp_report *report) {
  if (checkHandle(report, "report").empty())
    delete report;
}

mp_status mp_describe(const char *what, const char *argument, mp_text *text) {
  MP_CHECK_POINTER(what);
  MP_CHECK_POINTER(text);
  return run(__func__, [&]() -> Outcome {
    auto described = describe(what, argument ? argument : "");
    if (!described)
      return usage(llvm::toString(described.takeError()));
    *text = makeText(*described);
    return {};
  });
}

} // extern "C"
