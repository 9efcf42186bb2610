// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The protocol of a ring of stages in shared memory that a block fills while it multiplies: what
// each warp does, in which order. Emitters walk these lists; a test explores all interleavings of
// several warps that do.
//
// Stage s of the ring holds step s mod `stages`. In step s the warps multiply stage s from
// registers and copy step s + stages - 1 into the stage that step s - 1 has left; one barrier a
// step, before the last part, both lets everyone see the next stage and says that everyone has read
// the current one. Fragments of part p + 1 are read while part p is multiplied.

#ifndef MP_KERNELS_BUILD_PIPELINE_H
#define MP_KERNELS_BUILD_PIPELINE_H

#include "llvm/ADT/SmallVector.h"

namespace mlir::mp {

struct PipelineEvent {
  enum Kind {
    Copy,     ///< start to bring share `part` of step `ahead` steps on (cp.async, or to registers)
    Put,      ///< write share `part` from registers to its stage
    Commit,   ///< close the group of copies
    Wait,     ///< until at most `pending` groups of copies are under way
    Barrier,  ///< of the whole block
    Read,     ///< fragments of part `part` of the step `ahead` steps on
    Multiply, ///< part `part` of this step
  } kind;
  int ahead = 0;
  int part = 0;
  int pending = 0;
  bool operator==(const PipelineEvent &) const = default;
};

class Pipeline {
public:
  /// A ring of at least 2 stages; steps of `parts` parts, at least 2. `asynchronous`: some copies
  /// are cp.async; `throughRegisters`: some are loads.
  Pipeline(int stages, int parts, bool asynchronous, bool throughRegisters)
      : stages(stages), parts(parts), asynchronous(asynchronous),
        throughRegisters(throughRegisters) {}

  /// Before the first step: fills all stages but one, and reads the first fragments.
  llvm::SmallVector<PipelineEvent> prologue() const;
  /// One step.
  llvm::SmallVector<PipelineEvent> step() const;
  /// After the last step: nothing is under way, and shared memory may be used for something else.
  llvm::SmallVector<PipelineEvent> drain() const;

  /// The copies of a step are dealt into so many shares, of which one at a time is in registers.
  int copyParts() const { return parts - 1; }

  const int stages, parts;
  const bool asynchronous, throughRegisters;
};

} // namespace mlir::mp

#endif // MP_KERNELS_BUILD_PIPELINE_H
