/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(void) {
  printf("%s\n", mp_rt_device_error());
  return 1;
}

int main(void) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, bias[3] = {0, 0, 1};
  mp_rt_array arguments[2] = {{x, {2, 3}}, {bias, {3}}}, results[2];
  if (model_rows(arguments, results) != 0)
    return fail();
  const float *rows = results[0].data;
  printf("rows %d: %g %g\n", (int)results[0].sizes[0], rows[0], rows[1] + 2);
  printf("index %d\n", *(int *)results[1].data);
  free(results[0].data);
  free(results[1].data);

  mp_rt_array weights;
  if (model_weights(NULL, &weights) != 0)
    return fail();
  printf("weights: %g %g\n", ((float *)weights.data)[0], ((float *)weights.data)[1]);
  free(weights.data);

  if (model_rows(arguments, results) != 0)
    return fail();
  rows = results[0].data;
  printf("twice in one process: %g %g\n", rows[0], rows[1] + 2);
  free(results[0].data);
  free(results[1].data);
  return 0;
}
