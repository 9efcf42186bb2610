/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model from text to numbers in C: convert, check, compile, run. */
#include "mp-c/MP.h"

#include <stdio.h>
#include <string.h>

static const char model[] =
    "func.func @dense(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {\n"
    "  %zero = arith.constant dense<0.0> : tensor<2x2xf32>\n"
    "  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)\n"
    "                     outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>\n"
    "  return %0 : tensor<2x2xf32>\n"
    "}\n";

static mp_array matrix(float *data) {
  mp_array array;
  memset(&array, 0, sizeof array);
  array.struct_size = sizeof array;
  array.data = data;
  strcpy(array.element, "f32");
  array.rank = 2;
  array.sizes[0] = array.sizes[1] = 2;
  return array;
}

int main(void) {
  mp_context *context = NULL;
  mp_module *original = NULL, *converted = NULL;
  mp_report *report = NULL;
  mp_program *program = NULL;
  mp_text table = {NULL, 0};
  float x[] = {1, 2, 3, 4}, w[] = {1, 0, 0, 0.00390625f + 1};
  mp_array arguments[2], result;
  int failed =
      mp_context_create(&context) ||
      mp_module_parse(context, model, strlen(model), "model.mlir", 0, &original) ||
      mp_module_clone(original, &converted) ||
      mp_module_convert(converted, "mp-mixed-precision", "{\"format\": \"bf16\"}", &report) ||
      mp_module_check_erasure(original, converted) ||
      mp_report_print(report, MP_REPORT_TEXT, &table) ||
      mp_program_compile(converted, NULL, NULL, &program);
  if (!failed) {
    arguments[0] = matrix(x);
    arguments[1] = matrix(w);
    failed = mp_program_run(program, arguments, 2, &result, 1);
  }
  if (failed) {
    fprintf(stderr, "%s\n", mp_last_error());
    return 1;
  }
  const float *y = result.data;
  printf("%.*s\n", (int)strcspn(table.data, "\n"), table.data);
  printf("%s: %g %g %g %g\n", result.element, y[0], y[1], y[2], y[3]);
  mp_array_free(&result);
  mp_text_free(&table);
  mp_program_destroy(program);
  mp_report_destroy(report);
  mp_module_destroy(converted);
  mp_module_destroy(original);
  mp_context_destroy(context);
  return 0;
}
