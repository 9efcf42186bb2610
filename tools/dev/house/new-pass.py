#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts a pass: TableGen entry, source and test, ready to build.

usage: new-pass.py GROUP Name "summary sentence" [--root ROOT]

GROUP is a phase's folder of lib/Transforms (Annotate, Train, Prepare, Assign, Materialize, Optimize, Verify,
Interop, Scale). `Name` gives the flag: SinkCasts is --mp-sink-casts.
"""
import pathlib
import re
import sys

GROUPS = ("Annotate", "Train", "Prepare", "Assign", "Materialize", "Optimize", "Verify", "Interop", "Scale")
LICENCE = "// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"

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

TABLEGEN = LICENCE + '''//
// Passes of the group {group}.

#ifndef MP_TRANSFORMS_{upper}_PASSES
#define MP_TRANSFORMS_{upper}_PASSES

include "mlir/Pass/PassBase.td"

#endif // MP_TRANSFORMS_{upper}_PASSES
'''

HEADER = LICENCE + '''//
// Passes of the group {group}.

#ifndef MP_TRANSFORMS_{upper}_PASSES_H
#define MP_TRANSFORMS_{upper}_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {{

#define GEN_PASS_DECL
#include "mp/Transforms/{group}/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/{group}/Passes.h.inc"

}} // namespace mlir::mp

#endif // MP_TRANSFORMS_{upper}_PASSES_H
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


def fail(message):
    print(f"new-pass: {message}", file=sys.stderr)
    sys.exit(2)


def write_new(path, text):
    if path.exists():
        fail(f"{path} exists already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    print(f"wrote {path}")


def register(path, group):
    """Adds a new group to the one list of everything registered."""
    text = path.read_text()
    include = f'#include "mp/Transforms/{group}/Passes.h"\n'
    if include in text:
        return
    last = list(re.finditer(r'#include "mp/Transforms/\w+/Passes.h"\n', text))[-1]
    text = text[:last.end()] + include + text[last.end():]
    call = list(re.finditer(r"  registerMP\w+Passes\(\);\n", text))[-1]
    text = text[:call.end()] + f"  registerMP{group}Passes();\n" + text[call.end():]
    path.write_text(text)
    print(f"registered {group} in {path}")


def main():
    arguments = sys.argv[1:]
    root = pathlib.Path(__file__).parents[3]
    if "--root" in arguments:
        at = arguments.index("--root")
        root = pathlib.Path(arguments[at + 1])
        del arguments[at:at + 2]
    if len(arguments) != 3:
        fail(f'expected GROUP Name "summary", found {len(arguments)} arguments')
    group, name, summary = arguments
    if group not in GROUPS:
        fail(f"group is '{group}', expected one of {', '.join(GROUPS)}")
    if not re.fullmatch(r"([A-Z][a-z0-9]+)+", name):
        fail(f"name is '{name}', expected words in CamelCase such as SinkCasts")
    words = [word.lower() for word in re.findall("[A-Z][a-z0-9]+", name)]
    facts = {"group": group, "name": name, "summary": summary, "flag": "mp-" + "-".join(words),
             "macro": "".join(words).upper(), "upper": group.upper()}

    include = root / "include" / "mp" / "Transforms" / group
    table = include / "Passes.td"
    write_new(root / "lib" / "Transforms" / group / f"{name}.cpp", SOURCE.format(**facts))
    write_new(root / "test" / "Transforms" / group / f"{'-'.join(words)}.mlir", TEST.format(**facts))
    if not table.exists():
        write_new(table, TABLEGEN.format(**facts))
        write_new(include / "Passes.h", HEADER.format(**facts))
    text = table.read_text()
    end = text.rindex("#endif")
    table.write_text(text[:end] + ENTRY.format(**facts) + text[end:])
    print(f"added {facts['flag']} to {table}")
    register(root / "include" / "mp" / "InitAll.h", group)


if __name__ == "__main__":
    main()
