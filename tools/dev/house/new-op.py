#!/usr/bin/env python3
# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Starts an op of the mp dialect: TableGen entry with documentation, and its tests.

usage: new-op.py Family mnemonic "summary sentence" [--root ROOT]

Family names the file, MP<Family>Ops.td: Cast, Training, or one that this starts. The op starts as a pure elementwise
one of floats without a verifier; change what differs.
"""
import re

from scaffold import LICENCE, fail, insert_before_end, read_arguments

FAMILY = LICENCE + '''//
// Ops of the family {family}.

#ifndef MP_DIALECT_MP_{upper}_OPS
#define MP_DIALECT_MP_{upper}_OPS

include "mp/Dialect/MP/MPCastOps.td"

#endif // MP_DIALECT_MP_{upper}_OPS
'''

ENTRY = '''def MP_{name}Op : MP_Op<"{mnemonic}", !listconcat([Pure, SameOperandsAndResultType],
                                            ElementwiseMappable.traits)> {{
  let summary = "{summary}";
  let description = [{{
    Say what the op computes, in which precision, what it is not, what it lowers to.

    Constraints:
    - (C1) a rule that the verifier checks, with the label its message begins with.

    Example:
    ```mlir
    func.func @example(%x: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = mp.{mnemonic} %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }}
    ```
  }}];
  let arguments = (ins MP_FloatLike:$source);
  let results = (outs MP_FloatLike:$result);
  let assemblyFormat = "$source attr-dict `:` type($source)";
}}

'''

TEST = '''// Round trip: custom form, generic form, and no loss in either.
// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s --mlir-print-op-generic | mp-opt | FileCheck %s

// CHECK-LABEL: func.func @keeps_its_form
// CHECK: mp.{mnemonic} %{{{{.*}}}} : tensor<?x4xf32>
func.func @keeps_its_form(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {{
  %0 = mp.{mnemonic} %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}}
'''


def main():
    root, family, mnemonic, summary = read_arguments('Family mnemonic "summary"')
    if not re.fullmatch(r"[A-Z][A-Za-z]+", family):
        fail(f"family is '{family}', expected a CamelCase word such as Cast")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", mnemonic):
        fail(f"mnemonic is '{mnemonic}', expected snake_case such as update_scale")
    name = "".join(word.capitalize() for word in mnemonic.split("_"))
    facts = {"family": family, "upper": family.upper(), "mnemonic": mnemonic, "name": name, "summary": summary}

    dialect = root / "include" / "mp" / "Dialect" / "MP"
    test = root / "test" / "Dialect" / "MP" / f"{mnemonic.replace('_', '-')}.mlir"
    if test.exists():
        fail(f"{test} exists already")
    table = dialect / f"MP{family}Ops.td"
    if not table.exists():
        table.write_text(FAMILY.format(**facts))
        umbrella = dialect / "MPOps.td"
        text = umbrella.read_text()
        last = list(re.finditer(r'include "mp/Dialect/MP/MP\w+.td"\n', text))[-1]
        umbrella.write_text(text[:last.end()] + f'include "mp/Dialect/MP/MP{family}Ops.td"\n' + text[last.end():])
        print(f"wrote {table}")
    insert_before_end(table, ENTRY.format(**facts))
    print(f"added mp.{mnemonic} to {table}")
    test.parent.mkdir(parents=True, exist_ok=True)
    test.write_text(TEST.format(**facts))
    print(f"wrote {test}")


if __name__ == "__main__":
    main()
