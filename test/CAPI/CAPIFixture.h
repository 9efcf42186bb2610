// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A context of the C API whose modules are destroyed with it.

#ifndef MP_TEST_CAPI_CAPIFIXTURE_H
#define MP_TEST_CAPI_CAPIFIXTURE_H

#include "mp-c/MP.h"

#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <vector>

inline const char kModel[] = R"(
func.func @dense(%x: tensor<2x2xf32> loc("input"), %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x2xf32>, tensor<2x2xf32>)
                     outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32> loc("layer.query")
  return %0 : tensor<2x2xf32>
})";

struct Heard {
  std::vector<std::string> lines;
  static void note(void *user, mp_severity severity, const char *message, const char *location) {
    static_cast<Heard *>(user)->lines.push_back(std::to_string(severity) + " " + location + " " +
                                                message);
  }
};

inline std::string take(mp_text text) {
  std::string copy(text.data, text.size);
  mp_text_free(&text);
  return copy;
}

class CAPITest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(mp_context_create(&context), MP_OK);
    ASSERT_EQ(mp_context_set_callback(context, Heard::note, &heard), MP_OK);
  }
  void TearDown() override {
    for (mp_module *module : modules)
      mp_module_destroy(module);
    mp_context_destroy(context);
  }

  mp_module *parse(const std::string &text, unsigned flags = 0) {
    mp_module *module = nullptr;
    if (mp_module_parse(context, text.data(), text.size(), "m.mlir", flags, &module) == MP_OK)
      modules.push_back(module);
    return module;
  }
  std::string print(mp_module *module, unsigned flags = 0) {
    mp_text text;
    EXPECT_EQ(mp_module_print(module, flags, &text), MP_OK);
    return take(text);
  }

  mp_context *context = nullptr;
  std::vector<mp_module *> modules;
  Heard heard;
};

inline mp_array arrayOf(std::vector<float> &data, std::vector<int64_t> shape, const char *element) {
  mp_array array{};
  array.struct_size = sizeof array;
  array.data = data.data();
  std::strcpy(array.element, element);
  array.rank = int32_t(shape.size());
  std::copy(shape.begin(), shape.end(), array.sizes);
  return array;
}

/// [1 2; 3 4] times a matrix that bf16 holds.
inline void expectProduct(mp_program *program, const char *element) {
  std::vector<float> x{1, 2, 3, 4}, w{2, 0, 0, 0.5};
  mp_array arguments[] = {arrayOf(x, {2, 2}, "f32"), arrayOf(w, {2, 2}, "f32")}, result;
  ASSERT_EQ(mp_program_run(program, arguments, 2, &result, 1), MP_OK) << mp_last_error();
  EXPECT_STREQ(result.element, element);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(result.data) % 64, 0u);
  auto *y = static_cast<float *>(result.data);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{2, 1, 6, 2}));
  mp_array_free(&result);
  mp_array_free(&result);
}

#endif // MP_TEST_CAPI_CAPIFIXTURE_H
