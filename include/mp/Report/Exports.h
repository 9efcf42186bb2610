// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report for the eye: one HTML page, a drawing by Graphviz, and files for Model Explorer.
// docs/reference/Report.md describes both.

#ifndef MP_REPORT_EXPORTS_H
#define MP_REPORT_EXPORTS_H

#include "mp/Report/Report.h"

namespace mlir::mp {

/// Prints a module for the page's text before and after, with large constants elided; empty where
/// it has too many ops to be read (20,000).
std::string printForPage(ModuleOp module);

/// One self-contained page: no other file, no network.
void writeHTML(const Report &report, raw_ostream &os);

/// The graph of ops, arguments and casts in the DOT language of Graphviz.
void writeGraphviz(const Report &report, raw_ostream &os);

/// A file of Model Explorer: the graph, or one overlay on its nodes.
struct ViewerFile {
  std::string name;
  llvm::json::Value content;
};

/// graph.json, and as overlays precision.json, bits.json, casts.json and, where errors are known,
/// error.json.
std::vector<ViewerFile> makeViewerFiles(const Report &report);

} // namespace mlir::mp

#endif // MP_REPORT_EXPORTS_H
