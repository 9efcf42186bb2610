// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of mp-run --help-all; --help leaves out the further options.

#include "RunOptions.h"

using namespace mlir;

static constexpr StringLiteral kRunHelp =
    R"(mp-run FILE.mlir [options]: run a function on the CPU and say how far it is from a reference

  --entry=NAME          function to run (default: main, or the only public one)
  --input=VALUE         once per argument, in order: @x.npy, @w.safetensors:NAME, 2x3xf32=1.5,
                        "2x3xf32=[1 2 3][4 5 6]", i32:7, 4xf32=uniform:SEED,SCALE,OFFSET,
                        4xi64=integers:SEED,LOW,HIGH, seed; arguments without one are seeded.
                        Integer files of the same width are taken as patterns of narrow floats
  --params=F.safetensors  arguments by name (of the location), before --input is counted
  --seed=N              of seeded arguments (default 0): weights have variance 1 / fan-in
  --dim=N               size of dynamic dimensions of seeded arguments (default: mp.dim, else 128)
  --output=@y.npy       once per result, in order; - is standard output
  --device=cpu|emulator|cuda  where to run: compiled for the host, or lowered to GPU kernels that run in
                        the emulator or on a GPU (a file that mp-to-nvvm lowered is taken as it is)
  --chip=sm_80          the GPU that kernels are made for, and that the emulator follows (default: sm_80;
                        with --device=cuda native, the installed one)
  --compare=f64|FILE    against the same graph computed in f64, or against another file
  --max-rel=X           fail if an error exceeds X times the reference's largest magnitude
  --per-op              compare the values inside the function too (they become results, which keeps
                        them from being fused); of kernels print what each did and the memory it took
  --json=R.json         the comparison for programs
  --steps=N             repeat; a result replaces the argument whose mp.state names it, or,
                        without mp.state, leading results replace leading arguments. State that
                        mp appended starts as an --input for it or @NAME_init says;
                        --input=batches:@x.npy gives each step the next rows. With --compare=FILE both are trained, and how far their
                        state drifts apart is printed
  --threads=N           of compiling kernels and of modelled Tensor Cores; compiled code and the emulator have one.
                        Without it one per processor. The results have the same bits
  --help, --version
  --help-all            also what searches, calibrates, watches, saves and traces, PTX files, and limits

