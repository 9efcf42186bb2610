// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs called as compiled code of XLA does, by frames that are written here.

#include "../../lib/CAPI/XlaInterface.h"
#include "CAPIFixture.h"

#include "gmock/gmock.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir::mp::capi::xla;
using testing::HasSubstr;

namespace {

/// The error of the last call, and the stream that XLA would give.
struct {
  std::string message;
  int code = 0, streamsAsked = 0;
} xla;

void *noteError(CreateError *error) {
  xla.message = error->message;
  xla.code = error->code;
  return &xla;
}

void *giveStream(GetStream *request) {
  ++xla.streamsAsked;
  request->stream = nullptr;
  return nullptr;
}

const Api api = {sizeof api, nullptr,   {sizeof(Version), nullptr, 0, 2},
                 nullptr,    noteError, nullptr,
                 nullptr,    nullptr,   giveStream};

/// A call with buffers of any shape.
struct Call {
  std::vector<Buffer> buffers;
  std::vector<std::vector<int64_t>> shapes;
  size_t argumentCount = 0;
  std::string key;
  CallFrame frame{};

  void add(void *data, std::vector<int64_t> shape, int type = kF32) {
    shapes.push_back(std::move(shape));
    buffers.push_back(
        {sizeof(Buffer), nullptr, type, data, int64_t(shapes.back().size()), nullptr});
  }

  /// Empty, or the error.
  std::string run(void *(*handler)(void *) = mp_xla_host_call) {
    std::vector<void *> pointers;
    for (size_t i = 0; i < buffers.size(); ++i) {
      buffers[i].sizes = shapes[i].data();
      pointers.push_back(&buffers[i]);
    }
    std::vector<int> kinds(buffers.size(), 1);
    Span name = {"program", 7}, value = {key.data(), key.size()};
    Span *names[] = {&name};
    void *values[] = {&value};
    int kind = kString;
    frame.api = &api;
    frame.stage = kExecute;
    frame.arguments = {sizeof(Buffers), nullptr, int64_t(argumentCount), kinds.data(),
                       pointers.data()};
    frame.results = {sizeof(Buffers), nullptr, int64_t(buffers.size() - argumentCount),
                     kinds.data(), pointers.data() + argumentCount};
    frame.attributes = {sizeof(Attributes), nullptr, key.empty() ? 0 : 1, &kind, names, values};
    return handler(&frame) ? xla.message : "";
  }
};

class XlaCallTest : public CAPITest {
protected:
  mp_program *publish(const std::string &text, const char *key, const char *options = nullptr) {
    mp_program *program = nullptr;
    EXPECT_EQ(mp_program_compile(parse(text), nullptr, options, &program), MP_OK);
    EXPECT_EQ(mp_program_publish(program, key), MP_OK) << mp_last_error();
    return program;
  }

  /// [1 2; 3 4] times diag(2, 0.5), into `y`.
  Call product(const char *key) {
    Call call;
    call.add(x, {2, 2});
    call.add(w, {2, 2});
    call.add(y, {2, 2});
    call.argumentCount = 2;
    call.key = key;
    return call;
  }

  float x[4] = {1, 2, 3, 4}, w[4] = {2, 0, 0, 0.5}, y[4] = {};
};

TEST_F(XlaCallTest, RunsOnTheHostAndOnTheEmulator) {
  for (const char *options : {R"({"device": "cpu"})", R"({"device": "emulator"})"}) {
    mp_program *program = publish(kModel, "product", options);
    std::fill(y, y + 4, 0.f);
    EXPECT_EQ(product("product").run(), "");
    EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{2, 1, 6, 2}));
    mp_program_destroy(program);
  }
}

TEST_F(XlaCallTest, WhatDoesNotFitIsAnErrorWithItsName) {
  mp_program *program = publish(kModel, "product");
  Call call = product("product");
  call.shapes[0] = {2, 3};
  EXPECT_THAT(call.run(), HasSubstr("argument 0 ('input'): expected 2x2xf32, found 2x3xf32"));
  EXPECT_EQ(xla.code, kInvalidArgument);
  call = product("product");
  call.buffers[1].type = kBF16;
  EXPECT_THAT(call.run(), HasSubstr("argument 1: expected 2x2xf32, found 2x2xbf16"));
  call.buffers[1].type = 15; // complex
  EXPECT_THAT(call.run(), HasSubstr("XLA's data type 15 is unknown to mp, expected f32"));
  call = product("product");
  call.shapes[2] = {2, 3};
  EXPECT_THAT(call.run(), HasSubstr("result 0: expected 2x2xf32, found 2x3xf32"));
  call = product("product");
  call.buffers[0].data = nullptr;
  EXPECT_THAT(call.run(), HasSubstr("data is null"));
  call = product("product");
  call.argumentCount = 3;
  EXPECT_THAT(call.run(), HasSubstr("found 3 arguments, expected 2"));
  EXPECT_THAT(product("other").run(), HasSubstr("no program 'other' in this process"));
  EXPECT_EQ(xla.code, kNotFound);
  EXPECT_THAT(product("").run(), HasSubstr("no string attribute 'program'"));
  EXPECT_EQ(mp_xla_host_call(nullptr), nullptr);
  EXPECT_EQ(y[0], 0);
  mp_program_destroy(program);
  EXPECT_THAT(product("product").run(), HasSubstr("no program 'product'"));
}

