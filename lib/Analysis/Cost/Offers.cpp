// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/Offers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir::mp;

std::string mlir::mp::describeOffer(const Offer &offer) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << offer.rewrite << " (" << offer.option << "): " << offer.of;
  if (std::isinf(offer.found))
    os << " has no bound";
  else
    os << " may reach " << llvm::format("%.4g", offer.found);
  os << ", " << offer.format << " ends at " << llvm::format("%.6g", offer.limit);
  if (offer.exponent)
    os << "; times 2^" << offer.exponent << " it fits";
  else if (offer.rewrite == "powers of two")
    os << "; times a power of two made of its magnitude, measured where it is computed";
  return text;
}
