/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Printing functions that compiled code calls, in the format of MLIR's own runner libraries, whose
 * functions (printF32, printMemrefF32, rtclock, ...) these replace in the JIT. C ABI, no LLVM.
 * Programs compiled ahead of time link MLIR's libraries instead.
 */
#ifndef MP_RUNTIME_PRINT_H
#define MP_RUNTIME_PRINT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Called with each number that code of this thread prints, in order; null ends it. While there is
 * a listener the clock stands still, so that two runs of the same code print the same, and if
 * `quiet` nothing is written. */
typedef void (*mp_rt_print_listener)(void *user, double number);
void mp_rt_listen_to_prints(mp_rt_print_listener listener, void *user, int quiet);

/* What vector.print becomes. Narrow floats come as patterns. */
void mp_rt_print_i64(int64_t value);
void mp_rt_print_u64(uint64_t value);
void mp_rt_print_f16(uint16_t pattern);
void mp_rt_print_bf16(uint16_t pattern);
void mp_rt_print_f32(float value);
void mp_rt_print_f64(double value);
void mp_rt_print_string(const char *text);
void mp_rt_print_open(void);
void mp_rt_print_close(void);
void mp_rt_print_comma(void);
void mp_rt_print_newline(void);

/* A buffer of any rank: its descriptor (address, aligned address, offset, sizes, strides) and its
 * elements in rows. element: as in mp_rt_expect_close; MP_RT_INTEGER + 64 also serves index. */
void mp_rt_print_buffer(int64_t rank, const void *descriptor, int64_t element);

/* The same for a buffer in the device's memory, of rank at most MP_RT_MAX_RANK; waits for what was
 * launched. */
void mp_rt_print_device_buffer(int64_t rank, const void *descriptor, int64_t element);

/* Seconds since some moment. */
double mp_rt_clock(void);

#ifdef __cplusplus
}
#endif
#endif /* MP_RUNTIME_PRINT_H */
