// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Array files: what is written reads back; damaged files are errors, never crashes.

#include "mp/Execution/Files.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

#include <cstring>
#include <random>

using namespace mlir::mp;

static Array someArray(ElementType type) {
  Array array(type, {3, 0 + 2, 5});
  for (int64_t i = 0; i < array.size(); ++i)
    array.setPattern(i, uint64_t(i) * 0x9E3779B97F4A7C15 >> (64 - type.bits()));
  return array;
}

TEST(Npy, ReadsBackWhatItWrote) {
  for (const char *spelling : {"f64", "f32", "f16", "i64", "i8", "ui16", "i1"}) {
    Array array = someArray(*ElementType::parse(spelling));
    auto read = parseNpy(formatNpy(array));
    ASSERT_TRUE(bool(read)) << llvm::toString(read.takeError());
    EXPECT_EQ(read->typeStr(), array.typeStr());
    EXPECT_EQ(read->data, array.data);
  }
}

TEST(Npy, WritesNarrowFloatsAsPatterns) {
  Array array = someArray(*ElementType::parse("bf16"));
  auto read = parseNpy(formatNpy(array));
  ASSERT_TRUE(bool(read));
  EXPECT_EQ(read->typeStr(), "3x2x5xui16");
  auto back = convertTo(*read, array.type);
  ASSERT_TRUE(bool(back));
  EXPECT_EQ(back->data, array.data);
}

TEST(Npy, ScalarsAndEmptyArrays) {
  for (auto &shape : {llvm::SmallVector<int64_t>{}, llvm::SmallVector<int64_t>{0, 3}}) {
    Array array(ElementType(), shape);
    auto read = parseNpy(formatNpy(array));
    ASSERT_TRUE(bool(read));
    EXPECT_EQ(read->typeStr(), array.typeStr());
  }
}

TEST(Npy, EveryTruncationIsAnError) {
  std::string whole = formatNpy(someArray(*ElementType::parse("f32")));
  for (size_t length = 0; length < whole.size(); ++length) {
    auto read = parseNpy(llvm::StringRef(whole).take_front(length));
    EXPECT_FALSE(bool(read)) << length;
    llvm::consumeError(read.takeError());
  }
}

TEST(Npy, DamagedHeadersNeverCrash) {
  std::string whole = formatNpy(someArray(*ElementType::parse("f32")));
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int k = 0; k < 3; ++k)
      damaged[random() % 128] = char(random());
    auto read = parseNpy(damaged);
    llvm::consumeError(read.takeError());
  }
}

static std::string safetensors(llvm::StringRef header, size_t data) {
  uint64_t length = header.size();
  std::string text(reinterpret_cast<const char *>(&length), 8);
  return text + header.str() + std::string(data, '\1');
}

static llvm::Expected<Safetensors> parse(const std::string &text) {
  return Safetensors::parse(llvm::MemoryBuffer::getMemBufferCopy(text));
}

TEST(SafetensorsFile, GivesArraysByName) {
  auto file = parse(safetensors(
      R"({"__metadata__":{"a":"b"},"w":{"dtype":"BF16","shape":[2,2],"data_offsets":[4,12]}})",
      12));
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  ASSERT_TRUE(file->contains("w"));
  EXPECT_FALSE(file->contains("__metadata__"));
  EXPECT_EQ(file->get("w").typeStr(), "2x2xbf16");
  EXPECT_EQ(file->get("w").pattern(3), 0x0101u);
}

TEST(SafetensorsFile, RefusesWhatDoesNotFit) {
  const char *headers[] = {
      "",
      "[]",
      "{",
      R"({"w":1})",
      R"({"w":{"dtype":"F32","shape":[2]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})",
      R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})",
      R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})",
      R"({"w":{"dtype":"F32","shape":[1e30],"data_offsets":[0,8]}})",
  };
  for (const char *header : headers) {
    auto file = parse(safetensors(header, 8));
    EXPECT_FALSE(bool(file)) << header;
    llvm::consumeError(file.takeError());
  }
}

TEST(SafetensorsFile, SaysWhatElseAFileIs) {
  const std::pair<std::string, const char *> files[] = {
      {std::string("PK\3\4") + std::string(20, '\0'), "found a zip archive"},
      {std::string("\x80\2}q\0X\1\0\0\0\0", 11), "found a pickle"},
      {"\x93NUMPY" + std::string(20, '\0'), "found an array of numpy"},
      {"module {\n  func.func @main() {\n", "found text"},
      {std::string("\x1c\0\0\0TFL3\x14\0", 10), "found a TFLite model"},
      {std::string(20, '\xee'), "found neither that nor"}};
  for (const auto &[content, words] : files) {
    auto file = parse(content);
    ASSERT_FALSE(bool(file)) << words;
    EXPECT_NE(llvm::toString(file.takeError()).find(words), std::string::npos) << words;
  }
}

TEST(Conversion, IntegersMustFit) {
  Array array(ElementType::integer(64), {1});
  array.setPattern(0, 300);
  EXPECT_TRUE(bool(convertTo(array, ElementType::integer(32))));
  auto narrow = convertTo(array, ElementType::integer(8));
  EXPECT_FALSE(bool(narrow));
  llvm::consumeError(narrow.takeError());
  auto floating = convertTo(array, ElementType());
  EXPECT_FALSE(bool(floating));
  llvm::consumeError(floating.takeError());
}
