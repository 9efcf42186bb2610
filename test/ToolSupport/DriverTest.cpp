// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mp/ToolSupport/Driver.h"
#include "mp/Support/Files.h"
#include "mp/Support/Memory.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <cstdlib>
#include <thread>
#include <unistd.h>

using namespace mlir::mp;

namespace {

/// Runs `body` as a tool with these arguments.
int run(llvm::function_ref<int()> body, std::vector<const char *> arguments = {}) {
  arguments.insert(arguments.begin(), "tool");
  return runTool("tool", int(arguments.size()), const_cast<char **>(arguments.data()),
                 [&](ToolArguments &) { return body(); });
}

/// Uses about `megabytes` of stack.
__attribute__((noinline)) int useStack(int megabytes) {
  char frame[1 << 20];
  frame[0] = frame[sizeof(frame) - 1] = 1;
  asm volatile("" : : "r"(frame) : "memory"); // the frame must be real,
  int below = megabytes > 1 ? useStack(megabytes - 1) : 0;
  asm volatile("" : : "r"(frame) : "memory"); // and live across the call
  return below + frame[0];
}

TEST(Driver, ReturnsTheStatusOfTheBody) {
  EXPECT_EQ(run([] { return 0; }), 0);
  EXPECT_EQ(run([] { return 7; }), 7);
}

TEST(Driver, HasABigStackAlsoInThreadsStartedLater) {
  EXPECT_EQ(run([] { return useStack(700); }), 700);
  int result = 0;
  run([&] {
    std::thread([&] { result = useStack(200); }).join();
    return 0;
  });
  EXPECT_EQ(result, 200);
}

#if !defined(__has_feature) || !__has_feature(address_sanitizer)
TEST(DriverDeathTest, AnyCrashIsOneMessageAndTheStatus) {
  testing::FLAGS_gtest_death_test_style = "fast";
  EXPECT_EXIT(run([] { return *(volatile int *)16; }), testing::ExitedWithCode(70),
              "tool: internal error: invalid memory access");
  EXPECT_EXIT(run([] {
                abort();
                return 0;
              }),
              testing::ExitedWithCode(70), "tool: internal error: a check failed");
  EXPECT_EXIT(run([] { return useStack(2000); }), testing::ExitedWithCode(2),
              "tool: ran out of stack");
  EXPECT_EXIT(run([] {
                std::thread([] { *(volatile int *)16 = 1; }).join();
                return 0;
              }),
              testing::ExitedWithCode(70), "tool: internal error: invalid memory access");
}

TEST(DriverDeathTest, ACrashRemovesThePendingOutput) {
  testing::FLAGS_gtest_death_test_style = "fast";
  std::string path = testing::TempDir() + "crash-output-" + std::to_string(getpid());
  EXPECT_EXIT(
      {
        auto file = mpcore::support::OutputFile::open(path, "-o");
        (*file)->os() << "half";
        (*file)->os().flush();
        run([] { return *(volatile int *)16; });
      },
      testing::ExitedWithCode(70), "no output was written");
  EXPECT_NE(access(path.c_str(), F_OK), 0);
}
#endif

} // namespace
