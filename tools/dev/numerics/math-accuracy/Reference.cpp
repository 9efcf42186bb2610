// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reference.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

#ifdef MP_HAVE_MPFR
#include <mpfr.h>
#endif

using namespace mlir::mp;

static long double rsqrtl(long double x) { return 1 / std::sqrt(x); }

#ifdef MP_HAVE_MPFR

using MultipleFunction = int(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);

/// Unlike mpfr_rec_sqrt, -inf for -0, as IEEE 754 wants it.
static int reciprocalRoot(mpfr_ptr result, mpfr_srcptr x, mpfr_rnd_t mode) {
  mpfr_sqrt(result, x, mode);
  return mpfr_ui_div(result, 1, result, mode);
}

template <MultipleFunction *function> static Precise inMPFR(double x) {
  mpfr_t argument, result;
  mpfr_init2(argument, 53);
  mpfr_init2(result, 160);
  mpfr_set_d(argument, x, MPFR_RNDN);
  function(result, argument, MPFR_RNDN);
  Precise found{mpfr_get_ld(result, MPFR_RNDN), 0};
  if (std::isfinite(found.value)) {
    mpfr_t head;
    mpfr_init2(head, 64);
    mpfr_set_ld(head, found.value, MPFR_RNDN);
    mpfr_sub(result, result, head, MPFR_RNDN);
    found.rest = mpfr_get_ld(result, MPFR_RNDN);
    mpfr_clear(head);
  }
  mpfr_clears(argument, result, nullptr);
  return found;
}

#define REFERENCE(op, extended, multiple) {#op, extended, &inMPFR<multiple>}
#else
#define REFERENCE(op, extended, multiple) {#op, extended, nullptr}
#endif

static const Reference references[] = {
    REFERENCE(exp, expl, mpfr_exp),       REFERENCE(exp2, exp2l, mpfr_exp2),
    REFERENCE(expm1, expm1l, mpfr_expm1), REFERENCE(log, logl, mpfr_log),
    REFERENCE(log2, log2l, mpfr_log2),    REFERENCE(log10, log10l, mpfr_log10),
    REFERENCE(log1p, log1pl, mpfr_log1p), REFERENCE(tanh, tanhl, mpfr_tanh),
    REFERENCE(erf, erfl, mpfr_erf),       REFERENCE(rsqrt, rsqrtl, reciprocalRoot),
    REFERENCE(sqrt, sqrtl, mpfr_sqrt),    REFERENCE(sin, sinl, mpfr_sin),
    REFERENCE(cos, cosl, mpfr_cos),       REFERENCE(sinh, sinhl, mpfr_sinh),
    REFERENCE(asinh, asinhl, mpfr_asinh), REFERENCE(atanh, atanhl, mpfr_atanh),
    REFERENCE(atan, atanl, mpfr_atan),    REFERENCE(asin, asinl, mpfr_asin),
    REFERENCE(acos, acosl, mpfr_acos),    REFERENCE(cbrt, cbrtl, mpfr_cbrt),
};

const Reference &mlir::mp::referenceFor(llvm::StringRef op) {
  return *llvm::find_if(references, [&](const Reference &reference) { return op == reference.op; });
}

llvm::StringRef mlir::mp::referenceName() {
  return references[0].multiple ? "MPFR with 160 bits" : "long double";
}
