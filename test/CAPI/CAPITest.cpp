// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API from outside: what it does to a model, and that no wrong call ends the process.

#include "mp-c/MP.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cstring>
#include <string>
#include <thread>
#include <vector>

using testing::HasSubstr;

namespace {

const char kModel[] = R"(
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

std::string take(mp_text text) {
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

mp_array arrayOf(std::vector<float> &data, std::vector<int64_t> shape, const char *element) {
  mp_array array{};
  array.struct_size = sizeof array;
  array.data = data.data();
  std::strcpy(array.element, element);
  array.rank = int32_t(shape.size());
  std::copy(shape.begin(), shape.end(), array.sizes);
  return array;
}

TEST_F(CAPITest, ConvertsReportsAndErases) {
  mp_module *original = parse(kModel), *converted = nullptr;
  ASSERT_EQ(mp_module_clone(original, &converted), MP_OK);
  modules.push_back(converted);
  mp_report *report = nullptr;
  ASSERT_EQ(mp_module_convert(converted, "mp-mixed-precision",
                              R"({"format": "f16", "target": "sm_90", "explain": "layer"})",
                              &report),
            MP_OK)
      << mp_last_error();
  EXPECT_THAT(print(converted), HasSubstr("tensor<2x2xf16>"));
  EXPECT_THAT(print(original), Not(HasSubstr("f16")));
  EXPECT_EQ(mp_module_check_erasure(original, converted), MP_OK);
  mp_text text;
  ASSERT_EQ(mp_report_print(report, MP_REPORT_JSON, &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("\"name\": \"layer.query\""));
  ASSERT_EQ(mp_report_print(report, MP_REPORT_TEXT, &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("1 of 1 contractions f16"));
  ASSERT_EQ(mp_report_print(report, MP_REPORT_HTML, &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("</html>"));
  ASSERT_EQ(mp_report_print(report, MP_REPORT_EXPLANATION, &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("in the end: computes in f16"));
  EXPECT_EQ(mp_report_print(report, mp_report_form(7), &text), MP_USAGE);
  mp_report_destroy(report);
}

TEST_F(CAPITest, ErasureFindsWhatIsNoCast) {
  std::string other = kModel;
  other.replace(other.find("dense<0.0>"), 10, "dense<1.0>");
  EXPECT_EQ(mp_module_check_erasure(parse(kModel), parse(other)), MP_REFUSED);
  EXPECT_FALSE(heard.lines.empty());
}

TEST_F(CAPITest, TextAndBytecodeRoundTripWithNames) {
  mp_module *module = parse(kModel);
  std::string printed = print(module, MP_PRINT_LOCATIONS);
  EXPECT_THAT(printed, HasSubstr("layer.query"));
  EXPECT_EQ(print(parse(printed), MP_PRINT_LOCATIONS), printed);
  mp_text bytes;
  ASSERT_EQ(mp_module_bytecode(module, &bytes), MP_OK);
  EXPECT_EQ(print(parse(take(bytes)), MP_PRINT_LOCATIONS), printed);
}

TEST_F(CAPITest, TextNeedNotEndInZero) {
  std::string text = std::string(kModel) + "garbage";
  mp_module *module = nullptr;
  EXPECT_EQ(mp_module_parse(context, text.data(), strlen(kModel), nullptr, 0, &module), MP_OK);
  mp_module_destroy(module);
}

TEST_F(CAPITest, ImportTranslatesWhatExportersLeave) {
  std::string text =
      "util.func public @f(%x: tensor<4xf32>) -> tensor<4xf32> { util.return %x : tensor<4xf32> }";
  EXPECT_EQ(parse(text), nullptr);
  EXPECT_THAT(mp_last_error(), HasSubstr("--import"));
  ASSERT_NE(parse(text, MP_PARSE_IMPORT), nullptr) << mp_last_error();
}

TEST_F(CAPITest, RunsNamedPassesAndLists) {
  mp_module *module = parse(kModel);
  EXPECT_EQ(mp_module_run(module, "canonicalize", nullptr), MP_OK) << mp_last_error();
  EXPECT_EQ(mp_module_run(module, "builtin.module(cse,func.func(canonicalize))", nullptr), MP_OK)
      << mp_last_error();
  EXPECT_EQ(mp_module_run(module, "mp-mixed-precision", R"({"format": "bf16", "table": false})"),
            MP_OK)
      << mp_last_error();
  EXPECT_THAT(print(module), HasSubstr("bf16"));
}

TEST_F(CAPITest, KernelsComeOutAsImages) {
  mp_module *module = parse(kModel);
  size_t count = 1;
  EXPECT_EQ(mp_module_image_count(module, &count), MP_OK);
  EXPECT_EQ(count, 0u);
  mp_text name, image;
  EXPECT_EQ(mp_module_image(module, 0, &name, &image), MP_USAGE);
  ASSERT_EQ(mp_module_run(module, "mp-to-nvvm", R"({"target": "sm_80"})"), MP_OK)
      << mp_last_error();
  EXPECT_EQ(mp_module_image_count(module, &count), MP_OK);
  ASSERT_EQ(count, 1u);
  ASSERT_EQ(mp_module_image(module, 0, &name, &image), MP_OK);
  mp_text_free(&name);
  EXPECT_THAT(take(image), HasSubstr(".target sm_80"));
}

/// [1 2; 3 4] times a matrix that bf16 holds.
void expectProduct(mp_program *program, const char *element) {
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

TEST_F(CAPITest, RunsOnTheHostAndOnTheEmulator) {
  mp_module *module = parse(kModel);
  ASSERT_EQ(mp_module_convert(module, "mp-mixed-precision", nullptr, nullptr), MP_OK);
  for (const char *options : {R"({"device": "cpu"})", R"({"device": "emulator"})"}) {
    mp_program *program = nullptr;
    ASSERT_EQ(mp_program_compile(module, nullptr, options, &program), MP_OK) << mp_last_error();
    expectProduct(program, "f32");
    mp_program_destroy(program);
  }
}

TEST_F(CAPITest, ArraysOfTheDeviceGoFromCallToCall) {
  mp_module *module = parse(kModel);
  mp_program *program = nullptr, *host = nullptr;
  ASSERT_EQ(mp_program_compile(module, nullptr, R"({"device": "emulator"})", &program), MP_OK);
  ASSERT_EQ(mp_program_compile(module, nullptr, nullptr, &host), MP_OK);
  float x[] = {1, 2, 3, 4}, w[] = {2, 0, 0, 2};
  mp_rt_tensor arguments[2] = {}, result{}, back{};
  for (auto [tensor, data] : {std::pair(&arguments[0], x), std::pair(&arguments[1], w)}) {
    tensor->data = data;
    tensor->element = 1; // f32
    tensor->rank = 2;
    tensor->sizes[0] = tensor->sizes[1] = 2;
  }
  result.place = MP_RT_ON_DEVICE;
  EXPECT_EQ(mp_program_call(host, arguments, 2, &result, 1, nullptr), MP_USAGE);
  ASSERT_EQ(mp_program_call(program, arguments, 2, &result, 1, nullptr), MP_OK) << mp_last_error();
  EXPECT_EQ(result.place, MP_RT_ON_DEVICE);
  arguments[0] = result;
  mp_rt_tensor second{};
  second.place = MP_RT_ON_DEVICE;
  ASSERT_EQ(mp_program_call(program, arguments, 2, &second, 1, nullptr), MP_OK) << mp_last_error();
  ASSERT_EQ(mp_rt_copy_tensor(&second, &back), 0) << mp_rt_device_error();
  auto *y = static_cast<float *>(back.data);
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{4, 8, 12, 16}));
  arguments[1].element = 4; // f16
  EXPECT_EQ(mp_program_call(program, arguments, 2, &second, 1, nullptr), MP_REFUSED);
  EXPECT_THAT(mp_last_error(), HasSubstr("element type is f16, expected f32"));
  EXPECT_EQ(mp_program_call(program, nullptr, 2, &second, 1, nullptr), MP_USAGE);
  EXPECT_EQ(mp_program_call(nullptr, nullptr, 0, nullptr, 0, nullptr), MP_USAGE);
  for (mp_rt_tensor *tensor : {&result, &second, &back})
    EXPECT_EQ(mp_rt_free_tensor(tensor, nullptr), 0);
  mp_program_destroy(program);
  mp_program_destroy(host);
}

TEST_F(CAPITest, SignaturesNameArguments) {
  mp_text text;
  ASSERT_EQ(mp_module_signature(parse(kModel), "dense", &text), MP_OK);
  EXPECT_EQ(take(text), R"({"arguments":[{"element":"f32","name":"input","shape":[2,2]},)"
                        R"({"element":"f32","name":"","shape":[2,2]}],"function":"dense",)"
                        R"("results":[{"element":"f32","name":"","shape":[2,2]}]})");
}

TEST_F(CAPITest, WrongArgumentsOfACallAreErrors) {
  mp_program *program = nullptr;
  ASSERT_EQ(mp_program_compile(parse(kModel), nullptr, nullptr, &program), MP_OK);
  std::vector<float> data{1, 2, 3, 4, 5, 6};
  mp_array good = arrayOf(data, {2, 2}, "f32"), result{};
  auto call = [&](mp_array bad) {
    mp_array arguments[] = {bad, good};
    EXPECT_EQ(mp_program_run(program, arguments, 2, &result, 1), MP_USAGE);
    return std::string(mp_last_error());
  };
  EXPECT_THAT(call(arrayOf(data, {2, 3}, "f32")), HasSubstr("expected 2x2xf32, found 2x3xf32"));
  EXPECT_THAT(call(arrayOf(data, {2, 2}, "bf16")), HasSubstr("bf16"));
  EXPECT_THAT(call(arrayOf(data, {2, 2}, "float")), HasSubstr("element is 'float'"));
  mp_array broken = good;
  broken.data = nullptr;
  EXPECT_THAT(call(broken), HasSubstr("data is null, expected 16 bytes"));
  broken = good;
  broken.rank = 17;
  EXPECT_THAT(call(broken), HasSubstr("rank is 17, expected 0 to 16"));
  broken = good;
  broken.struct_size = 3;
  EXPECT_THAT(call(broken), HasSubstr("struct_size is 3"));
  mp_array arguments[] = {good, good};
  EXPECT_EQ(mp_program_run(program, arguments, 1, &result, 1), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("argument_count is 1, but the function takes 2"));
  EXPECT_EQ(mp_program_run(program, arguments, 2, &result, 0), MP_USAGE);
  EXPECT_EQ(mp_program_run(program, nullptr, 2, &result, 1), MP_USAGE);
  EXPECT_EQ(result.data, nullptr);
  mp_program_destroy(program);
}

TEST_F(CAPITest, OptionsAreCheckedBeforeAnythingRuns) {
  mp_module *module = parse(kModel);
  auto refused = [&](const char *options) {
    EXPECT_EQ(mp_module_convert(module, "mp-mixed-precision", options, nullptr), MP_USAGE);
    return std::string(mp_last_error());
  };
  testing::internal::CaptureStderr();
  EXPECT_THAT(refused(R"({"fromat": "bf16"})"), HasSubstr("did you mean 'format'"));
  EXPECT_THAT(refused(R"({"max-rel-error": "small"})"),
              HasSubstr("'max-rel-error' is 'small', expected a number"));
  EXPECT_THAT(refused(R"({"verify": 3})"), HasSubstr("expected true or false"));
  EXPECT_THAT(refused("[1]"), HasSubstr("no object"));
  EXPECT_THAT(refused("{"), HasSubstr("no JSON"));
  EXPECT_THAT(refused(R"({"format": {}})"), HasSubstr("option 'format': expected a number"));
  EXPECT_EQ(mp_module_run(module, "mp-mixed-precision{fromat=bf16}", nullptr), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("fromat"));
  EXPECT_EQ(mp_module_run(module, "no-such-pass", nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_run(module, "cse,canonicalize", R"({"x": 1})"), MP_USAGE);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  // A value that only the pass can judge.
  EXPECT_EQ(mp_module_convert(module, "mp-mixed-precision", R"({"format": "fp17"})", nullptr),
            MP_REFUSED);
  EXPECT_THAT(mp_last_error(), HasSubstr("fp17"));
}

TEST_F(CAPITest, NothingIsWrittenToTheStandardStreams) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  mp_module *module = parse(kModel);
  mp_module_convert(module, "mp-mixed-precision", R"({"explain": "layer"})", nullptr);
  parse("garbage");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_F(CAPITest, HostileTextIsRefused) {
  for (std::string text : {std::string(200000, '('), std::string("func.func @f() {\0}", 18),
                           std::string("\xff\xfe"), std::string("ML\xefR garbage")}) {
    mp_module *module = nullptr;
    EXPECT_EQ(mp_module_parse(context, text.data(), text.size(), "x", 0, &module), MP_REFUSED);
    EXPECT_EQ(module, nullptr);
    EXPECT_STRNE(mp_last_error(), "");
  }
  std::string nested = "func.func @f(%c: i1) {\n";
  for (int i = 0; i < 1000; ++i)
    nested += "scf.if %c {\n";
  nested += std::string(1000, '}') + "\nreturn\n}\n";
  EXPECT_NE(parse(nested), nullptr) << mp_last_error();
}

TEST_F(CAPITest, DiagnosticsComeWithPlaceAndNotes) {
  EXPECT_EQ(parse("func.func @f() {\n  foo\n}"), nullptr);
  ASSERT_FALSE(heard.lines.empty());
  EXPECT_THAT(heard.lines.front(), testing::StartsWith("3 m.mlir:2:3 "));
  EXPECT_THAT(mp_last_error(), HasSubstr("m.mlir:2:3"));
}

/// Every function with null for each pointer, and with handles that are none.
TEST_F(CAPITest, NullAndDeadHandlesAreErrors) {
  mp_module *dead = parse(kModel), *module = parse(kModel), *made = nullptr;
  modules.erase(modules.begin());
  mp_module_destroy(dead);
  mp_module_destroy(dead);
  mp_text text{};
  size_t count;
  mp_program *program = nullptr;
  auto *wrong = reinterpret_cast<mp_module *>(context);
  for (mp_module *none : {static_cast<mp_module *>(nullptr), dead, wrong}) {
    EXPECT_EQ(mp_module_clone(none, &made), MP_USAGE);
    EXPECT_EQ(mp_module_print(none, 0, &text), MP_USAGE);
    EXPECT_EQ(mp_module_bytecode(none, &text), MP_USAGE);
    EXPECT_EQ(mp_module_run(none, "cse", nullptr), MP_USAGE);
    EXPECT_EQ(mp_module_convert(none, "mp-mixed-precision", nullptr, nullptr), MP_USAGE);
    EXPECT_EQ(mp_module_check_erasure(none, module), MP_USAGE);
    EXPECT_EQ(mp_module_check_erasure(module, none), MP_USAGE);
    EXPECT_EQ(mp_module_signature(none, nullptr, &text), MP_USAGE);
    EXPECT_EQ(mp_module_image_count(none, &count), MP_USAGE);
    EXPECT_EQ(mp_module_image(none, 0, &text, &text), MP_USAGE);
    EXPECT_EQ(mp_program_compile(none, nullptr, nullptr, &program), MP_USAGE);
    mp_module_destroy(none == wrong ? nullptr : none);
  }
  EXPECT_THAT(mp_last_error(), HasSubstr("module is no handle, or was destroyed"));
  EXPECT_EQ(mp_context_create(nullptr), MP_USAGE);
  EXPECT_EQ(mp_context_set_callback(nullptr, nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_parse(nullptr, "", 0, "", 0, &made), MP_USAGE);
  EXPECT_EQ(mp_module_parse(context, nullptr, 0, "", 0, &made), MP_USAGE);
  EXPECT_EQ(mp_module_parse(context, "", 0, "", 0, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_parse(context, "", 0, "", 4, &made), MP_USAGE);
  EXPECT_EQ(mp_module_clone(module, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_print(module, 0, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_print(module, 8, &text), MP_USAGE);
  EXPECT_EQ(mp_module_bytecode(module, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_run(module, nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_convert(module, nullptr, nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_convert(module, "canonicalize", nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_signature(module, nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_image_count(module, nullptr), MP_USAGE);
  EXPECT_EQ(mp_program_compile(module, nullptr, nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(mp_program_compile(module, "nobody", nullptr, &program), MP_REFUSED);
  EXPECT_EQ(mp_program_compile(module, nullptr, R"({"device": "gpu"})", &program), MP_USAGE);
  EXPECT_EQ(mp_program_compile(module, nullptr, R"({"chip": "x"})", &program), MP_USAGE);
  EXPECT_EQ(mp_program_signature(nullptr, &text), MP_USAGE);
  EXPECT_EQ(mp_program_run(nullptr, nullptr, 0, nullptr, 0), MP_USAGE);
  EXPECT_EQ(mp_report_print(nullptr, MP_REPORT_TEXT, &text), MP_USAGE);
  EXPECT_EQ(mp_describe(nullptr, nullptr, &text), MP_USAGE);
  EXPECT_EQ(mp_describe("tragets", nullptr, &text), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("did you mean 'targets'"));
  EXPECT_EQ(mp_describe("targets", nullptr, nullptr), MP_USAGE);
  EXPECT_EQ(text.data, nullptr);
  mp_program_destroy(nullptr);
  mp_report_destroy(nullptr);
  mp_context_destroy(nullptr);
  mp_text_free(nullptr);
  mp_array_free(nullptr);
}

TEST_F(CAPITest, FactsNeedNoModel) {
  mp_text text;
  ASSERT_EQ(mp_describe("targets", nullptr, &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("sm_90"));
  ASSERT_EQ(mp_describe("policy", "format=f16 target=sm_80", &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("\"format\": \"f16\""));
  ASSERT_EQ(mp_describe("options", "mp-train-step", &text), MP_OK);
  EXPECT_THAT(take(text), HasSubstr("\"loss-scale\""));
  EXPECT_THAT(mp_version(), HasSubstr("LLVM"));
  EXPECT_EQ(mp_api_version(), MP_API_VERSION);
}

TEST_F(CAPITest, HandlesMayGoInAnyOrder) {
  mp_context *own = nullptr;
  mp_module *module = nullptr;
  mp_program *program = nullptr;
  ASSERT_EQ(mp_context_create(&own), MP_OK);
  ASSERT_EQ(mp_module_parse(own, kModel, strlen(kModel), "m", 0, &module), MP_OK);
  ASSERT_EQ(mp_program_compile(module, nullptr, nullptr, &program), MP_OK);
  mp_context_destroy(own);
  mp_module_destroy(module);
  expectProduct(program, "f32");
  mp_program_destroy(program);
}

TEST_F(CAPITest, ContextsWorkAtTheSameTime) {
  std::vector<std::string> results(8);
  std::vector<std::thread> threads;
  for (std::string &result : results)
    threads.emplace_back([&result] {
      for (int round = 0; round < 3; ++round) {
        mp_context *own = nullptr;
        mp_module *module = nullptr;
        mp_text text;
        mp_context_create(&own);
        mp_module_parse(own, kModel, strlen(kModel), "m", 0, &module);
        mp_module_convert(module, "mp-mixed-precision", R"({"format": "f16"})", nullptr);
        if (mp_module_print(module, 0, &text) == MP_OK)
          result += take(text);
        mp_module_destroy(module);
        mp_context_destroy(own);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  for (const std::string &result : results)
    EXPECT_EQ(result, results.front());
  EXPECT_THAT(results.front(), HasSubstr("f16"));
}

} // namespace
