// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API from outside: what it does to a model.

#include "CAPIFixture.h"

#include "gmock/gmock.h"

using testing::HasSubstr;

namespace {

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

TEST_F(CAPITest, RunsOnTheHostAndOnTheEmulator) {
  mp_module *module = parse(kModel);
  ASSERT_EQ(mp_module_convert(module, "mp-mixed-precision", nullptr, nullptr), MP_OK);
  mp_program *program = nullptr;
  for (const char *options :
       {R"({"device": "cpu"})", R"({"calls": 1})", R"({"device": "emulator"})"}) {
    ASSERT_EQ(mp_program_compile(module, nullptr, options, &program), MP_OK) << mp_last_error();
    expectProduct(program, "f32");
    mp_program_destroy(program);
  }
  for (auto [options, expected] :
       {std::pair(R"({"calls": 0})", "'calls': expected a whole number of at least 1"),
        std::pair(R"({"calls": 1.5})", "'calls': expected a whole number of at least 1"),
        std::pair(R"({"calls": 2, "device": "emulator"})", "'calls' is for the device cpu"),
        std::pair(R"({"call": 2})", "did you mean 'calls'?")}) {
    EXPECT_EQ(mp_program_compile(module, nullptr, options, &program), MP_USAGE);
    EXPECT_THAT(mp_last_error(), HasSubstr(expected));
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

} // namespace
