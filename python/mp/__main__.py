# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""python -m mp MODEL -o OUT.mlir: a .pt2, .onnx, .tflite or MLIR file as the text that mp-opt reads, or converted at once."""
import argparse
import errno
import os
import signal
import sys

from . import Error, MissingPackage, convert
from .frontends import read_model
from .library import Context

BAD_INPUT, MISSING = 2, 77  # docs/reference/Environment.md


class Once(argparse.Action):
    """Takes one value; a second would take the place of the first without a word."""

    taken = False

    def __call__(self, parser, namespace, value, option_string=None):
        if self.taken:
            parser.error(f"{option_string} is given twice")
        if not value:
            parser.error(f"{option_string} is empty; expected a value, or the option left out")
        self.taken = True
        setattr(namespace, self.dest, value)


def is_special(path):
    """True for devices, pipes and folders."""
    return os.path.exists(path) and not os.path.isfile(path)


def read_arguments():
    parser = argparse.ArgumentParser(prog="python -m mp", description=__doc__, allow_abbrev=False,
                                     epilog="Exit status: 0 done, 2 wrong usage or input, or an output that cannot be written, 77 a package is missing.")
    parser.add_argument("model", help="a .pt2, .onnx, .tflite, .mlir or .mlirbc file")
    parser.add_argument("-o", "--output", default="-", action=Once, help="file for the text; - is standard output")
    parser.add_argument("--format", action=Once, help="convert to bf16, f16, tf32, e4m3, ...; without it the model is only imported")
    parser.add_argument("--target", action=Once, help="sm_90a, h100, ...")
    parser.add_argument("--keep", action="append", default=[], metavar="LAYER", help="a glob of layers that stay wide; may be repeated")
    parser.add_argument("--html", action=Once, help="file for the report as a page")
    options = parser.parse_args()
    if options.format is None:
        for name in ("target", "keep", "html"):
            if getattr(options, name):
                parser.error(f"--{name} is of conversions: expected --format, too")
    for output, other in ((options.output, options.model), (options.html, options.model), (options.html, options.output)):
        if output and output != "-" and not is_special(output) and os.path.realpath(output) == os.path.realpath(other):
            parser.error(f"{output} is the same file as {other}; name another output")
    return options


def write_whole(path, text):
    """Writes beside the file and renames, so that what was there stays where that fails; devices and pipes are written as they are."""
    if path == "-":
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
        sys.stdout.write(text)
        sys.stdout.flush()
        return
    written = path if is_special(path) else f"{os.path.realpath(path)}.{os.getpid()}.tmp"
    try:
        with open(written, "w", encoding="utf-8") as file:
            file.write(text)
        if written != path:
            os.replace(written, os.path.realpath(path))
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        if written != path and os.path.exists(written):
            os.unlink(written)


def run(options):
    if options.format is None:
        source = read_model(options.model)
        write_whole(options.output, Context().parse(source.text, source.name, source.imports).print(locations=True))
        return
    program = convert(options.model, format=options.format, target=options.target, keep=options.keep)
    print(program.report, file=sys.stderr)
    if options.html:
        write_whole(options.html, program.report.page)
    write_whole(options.output, program.mlir)


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads may have read enough
    try:
        run(read_arguments())
    except (Error, MissingPackage) as error:
        print(f"mp: {error}", file=sys.stderr)
        sys.exit(MISSING if isinstance(error, MissingPackage) else BAD_INPUT)
    except OSError as error:
        print(f"mp: {error.filename or 'standard output'}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(BAD_INPUT)  # what standard output holds would fail again


if __name__ == "__main__":
    main()
