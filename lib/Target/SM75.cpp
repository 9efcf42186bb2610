// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// sm_75 (Turing: T4). f16 and the integer formats; ldmatrix, no cp.async.

#include "Tables.h"

using namespace mpcore::target;
using tables::mma;

TargetModel tables::sm75() {
  TargetModel t{"sm_75", 75, 63};
  t.limits = {65536, 65536, 1024, 16};
  t.memory.ldmatrix = true;
  t.formats = {
      {"f16", Support::Native, mma, {"f16", "f32"}},
      {"i8", Support::Native, mma, {"i32"}},
      {"i4", Support::Native, mma, {"i32"}},
      {"i1", Support::Native, mma, {"i32"}},
  };
  t.shapes = {
      {mma, "f16", 16, 8, 8, 65},
      {mma, "i8", 8, 8, 16, 65},
      {mma, "i4", 8, 8, 32, 65},
      {mma, "i1", 8, 8, 128, 70},
  };
  t.conversions = {{"cvt.rn.f16.f32", "f32", "f16", 1, 60}};
  t.parts = {{"T4",
              40,
              320,
              4,
              8.1,
              {{"f16", "f32", 65}, {"f16", "f16", 65}, {"i8", "i32", 130}, {"i4", "i32", 260}}}};
  return t;
}
