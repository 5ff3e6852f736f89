// The generated C compiles without warnings as C99, with batches and a C++ header, passes its
// generated tests, and stays within its stack bound.
#include "limb/codegen/c/emit_c.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "limb/base/testing/left_out.hpp"
#include "limb/base/testing/worst.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/testing/abs_and_atan2.hpp"
#include "limb/codegen/testing/c_folder.hpp"
#include "limb/math/testing/compare.hpp"
#include "limb/math/testing/random.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/testing/random_tree.hpp"

namespace limb {
namespace {

using codegen::Precision;

constexpr double kEps = std::numeric_limits<double>::epsilon();

/// Largest stack frame that the compiler reports for functions of a file.
long stack_used(const std::filesystem::path& folder, const std::string& stem) {
  long most = 0;
  std::ifstream lines(folder / (stem + ".su"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line.substr(line.find('\t')));
    long bytes = 0;
    fields >> bytes;
    most = std::max<long>(most, bytes);
  }
  return most;
}

constexpr const char* kCommon = " -pedantic -Wall -Wextra -Werror -Wshadow -fstack-usage";

/// Builds and runs the tests of a package with these compilers. @param simd flags for batches.
void check(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
           const FunctionOptions& options, Precision precision, const std::string& cc = "gcc",
           const std::string& cxx = "g++", const std::string& simd = "-O1 -march=native") {
  SCOPED_TRACE(cc + " " + simd);
  std::vector<codegen::Trace> traces;
  for (const DynamicsFunction f : functions) traces.push_back(codegen::trace(model, f, options));
  codegen::CPackageOptions package_options;
  package_options.prefix = "robot";
  package_options.precision = precision;
  package_options.comment = "test";
  package_options.simd = package_options.cpp = true;
  const codegen::CPackage package = codegen::make_c_package(traces, package_options);
  const testing::CFolder folder(package);
  const int status =
      folder.run("make -s CC=" + cc + " CXX=" + cxx + " CFLAGS='-std=c99 -O1 -ffp-contract=off" +
                 kCommon + "' SIMD_FLAGS='-std=c99 " + simd + kCommon +
                 "' CXXFLAGS='-std=c++17 -O1" + kCommon + "' test");
  const std::string log = folder.log();
  EXPECT_EQ(status, 0) << log;
  EXPECT_EQ(log.find("FAILED"), std::string::npos) << log;
  EXPECT_NE(log.find(" lanes\n"), std::string::npos) << log;
  for (const codegen::Trace& trace : traces) {
    for (const char* test : {"_0 ", " by rows ", " by columns "}) {
      const std::string& result = trace.outputs.back().name;
      const char* space = test[0] == '_' ? "_" : " ";
      EXPECT_NE(log.find("ok " + trace.name + space + result + test), std::string::npos) << log;
    }
  }
  if (cc != "gcc") return;  // which names its files differently
  const long used = stack_used(folder.path(), "robot");
  EXPECT_GT(used, 0);
  EXPECT_LE(used, static_cast<long>(package.stack_bytes));
  const long batch = stack_used(folder.path(), "robot_simd");
  EXPECT_GT(batch, 0);
  EXPECT_LE(batch, static_cast<long>(package.simd_stack_bytes));
}

const std::vector<DynamicsFunction> kAll = {
    DynamicsFunction::rnea,        DynamicsFunction::bias,
    DynamicsFunction::gravity,     DynamicsFunction::crba,
    DynamicsFunction::aba,         DynamicsFunction::mass_inverse,
    DynamicsFunction::frame_poses, DynamicsFunction::frame_jacobians,
    DynamicsFunction::centroidal};

TEST(EmitC, PassesItsGeneratedTest) {
  const Model<double> model = load_model("builtin:arm7");
  FunctionOptions options;
  options.frames = {model.find_frame("tool")};
  check(model, kAll, options, Precision::f64);
  check(model, {DynamicsFunction::rnea, DynamicsFunction::crba, DynamicsFunction::frame_poses},
        options, Precision::f32);
}

// Vectors of 16 bytes, no vectors, fused products, another compiler.
TEST(EmitC, WorksWithAnyVectorWidth) {
  const Model<double> model = load_model("builtin:arm6");
  for (const Precision p : {Precision::f64, Precision::f32}) {
    check(model, {DynamicsFunction::rnea}, {}, p, "gcc", "g++", "-O2");
    check(model, {DynamicsFunction::rnea}, {}, p, "gcc", "g++", "-O2 -DROBOT_NO_SIMD");
    check(model, {DynamicsFunction::rnea}, {}, p, "gcc", "g++",
          "-O2 -march=native -ffp-contract=fast -fno-math-errno");
    if (!testing::has_command("clang++")) {
      testing::leave_out("clang++ is not installed");
      continue;
    }
    check(model, {DynamicsFunction::rnea}, {}, p, "clang", "clang++");
  }
}

TEST(EmitC, SupportsFloatingBases) {
  check(load_model("builtin:quadruped"), {DynamicsFunction::rnea, DynamicsFunction::centroidal}, {},
        Precision::f64);
}

// Entries of matrices, and the arrays of their rows and columns.
TEST(EmitC, SupportsNonzeros) {
  const Model<double> model = load_model("builtin:quadruped");
  FunctionOptions options;
  options.entries = MatrixEntries::nonzeros;
  check(model, {DynamicsFunction::crba, DynamicsFunction::gravity}, options, Precision::f64);
  const codegen::Trace trace = codegen::trace(model, DynamicsFunction::crba, options);
  codegen::CPackageOptions package_options;
  package_options.prefix = "robot";
  const testing::CFolder folder(codegen::make_c_package({trace}, package_options));
  std::ofstream(folder.path() / "main.c")
      << "#include <stdio.h>\n#include \"robot.h\"\nint main(void) {\n"
         "  int k, sum = 0;\n  const int n = sizeof robot_crba_M_row / sizeof(short);\n"
         "  for (k = 0; k < n; ++k) sum += robot_crba_M_row[k] * 18 + robot_crba_M_col[k];\n"
         "  printf(\"%d %d\\n\", n, sum);\n  return 0;\n}\n";
  ASSERT_EQ(folder.run("gcc -std=c99 -Wall -Werror main.c robot.c -lm -o main && ./main"), 0)
      << folder.log();
  const codegen::Pattern& p = trace.patterns[0];
  int sum = 0;
  for (int k = 0; k < p.size(); ++k) sum += p.row[std::size_t(k)] * 18 + p.col[std::size_t(k)];
  EXPECT_EQ(folder.log(), std::to_string(p.size()) + " " + std::to_string(sum) + "\n");
}

// The bytes on the stack that the package states are those of the array in the text.
TEST(EmitC, ScratchBytesAreThoseOfTheArray) {
  const codegen::Trace trace =
      codegen::trace(load_model("builtin:arm7"), DynamicsFunction::rnea, {});
  for (const Precision precision : {Precision::f64, Precision::f32}) {
    const codegen::CSource source = codegen::emit_c(trace, "robot", precision);
    const std::string type = precision == Precision::f64 ? "double" : "float";
    const std::size_t at = source.text.find("  " + type + " w[");
    ASSERT_NE(at, std::string::npos);
    const auto count = std::stoul(source.text.substr(at + type.size() + 5));
    EXPECT_GT(count, 5u);
    EXPECT_EQ(source.scratch_bytes, count * (precision == Precision::f64 ? 8 : 4));
  }
}

TEST(EmitC, SupportsEveryJointType) {
  testing::RandomTreeOptions tree{.joints = 11};
  Description<double> robot = testing::random_tree(3, tree);
  for (auto& joint : robot.joints) joint.friction = 0.1;  // signs: comparisons and selections
  for (const char* compiler : {"gcc", "clang"}) {
    if (!testing::has_command(compiler)) {
      testing::leave_out(std::string(compiler) + " is not installed");
      continue;
    }
    check(build_model(robot), {DynamicsFunction::rnea, DynamicsFunction::crba}, {}, Precision::f64,
          compiler);
  }
}

// Angles out of range, square roots, atan2, masks; argument names that the files use themselves.
TEST(EmitC, SupportsUserDefinedFunctions) {
  codegen::Tracer tracer("odd");
  const VectorX<Traced> w = tracer.input("w", 3), range = tracer.input("range", 2),
                        unused = tracer.input("states", 1);
  VectorX<Traced> x(7);
  x[0] = sin(w[0] * Traced(3e7)) + cos(w[0] * Traced(3e7));
  x[1] = sqrt(w[1] * w[1] + Traced(1)) - abs(w[2]);
  x[2] = atan2(w[1], range[0]);
  x[3] = select(w[0] < range[1] && !(w[1] <= Traced(0.1)), w[2], Traced(5));
  x[4] = select(w[0] < Traced(0) || w[2] < Traced(0), -w[1], range[0] / (Traced(3) + w[1]));
  x[5] = cos(w[1]);
  x[6] = Traced(2);
  tracer.output("double", x);
  std::vector<codegen::Trace> traces;
  traces.push_back(tracer.finish());
  codegen::CPackageOptions package_options;
  package_options.simd = package_options.cpp = true;
  const testing::CFolder folder(codegen::make_c_package(traces, package_options));
  EXPECT_EQ(folder.run("make -s test"), 0) << folder.log();
  EXPECT_NE(folder.log().find("ok odd arg_double by columns"), std::string::npos) << folder.log();
}

/// Results of generated C for states, one row of inputs each: one by one, or as a batch.
template <typename T>
std::vector<T> run_c(codegen::Trace trace, const std::vector<T>& in, const std::string& flags,
                     bool batches) {
  const std::size_t inputs = static_cast<std::size_t>(trace.input_size()),
                    outputs = static_cast<std::size_t>(trace.output_size());
  const std::string name = "limb_" + trace.name;
  std::vector<codegen::Trace> traces;
  traces.push_back(std::move(trace));
  codegen::CPackageOptions package_options;
  package_options.precision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
  package_options.simd = true;
  const testing::CFolder folder(codegen::make_c_package(traces, package_options));
  EXPECT_EQ(folder.run("cc -std=c99 -O1 -march=native -fPIC -shared " + flags +
                       " limb.c limb_simd.c -o limb.so -lm"),
            0)
      << folder.log();
  void* library = dlopen((folder.path() / "limb.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  const std::size_t states = in.size() / inputs;
  std::vector<T> out(states * outputs);
  if (batches) {
    using Rows = void (*)(std::size_t, const T*, T*);
    const auto rows = reinterpret_cast<Rows>(dlsym(library, (name + "_rows").c_str()));
    rows(states, in.data(), out.data());
  } else {
    using One = void (*)(const T*, T*);
    const auto one = reinterpret_cast<One>(dlsym(library, name.c_str()));
    for (std::size_t i = 0; i < states; ++i) one(&in[i * inputs], &out[i * outputs]);
  }
  dlclose(library);
  return out;
}

/// |x - y| in units in the last place of y.
template <typename T>
double ulps(T x, long double y) {
  const T size = std::abs(T(y));
  const T gap = std::nextafter(size, std::numeric_limits<T>::max()) - size;
  return double(std::abs(x - y) / gap);
}

/// Largest error of sines and cosines of a batch, in units in the last place.
template <typename T>
double sine_error(const std::string& flags, double most) {
  codegen::Tracer tracer("both");
  const VectorX<Traced> x = tracer.input("angle", 1);
  VectorX<Traced> y(2);
  y << sin(x[0]), cos(x[0]);
  tracer.output("sc", y);
  testing::Random random(5);
  std::vector<T> angles;
  for (int i = 0; i < 40000; ++i) {
    angles.push_back(T(random.uniform(-most, most)));
    angles.push_back(T(random.uniform(-7, 7)));
    // Near multiples of pi/2, where digits cancel.
    const double quarter = std::floor(random.uniform(0, most / 1.6)) * std::acos(0.0);
    angles.push_back(std::nextafter(T(quarter), T(most)));
  }
  const std::vector<T> found = run_c(tracer.finish(), angles, flags, true);
  Worst worst;
  for (std::size_t i = 0; i < angles.size(); ++i) {
    const long double angle = angles[i];
    worst.add(ulps(found[2 * i], std::sin(angle)), ulps(found[2 * i + 1], std::cos(angle)));
  }
  return worst.value();
}

/// Largest error of atan2 in all directions, on the axes and at the origin.
template <typename T>
double angle_error(bool batches) {
  codegen::Tracer tracer("direction");
  const VectorX<Traced> p = tracer.input("p", 2);
  tracer.output("angle", VectorX<Traced>::Constant(1, atan2(p[1], p[0])));
  testing::Random random(8);
  std::vector<T> points;
  for (const double x : {0.0, 1.0, -1.0, 1e-30}) {
    for (const double y : {0.0, 1.0, -1.0, 1e-30}) points.insert(points.end(), {T(x), T(y)});
  }
  for (int i = 0; i < 20001; ++i) {
    const double size = std::pow(10.0, random.uniform(-15, 15)), angle = random.uniform(-3.2, 3.2);
    points.insert(points.end(), {T(size * std::cos(angle)), T(size * std::sin(angle))});
  }
  const std::vector<T> found = run_c(tracer.finish(), points, "", batches);
  Worst worst;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const long double x = points[2 * i], y = points[2 * i + 1];
    worst.add(ulps(found[i], std::atan2(y, x)));
  }
  return worst.value();
}

// By the C library, within 2 units in the last place (glibc: 1.3 seen for float, 0.5 for double).
TEST(EmitC, Atan2IsAccurate) {
  for (const bool batches : {false, true}) {
    EXPECT_LT(angle_error<double>(batches), 2);
    EXPECT_LT(angle_error<float>(batches), 2);
  }
}

TEST(EmitC, DerivativesOfAbsAndAtan2) {
  for (const bool batches : {false, true}) {
    const auto points = testing::abs_and_atan2_points<double>();
    testing::expect_abs_and_atan2(
        points, run_c(testing::abs_and_atan2_trace(), points, "-ffp-contract=off", batches));
    const auto points32 = testing::abs_and_atan2_points<float>();
    testing::expect_abs_and_atan2(
        points32, run_c(testing::abs_and_atan2_trace(), points32, "-ffp-contract=off", batches));
  }
}

// 1/x, 1/x^2, ..., 1/x^5 and their derivatives -n/x^(n+1), of numbers of both signs.
TEST(EmitC, NegativePowers) {
  codegen::Tracer tracer("powers");
  const VectorX<Traced> x = tracer.input("x", 1);
  VectorX<Traced> y(5);
  y[0] = Traced(1) / x[0];
  for (int n = 1; n < 5; ++n) y[n] = y[n - 1] / x[0];
  VectorX<Traced> all(10);
  all << y, codegen::jacobian(y, codegen::unit_directions(x)).col(0);
  tracer.output("y", all);
  const codegen::Trace trace = tracer.finish();
  const std::vector<double> in = {0.7, -0.3, 1.5, -12.25, 1e-5, 3, -1};
  for (const bool batches : {false, true}) {
    const std::vector<double> found = run_c(trace, in, "-ffp-contract=off", batches);
    for (std::size_t i = 0; i < in.size(); ++i) {
      for (std::size_t n = 1; n <= 5; ++n) {
        const double power = std::pow(in[i], -double(n)), slope = -double(n) * power / in[i];
        // One rounding for each division; derivatives have two for each factor.
        EXPECT_NEAR(found[10 * i + n - 1], power, 3 * kEps * std::abs(power)) << in[i] << " " << n;
        EXPECT_NEAR(found[10 * i + 4 + n], slope, 6 * kEps * std::abs(slope)) << in[i] << " " << n;
      }
    }
  }
}

TEST(EmitC, SinesOfBatchesAreAccurate) {
  for (const char* flags : {"-ffp-contract=off", "-ffp-contract=fast"}) {
    // Half a unit from each of two differences, twice that where the result is below a power of
    // two, and half from the sum of the polynomial; worst seen 2.2.
    EXPECT_LT(sine_error<double>(flags, 1e6), 2.5) << flags;
    EXPECT_LT(sine_error<float>(flags, 5000), 2) << flags;
    // Out of the range of the polynomials: the C library.
    EXPECT_LT(sine_error<double>(flags, 1e9), 2) << flags;
    EXPECT_LT(sine_error<float>(flags, 1e6), 2) << flags;
  }
}

TEST(EmitC, ReportsNonFiniteTestResults) {
  codegen::Tracer tracer("pole");
  const VectorX<Traced> x = tracer.input("x", 1);
  tracer.output("y", VectorX<Traced>::Constant(1, Traced(1) / x[0]));
  std::vector<codegen::Trace> traces;
  traces.push_back(tracer.finish());
  codegen::CPackageOptions package_options;
  package_options.sample = [](const codegen::Array& a) {
    return std::vector<double>(static_cast<std::size_t>(a.size()));
  };
  EXPECT_EQ(testing::message([&] { codegen::make_c_package(traces, package_options); }),
            "make_c_package: y of pole is not finite at a state of the test");
}

TEST(EmitC, MakesIdentifiers) {
  EXPECT_EQ(codegen::c_identifier("arm-7 left"), "arm_7_left");
  EXPECT_EQ(codegen::c_identifier("2r"), "robot_2r");
  EXPECT_EQ(codegen::c_identifier(""), "robot_");
}

}  // namespace
}  // namespace limb
