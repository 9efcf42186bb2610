/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The compiler as C functions: read a model, convert it, ask why, check it, run it. For programs in
 * any language that can call C; no type of MLIR or LLVM appears. docs/guides/Embed.md has examples.
 *
 * Every function returns an mp_status. After one that is not MP_OK, mp_last_error() says what was
 * expected and what was found; outputs are untouched. Null where something is needed, a handle that
 * was destroyed, and misspelt options are errors of the caller (MP_USAGE), never a crash.
 *
 * A context and what was made from it are used by one thread at a time; different contexts may be
 * used at the same time. Handles may be destroyed in any order, null ones too. Nothing is written
 * to standard output or error.
 */
#ifndef MP_C_MP_H
#define MP_C_MP_H

#include "mp/Runtime/Device.h"

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define MP_EXPORT __attribute__((visibility("default")))
#else
#define MP_EXPORT
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Raised when a function or a struct changes in a way that callers notice. */
#define MP_API_VERSION 1

typedef enum {
  MP_OK = 0,
  MP_USAGE = 1,     /* an argument of the call is wrong */
  MP_REFUSED = 2,   /* the model was refused, or a check did not hold: see the diagnostics */
  MP_NO_MEMORY = 3, /* memory ran out */
  MP_INTERNAL = 4   /* a defect of mp */
} mp_status;

typedef struct mp_context mp_context;
typedef struct mp_module mp_module;
typedef struct mp_report mp_report;
typedef struct mp_program mp_program;

/* Text or bytes that mp hands out; `data` ends in a zero that `size` does not count. */
typedef struct {
  const char *data;
  size_t size;
} mp_text;

/* MP_API_VERSION of the library, which may differ from that of the header. */
MP_EXPORT int mp_api_version(void);
/* "mp 0.1.0 ...", for people; lives as long as the process. */
MP_EXPORT const char *mp_version(void);
/* Why the last call of this thread that failed did; never null. */
MP_EXPORT const char *mp_last_error(void);
MP_EXPORT void mp_text_free(mp_text *text);

/* ---- Contexts ---- */

typedef enum { MP_NOTE = 0, MP_REMARK = 1, MP_WARNING = 2, MP_ERROR = 3 } mp_severity;

/* Called for each diagnostic while a function that got the context, or what was made from it,
 * runs; a note follows what it belongs to. Strings live until the callback returns; `location` is
 * "FILE:LINE:COLUMN", a name, or "unknown". The callback may come from another thread of the
 * process while the call waits; it must not call mp with this context. */
typedef void (*mp_diagnostic_callback)(void *user, mp_severity severity, const char *message,
                                       const char *location);

MP_EXPORT mp_status mp_context_create(mp_context **context);
MP_EXPORT void mp_context_destroy(mp_context *context);
/* Null: nobody is told. What failed is then in mp_last_error() alone. */
MP_EXPORT mp_status mp_context_set_callback(mp_context *context, mp_diagnostic_callback callback,
                                            void *user);

/* ---- Modules ---- */

/* What mp_module_parse does besides. */
enum { MP_PARSE_IMPORT = 1 /* translates what exporters leave behind, as mp-opt --import */ };
/* What mp_module_print prints besides. */
enum { MP_PRINT_LOCATIONS = 1 };

/* Parses MLIR text, which need not end in a zero, or bytecode. `name`: what locations call it. */
MP_EXPORT mp_status mp_module_parse(mp_context *context, const char *text, size_t size,
                                    const char *name, unsigned flags, mp_module **module);
MP_EXPORT mp_status mp_module_clone(const mp_module *module, mp_module **copy);
MP_EXPORT void mp_module_destroy(mp_module *module);
MP_EXPORT mp_status mp_module_print(const mp_module *module, unsigned flags, mp_text *text);
/* Bytecode of the MLIR release that mp is built on. */
MP_EXPORT mp_status mp_module_bytecode(const mp_module *module, mp_text *bytes);

/* Runs a pass or pipeline in place: a name ("mp-to-nvvm", "canonicalize") with its options as a
 * JSON object (null: none), or a list as in --pass-pipeline with options in braces and null. */
MP_EXPORT mp_status mp_module_run(mp_module *module, const char *pipeline, const char *options);

/* Turns the module into a mixed-precision one in place. `pipeline` is "mp-mixed-precision" or
 * "mp-train-step", `options` a JSON object of its options, e.g. {"format": "bf16"} (null: none);
 * its table is not printed. `report` may be null. */
MP_EXPORT mp_status mp_module_convert(mp_module *module, const char *pipeline, const char *options,
                                      mp_report **report);

/* MP_OK if `converted` is `original` plus casts, and what was reported. Both of one context. */
MP_EXPORT mp_status mp_module_check_erasure(mp_module *original, mp_module *converted);

