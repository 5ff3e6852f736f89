// Runs a target once for each file in the given folders and for each given file. A test does so
// with the seeds and former findings; it also shows that the target compiles without libFuzzer.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "fuzz/target.hpp"
#include "limb/base/text_file.hpp"

int main(int count, char** arguments) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  for (int i = 1; i < count; ++i) {
    if (!fs::is_directory(arguments[i])) {
      files.emplace_back(arguments[i]);
      continue;
    }
    for (const auto& entry : fs::directory_iterator(arguments[i])) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    // The last line printed names the input of a crash.
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    // A copy of exactly this size, so that sanitizers see accesses beyond its end.
    const std::string bytes = limb::read_text_file("run_inputs", file);
    const std::vector<std::uint8_t> data(bytes.begin(), bytes.end());
    LLVMFuzzerTestOneInput(data.data(), data.size());
  }
  if (files.empty()) std::fprintf(stderr, "run_inputs: no input files\n");
  return files.empty() ? 1 : 0;
}
