// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the arguments of a run from files, literals, or a seed.

#ifndef MP_EXECUTION_INPUTS_H
#define MP_EXECUTION_INPUTS_H

#include "mp/Execution/Host/Program.h"

namespace mlir::mp {

struct InputOptions {
  /// One a piece, for the arguments that `params` does not name, in order:
  ///   @x.npy                       a NumPy file
  ///   @w.safetensors:NAME          one array of a safetensors file
  ///   2x3xf32=1.5                  that value everywhere
  ///   2x3xf32=[1 2 3][4 5 6]       the elements; separators are free
  ///   i32:7, f32:1.5               a scalar
  ///   2x3xf32=uniform:SEED,SCALE,OFFSET   offset + scale * (2u - 1), u in [0, 1)
  ///   4xi64=integers:SEED,LOW,HIGH        low <= value < high
  ///   batches:@x.npy               that many rows of the file a step (see BatchedInput)
  ///   seed                         what an argument gets that nothing is given for
  std::vector<std::string> inputs;
  std::string params; ///< path of a safetensors file; empty for none
  uint64_t seed = 0;
  int64_t dynamicSize = 128; ///< of `?` where neither an input nor mp.dim says
};

/// An input of which each step takes the next rows, as many as the argument has; after the
/// last whole batch it starts again.
struct BatchedInput {
  size_t argument;
  Array rows;
  Array at(int64_t step, llvm::ArrayRef<int64_t> shape) const;
};

/// One array per argument. The rest is seeded: the value of an element depends on
/// seed, argument number and index alone. Floats of rank 2 and more are uniform
/// with variance 1 / fan-in, the fan-in being the product of all sizes but the
/// largest; of rank 1 and 0 uniform in [0.5, 1.5), which serves as scale, variance
/// and bias; integers uniform in [0, 8), in [0, n) where they index
/// a table of n < 8 entries, i1 in {0, 1}; mp.range, where given, rules;
/// optimizer state and counters start at zero. `notes` gets what a person should know (an
/// input was rounded to fit), `batches` the inputs that change from step to step.
llvm::Expected<std::vector<Array>> makeInputs(const Signature &signature,
                                              const InputOptions &options,
                                              std::vector<std::string> &notes,
                                              std::vector<BatchedInput> *batches = nullptr);

/// Reads one --input: a file or a literal.
llvm::Expected<Array> readInput(llvm::StringRef text);

/// Parses one literal (see InputOptions).
llvm::Expected<Array> parseLiteral(llvm::StringRef text);

/// offset + scale * (2u - 1), u being the top 24 bits of splitmix64(seed * 2^32 + i)
/// over 2^24, computed in f64; rounded to f32 first for narrower formats, as a cast
/// of f32 weights would.
Array uniformArray(const ElementType &type, llvm::ArrayRef<int64_t> shape, uint64_t seed,
                   double scale, double offset);

} // namespace mlir::mp

#endif // MP_EXECUTION_INPUTS_H
