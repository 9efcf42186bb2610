# Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What gpu-time.py times: for each case its MLIR, how it is lowered, and what it computes, for the references beside it.

A case is a dictionary: `name`, `kind` (the reference in timed_references.py), `shape` (what that needs to know), `inputs`
(type, shape and scale of normally distributed numbers), `flops` and `bytes` (the least that must be computed and moved),
and `text`, or `command` (words of mp-gen) and `format` (to decide); `options` go to mp-to-nvvm; `variant` is set where the same references stand beside another case.
"""
import bodies

ELEMENTS = {"bf16": ("bf16", "f32", "bf16"), "f16": ("f16", "f32", "f16"), "tf32": ("f32", "f32", "f32"), "f32": ("f32", "f32", "f32"),
            "e4m3": ("f8E4M3FN", "f32", "bf16"), "e5m2": ("f8E5M2", "f32", "bf16"), "s8": ("i8", "i32", "i32")}
BYTES = {"bf16": 2, "f16": 2, "f32": 4, "f8E4M3FN": 1, "f8E5M2": 1, "i8": 1, "i32": 4}

# Matrix products: m, n, k; B is [n, k], as weights of a linear layer are.
LARGE = [(4096, 4096, 4096), (8192, 8192, 8192)]
BERT = [(4096, 768, 768), (4096, 3072, 768), (4096, 768, 3072)]
LLAMA = [(2048, 4096, 4096), (2048, 11008, 4096), (2048, 4096, 11008)]
LATENCY = [(128, 768, 768), (128, 3072, 768), (128, 768, 3072)]
SMALL = [(m, 4096, 4096) for m in (1, 8, 16, 64)]
ODD = [(1024, 50257, 768)]
SCHEDULES = ["tile=128x256x64 warps=2x4 stages=4", "tile=256x128x64 warps=4x2 stages=4", "tile=128x128x64 warps=2x2 stages=3",
             "tile=128x128x64 warps=2x2 stages=6", "tile=128x128x64 warps=2x4 stages=3", "tile=128x64x64 warps=2x2 stages=4",
             "tile=64x128x64 warps=2x2 stages=4", "tile=64x64x64 warps=2x2 stages=4", "tile=64x64x64 warps=2x2 stages=8"]
NARROWING = [*SCHEDULES[:3], *SCHEDULES[5:8]]


def tensor(*words):
    return f"tensor<{'x'.join(map(str, words))}>"


def generic(loops, maps, ins, out, body):
    """linalg.generic over the loops of `loops`, capitals reduced; `maps` names the loops of each operand. Each of `ins` is a
    name and a type, `out` as well; `body` sees %i0, ... and %o, and makes %r."""
    listed = lambda names: ", ".join(names.lower())
    affine = ", ".join(f"affine_map<({listed(loops)}) -> ({listed(names)})>" for names in maps)
    kinds = ", ".join('"reduction"' if loop.isupper() else '"parallel"' for loop in loops)
    element = lambda kind: kind[:-1].split("x")[-1].removeprefix("tensor<")
    arguments = ", ".join(f"%i{i}: {element(kind)}" for i, (_, kind) in enumerate(ins))
    return f"""linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}