TEST_F(XlaCallTest, KeysBelongToOneProgram) {
  mp_program *first = publish(kModel, "key"), *second = nullptr;
  EXPECT_EQ(mp_program_publish(first, "key"), MP_OK);
  ASSERT_EQ(mp_program_compile(modules[0], nullptr, nullptr, &second), MP_OK);
  EXPECT_EQ(mp_program_publish(second, "key"), MP_USAGE);
  EXPECT_THAT(mp_last_error(), HasSubstr("another program has the key 'key'"));
  EXPECT_EQ(mp_program_publish(second, nullptr), MP_USAGE);
  EXPECT_EQ(mp_program_publish(nullptr, "key"), MP_USAGE);
  mp_program_destroy(first);
  EXPECT_EQ(mp_program_publish(second, "key"), MP_OK);
  mp_program_destroy(second);
}

/// Behind the first page of the argument nothing may be read: a copy of it would end the process.
TEST_F(XlaCallTest, ArgumentsAreReadWhereTheyAre) {
  size_t page = size_t(sysconf(_SC_PAGESIZE)), floats = page / 4;
  std::string whole = std::to_string(2 * floats), part = std::to_string(floats);
  std::string text = "func.func @f(%x: tensor<" + whole + "xf32>) -> tensor<" + part +
                     "xf32> { %0 = tensor.extract_slice %x[0] [" + part + "] [1] : tensor<" +
                     whole + "xf32> to tensor<" + part +
                     "xf32>\n %1 = arith.addf %0, %0 : tensor<" + part +
                     "xf32>\n return %1 : tensor<" + part + "xf32> }";
  mp_program *program = publish(text, "slice");
  auto *memory = static_cast<float *>(
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(memory, MAP_FAILED);
  memory[floats - 1] = 21;
  ASSERT_EQ(mprotect(memory, page, PROT_READ), 0); // nor written
  ASSERT_EQ(mprotect(memory + floats, page, PROT_NONE), 0);
  std::vector<float> result(floats);
  Call call;
  call.add(memory, {int64_t(2 * floats)});
  call.add(result.data(), {int64_t(floats)});
  call.argumentCount = 1;
  call.key = "slice";
  EXPECT_EQ(call.run(), "");
  EXPECT_EQ(result.back(), 42);
  // mp_program_run reads them there, too.
  mp_array argument{}, output{};
  argument.struct_size = sizeof argument;
  argument.data = memory;
  std::strcpy(argument.element, "f32");
  argument.rank = 1;
  argument.sizes[0] = int64_t(2 * floats);
  ASSERT_EQ(mp_program_run(program, &argument, 1, &output, 1), MP_OK) << mp_last_error();
  EXPECT_EQ(static_cast<float *>(output.data)[floats - 1], 42);
  mp_array_free(&output);
  mp_program_destroy(program);
  munmap(memory, 2 * page);
}

TEST_F(XlaCallTest, BuffersOfTheDeviceStayThere) {
  mp_program *program = publish(kModel, "kernels", R"({"device": "emulator"})");
  mp_rt_tensor there[3] = {}, back{};
  float *values[] = {x, w, y};
  for (int i = 0; i < 3; ++i) {
    mp_rt_tensor host{};
    host.data = values[i];
    host.element = 1; // f32
    host.rank = 2;
    host.sizes[0] = host.sizes[1] = 2;
    ASSERT_EQ(mp_rt_copy_tensor(&host, &there[i]), 0) << mp_rt_device_error();
  }
  Call call = product("kernels");
  for (int i = 0; i < 3; ++i)
    call.buffers[size_t(i)].data = there[i].data;
  xla.streamsAsked = 0;
  EXPECT_EQ(call.run(mp_xla_device_call), "");
  EXPECT_EQ(xla.streamsAsked, 1);
  ASSERT_EQ(mp_rt_copy_tensor(&there[2], &back), 0); // XLA's own buffer, and not another
  auto *found = static_cast<float *>(back.data);
  EXPECT_EQ(std::vector<float>(found, found + 4), (std::vector<float>{2, 1, 6, 2}));
  mp_rt_tensor other = there[2];
  other.sizes[0] = 4;
  EXPECT_EQ(mp_rt_copy_to(&there[0], &other, nullptr), -1);
  EXPECT_THAT(mp_rt_device_error(), HasSubstr("sizes are different"));
  EXPECT_EQ(mp_rt_copy_to(nullptr, &other, nullptr), -1);
  for (mp_rt_tensor *tensor : {&there[0], &there[1], &there[2], &back})
    mp_rt_free_tensor(tensor, nullptr);
  mp_program_destroy(program);
  program = publish(kModel, "host");
  EXPECT_THAT(product("host").run(mp_xla_device_call), HasSubstr("was compiled for the cpu"));
  mp_program_destroy(program);
}

TEST_F(XlaCallTest, MetadataIsAnsweredWithTheOlderVersion) {
  Metadata metadata{};
  MetadataExtension extension = {{sizeof extension, kMetadata, nullptr}, &metadata};
  CallFrame frame{};
  frame.api = &api;
  frame.extensions = &extension.base;
  EXPECT_EQ(mp_xla_host_call(&frame), nullptr);
  EXPECT_EQ(metadata.version.major, 0);
  EXPECT_EQ(metadata.version.minor, 2);
}

} // namespace
