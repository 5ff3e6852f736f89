#include "limb/model/testing/shared.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"

namespace limb::testing {
namespace {

/// Sets LIMB_SHARED for one test.
class SharedFolder : public ::testing::Test {
 protected:
  SharedFolder() {
    const char* const given = std::getenv("LIMB_SHARED");
    if (given != nullptr) before_ = given;
    ::setenv("LIMB_SHARED", folder_.path().c_str(), 1);
  }
  ~SharedFolder() override {
    before_.empty() ? ::unsetenv("LIMB_SHARED") : ::setenv("LIMB_SHARED", before_.c_str(), 1);
  }
  void write_marker(const std::string& text) const {
    std::filesystem::create_directory(folder_.path() / "golden");
    std::ofstream(folder_.path() / "golden/README.md") << text;
  }

  TemporaryFolder folder_;
  std::string before_;
};

TEST_F(SharedFolder, WithMarkerIsFound) {
  write_marker("# Reference values from Pinocchio 3.7.0\n");
  EXPECT_EQ(why_no_shared(), "");
  EXPECT_EQ(shared_folder(), folder_.path());
}

TEST_F(SharedFolder, OfSomeoneElseIsNotOurs) {
  const std::string reason = folder_.path().string() +
                             " is not limb's folder of reference robots: no golden/README.md that "
                             "starts with '# Reference values from Pinocchio'";
  std::filesystem::create_directory(folder_.path() / "robots");
  EXPECT_EQ(why_no_shared(), reason);
  EXPECT_TRUE(shared_folder().empty());
  write_marker("# Golden retrievers\n");
  EXPECT_EQ(why_no_shared(), reason);
  write_marker("");
  EXPECT_EQ(why_no_shared(), reason);
  EXPECT_TRUE(shared_folder().empty());
}

TEST_F(SharedFolder, AbsentIsNamed) {
  ::setenv("LIMB_SHARED", (folder_.path() / "absent").c_str(), 1);
  EXPECT_EQ(why_no_shared(), "no folder of reference robots " + folder_.file("absent") +
                                 " (LIMB_SHARED names another)");
  EXPECT_TRUE(shared_folder().empty());
}

TEST_F(SharedFolder, DefaultsToThePathOfTheBuild) {
  ::unsetenv("LIMB_SHARED");
  EXPECT_EQ(shared_path(), shared_default());
  ::setenv("LIMB_SHARED", "", 1);
  EXPECT_EQ(shared_path(), shared_default());
}

}  // namespace
}  // namespace limb::testing
