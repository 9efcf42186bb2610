// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens and writes the files of a run.

#include "RunFiles.h"

#include "mp/Execution/Files.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

llvm::Error RunFiles::open(const RunOptions &options) {
  for (const std::string &path : options.outputs)
    if (llvm::Error error =
            results.emplace_back().open(path, (path == "-" ? "--output=" : "--output=@") + path))
      return error;
  const std::tuple<support::LateOutput &, StringRef, StringRef> late[] = {
      {json, "--json=", options.json},
      {policy, "--policy-out=", options.policyOut},
      {rounded, "--round-weights=", options.roundedOut},
      {pruned, "--prune=", options.prunedOut},
      {smoothed, "--smooth=", options.smoothedOut},
      {ranges, "--ranges=", options.rangesOut},
      {trace, "--trace=", options.trace}};
  for (auto &[file, option, path] : late)
    if (llvm::Error error = file.open(path, (option + path).str()))
      return error;
  const std::string shown = "--html=" + options.html;
  if (llvm::Error error = monitor.claim(options.monitor, "--monitor=" + options.monitor))
    return error;
  if (llvm::Error error = options.monitor.empty() ? html.open(options.html, shown)
                                                  : page.claim(options.html, shown))
    return error;
  for (auto [name, folder] : {std::pair("--input-dir=", StringRef(options.inputDir)),
                              std::pair("--output-dir=", StringRef(options.outputDir)),
                              std::pair("--save-state=", StringRef(options.saveState))})
    if (!folder.empty())
      if (llvm::Error error = support::makeFolder(folder, (name + folder).str()))
        return error;
  return llvm::Error::success();
}

llvm::Error RunFiles::writeResult(size_t index, const Array &array) {
  return results[index].write([&](llvm::raw_ostream &os) { os << formatNpy(array); });
}

llvm::Error RunFiles::writeJSON(llvm::json::Value value) {
  return json.write([&](llvm::raw_ostream &os) { os << llvm::formatv("{0:2}\n", value); });
}