Further options:
  --input-dir=DIR       write all arguments, as DIR/input-000.npy and so on
  --output-dir=DIR      all results, as DIR/result-000.npy and so on
  --numerics=ieee|sm_70|sm_75|sm_80|sm_89|sm_90|sm_100|sm_120
                        arithmetic of contractions on the CPU: IEEE, or a GPU's Tensor Cores bit for
                        bit; with other devices, of the reference that --compare=FILE runs
  --math=libm|exact     functions from the C library, or as kernels compute them, bit for bit
  --check-ranges        check that all values inside lie where mp-annotate-ranges proves them to, given
                        the ranges of the arguments of this run; prints how tight the proofs are
  --check-errors        run in f64, too, and check that no value inside is further off than its certified
                        bound (docs/concepts/Ranges.md), given the same ranges; prints how tight the
                        bounds are
  --estimate=H100       of --device=emulator or PTX: the time that each kernel would take on that GPU, and what
                        binds it, modelled from what the emulator counts (docs/concepts/Performance.md);
                        without --chip, kernels are made for that GPU
  --fit-memory=SIZE     of the CPU: compute values again rather than keep them, so that no more bytes than that (K, M, G
                        or T behind: powers of 1024) are allocated at a time, for the least modelled time that is found; the same bits, and a message where
                        that cannot be. --store-narrow=bf16|f16: or store them so meanwhile. --compare=FILE runs
                        without it (docs/guides/Memory.md)
  --trace=T.json        of --device=emulator: the launches in time, for ui.perfetto.dev; as long as modelled with
                        --estimate, else as the emulator took
  --sample-blocks=N     with --estimate: run about N blocks of each launch, evenly spread, and scale what they
                        count; results mean nothing and are not printed
  --html=R.html         with --steps: a page that plots every scalar, step by step
  --break-on=nan,inf,underflow:0.1
                        look at every value as it is computed, and end at the first that has NaN, infinities, or more
                        than that share of elements that a cast makes zero; prints what it was made of
  --bisect --keep=finite|error:X|script:CMD --assign=OPTIONS
                        convert with the options of mp-mixed-precision (with --steps: of mp-train-step), and find the
                        smallest set of contractions to keep wide so that all results are finite, their relative
                        error is at most X, or CMD, given the converted file, ends with status 0.
                        --policy-out=P.json writes it as a policy, --max-runs=N limits the runs
  --budget=X --assign=OPTIONS --draws=4 --held-back=0.25
                        find the loosest limit of modelled error (max-rel-error) under which the measured relative error
                        of the results, against the program as given, is at most X in every draw; a share of the draws
                        decides nothing and is checked in the end. --policy-out=P.json: the decision, for policy=
  --sensitivity=S.json --assign=OPTIONS --formats=bf16,f16 --draws=4
                        measure what each contraction adds to the error when it alone is narrow, over several batches
                        or seeds; numbers in the file are taken up again. mp-mixed-precision="sensitivity=S.json
                        max-rel-error=X" decides by it. --weights: besides, what results make of noise on each
                        parameter as large as its rounding, and, in a train step, what the curvature of the loss
                        (from differences of gradients) says it costs. --layers: contractions whose names have the
                        same path (blocks.1.attention) are narrow together, and one by one only in layers whose
                        error is above --open-above=X (without it: in none)
  --ab=A.json,B.json --assign=OPTIONS --steps=N --draws=K
                        train up to K pairs of runs by two policies, each pair from one seed on the same batches, and
                        compare their last losses; the statement holds however often one looks. --margin=X: differences
                        below it do not matter
  --monitor=R.jsonl     with --steps: a line of JSON a step with loss, norms, loss scale, skips, memory and what
                        probes (mp-insert-probes) counted; alarms by the rules of docs/guides/WatchTraining.md; a
                        summary. With it, --html may be watched while the run goes on
  --alarm-rules         print these rules and what each suggests, as JSON (no file)
  --save-state=DIR      of a train step: write its state after the steps, each process of many its own file
                        (docs/guides/Distribute.md)
  --load-state=DIR      go on with the newest state there, or that of a manifest DIR/step-N.json, on any number of
                        processes; --steps are further ones, numbered on
  --log-every=N         print the scalars of every N-th step only
  --calibrate=@x.npy    run once per batch of these rows (as --input=batches:@x.npy, once per input) and
                        choose a magnitude for each operand of a contraction, for scales=FILE of
                        mp-mixed-precision; --json=FILE is where to
  --ranges=OUT.mlir     of --calibrate: write the module with what the factors of contractions were seen to be as
                        mp.range, labelled measured, which f16 may rest on; --range-margin=2 times the largest magnitude
  --round-weights=OUT.mlir   of --calibrate: write the module with constant matrices as codes, rounded by GPTQ so that
                        products with these rows change least; --weight-codes=i4[:GROUP][,mse][,layers][,means][,targets]
                        [,descent][,2:4] (2 to 8 bits; steps of least error; layer after layer; means of outputs kept; later
                        weights make up for earlier ones; moved on to a local minimum of the error; 2 of 4 left); with
                        --activation-codes=i8|ui8 what they multiply is rounded, too, to a grid that ends where --calibrator
                        says; uiN has a zero point (mp-sum-codes makes sums of integers of it);
                        with --round-limit=0.01 results move by at most that much over the rows: each contraction is in
                        codes, in bf16 or in f32, whatever is cheapest together
  --smooth=OUT.mlir     of --calibrate: write the module with channels of what constant weights multiply divided by powers
                        of two, and the weights multiplied by them: the same function; --smooth-share=0.5: of the magnitude
                        that goes to weights
  --prune=OUT.mlir      of --calibrate: write the module with 2 of 4 weights along what is summed over, those whose
                        magnitude times the norm of what they multiply is largest (Wanda)
  --calibrator=absmax|percentile[:SHARE]|mse[:e4m3|e5m2|int8]|entropy
  --emit-llvm           print the LLVM IR instead of running

Of PTX files, which run in the emulator: mp-run KERNEL.ptx --kernel=K --grid=X,Y,Z --block=X,Y,Z
  --smem=BYTES          dynamic shared memory
  --chip=sm_80          whose Tensor Cores (default: the file's target)
  --input=VALUE         once per parameter: arrays become device memory, i32:7 is passed by value, and so is
                        a tensor map, as JSON or @map.json: {"array": "64x96xf16=0", "box": [64, 32]},
                        with "dims", "strides", "type", "swizzle": "128B", "outside": "nan" on demand;
                        "array" may be the number of an earlier --input; im2col: "pixels" and "channels" for the
                        box, "lower", "upper" and "elementStrides" on demand; a structure is its fields in
                        parentheses, laid out as C does: (8xf32=0; i32:7; (i8:1; i64:2))
  --output=@y.npy       the last arrays, after the launch
  --expect=VALUE        what the last arrays have to hold then (as --input; --max-rel=X allows differences). Of
                        the first element that differs it is said which instruction of which thread wrote it, and
                        what that thread read last from shared memory
  --reverse             blocks, warps and lanes in reverse order (also with --device=emulator)
  --max-instructions=N  warp instructions, each block counted as 1000 more, after which the launch is stopped
                        (default 10000000000)
  --refused-ptx         print the instructions that assemblers take and the emulator refuses, and why (no file)
  Counts of instructions, memory transactions and bank conflicts are printed, and written to --json=R.json;
  faults of the kernel (bounds, races, deadlocks and so on) name instruction, thread and lane.

Exit status: 0 done, 1 a comparison or a check of the program failed, or a limit was reached, 2 wrong usage or
input, 70 an internal error, 77 something optional is missing (a driver).

  mp-run model.mlir --compare=f64
  mp-opt model.mlir --mp-mixed-precision -o mixed.mlir && mp-run mixed.mlir --compare=model.mlir --max-rel=1e-2
  mp-run layer.mlir --input=@x.npy --params=weights.safetensors --output=@y.npy
)";

StringRef mlir::mp::runHelp() { return kRunHelp; }
