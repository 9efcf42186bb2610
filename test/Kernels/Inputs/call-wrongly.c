/* Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
  float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, bias[3] = {0, 0, 1};
  mp_rt_array arguments[2] = {{x, {2, 4}}, {bias, {3}}}, results[2];
  int status = model_rows(arguments, results);
  printf("%d: %s\n", status, mp_rt_device_error());
  arguments[0].sizes[1] = 3;
  arguments[1].data = NULL;
  status = model_rows(arguments, results);
  printf("%d: %s\n", status, mp_rt_device_error());
  arguments[1].data = bias;
  status = model_rows(arguments, results);
  printf("%d arguments %s\n", status, x[1][2] == 6 && bias[2] == 1 ? "unchanged" : "changed");
  free(results[0].data);
  free(results[1].data);
  return 0;
}
