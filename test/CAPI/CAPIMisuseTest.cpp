// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API in wrong hands: no call ends the process.

#include "CAPIFixture.h"

#include "gmock/gmock.h"

#include <thread>

using testing::HasSubstr;

namespace {

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
  EXPECT_THAT(call(broken), HasSubstr("struct_size is 3, expected"));
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
  EXPECT_THAT(refused("[1]"), HasSubstr("are JSON, but no object; expected e.g. {\"format\""));
  EXPECT_THAT(refused("{"), HasSubstr("are no JSON object: "));
  EXPECT_THAT(refused(R"({"format": {}})"),
              HasSubstr("option 'format': expected a number, a string, true or false"));
  EXPECT_THAT(refused(R"({"policy": "a'\"b"})"),
              HasSubstr("option 'policy': has quotation marks of both kinds: a'\"b"));
  EXPECT_EQ(mp_module_run(module, "mp-mixed-precision{fromat=bf16}", nullptr), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("fromat"));
  EXPECT_EQ(mp_module_run(module, "no-such-pass", nullptr), MP_USAGE);
  EXPECT_EQ(mp_module_run(module, "cse,canonicalize", R"({"x": 1})"), MP_USAGE);
  // Words of closed sets: of a pipeline, of a pass, and of one in a list.
  EXPECT_THAT(refused(R"({"format": "fp17"})"), HasSubstr("'fp17', expected bf16, f16, tf32"));
  EXPECT_EQ(mp_module_run(module, "mp-to-nvvm", R"({"sums": "orderd"})"), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("option 'sums' is 'orderd', expected ordered or tree; did "
                                         "you mean 'ordered'?"));
  EXPECT_EQ(mp_module_run(module, "mp-expand-math", R"({"accuracy": "wrong"})"), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("'wrong', expected exact or approximate"));
  EXPECT_EQ(mp_module_run(module, "cse,mp-expand-math{accuracy=wrong}", nullptr), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("'wrong', expected exact or approximate"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  // A value that only the pass can judge.
  EXPECT_EQ(mp_module_convert(module, "mp-mixed-precision", R"({"policy": "none.json"})", nullptr),
            MP_REFUSED);
  EXPECT_THAT(mp_last_error(), HasSubstr("none.json"));
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
