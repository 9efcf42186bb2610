# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m mp MODEL -o OUT.mlir: a .pt2, .onnx, .tflite or MLIR file as the text that mp-opt reads, or converted at once."""
import argparse
import sys

from . import Error, MissingPackage, convert
from .frontends import read_model
from .library import Context


def main():
    parser = argparse.ArgumentParser(prog="python -m mp", description=__doc__)
    parser.add_argument("model", help="a .pt2, .onnx, .tflite, .mlir or .mlirbc file")
    parser.add_argument("-o", "--output", default="-", help="file for the text; - is standard output")
    parser.add_argument("--format", help="convert to bf16, f16, tf32, e4m3, ...; without it the model is only imported")
    parser.add_argument("--target", help="sm_90a, h100, ...")
    parser.add_argument("--keep", action="append", default=[], metavar="LAYER", help="a glob of layers that stay wide; may be repeated")
    parser.add_argument("--html", help="file for the report as a page")
    options = parser.parse_args()
    try:
        if options.format:
            program = convert(options.model, format=options.format, target=options.target, keep=options.keep)
            print(program.report, file=sys.stderr)
            text = program.mlir
            if options.html:
                program.report.save_html(options.html)
        else:
            source = read_model(options.model)
            text = Context().parse(source.text, source.name, source.imports).print(locations=True)
    except (Error, MissingPackage) as error:
        sys.exit(f"mp: {error}")
    if options.output == "-":
        sys.stdout.write(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