/* Arguments and results of a function (null: @main, or the only public one) as JSON:
 * {"function": F, "arguments": [{"name", "element", "shape", "role", "state"}], "results": [...]};
 * -1 in a shape is a size known only when it runs. */
MP_EXPORT mp_status mp_module_signature(mp_module *module, const char *entry, mp_text *json);

/* After mp-to-nvvm: the images of kernels (PTX, cubin or fat binaries). */
MP_EXPORT mp_status mp_module_image_count(mp_module *module, size_t *count);
MP_EXPORT mp_status mp_module_image(mp_module *module, size_t index, mp_text *name, mp_text *image);

/* ---- Reports ---- */

typedef enum {
  MP_REPORT_TEXT = 0,       /* the table that mp-opt prints */
  MP_REPORT_JSON = 1,       /* docs/reference/Report.md; also a policy of later conversions */
  MP_REPORT_HTML = 2,       /* one page */
  MP_REPORT_EXPLANATION = 3 /* what the option `explain` asked for; else empty */
} mp_report_form;

MP_EXPORT mp_status mp_report_print(const mp_report *report, mp_report_form form, mp_text *text);
MP_EXPORT void mp_report_destroy(mp_report *report);

/* ---- Programs ---- */

enum { MP_MAX_RANK = 16 };

/* A dense array on the host, row-major. Set struct_size to sizeof(mp_array). */
typedef struct {
  size_t struct_size;
  void *data;
  char element[16]; /* as MLIR spells it: "f32", "bf16", "f8E4M3FN", "i64", "i1" (a byte each) */
  int32_t rank;
  int64_t sizes[MP_MAX_RANK];
} mp_array;

/* Compiles a function (null: @main, or the only public one) for calling. `options` is a JSON
 * object (null: {"device": "cpu"}):
 *   device   "cpu"; "emulator", which runs the kernels of `target` as PTX; or "cuda"
 *   target   of kernels: "sm_80", "native", ...
 *   f64      true: everything in f64, as a reference (cpu); floats come and go as f64
 *   calls    of the program, where the caller knows it (cpu): loops that take less time in all of
 *            them than optimising them does are compiled the quick way, to the same bits
 * The module stays as it is. */
MP_EXPORT mp_status mp_program_compile(mp_module *module, const char *entry, const char *options,
                                       mp_program **program);
/* As mp_module_signature. */
MP_EXPORT mp_status mp_program_signature(const mp_program *program, mp_text *json);
/* Calls it. Counts, element types and shapes are checked against the signature. Results come in
 * fresh memory of 64-byte alignment; mp_array_free() it. */
MP_EXPORT mp_status mp_program_run(mp_program *program, const mp_array *arguments,
                                   size_t argument_count, mp_array *results, size_t result_count);
/* Calls a program of kernels with arrays on the host or the device, ordered by the caller's stream;
 * mp_rt_call_tensors (mp/Runtime/Device.h) says how. Nothing is copied that lies on the device. */
MP_EXPORT mp_status mp_program_call(mp_program *program, const mp_rt_tensor *arguments,
                                    size_t argument_count, mp_rt_tensor *results,
                                    size_t result_count, void *stream);
/* Lets compiled code of XLA call the program by its handlers below, under a key that no other
 * program has, until the program is destroyed; that waits for running calls. */
MP_EXPORT mp_status mp_program_publish(mp_program *program, const char *key);
MP_EXPORT void mp_program_destroy(mp_program *program);
MP_EXPORT void mp_array_free(mp_array *array);

/* ---- XLA ---- */

/* Handlers of XLA's typed foreign function interface (XLA_FFI_Handler, version 0.3; jax.ffi
 * registers them): call the program whose key is the string attribute "program". Element types and
 * shapes are checked, errors go to XLA. Several threads may call at once.
 *   mp_xla_host_call    platform cpu. Programs of the cpu read arguments where XLA has them; their
 *                       results are copied once, into XLA's. Kernels on the emulator get copies.
 *   mp_xla_device_call  platform CUDA: arguments and results on the device, by XLA's stream. */
MP_EXPORT void *mp_xla_host_call(void *call_frame);
MP_EXPORT void *mp_xla_device_call(void *call_frame);

/* ---- Facts ---- */

/* `what`: "targets" (the table of GPUs), "policy" (`argument`: "format=F target=T policy=P"),
 * "error" (`argument`: "MP302", or "all"), "options" (`argument`: a pipeline; JSON with the name
 * and text of each option). */
MP_EXPORT mp_status mp_describe(const char *what, const char *argument, mp_text *text);

/* A tool as a function, called once in a process: "mp-opt", "mp-run". Returns its exit status, or
 * 2 for a name that is none. Writes to the standard streams as the tool does. */
MP_EXPORT int mp_tool_main(const char *tool, int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif /* MP_C_MP_H */
