# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Breaks the rules of the tree in a copy of it."""
import pathlib
import sys

root = pathlib.Path(sys.argv[1])
licence = "// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n"
(root / "test/Dev").rename(root / "gone")  # its texts would count as tests
(root / "lib/Numerics/Broken.cpp").write_text('#include "mp/Dialect/MP/MPDialect.h"\n#include "mlir/IR/Builders.h"\n')
(root / "lib/Numerics/Long.cpp").write_text(licence + "\n" * 400)
(root / "lib/Numerics/LongFunction.cpp").write_text(
    licence + "void tooLong(int a) {\n" + "  ;\n" * 80 + "}\n\n/// Does something.\n\n/// " + "What it does.\nint x;\n")
(root / "lib/Numerics/LongTable.cpp").write_text(
    licence + "void shortEnough(int a) {\n" + "  ;\n" * 79 + "}\nconst int kTable[] = {\n" + "    1,\n" * 80 + "};\n")
(root / "lib/Numerics/Wide.cpp").write_text(licence + "// " + "x" * 98 + "\nstatic const char *const raw = R\"(" + "x" * 98 + ")\";\n")
with (root / "lib/Numerics/Wide.cpp").open("a") as file:
    file.write("// docs/" + "Gone.md\n")
(root / "docs/guides" / "Alone.md").write_text("[a link](../Nowhere.md) and `lib/" + "Gone.cpp`\n")
(root / "lib/Numerics/Unformatted.cpp").write_text(licence + "int  x;\n")
(root / "lib/Transforms/Assign/Upward.cpp").write_text(licence + '#include "../Scale/Quantizer.h"\n')
(root / "lib/Analysis/Values/Upward.cpp").write_text(licence + '#include "mp/Analysis/Idioms/Idioms.h"\n')
(root / "include/mp/Analysis/Error/Poles.h").write_text(licence)
(root / "lib/Nonsense").mkdir()
(root / "lib/Nonsense/Broken.cpp").write_text(licence)
for i in range(17 - len(list((root / "lib/Domains").glob("*.cpp")))):
    (root / f"lib/Domains/More{i}.cpp").write_text(licence)
(root / "notes.txt").write_text("")
(root / "tools/dev/house/unnamed.py").write_text("# " + licence[3:])
with (root / "include/mp/Transforms/Verify/Passes.td").open("a") as file:
    file.write('def Untested : Pass<"mp-untested"> {\n}\n')
with (root / "include/mp/Dialect/MP/MPCastOps.td").open("a") as file:
    file.write('def MP_UntestedOp : MP_Op<"untested_op"> {\n  let summary = "x";\n  let description = [{ x }];\n}\n')
