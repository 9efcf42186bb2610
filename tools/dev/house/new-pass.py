#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a pass: TableGen entry, source and test, ready to build.

usage: new-pass.py GROUP Name "summary sentence" [--root ROOT]

GROUP is a phase's folder of include/mp/Transforms. `Name` gives the flag: SinkCasts is --mp-sink-casts.
"""
import re

from scaffold import LICENCE, fail, insert_before_end, read_arguments

ENTRY = '''def {name} : Pass<"{flag}", "::mlir::ModuleOp"> {{
  let summary = "{summary}";
  let description = [{{
    Needs: what must hold before. Gives: what holds after. Say what happens to
    numbers: exact, changes rounding, or changes range.

    Example (`--{flag}`):
    ```mlir
    func.func @unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {{
      return %x : tensor<4xf32>
    }}
    ```
    becomes
    ```mlir
    func.func @unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {{
      return %x : tensor<4xf32>
    }}
    ```
  }}];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}}

'''

SOURCE = LICENCE + '''//
// Implements {flag}: say the idea, and what stays true all the while.

#include "mp/Transforms/{group}/Passes.h"

namespace mlir::mp {{
#define GEN_PASS_DEF_{macro}
#include "mp/Transforms/{group}/Passes.h.inc"
}} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {{
struct {name} : mlir::mp::impl::{name}Base<{name}> {{
  void runOnOperation() override {{}}
}};
}} // namespace
'''

TEST = '''// RUN: mp-opt %s --{flag} | FileCheck %s

// CHECK-LABEL: func.func @states_the_fact_it_shows
func.func @states_the_fact_it_shows(%x: tensor<4xf32>) -> tensor<4xf32> {{
  // CHECK: return %arg0
  return %x : tensor<4xf32>
}}
'''


def write_new(path, text):
    if path.exists():
        fail(f"{path} exists already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"wrote {path}")


def main():
    root, group, name, summary = read_arguments('GROUP Name "summary"')
    groups = sorted(table.parent.name for table in (root / "include" / "mp" / "Transforms").glob("*/Passes.td"))
    if group not in groups:
        fail(f"group is '{group}', expected one of {', '.join(groups)}")
    if not re.fullmatch(r"([A-Z][a-z0-9]+)+", name):
        fail(f"name is '{name}', expected words in CamelCase such as SinkCasts")
    words = [word.lower() for word in re.findall("[A-Z][a-z0-9]+", name)]
    facts = {"group": group, "name": name, "summary": summary, "flag": "mp-" + "-".join(words),
             "macro": "".join(words).upper()}

    table = root / "include" / "mp" / "Transforms" / group / "Passes.td"
    write_new(root / "lib" / "Transforms" / group / f"{name}.cpp", SOURCE.format(**facts))
    write_new(root / "test" / "Transforms" / group / f"{'-'.join(words)}.mlir", TEST.format(**facts))
    insert_before_end(table, ENTRY.format(**facts))
    print(f"added {facts['flag']} to {table}")


if __name__ == "__main__":
    main()
