/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Functions that code compiled by mp-to-cpu calls at run time: contractions, memory, and failed
 * checks. C ABI, no LLVM; libMPRuntime.so serves ahead-of-time compiled programs, libMP.so holds
 * the same code for its JIT.
 */
#ifndef MP_RUNTIME_RUNTIME_H
#define MP_RUNTIME_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Element formats, numbered as mpcore::numerics::Format. Storage: 8 bytes for f64, 4
 * for f32 and tf32 (an f32 whose low 13 bits are zero), 2 for bf16 and f16, else 1. */
enum mp_rt_format {
  MP_RT_F64,
  MP_RT_F32,
  MP_RT_TF32,
  MP_RT_BF16,
  MP_RT_F16,
  MP_RT_F8E5M2,
  MP_RT_F8E4M3,
  MP_RT_F8E4M3FN,
  MP_RT_F8E5M2FNUZ,
  MP_RT_F8E4M3FNUZ,
  MP_RT_F8E4M3B11FNUZ,
  MP_RT_F8E3M4,
  MP_RT_F8E8M0FNU,
  MP_RT_F6E3M2FN,
  MP_RT_F6E2M3FN,
  MP_RT_F4E2M1FN,
  MP_RT_FORMAT_COUNT
};

/* The value of a pattern of any format of at most 16 bits, exactly. */
float mp_rt_decode(uint32_t bits, int format);

/* Rounds to bf16 to nearest even, NaN to a quiet NaN of its sign. The pattern is the low half of
 * the float returned, where the C ABIs of x86-64 and AArch64 return a bf16. LLVM calls this as
 * __truncsfbf2 on processors without an instruction for it; libgcc has that from GCC 13 on, and
 * libMPRuntime defines it weakly for older ones. */
float mp_rt_round_to_bf16(float value);

/* C += sum over the loops that C does not use of A * B.
 *
 * loops: rank, then rank sizes, rank strides of A, of B and of C, in elements;
 * stride 0 where an operand does not use the loop. Every contraction and
 * convolution whose indices are sums of loop * constant has this form.
 * a, b, c: addresses of the elements at loop index 0. formats: those of A, B and
 * C as bytes 0, 1 and 2. C is f32 or f64, and products and sums are computed in
 * its format, A and B being widened exactly (a narrower C or an f64 operand of
 * an f32 C is a programming error and ends the run). The order of the sum is
 * fixed: it does not depend on the number of threads.
 */
void mp_rt_contract(const int64_t *loops, const void *a, const void *b, void *c, int64_t formats);

/* One matrix product of a contraction, as a hook sees it: row-major, dense,
 * operands in their own formats. c is m x n f32, to be added to. */
typedef struct {
  int64_t m, n, k;
  const void *a, *b;
  int format_a, format_b;
  float *c;
} mp_rt_product;

/* Replaces the arithmetic of products into f32: called for each product, returns
 * 0 if it left the product to the runtime. Process-wide; null restores. */
typedef int (*mp_rt_product_hook)(void *user, const mp_rt_product *product);
void mp_rt_set_product_hook(mp_rt_product_hook hook, void *user);

/* The inner loops used on this machine, such as "own kernel, avx512f". */
const char *mp_rt_kernel_name(void);

/* Threads for large contractions; 0 (the default) asks the system. */
void mp_rt_set_threads(int threads);

/* Calls entry(args) with memory and failed checks contained: returns 0, or the
 * non-zero code given to mp_rt_fail, or -1 when memory ran out. Memory that the
 * code allocated stays valid until mp_rt_release. Not reentrant within a thread. */
int64_t mp_rt_invoke(void (*entry)(void **), void **args);

/* Bytes that mp_rt_invoke's code in this thread may hold at once, after which memory ran out; 0
 * (the default) leaves it to the system, which may hand out more than it has. */
void mp_rt_set_memory_limit(int64_t bytes);

/* Not 0 while this thread is in mp_rt_invoke; may be asked in a signal handler. */
int mp_rt_is_running(void);

/* Frees everything the code run by mp_rt_invoke in this thread still holds. */
void mp_rt_release(void);

/* Largest number of bytes held at once since the last mp_rt_release. */
int64_t mp_rt_peak_bytes(void);

/* Ends the running mp_rt_invoke with `code` (which must not be 0); outside of
 * one, prints a message and exits with status 1. */
void mp_rt_fail(int64_t code);

/* What failed, for people: set by the mp_rt_expect functions, else empty. Valid until the
 * next mp_rt_invoke of this thread. */
const char *mp_rt_failure_text(void);

/* Expectations about arrays (the check dialect): compare element by element, and if one
 * does not hold keep a description and end as mp_rt_fail(code) does.
 *
 * layout: rank, then for each array its sizes and its strides in elements. element: an
 * mp_rt_format, or for integers MP_RT_INTEGER plus their width. */
enum { MP_RT_INTEGER = 256 };

/* Close when one of the limits holds: at most `ulp` steps between representable values,
 * |actual - expected| <= relative * |expected|, |actual - expected| <= absolute. A
 * negative limit is none. NaN is close to NaN only. */
void mp_rt_expect_close(int64_t code, const int64_t *layout, const void *actual,
                        const void *expected, int64_t element, int64_t ulp, double relative,
                        double absolute);
void mp_rt_expect_bits(int64_t code, const int64_t *layout, const void *actual,
                       const void *expected, int64_t element);
void mp_rt_expect_finite(int64_t code, const int64_t *layout, const void *actual, int64_t element);

/* Names that finalize-memref-to-llvm{use-generic-functions} calls. */
void *_mlir_memref_to_llvm_alloc(int64_t bytes);
void *_mlir_memref_to_llvm_aligned_alloc(int64_t alignment, int64_t bytes);
void _mlir_memref_to_llvm_free(void *address);

#ifdef __cplusplus
}
#endif
#endif /* MP_RUNTIME_RUNTIME_H */
