// Writes random inputs and limb's results as JSON for math_vs_scipy_test.py, which compares them
// with other libraries.
#include <fmt/format.h>

#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "limb/math/euler.hpp"
#include "limb/math/testing/random.hpp"

namespace limb {
namespace {

constexpr unsigned kSeed = 20260101;
constexpr double kPi = std::numbers::pi;

/// Fields of one JSON object; matrices as nested rows, numbers with 17 digits.
class Case {
 public:
  template <typename Derived>
  Case& add(const char* name, const Eigen::MatrixBase<Derived>& m) {
    std::vector<std::string> rows;
    for (int i = 0; i < m.rows(); ++i) {
      std::vector<std::string> row;
      for (int j = 0; j < m.cols(); ++j) row.push_back(fmt::format("{:.17g}", m(i, j)));
      rows.push_back(m.cols() == 1 ? row[0] : fmt::format("[{}]", join(row)));
    }
    fields_.push_back(fmt::format("\"{}\": [{}]", name, join(rows)));
    return *this;
  }
  Case& add(const char* name, double x) { return raw(name, fmt::format("{:.17g}", x)); }
  Case& add(const char* name, const std::string& x) { return raw(name, fmt::format("\"{}\"", x)); }
  Case& add(const char* name, const Quaternion<double>& q) { return add(name, q.xyzw()); }
  Case& add(const char* name, const Motion<double>& V) { return add(name, V.vector()); }
  Case& add(const char* name, const Force<double>& F) { return add(name, F.vector()); }
  Case& add(const char* name, const Pose<double>& X) { return add(name, X.matrix()); }
  [[nodiscard]] std::string text() const { return fmt::format("{{{}}}", join(fields_)); }

  static std::string join(const std::vector<std::string>& parts) {
    return fmt::format("{}", fmt::join(parts, ", "));
  }

 private:
  Case& raw(const char* name, const std::string& text) {
    fields_.push_back(fmt::format("\"{}\": {}", name, text));
    return *this;
  }
  std::vector<std::string> fields_;
};

/// The angles at which the maps switch their formulas, and many between.
std::vector<double> angles(testing::Random& random) {
  std::vector<double> all = {0, 1e-12, 1e-4, 0.2499, 0.2501, kPi - 1e-9, kPi};
  while (all.size() < 200) all.push_back(random.uniform(0, kPi));
  return all;
}

std::vector<std::string> groups(testing::Random& random) {
  std::vector<std::string> cases;
  for (const double angle : angles(random)) {
    const Vector3<double> axis = random.direction<double>();
    const Motion<double> V{random.vector<double>(2), axis * angle};
    const Pose<double> X = se3::exp(V);
    Case c;
    c.add("angle", angle).add("V", V).add("exp6", X).add("log6", se3::log(X));
    c.add("exp3", so3::exp(V.w)).add("log3", so3::log(X.R));
    c.add("Jexp3", so3::right_jacobian(V.w)).add("Jlog3", so3::right_jacobian_inverse(V.w));
    c.add("Jexp6", se3::right_jacobian(V)).add("Jlog6", se3::right_jacobian_inverse(V));
    c.add("q", quaternion_exp(V.w));
    cases.push_back(c.text());
  }
  return cases;
}

std::vector<std::string> spatial(testing::Random& random) {
  std::vector<std::string> cases;
  for (int n = 0; n < 200; ++n) {
    const Pose<double> X = random.pose<double>(2), Y = random.pose<double>(2);
    const Motion<double> V = random.motion<double>(2), U = random.motion<double>(2);
    const Force<double> F = random.force<double>(2);
    const Inertia<double> I = random.body();
    Case c;
    c.add("X", X).add("Y", Y).add("XY", X * Y).add("X_inverse", X.inverse());
    c.add("V", V).add("U", U).add("F", F).add("power", dot(V, F));
    c.add("XV", X.act(V)).add("X_invV", X.inv_act(V)).add("XF", X.act(F));
    c.add("X_invF", X.inv_act(F)).add("VxU", cross(V, U)).add("VxF", cross(V, F));
    c.add("adjoint", X.adjoint()).add("dual_adjoint", X.dual_adjoint());
    c.add("mass", I.mass()).add("com", I.com()).add("I_com", I.tensor_about_com());
    c.add("I", I.matrix()).add("IV", I * V).add("XI", I.transformed(X).matrix());
    c.add("energy", kinetic_energy(I, V));
    cases.push_back(c.text());
  }
  return cases;
}

std::vector<std::string> euler(testing::Random& random) {
  std::vector<std::string> cases;
  for (const EulerSequence& s : kEulerSequences) {
    for (int n = 0; n < 20; ++n) {
      const Vector3<double> t = random.vector<double>(kPi);
      const Matrix3<double> R = random.rotation<double>();
      const auto found = euler_from_matrix(s, R);
      Case c;
      c.add("sequence", to_text(s)).add("angles", t).add("to_matrix", euler_to_matrix(s, t));
      c.add("R", R).add("from_matrix", found.angles).add("measure", found.lock.measure);
      cases.push_back(c.text());
    }
  }
  return cases;
}

std::vector<std::string> interpolation(testing::Random& random) {
  std::vector<std::string> cases;
  for (int n = 0; n < 200; ++n) {
    const auto a = random.unit_quaternion<double>(), b = random.unit_quaternion<double>();
    const double t = random.uniform(0, 1);
    cases.push_back(Case().add("a", a).add("b", b).add("t", t).add("slerp", slerp(a, b, t)).text());
  }
  return cases;
}

}  // namespace
}  // namespace limb

int main() {
  using namespace limb;
  testing::Random random(kSeed);
  const auto list = [](const char* name, const std::vector<std::string>& cases) {
    return fmt::format("\"{}\": [\n{}]", name, Case::join(cases));
  };
  const std::string groups_text = list("groups", groups(random));
  const std::string spatial_text = list("spatial", spatial(random));
  const std::string euler_text = list("euler", euler(random));
  const std::string interpolation_text = list("interpolation", interpolation(random));
  fmt::print("{{\"seed\": {}, {},\n{},\n{},\n{}}}\n", kSeed, groups_text, spatial_text, euler_text,
             interpolation_text);
}
