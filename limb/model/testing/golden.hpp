#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "limb/model/core/model.hpp"
#include "limb/model/testing/shared.hpp"

/// Recorded values of real robots (golden/README.md in the shared folder), for tests.
namespace limb::testing {

inline VectorX<double> vector_of(const nlohmann::json& j) {
  const auto numbers = j.get<std::vector<double>>();
  return Eigen::Map<const VectorX<double>>(numbers.data(),
                                           static_cast<Eigen::Index>(numbers.size()));
}

inline MatrixX<double> matrix_of(const nlohmann::json& j) {
  MatrixX<double> m(static_cast<Eigen::Index>(j.size()), static_cast<Eigen::Index>(j[0].size()));
  for (Eigen::Index r = 0; r < m.rows(); ++r) {
    m.row(r) = vector_of(j[static_cast<std::size_t>(r)]).transpose();
  }
  return m;
}

/// One recorded file; the test is skipped if there is no such folder.
class GoldenTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto shared = shared_folder();
    if (shared.empty()) GTEST_SKIP() << testing::why_no_shared();
    std::ifstream file(shared / "golden" / (std::string(GetParam()) + ".json"));
    ASSERT_TRUE(file) << GetParam();
    golden_ = nlohmann::json::parse(file);
    urdf_ = (shared / golden_["urdf"].get<std::string>()).string();
  }
  Base base() const { return golden_["base"] == "fixed" ? Base::fixed : Base::free; }

  nlohmann::json golden_;
  std::string urdf_;
};

inline auto golden_files() {
  return ::testing::Values("anymal_b_ff", "anymal_b_fixed", "double_pendulum_continuous_fixed",
                           "double_pendulum_fixed", "go2_ff", "hyq_ff", "hyq_fixed", "iiwa14_ff",
                           "iiwa14_fixed", "panda_ff", "panda_fixed", "simple_humanoid_ff",
                           "simple_humanoid_fixed", "talos_reduced_ff", "ur5_fixed");
}

inline std::string golden_name(const ::testing::TestParamInfo<const char*>& test) {
  return test.param;
}

}  // namespace limb::testing
