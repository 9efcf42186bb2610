// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the family of an estimate and finishes it.

#include "Combine.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

using namespace mpcore::performance;

llvm::StringRef mpcore::performance::toString(Bound bound) {
  switch (bound) {
  case Bound::Tensor: return "tensor";
  case Bound::Issue: return "issue";
  case Bound::SharedMemory: return "shared memory";
  case Bound::L2: return "L2";
  case Bound::Memory: return "memory";
  case Bound::Latency: return "latency";
  case Bound::Launch: return "launch";
  }
  llvm_unreachable("unknown bound");
}

namespace {
/// Chooses the family; resourcesOf has refused all other pairs.
struct Family {
  const Resources &r;
  const Part &part;
  const Calibration &c;
  Estimate operator()(const MatmulProblem &p, const MatmulSchedule &s) const {
    return detail::estimateMatmul(p, s, r, part, c);
  }
  Estimate operator()(const MapProblem &p, const MapSchedule &s) const {
    return detail::estimateMap(p, s, r, part, c);
  }
  Estimate operator()(const RowProblem &p, const RowSchedule &s) const {
    return detail::estimateRows(p, s, r, part, c);
  }
  Estimate operator()(const ColumnReductionProblem &p, const ColumnReductionSchedule &s) const {
    return detail::estimateColumns(p, s, r, part, c);
  }
  Estimate operator()(const TransposeProblem &p, const TransposeSchedule &s) const {
    return detail::estimateTranspose(p, s, r, part, c);
  }
  Estimate operator()(const AttentionProblem &p, const AttentionSchedule &s) const {
    return detail::estimateAttention(p, s, r, part, c);
  }
  template <class P, class S> Estimate operator()(const P &, const S &) const {
    llvm_unreachable("a schedule for another kind of problem");
  }
};
} // namespace

Estimate mpcore::performance::estimate(const Problem &problem, const Schedule &schedule,
                                       const Resources &resources, const Part &part,
                                       const Calibration &calibration) {
  Estimate e = std::visit(Family{resources, part, calibration}, problem, schedule);
  e.bound = detail::bindingOf(e);
  e.occupancy = resources.occupancy;
  e.minimumBytes = minimumBytes(problem);
  e.evidence = std::holds_alternative<AttentionProblem>(problem) ? calibration.attention
                                                                 : calibration.evidence;
  return e;
}

llvm::Expected<Estimate> mpcore::performance::estimate(const Problem &problem,
                                                       const Schedule &schedule, const Part &part,
                                                       const Calibration &calibration) {
  llvm::Expected<Resources> resources = resourcesOf(problem, schedule, part);
  if (!resources)
    return resources.takeError();
  return estimate(problem, schedule, *resources, part, calibration);
}

const Calibration &detail::calibrationOf(const Problem &problem, const Schedule &schedule,
                                         const Part &part) {
  if (auto *p = std::get_if<MatmulProblem>(&problem))
    if (auto *s = std::get_if<MatmulSchedule>(&schedule))
      return calibrationFor(part, s->unit, p->format);
  if (auto *p = std::get_if<AttentionProblem>(&problem))
    if (auto *s = std::get_if<AttentionSchedule>(&schedule))
      return calibrationFor(part, s->unit, p->format);
  return calibrationFor(part, MatrixUnit::Fma, "");
}

llvm::Expected<Estimate> mpcore::performance::estimate(const Problem &problem,
                                                       const Schedule &schedule, const Part &part) {
  return estimate(problem, schedule, part, detail::calibrationOf(problem, schedule, part));
}

double mpcore::performance::speedOfLight(const Problem &problem, const Part &part) {
  double products = 0;
  auto add = [&](llvm::StringRef format) {
    if (std::optional<MatrixUnit> unit = part.bestUnit(format))
      products = 2 * multiplyAdds(problem) / (part.peakTera(*unit, format) * 1e12);
  };
  if (auto *p = std::get_if<MatmulProblem>(&problem))
    add(p->format);
  if (auto *p = std::get_if<AttentionProblem>(&problem))
    add(p->format);
  return std::max(products, minimumBytes(problem) / part.memoryBytesPerSecond());
}

llvm::json::Value mpcore::performance::toJSON(const Estimate &e) {
  llvm::json::Object alone;
  for (unsigned b = 0; b < kBounds; ++b)
    alone[toString(Bound(b))] = e.alone[b] * 1e6;
  return llvm::json::Object{{"microseconds", e.microseconds()},
                            {"bound", toString(e.bound)},
                            {"alone_microseconds", std::move(alone)},
                            {"blocks", e.blocks},
                            {"waves", e.waves},
                            {"occupancy", e.occupancy},
                            {"bytes", e.bytes},
                            {"minimum_bytes", e.minimumBytes},
                            {"evidence", e.evidence.text()}};
}
