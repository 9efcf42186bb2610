# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a recorded model in its original precision and compares with the framework's results.

usage: run_recorded.py MODELS_DIR NAME WORK_DIR [mp-run options]; needs mp-run on PATH.
Standard library only: the .npz is a zip of .npy files, inputs are described by seeds.
"""
import ast, csv, json, lzma, math, os, struct, subprocess, sys, zipfile

NAMES = {"float32": "f32", "float64": "f64", "float16": "f16", "int64": "i64", "int32": "i32",
         "int8": "i8", "bool": "i1"}
CODES = {"f2": "e", "f4": "f", "f8": "d", "i8": "q", "i4": "i", "i2": "h", "i1": "b", "u1": "B",
         "u2": "H", "b1": "?"}


def npy(data):
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    kind = header["descr"][1:]
    body = data[10 + length:]
    if kind[0] == "U":
        return body.decode("utf-32-le").rstrip("\0"), []
    shape = header["shape"]
    count = math.prod(shape)
    return list(struct.unpack(f"<{count}{CODES[kind]}", body[:count * int(kind[1:])])), shape


def literal(entry, index, archive, work):
    shape = "".join(f"{n}x" for n in entry.get("shape", []))
    if entry["kind"] == "stored":
        path = os.path.join(work, f"in{index}.npy")
        with open(path, "wb") as file:
            file.write(archive.read(f"in{index}.npy"))
        return "@" + path
    kind = NAMES[entry["dtype"]]
    if entry["kind"] == "uniform":
        return f"{shape}{kind}=uniform:{entry['seed']},{entry['scale']!r},{entry['offset']!r}"
    if entry["kind"] == "int":
        return f"{shape}{kind}=integers:{entry['seed']},{entry['lo']},{entry['hi']}"
    return f"{shape}{kind}={entry['value']}"


def main():
    models, name, work, *options = sys.argv[1:]
    os.makedirs(work, exist_ok=True)
    with open(os.path.join(models, "INDEX.tsv")) as file:
        rows = {row["name"]: row for row in csv.DictReader(file, delimiter="\t")}
    tolerance = float(rows[name]["tolerance to use"])
    source = os.path.join(work, "model.mlir")
    with lzma.open(os.path.join(models, name + ".mlir.xz")) as packed, open(source, "wb") as file:
        file.write(packed.read())
    stem = name.removesuffix(".tosa")
    stem = stem if os.path.exists(os.path.join(models, stem + ".npz")) else name
    archive = zipfile.ZipFile(os.path.join(models, stem + ".npz"))
    recipe = json.loads(npy(archive.read("recipe.npy"))[0])
    outputs = sorted((n for n in archive.namelist() if n.startswith("out")), key=lambda n: int(n[3:-4]))
    paths = [os.path.join(work, f"y{i}.npy") for i in range(len(outputs))]
    command = ["mp-run", source]
    command += ["--input=" + literal(e, i, archive, work) for i, e in enumerate(recipe)]
    command += ["--output=@" + path for path in paths]
    subprocess.run(command + options, check=True)
    worst = 0.0
    for path, golden_name in zip(paths, outputs):
        with open(path, "rb") as file:
            actual = npy(file.read())[0]
        golden = npy(archive.read(golden_name))[0]
        actual = actual[::-(-len(actual) // 4096)] if len(actual) > 4096 else actual
        assert len(actual) == len(golden), (len(actual), len(golden))
        assert all(math.isfinite(x) == math.isfinite(y) for x, y in zip(actual, golden))
        largest = max(abs(y) for y in golden) or 1.0
        worst = max(worst, max(abs(x - y) for x, y in zip(actual, golden)) / largest)
    print(f"{name}: worst {worst:.3g}, tolerance {tolerance:.3g}: {'ok' if worst <= tolerance else 'WRONG'}")
    sys.exit(worst > tolerance)


main()
