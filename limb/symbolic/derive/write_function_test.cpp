// Functions in C: compiled and compared with a closed form written here.
#include "limb/symbolic/derive/write_function.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "limb/base/testing/temporary_folder.hpp"
#include "limb/symbolic/derive/recursive_form.hpp"

namespace limb::symbolic {
namespace {

// The planar 2R arm with point masses [lecture 000], whose masses, lengths and damping are
// fractions of parameters: negative powers with and without cosines.
const char* kFractions = R"toml(name = "fractions"
gravity = [0, "-g/k", 0]
[parameters]
c = 1.25
k = 1.6
r = 0.7
g = 9.81
[[standard_dh]]
type = "revolute"
a = "1/k"
mass = "3*c/k"
damping = "c/(2*r)"
[[standard_dh]]
type = "revolute"
a = "r/k^3"
mass = "c/r^2"
damping = "1/(k^2*r)"
)toml";

struct Results {
  double M[4], V[2], G[2], tau[2];
};

/// tau = M qdd + V + G + D qd of the arm, by hand.
Results by_hand(const double* p, const double* q, const double* v, const double* a) {
  const double c = p[0], k = p[1], r = p[2], g = p[3] / k;
  const double m1 = 3 * c / k, m2 = c / (r * r), l1 = 1 / k, l2 = r / (k * k * k);
  const double c2 = std::cos(q[1]), s2 = std::sin(q[1]), c12 = std::cos(q[0] + q[1]);
  const double m12 = m2 * (l1 * l2 * c2 + l2 * l2), m22 = m2 * l2 * l2;
  const double m11 = m1 * l1 * l1 + m2 * (l1 * l1 + 2 * l1 * l2 * c2 + l2 * l2);
  const double h = m2 * l1 * l2 * s2;
  Results x = {{m11, m12, m12, m22},
               {-h * (2 * v[0] * v[1] + v[1] * v[1]), h * v[0] * v[0]},
               {(m1 + m2) * l1 * g * std::cos(q[0]) + m2 * g * l2 * c12, m2 * g * l2 * c12},
               {}};
  x.tau[0] = m11 * a[0] + m12 * a[1] + x.V[0] + x.G[0] + c / (2 * r) * v[0];
  x.tau[1] = m12 * a[0] + m22 * a[1] + x.V[1] + x.G[1] + v[1] / (k * k * r);
  return x;
}

constexpr double kParameters[] = {0.9, 1.7, 0.6, 9.7};
constexpr double kQ[] = {0.4, -1.1}, kV[] = {0.8, -0.5}, kA[] = {-1.3, 0.9};

void expect_results(const Results& found) {
  const Results expected = by_hand(kParameters, kQ, kV, kA);
  // A few dozen rounded products of at most 30; worst seen 2 eps of the number.
  const auto near = [](double x, double y, const char* what) {
    EXPECT_NEAR(x, y, 16 * std::numeric_limits<double>::epsilon() * (1 + std::abs(y))) << what;
  };
  for (std::size_t i = 0; i < 4; ++i) near(found.M[i], expected.M[i], "M");
  for (std::size_t i = 0; i < 2; ++i) {
    near(found.V[i], expected.V[i], "V");
    near(found.G[i], expected.G[i], "G");
    near(found.tau[i], expected.tau[i], "tau");
  }
}

/// Compiles C source and calls its function.
Results run_c(const std::string& source, const limb::testing::TemporaryFolder& folder) {
  const std::string name = folder.file("f");
  std::ofstream(name + ".c") << source;
  const std::string command = "cc -std=c99 -O0 -ffp-contract=off -Wall -Wextra -Werror -shared " +
                              std::string("-fPIC ") + name + ".c -o " + name + ".so -lm";
  EXPECT_EQ(std::system(command.c_str()), 0) << source;  // NOLINT
  void* library = dlopen((name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(library, nullptr) << dlerror();
  Results x{};
  if (library == nullptr) return x;
  using Function = void (*)(const double*, const double*, const double*, const double*, double*,
                            double*, double*, double*);
  const auto f = reinterpret_cast<Function>(dlsym(library, "fractions"));
  const auto* defaults = static_cast<const double*>(dlsym(library, "fractions_defaults"));
  f(kParameters, kQ, kV, kA, x.M, x.V, x.G, x.tau);
  EXPECT_EQ(std::vector<double>(defaults, defaults + 4),
            (std::vector<double>{1.25, 1.6, 0.7, 9.81}));
  dlclose(library);
  return x;
}

std::string robot_file(const limb::testing::TemporaryFolder& folder) {
  std::ofstream(folder.file("fractions.toml")) << kFractions;
  return folder.file("fractions.toml");
}

TEST(WriteFunction, NegativePowersInC) {
  const limb::testing::TemporaryFolder folder;
  const Derivation d = derive(load_robot(robot_file(folder)));
  const std::string source = write_function(d, Language::c);
  // M22 = m2 l2^2 = c/r^2 (r/k^3)^2 = c/k^6
  EXPECT_NE(source.find("  M[3] = c_/k_/k_/k_/k_/k_/k_;\n"), std::string::npos) << source;
  expect_results(run_c(source, folder));
}

TEST(WriteFunction, NegativePowersOfTheRecursiveFormInC) {
  const limb::testing::TemporaryFolder folder;
  const RecursiveForm form = derive_recursive(robot_file(folder));
  EXPECT_EQ(form.parameters, (std::vector<std::string>{"c", "k", "r", "g"}));
  expect_results(run_c(write_function(form, Language::c), folder));
  std::unordered_map<std::string, double> inputs;
  for (std::size_t i = 0; i < 4; ++i) inputs[form.parameters[i]] = kParameters[i];
  for (int i = 0; i < 2; ++i) {
    const std::string number = std::to_string(i + 1);
    inputs["q" + number] = kQ[i];
    inputs["qd" + number] = kV[i];
    inputs["qdd" + number] = kA[i];
  }
  const auto found = evaluate(form, inputs);
  Results x{};
  std::copy_n(found[0].begin(), 4, x.M);
  std::copy_n(found[1].begin(), 2, x.V);
  std::copy_n(found[2].begin(), 2, x.G);
  std::copy_n(found[3].begin(), 2, x.tau);
  expect_results(x);
}

// x^-1, x^-2, x^-3, times a cosine, as a fraction of numbers; evaluated on the tape.
TEST(WriteFunction, NegativePowersOnTheTape) {
  const auto ring = Ring::make();
  const RingScope scope(ring);
  const SymbolId id = ring->add_symbol({"x", Symbol::Kind::parameter, 0.7, {}, 0});
  const Polynomial x = Polynomial::symbol(ring, id);
  for (int n = -3; n <= 3; ++n) {
    RecursiveForm form;
    const Recording recording(form.tape);
    const Polynomial y = Polynomial(Rational(-3, 7)) * pow(x, n) * cos(x) + sqrt(Polynomial(2));
    form.outputs = {{"y", 1, 1, {Traced(y).node()}}};
    const double expected = -3.0 / 7 * std::pow(0.7, n) * std::cos(0.7) + std::sqrt(2.0);
    EXPECT_NEAR(evaluate(form, {{"x", 0.7}})[0][0], expected, 4e-16 * (1 + std::abs(expected)))
        << n;
  }
}

TEST(WriteFunction, MakesIdentifiers) {
  EXPECT_EQ(identifier("arm-7 left"), "arm_7_left");
  EXPECT_EQ(identifier("2r"), "robot_2r");
  EXPECT_EQ(identifier(""), "robot_");
}

}  // namespace
}  // namespace limb::symbolic
