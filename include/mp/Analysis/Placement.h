// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What placing storage and casts in one function amounts to, as plain numbers for reports.

#ifndef MP_ANALYSIS_PLACEMENT_H
#define MP_ANALYSIS_PLACEMENT_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace mlir::mp {

struct Placement {
  std::string function;
  std::string part;      ///< the GPU whose figures were used
  std::string objective; ///< time or memory
  /// In picoseconds for time, in bytes for memory; modelled, not measured.
  int64_t before = 0;     ///< as it was given: all in f32
  int64_t after = 0;      ///< as decided
  int64_t lowerBound = 0; ///< nothing permitted is below this
  bool provenOptimal = false;
  std::string method; ///< min-cut, frontier or expansion
  int64_t casts = 0;  ///< at run time, those of constants not counted
  int64_t extraRoundings = 0; ///< values stored narrow that not every use would have rounded
  /// What painting compilers would choose among the same permitted storages, by name.
  std::vector<std::pair<std::string, int64_t>> baselines;
  bool assumedSizes = false, assumedTrips = false;
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_PLACEMENT_H
