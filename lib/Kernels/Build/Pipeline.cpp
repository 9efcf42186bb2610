// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the events of a ring of stages.

#include "mp/Kernels/Build/Pipeline.h"

using namespace mlir::mp;
using llvm::SmallVector;

SmallVector<PipelineEvent> Pipeline::prologue() const {
  SmallVector<PipelineEvent> events;
  for (int step = 0; step < stages - 1; ++step) {
    for (int part = 0; part < copyParts(); ++part) {
      events.push_back({PipelineEvent::Copy, step, part});
      if (throughRegisters)
        events.push_back({PipelineEvent::Put, step, part});
    }
    if (asynchronous)
      events.push_back({PipelineEvent::Commit});
  }
  if (asynchronous)
    events.push_back({PipelineEvent::Wait, 0, 0, stages - 2});
  events.push_back({PipelineEvent::Barrier});
  events.push_back({PipelineEvent::Read, 0, 0});
  return events;
}

SmallVector<PipelineEvent> Pipeline::step() const {
  SmallVector<PipelineEvent> events;
  for (int part = 0; part < parts; ++part) {
    bool isLast = part == parts - 1;
    if (isLast) {
      if (asynchronous)
        events.push_back({PipelineEvent::Wait, 0, 0, stages - 2});
      events.push_back({PipelineEvent::Barrier});
    }
    events.push_back({PipelineEvent::Read, isLast ? 1 : 0, isLast ? 0 : part + 1});
    // A group that the last part still added to would be waited for a step late.
    if (!isLast)
      events.push_back({PipelineEvent::Copy, stages - 1, part});
    events.push_back({PipelineEvent::Multiply, 0, part});
    if (!isLast && throughRegisters)
      events.push_back({PipelineEvent::Put, stages - 1, part});
    if (part == parts - 2 && asynchronous)
      events.push_back({PipelineEvent::Commit});
  }
  return events;
}

SmallVector<PipelineEvent> Pipeline::drain() const {
  SmallVector<PipelineEvent> events;
  if (asynchronous)
    events.push_back({PipelineEvent::Wait, 0, 0, 0});
  events.push_back({PipelineEvent::Barrier});
  return events;
}
