// The main function of every test program: that of GoogleTest, which also says what was skipped and
// why. The exit status is 77, "skipped" to ctest, if nothing failed and every test skipped. The
// reasons are printed and, for the summary of `./run test`, written to the file LIMB_SKIPS: one
// line "test<TAB>reason" each.
//
// A test that starts threads must be listed (limb_threaded_tests in CMake), because the thread
// sanitizer runs only those: otherwise it fails under ctest, which sets LIMB_THREADS for listed
// ones.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "limb/base/testing/left_out.hpp"
#include "limb/base/testing/sanitized.hpp"

namespace {

std::atomic<bool> started_threads = false;

}  // namespace

#if !LIMB_SANITIZED  // sanitizers replace this function themselves
/// Takes the place of the C library's function in this program.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*start)(void*), void* argument) {
  started_threads = true;
  using Function = decltype(&pthread_create);
  static const auto create = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  return create(thread, attributes, start, argument);
}
#endif

namespace {

/// Whether ctest runs this program without knowing that it starts threads.
bool starts_threads_unlisted() {
  return started_threads && std::getenv("LIMB_SKIPS") != nullptr &&
         std::getenv("LIMB_THREADS") == nullptr;
}

constexpr int kSkipped = 77;
using Skips = std::vector<std::pair<std::string, std::string>>;

std::string reason_of(const ::testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    const ::testing::TestPartResult& part = result.GetTestPartResult(i);
    std::string text = part.skipped() ? part.message() : "";
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) return text;
  }
  return "no reason given";
}

Skips skipped_tests(const ::testing::UnitTest& program) {
  Skips found;
  for (int i = 0; i < program.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *program.GetTestSuite(i);
    for (int k = 0; k < suite.total_test_count(); ++k) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(k);
      if (test.should_run() && test.result()->Skipped()) {
        found.emplace_back(std::string(suite.name()) + "." + test.name(),
                           reason_of(*test.result()));
      }
    }
  }
  return found;
}

bool write_skips(const Skips& skips) {
  const char* const path = std::getenv("LIMB_SKIPS");
  if (path == nullptr || *path == '\0') return true;
  std::error_code error;
  std::filesystem::remove(path, error);
  if (skips.empty()) return true;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  std::ofstream file(path);
  for (const auto& [test, reason] : skips) file << test << '\t' << reason << '\n';
  file.close();
  if (!file) std::cerr << "cannot write the file LIMB_SKIPS: " << path << '\n';
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const ::testing::UnitTest& program = *::testing::UnitTest::GetInstance();
  Skips skips = skipped_tests(program);
  const Skips& parts = limb::testing::left_out_parts();
  skips.insert(skips.end(), parts.begin(), parts.end());
  for (const auto& [test, reason] : skips) {
    std::cout << "skipped: " << test << ": " << reason << '\n';
  }
  if (!write_skips(skips)) return EXIT_FAILURE;
  if (status != 0) return status;
  if (starts_threads_unlisted()) {
    std::cerr << "this test starts threads: list it in limb_threaded_tests(), so that the thread "
                 "sanitizer runs it\n";
    return EXIT_FAILURE;
  }
  return program.skipped_test_count() > 0 && program.successful_test_count() == 0 ? kSkipped : 0;
}
