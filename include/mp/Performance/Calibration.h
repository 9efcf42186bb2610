// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of the performance model that no data sheet has, and what they rest on.
// tools/dev/kernels/fit-model fits them and prints the rows of lib/Performance/Calibration.cpp.

#ifndef MP_PERFORMANCE_CALIBRATION_H
#define MP_PERFORMANCE_CALIBRATION_H

#include "mp/Performance/Part.h"

#include <array>

namespace mpcore::performance {

/// An estimate rests on measurements, or on none.
struct Evidence {
  unsigned points = 0;    ///< measurements that the constants were fitted to; 0: peaks only
  llvm::StringRef source; ///< of those
  double meanError = 0;   ///< mean of |log(modelled / measured)| on shapes not seen by the fit
  /// The part and format that was measured, where it is another one: "H100 SXM bf16".
  llvm::StringRef carriedFrom;
  /// "fitted on 187 points of ...", "carried over from H100 SXM bf16 (187 points of ...)" or
  /// "peaks only".
  std::string text() const;
};

/// Constants of the model, in the order in which fits and tables have them. Each one is positive.
enum class Constant : uint8_t {
  Launch,             ///< microseconds before the first and after the last instruction that counts
  TensorShare,        ///< of the documented peak rate that main loops sustain
  L2Share,            ///< of the width of L2 that a grid gets
  StoreBytesPerCycle, ///< at which a multiprocessor converts and stores a tile of results
  ExposedStores,      ///< share of that time which the next tile's products do not hide
  MemoryShare,        ///< of the documented bandwidth that long transfers reach
  SplitMicroseconds,  ///< to add up the parts of sums that blocks share
  ExposedSoftmax,     ///< share of attention's exponentials that its products do not hide
  AttentionCycles,    ///< per block of attention, before its first and after its last step
};
inline constexpr unsigned kConstants = 9;
llvm::StringRef toString(Constant constant);

struct Calibration {
  std::array<double, kConstants> values;
  Evidence evidence;
  Evidence attention = {}; ///< of the constants that only attention has
  double operator[](Constant c) const { return values[unsigned(c)]; }
  double &operator[](Constant c) { return values[unsigned(c)]; }
};

/// Physically plausible values, from which fits start and to which they are held as far as data
/// leave a constant open: `spread` is the standard deviation of its logarithm.
struct Prior {
  double value, spread;
};
Prior priorOf(Constant constant);

/// The constants for matrix products of `format` by `unit`, or for kernels without any (format
/// empty). A part with the multiprocessor of one that was measured gets its constants, and so does
/// a format that nobody measured from bf16; all others get the priors, labelled as peaks only.
const Calibration &calibrationFor(const Part &part, MatrixUnit unit, llvm::StringRef format);

} // namespace mpcore::performance

#endif // MP_PERFORMANCE_CALIBRATION_H
