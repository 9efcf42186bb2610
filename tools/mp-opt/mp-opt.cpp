// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp-c/MP.h"

int main(int argc, char **argv) { return mp_tool_main("mp-opt", argc, argv); }