ins({", ".join(name for name, _ in ins)} : {", ".join(kind for _, kind in ins)}) outs({out[0]} : {out[1]}) {{
^bb0({arguments}, %o: {element(out[1])}):
{body}
linalg.yield %r : {element(out[1])}
}} -> {out[1]}
"""


def filled(name, value, kind):
    element = kind[:-1].split("x")[-1].removeprefix("tensor<")
    literal = f"arith.constant {value} : {element}"
    return f"%{name}v = {literal}\n%{name}e = tensor.empty() : {kind}\n%{name} = linalg.fill ins(%{name}v : {element}) outs(%{name}e : {kind}) -> {kind}\n"


def function(arguments, result, body):
    listed = ", ".join(f"{name}: {kind}" for name, kind in arguments)
    return f"func.func @main({listed}) -> {result} {{\n{body}return %out : {result}\n}}\n"


def widened(name, value, element, wide):
    """Text that makes %name the wide value."""
    if element == wide:
        return "", value
    return f"%{name} = arith.{'extsi' if wide == 'i32' else 'extf'} {value} : {element} to {wide}\n", f"%{name}"


def multiply_add(element, wide):
    """The body of a product: operands widened, multiplied, and added to the sum."""
    (wx, x), (wy, y) = widened("wx", "%i0", element, wide), widened("wy", "%i1", element, wide)
    letter = "i" if wide == "i32" else "f"
    return f"{wx}{wy}%p = arith.mul{letter} {x}, {y} : {wide}\n%r = arith.add{letter} %o, %p : {wide}"


def product(m, n, k, form="bf16", order="nt", epilogue="", narrow=False, schedule=""):
    """A product of matrices, with what follows: '' or 'gelu' (a bias and tanh GELU); `narrow`: B is f32 in memory."""
    element, wide, stored = ELEMENTS[form]
    a_kind, c_kind, o_kind = tensor(m, k, element), tensor(m, n, wide), tensor(m, n, stored)
    b_sizes, b_map = ((n, k), "nK") if order == "nt" else ((k, n), "Kn")
    b_kind, b_given = tensor(*b_sizes, element), tensor(*b_sizes, "f32" if narrow else element)
    arguments = [("%a", a_kind), ("%b", b_given)] + ([("%bias", tensor(n, "f32"))] if epilogue else [])
    body, b = filled("z", "0" if wide == "i32" else "0.0", c_kind), "%b"
    a = "%a"
    if narrow:
        body += f"%ne = tensor.empty() : {b_kind}\n%nb = " + generic("xy", ["xy", "xy"], [("%b", b_given)], ("%ne", b_kind), f"%r = arith.truncf %i0 : f32 to {element}")
        b = "%nb"
    if form == "tf32":
        body += f"%ta = mp.round tf32 %a : {a_kind}\n%tb = mp.round tf32 %b : {b_kind}\n"
        a, b = "%ta", "%tb"
    product_op = generic("mnK", ["mK", b_map, "mn"], [(a, a_kind), (b, b_kind)], ("%z", c_kind), multiply_add(element, wide))
    if schedule:
        product_op = product_op.replace('"reduction"]}', f'"reduction"], mpk.schedule = #mpk.schedule<matmul, "unit=mma.sync {schedule} copy=async">}}')
    body += f"%c = {product_op}"
    last = "%c"
    if epilogue:
        body += f"%ge = tensor.empty() : {c_kind}\n%g = " + generic("mn", ["mn", "n", "mn"], [("%c", c_kind), ("%bias", tensor(n, "f32"))], ("%ge", c_kind), bodies.gelu("%i0", "%i1", "%r"))
        last = "%g"
    if stored != wide:
        body += f"%oe = tensor.empty() : {o_kind}\n%out = " + generic("mn", ["mn", "mn"], [(last, c_kind)], ("%oe", o_kind), f"%r = arith.truncf %i0 : f32 to {stored}")
    else:
        body = body.replace(f"{last} = ", "%out = ", 1)
    inputs = [(element, (m, k), 1.0), ("f32" if narrow else element, b_sizes, 1.0)] + ([("f32", (n,), 1.0)] if epilogue else [])
    moved = m * k * BYTES[element] + n * k * (4 if narrow else BYTES[element]) + m * n * BYTES[stored]
    tags = [form, f"{m}x{n}x{k}", order] + (["gelu"] if epilogue else []) + (["f32-weights"] if narrow else []) + ([schedule] if schedule else [])
    return {"name": "product " + " ".join(tags), "kind": "product", "text": function(arguments, o_kind, body), "inputs": inputs,
            "shape": {"m": m, "n": n, "k": k, "format": form, "order": order, "epilogue": epilogue, "narrow": narrow, "schedule": schedule},
            "flops": 2 * m * n * k, "bytes": moved, "variant": bool(schedule)}


def attention_ops(heads, queries, keys, head, scale, hidden, into, result, element="bf16"):
    """Ops on %q, %k and %v that make `result` in `into`; `hidden`: what takes the place of scores of later keys, or nothing."""
    q, x = tensor(heads, queries, head, element), tensor(heads, keys, head, element)
    s, p = tensor(heads, queries, keys, "f32"), tensor(heads, queries, keys, element)
    r, o = tensor(heads, queries, "f32"), tensor(heads, queries, head, "f32")
    multiply = multiply_add(element, "f32")
    logit = "%r = arith.mulf %i0, %scale : f32"
    if hidden:
        logit = ("%u = arith.mulf %i0, %scale : f32\n%iq = linalg.index 1 : index\n%ik = linalg.index 2 : index\n"
                 "%c = arith.cmpi ule, %ik, %iq : index\n%r = arith.select %c, %u, %hidden : f32")
    body = f"%hidden = arith.constant {hidden or '0.0'} : f32\n%scale = arith.constant {scale:.9f} : f32\n"
    body += f"%es = tensor.empty() : {s}\n%ep = tensor.empty() : {p}\n"
    body += filled("zs", "0.0", s) + filled("lo", "0xFF800000", r) + filled("zr", "0.0", r) + filled("zo", "0.0", o)
    body += "%s = " + generic("hqkD", ["hqD", "hkD", "hqk"], [("%q", q), ("%k", x)], ("%zs", s), multiply)
    body += "%l = " + generic("hqk", ["hqk", "hqk"], [("%s", s)], ("%es", s), logit)
    body += "%x = " + generic("hqK", ["hqK", "hq"], [("%l", s)], ("%lo", r), "%r = arith.maximumf %i0, %o : f32")
    body += "%e = " + generic("hqk", ["hqk", "hq", "hqk"], [("%l", s), ("%x", r)], ("%es", s), "%t = arith.subf %i0, %i1 : f32\n%r = math.exp %t : f32")
    body += "%n = " + generic("hqK", ["hqK", "hq"], [("%e", s)], ("%zr", r), "%r = arith.addf %i0, %o : f32")
    body += "%probabilities = " + generic("hqk", ["hqk", "hq", "hqk"], [("%e", s), ("%n", r)], ("%ep", p), f"%t = arith.divf %i0, %i1 : f32\n%r = arith.truncf %t : f32 to {element}")
    body += "%y = " + generic("hqwK", ["hqK", "hKw", "hqw"], [("%probabilities", p), ("%v", x)], ("%zo", o), multiply)
    return body + f"{result} = " + generic("hqw", ["hqw", "hqw"], [("%y", o)], (into, q), f"%r = arith.truncf %i0 : f32 to {element}")


def attention(heads, queries, keys, head, causal=False, fused=True):
    """Attention in bf16 with f32 softmax."""
    q, x = tensor(heads, queries, head, "bf16"), tensor(heads, keys, head, "bf16")
    body = f"%ew = tensor.empty() : {q}\n" + attention_ops(heads, queries, keys, head, head ** -0.5, "0xFF800000" if causal else "", "%ew", "%out")
    tags = ["causal" if causal else "full", f"{heads}x{queries}x{keys}x{head}", "fused" if fused else "unfused"]
    return {"name": "attention " + " ".join(tags), "kind": "attention", "text": function([("%q", q), ("%k", x), ("%v", x)], q, body),
            "shape": {"causal": causal, "heads": heads}, "options": f"math=approximate attention={'fused' if fused else 'unfused'}",
            "inputs": [("bf16", (heads, queries, head), 1.0), ("bf16", (heads, keys, head), 1.0), ("bf16", (heads, keys, head), 1.0)],
            "flops": 4 * heads * queries * keys * head // (2 if causal else 1), "bytes": 4 * heads * (queries + keys) * head}


def rows(name, count, width, sums):
    """Kernels along rows of an f32 matrix."""
    x, r = tensor(count, width, "f32"), tensor(count, "f32")
    reduce = lambda out, value, into, body: f"%{out} = " + generic("rC", ["rC", "r"], [(value, x)], (into, r), body)
    over = lambda out, value, row, body: f"%{out} = " + generic("rc", ["rc", "r", "rc"], [(value, x), (row, r)], ("%e", x), body)
    add = "%r = arith.addf %i0, %o : f32"
    square = "%t = arith.mulf %i0, %i0 : f32\n%r = arith.addf %t, %o : f32"
    body, result, written = f"%e = tensor.empty() : {x}\n" + filled("z", "0.0", r), x, count * width
    normalise = bodies.normalised("%i0", "%i1", width, "%r")
    if name == "softmax":
        body += filled("lo", "0xFF800000", r) + reduce("x", "%a", "%lo", "%r = arith.maximumf %i0, %o : f32")
        body += over("p", "%a", "%x", "%t = arith.subf %i0, %i1 : f32\n%r = math.exp %t : f32") + reduce("s", "%p", "%z", add)
        body += over("out", "%p", "%s", "%r = arith.divf %i0, %i1 : f32")
    elif name == "layer-norm":
        body += reduce("s", "%a", "%z", add) + over("d", "%a", "%s", bodies.centred("%i0", "%i1", width, "%r"))
        body += reduce("w", "%d", "%z", square) + over("out", "%d", "%w", normalise)
    elif name == "rms-norm":
        body += reduce("w", "%a", "%z", square) + over("out", "%a", "%w", normalise)
    else:
        body, result, written = body + reduce("out", "%a", "%z", add), r, count
    return {"name": f"rows {name} {count}x{width} {sums}", "kind": name, "text": function([("%a", x)], result, body), "shape": {"width": width},
            "options": f"math=approximate sums={sums}", "inputs": [("f32", (count, width), 1.0)], "flops": 0, "bytes": 4 * (count * width + written),
            "variant": sums != "tree"}


def stream(name, count, width, element):
    """Maps and transposes."""
    x = tensor(count, width, element)
    result = {"cast": tensor(count, width, "bf16"), "transpose": tensor(width, count, element)}[name]
    body = f"%e = tensor.empty() : {result}\n%out = "
    if name == "cast":
        body += generic("rc", ["rc", "rc"], [("%a", x)], ("%e", result), f"%r = arith.truncf %i0 : {element} to bf16")
    else:
        body += generic("rc", ["rc", "cr"], [("%a", x)], ("%e", result), "%r = arith.addf %i0, %i0 : " + element)
    moved = count * width * (BYTES[element] + (2 if name == "cast" else BYTES[element]))
    return {"name": f"stream {name} {element} {count}x{width}", "kind": name, "text": function([("%a", x)], result, body), "shape": {},
            "inputs": [(element, (count, width), 1.0)], "flops": 0, "bytes": moved}


def sums(name, count, width):
    """Sums over the rows of an f32 matrix, or over all of it."""
    loops, left, result = {"column-sum": ("Rc", "c", tensor(width, "f32")), "full-sum": ("RC", "", tensor("f32"))}[name]
    x = tensor(count, width, "f32")
    body = filled("z", "0.0", result) + "%out = " + generic(loops, [loops, left], [("%a", x)], ("%z", result), "%r = arith.addf %i0, %o : f32")
    return {"name": f"{name} {count}x{width}", "kind": name, "text": function([("%a", x)], result, body), "shape": {},
            "inputs": [("f32", (count, width), 1.0)], "flops": 0, "bytes": 4 * count * width}


def gather(count, width, rows=100):
    """Rows of a table at indices that are any numbers."""
    ids, table, result = tensor(count, "i64"), tensor(rows, width, "f32"), tensor(count, width, "f32")
    taken = (f"%n = arith.constant {rows} : i64\n%m = arith.remui %i0, %n : i64\n%i = arith.index_cast %m : i64 to index\n"
             f"%j = linalg.index 1 : index\n%r = tensor.extract %table[%i, %j] : {table}")
    body = f"%e = tensor.empty() : {result}\n%out = " + generic("rc", ["r", "rc"], [("%a", ids)], ("%e", result), taken)
    return {"name": f"gather {count}x{width}", "kind": "gather", "text": function([("%a", ids), ("%table", table)], result, body), "shape": {},
            "inputs": [("i64", (count,), 1.0), ("f32", (rows, width), 1.0)], "flops": 0, "bytes": 8 * count * width}


def convolution(images, size, channels, filters, window):
    """A convolution of bf16 images with channels last and zeros around them, into bf16."""
    edge = window // 2
    x, padded = tensor(images, size, size, channels, "bf16"), tensor(images, size + 2 * edge, size + 2 * edge, channels, "bf16")
    w, c, o = tensor(window, window, channels, filters, "bf16"), tensor(images, size, size, filters, "f32"), tensor(images, size, size, filters, "bf16")
    body = "%zero = arith.constant 0.0 : bf16\n" + filled("z", "0.0", c)
    if edge:
        body += (f"%p = tensor.pad %x low[0, {edge}, {edge}, 0] high[0, {edge}, {edge}, 0] {{\n^bb0(%i0: index, %i1: index, %i2: index, %i3: index):\n"
                 f"tensor.yield %zero : bf16\n}} : {x} to {padded}\n")
    body += f"%c = linalg.conv_2d_nhwc_hwcf ins({'%p' if edge else '%x'}, %w : {padded}, {w}) outs(%z : {c}) -> {c}\n%oe = tensor.empty() : {o}\n"
    body += "%out = " + generic("nyxf", ["nyxf", "nyxf"], [("%c", c)], ("%oe", o), "%r = arith.truncf %i0 : f32 to bf16")
    flops = 2 * images * size * size * channels * filters * window * window
    return {"name": f"convolution {images}x{size}x{size}x{channels} to {filters}, {window}x{window}", "kind": "convolution",
            "text": function([("%x", x), ("%w", w)], o, body), "shape": {"edge": edge}, "flops": flops,
            "inputs": [("bf16", (images, size, size, channels), 1.0), ("bf16", (window, window, channels, filters), 0.05)],
            "bytes": 2 * (images * size * size * (channels + filters) + window * window * channels * filters)}


# Layers of networks with f32 weights as arguments: words of mp-gen.
LAYERS = {
    "bert 1x128": ["bert", "--layers=1", "--vocab=0"],
    "bert 32x128": ["bert", "--layers=1", "--vocab=0", "--batch=32"],
    "gpt2 8x1024": ["gpt2", "--layers=1", "--vocab=0", "--seq=1024", "--batch=8"],
    "llama 1x2048": ["llama", "--layers=1", "--vocab=0", "--hidden=4096", "--heads=32", "--kv-heads=8", "--intermediate=14336", "--seq=2048"],
    "vit 32": ["vit", "--layers=1", "--batch=32"],
    "resnet50 32": ["resnet50", "--batch=32"],
}
OPTIONS = {"": "", "fused attention": "attention=fused", "approximate": "math=approximate attention=fused", "ordered": "sums=ordered"}


def layers():
    for name, words in LAYERS.items():
        for tag, options in OPTIONS.items():
            if tag and tag != "ordered" and name.startswith("resnet"):
                continue
            for form in ("bf16", "") if not tag else ("bf16",):
                yield {"name": f"layer {name} {form or 'f32'}" + (f" {tag}" if tag else ""), "kind": "layer", "command": words, "format": form,
                       "options": options, "shape": {"layer": name, "format": form or "f32"}, "flops": 0, "bytes": 0, "variant": bool(tag)}


def cases():
    for extents in [*LARGE, *BERT, *LLAMA, *LATENCY, *SMALL, *ODD]:
        yield product(*extents)
    yield product(4096, 4096, 4096, order="nn")
    for form in ("f16", "tf32", "e4m3", "s8"):
        yield product(4096, 4096, 4096, form)
    yield product(2048, 2048, 2048, "f32")
    for extents in (BERT[1], LLAMA[1]):
        yield product(*extents, epilogue="gelu")
    for extents in (BERT[1], BERT[2], LLAMA[1], LATENCY[1]):
        yield product(*extents, narrow=True)
    for head in (64, 128):
        for causal in (False, True):
            yield attention(16, 4096, 4096, head, causal)
    yield attention(384, 128, 128, 64)
    yield attention(384, 128, 128, 64, fused=False)
    yield attention(96, 1024, 1024, 64, causal=True)
    for name in ("softmax", "layer-norm", "rms-norm", "row-sum"):
        for width in (768, 1024, 4096, 8192, 50257):
            for sums in ("ordered", "tree"):
                yield rows(name, 2**25 // width, width, sums)
    for element in ("f32", "bf16"):
        yield stream("transpose", 8192, 8192, element)
    yield stream("cast", 8192, 8192, "f32")
    for shape in ((32, 56, 64, 64, 3), (32, 28, 128, 128, 3), (32, 14, 256, 256, 3), (32, 56, 64, 256, 1), (32, 14, 1024, 256, 1)):
        yield convolution(*shape)
    yield from layers()
    for extents in (LARGE[0], LARGE[1], BERT[0], BERT[1], BERT[2], LLAMA[1], LATENCY[1], LATENCY[2]):
        for schedule in SCHEDULES:
            yield product(*extents, schedule=schedule)
    for extents in (BERT[0], BERT[2], LLAMA[1], LATENCY[2]):
        for schedule in NARROWING:
            yield product(*extents, narrow=True, schedule=schedule)


def tiny():
    """One small case of each kind."""
    yield product(64, 48, 32)
    yield product(40, 24, 33, "tf32")
    yield product(32, 32, 32, "s8")
    yield product(32, 32, 32, "e4m3")
    yield product(64, 64, 64, epilogue="gelu")
    yield product(64, 64, 64, narrow=True)
    yield product(128, 128, 128, schedule=SCHEDULES[2])
    yield attention(2, 48, 80, 32, causal=True)
    for name in ("softmax", "layer-norm", "rms-norm", "row-sum"):
        yield rows(name, 5, 37, "tree")
    yield stream("transpose", 33, 17, "bf16")
    yield stream("cast", 33, 17, "f32")
    yield convolution(1, 6, 16, 8, 3)
    yield {"name": "layer bert", "kind": "layer", "command": ["bert", "--layers=1", "--hidden=64", "--heads=2", "--seq=16", "--vocab=0", "--intermediate=96"],
           "format": "bf16", "shape": {"layer": "tiny", "format": "bf16"}, "flops": 0, "bytes": 0}
