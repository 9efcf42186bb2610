/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Collectives between the ranks that run one partitioned program, of which a process hosts some as
 * threads. Whoever moves bytes between processes is a table of functions (MPI, or what a user has);
 * all arithmetic is done here, in an order that depends on the number of ranks alone. C ABI, no
 * LLVM.
 */
#ifndef MP_RUNTIME_COLLECTIVES_H
#define MP_RUNTIME_COLLECTIVES_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How elements are combined; the numbers are those of the comm dialect. Maximum and minimum let NaN
 * through, maxnum and minnum give the number where one of two is NaN. */
enum mp_rt_combine {
  MP_RT_SUM,
  MP_RT_MAXIMUM,
  MP_RT_MINIMUM,
  MP_RT_MAXNUM,
  MP_RT_MINNUM,
  MP_RT_OR,
  MP_RT_AND
};

/* ---- Between processes ---- */

/* Moves bytes between `processes` processes. Each function is called by one thread of each process
 * at a time, all_to_all and all_gather in the same order everywhere; it returns 0, or another
 * number with error() saying why. `seconds`: when to give up waiting for the others; a call that
 * gave up may leave its buffers in use, so that no call follows it. */
typedef struct {
  void *state;
  int process, processes;
  /* Block i of `bytes` bytes of `send` goes to process i, block i of `receive` comes from it. */
  int (*all_to_all)(void *state, const void *send, void *receive, int64_t bytes, double seconds);
  /* `bytes` bytes of every process, in their order. */
  int (*all_gather)(void *state, const void *send, void *receive, int64_t bytes, double seconds);
  const char *(*error)(void *state);
  /* Ends all processes with `code`, for one of them cannot go on. Does not return. */
  void (*abort)(void *state, int code);
  /* Sends `bytes` bytes to one process, from a copy, without waiting for it; `tag` is not negative.
   */
  int (*send)(void *state, int process, int tag, const void *data, int64_t bytes);
  /* Takes the first message with that tag from a process; MP_RT_NOT_YET where none is there. One of
   * another size is an error. */
  int (*receive)(void *state, int process, int tag, void *data, int64_t bytes);
  /* all_to_all in two parts: the first begins it, in the order of all_to_all, and waits for nobody;
   * the second waits, in any order. Buffers are the transport's until then. Null where it has no
   * such thing: then exchanges between processes happen when they are waited for. */
  int (*start_all_to_all)(void *state, const void *send, void *receive, int64_t bytes,
                          void **request);
  int (*wait)(void *state, void *request, double seconds);
} mp_rt_transport;

enum { MP_RT_NOT_YET = -1 };

/* The processes that an MPI launcher started, or null with mp_rt_transport_error(): this library
 * has libMPTransportMPI.so beside it only where MPI was there when it was built. MPI is started by
 * the first call and ended by mp_rt_close_mpi(). */
const mp_rt_transport *mp_rt_open_mpi(void);
void mp_rt_close_mpi(void);
const char *mp_rt_transport_error(void);

/* ---- Ranks ---- */

typedef struct mp_rt_group mp_rt_group;

/* A group of `ranks` ranks, as many hosted by each process (`ranks` must be a multiple of their
 * number); a null transport: by this one alone. Null if that does not come out, or memory is
 * out. */
mp_rt_group *mp_rt_group_create(int ranks, const mp_rt_transport *transport);
void mp_rt_group_destroy(mp_rt_group *group);

/* Ranks hosted here: `first` up to `first + count`, exclusive. */
int mp_rt_group_first(const mp_rt_group *group);
int mp_rt_group_count(const mp_rt_group *group);

/* Seconds that a rank waits for the others in a collective before it fails (default 600). */
void mp_rt_group_set_deadline(mp_rt_group *group, double seconds);

/* This thread is rank `rank`, one of those hosted here, until it leaves. */
void mp_rt_group_enter(mp_rt_group *group, int rank);
void mp_rt_group_leave(void);

/* A rank ended early, for `reason`: those that wait for it, now or later, fail with it. */
void mp_rt_group_fail(mp_rt_group *group, const char *reason);

/* Called once all ranks hosted here have ended a call of the program: fails the group, and returns
 * -1, where another process is still in a collective, as one that runs another program may be. */
int mp_rt_group_end_call(mp_rt_group *group);

/* Why collectives of the group fail, or null. */
const char *mp_rt_group_error(const mp_rt_group *group);

/* Collectives of one rank so far, and bytes it sent to others for them. */
int64_t mp_rt_group_calls(const mp_rt_group *group);
int64_t mp_rt_group_bytes_sent(const mp_rt_group *group);

/* Most exchanges that one rank had started and not yet finished at a time. */
int64_t mp_rt_group_most_under_way(const mp_rt_group *group);

/* Messages that ranks hosted here sent to single others so far, and their bytes. */
int64_t mp_rt_group_messages(const mp_rt_group *group);
int64_t mp_rt_group_message_bytes(const mp_rt_group *group);

/* ---- Called by compiled code, in a thread that is a rank. A failure ends the running
 * mp_rt_invoke with this code, described by mp_rt_failure_text(). Arrays are dense. ---- */

enum { MP_RT_COLLECTIVE_FAILED = -3 };

int64_t mp_rt_rank(void);

/* to[i] = from[i] of all ranks, combined. element: f32, f64, or MP_RT_INTEGER plus a width of 1, 8,
 * 32 or 64. */
void mp_rt_all_reduce(const void *from, void *to, int64_t count, int64_t element, int64_t combine);

/* `outer` blocks of `bytes` bytes from each rank; block i of all ranks lie together in `to`. */
void mp_rt_all_gather(const void *from, void *to, int64_t outer, int64_t bytes);

/* As mp_rt_all_reduce on `outer` blocks of ranks x `count` elements, of which each rank gets its
 * `count` of each block. */
void mp_rt_reduce_scatter(const void *from, void *to, int64_t outer, int64_t count, int64_t element,
                          int64_t combine);

/* The same for elements of a narrow float format (of mp_rt_format), as `from` has them: they are
 * sent as they are, and summed in f32, which `to` is. */
void mp_rt_reduce_scatter_wide(const void *from, void *to, int64_t outer, int64_t count,
                               int64_t element, int64_t combine);

/* mp_rt_all_reduce and mp_rt_reduce_scatter in two calls, between which the rank computes something
 * else: the first sends what is in `from` now and waits for nobody, the second waits, and writes
 * the same bits. Every rank starts and finishes the same exchanges in the same order. Returns the
 * number by which an exchange is finished. */
int64_t mp_rt_start_all_reduce(const void *from, int64_t count, int64_t element, int64_t combine);
void mp_rt_finish_all_reduce(int64_t number, void *to, int64_t count, int64_t element,
                             int64_t combine);
int64_t mp_rt_start_reduce_scatter(const void *from, int64_t outer, int64_t count, int64_t element,
                                   int64_t combine);
void mp_rt_finish_reduce_scatter(int64_t number, void *to, int64_t outer, int64_t count,
                                 int64_t element, int64_t combine);

/* `bytes` bytes for rank `to`, which takes them with the same tag: a copy is sent at once, nothing
 * is waited for. */
void mp_rt_send(const void *from, int64_t bytes, int64_t to, int64_t tag);

/* Waits for the first message with that tag that rank `from` sends to this one. */
void mp_rt_receive(void *to, int64_t bytes, int64_t from, int64_t tag);

#ifdef __cplusplus
}
#endif
#endif /* MP_RUNTIME_COLLECTIVES_H */
