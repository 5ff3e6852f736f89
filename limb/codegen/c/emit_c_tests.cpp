// The tests of a generated C package.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "limb/base/error.hpp"
#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/c/emit_c_statements.hpp"
#include "limb/codegen/lower/interpreter.hpp"
#include "limb/codegen/lower/lower.hpp"

namespace limb::codegen {
namespace {

constexpr int kTestStates = 3;

std::vector<Array> arrays_of(const Trace& trace) {
  std::vector<Array> arrays = trace.inputs;
  arrays.insert(arrays.end(), trace.outputs.begin(), trace.outputs.end());
  return arrays;
}

/// States, expected results from the interpreter in double precision, and how to compare.
std::string data(const std::vector<Trace>& traces, const CPackageOptions& o) {
  const bool f32 = o.precision == Precision::f32;
  const char* type = c_type(o.precision);
  std::string text = c_comment(o.comment);
  text += fmt::format(
      "#include <math.h>\n#include <stdio.h>\n\n"
      "/* Largest difference relative to the largest expected value. */\n"
      "static double worst(const {0}* found, const {0}* expected, int n) {{\n"
      "  double difference = 0.0, size = 1.0;\n"
      "  int i;\n"
      "  for (i = 0; i < n; ++i) {{\n"
      "    const double d = fabs((double)found[i] - (double)expected[i]);\n"
      "    if (!(d <= difference)) difference = d;\n"
      "    if (fabs((double)expected[i]) > size) size = fabs((double)expected[i]);\n"
      "  }}\n"
      "  return difference / size;\n"
      "}}\n\nstatic int check(const char* name, double error) {{\n"
      "  const int ok = error < {1};\n"
      "  printf(\"%s %s %.1e\\n\", ok ? \"ok\" : \"FAILED\", name, error);\n"
      "  return ok ? 0 : 1;\n"
      "}}\n\n",
      type, f32 ? "1e-3" : "1e-9");
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const auto numbers = [&](const std::string& name, const std::vector<double>& x) {
    text += fmt::format("static const {} {}[{}] = {{", type, name, x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      text += i % 4 == 0 ? "\n    " : " ";
      text += c_literal(x[i], o.precision) + ",";
    }
    text += "};\n";
  };
  for (const Trace& trace : traces) {
    const Interpreter<double> reference(lower(trace, {.inline_sincos = false}));
    for (int s = 0; s < kTestStates; ++s) {
      std::vector<std::vector<double>> in, out;
      std::vector<const double*> from;
      std::vector<double*> to;
      for (const Array& a : trace.inputs) {
        in.emplace_back(static_cast<std::size_t>(a.size()));
        for (double& x : in.back()) x = uniform(engine);
        if (o.sample) in.back() = o.sample(a);
        // The same number in both precisions.
        for (double& x : in.back()) x = static_cast<float>(x);
        numbers(fmt::format("{}_{}_{}", trace.name, a.name, s), in.back());
      }
      for (const Array& a : trace.outputs) out.emplace_back(static_cast<std::size_t>(a.size()));
      for (const auto& x : in) from.push_back(x.data());
      for (auto& x : out) to.push_back(x.data());
      reference.run(from.data(), to.data());
      for (std::size_t k = 0; k < out.size(); ++k) {
        if (!std::all_of(out[k].begin(), out[k].end(), [](double x) { return std::isfinite(x); })) {
          throw Error(fmt::format("make_c_package: {} of {} is not finite at a state of the test",
                                  trace.outputs[k].name, trace.name));
        }
        numbers(fmt::format("expected_{}_{}_{}", trace.name, trace.outputs[k].name, s), out[k]);
      }
    }
  }
  return text;
}

/// main() of calls that return how many checks failed.
std::string main_of(const std::string& calls) {
  return "\nint main(void) {\n  int bad = 0;\n" + calls + "  return bad == 0 ? 0 : 1;\n}\n";
}

std::string test(const std::vector<Trace>& traces, const CPackageOptions& o) {
  std::string text = c_comment(o.comment);
  text += fmt::format("#include \"{0}.h\"\n#include \"{0}_test.h\"\n\n", o.prefix);
  std::string calls;
  for (const Trace& trace : traces) {
    for (int s = 0; s < kTestStates; ++s) {
      std::string arguments, results;
      for (const Array& a : arrays_of(trace)) {
        arguments +=
            fmt::format("{}{}_{}_{}", arguments.empty() ? "" : ", ", trace.name, a.name, s);
      }
      for (const Array& a : trace.outputs) {
        const std::string name = fmt::format("{}_{}_{}", trace.name, a.name, s);
        text += fmt::format("static {} {}[{}];\n", c_type(o.precision), name, a.size());
        results += fmt::format("  bad += check(\"{0}\", worst({0}, expected_{0}, {1}));\n", name,
                               a.size());
      }
      calls += fmt::format("  {}_{}({});\n{}", o.prefix, trace.name, arguments, results);
    }
  }
  return text + main_of(calls);
}

/// Repeated states, by rows and by columns, in batches with and without a remainder; the number
/// after the results must not change.
std::string simd_test(const std::vector<Trace>& traces, const CPackageOptions& o) {
  const char* type = c_type(o.precision);
  std::string text = c_comment(o.comment);
  text += fmt::format("#include \"{0}_simd.h\"\n#include \"{0}_test.h\"\n\n", o.prefix);
  text += fmt::format(
      "#define MOST 37\n\n"
      "/* Entry i of state r. */\n"
      "static int place(int r, int i, int n, int states, int rows) {{\n"
      "  return rows ? r * n + i : i * states + r;\n}}\n"
      "static void fill({0}* all, const {0}* const* some, int n, int states, int rows) {{\n"
      "  int r, i;\n"
      "  for (r = 0; r < states; ++r) {{\n"
      "    for (i = 0; i < n; ++i) all[place(r, i, n, states, rows)] = some[r % {1}][i];\n"
      "  }}\n}}\n"
      "static double compare({0}* all, const {0}* const* some, {0}* one, int n, int states, "
      "int rows) {{\n"
      "  double most = all[n * states] == 77 ? 0.0 : 1.0;\n"
      "  int r, i;\n"
      "  for (r = 0; r < states; ++r) {{\n"
      "    double error;\n"
      "    for (i = 0; i < n; ++i) one[i] = all[place(r, i, n, states, rows)];\n"
      "    error = worst(one, some[r % {1}], n);\n"
      "    if (!(error <= most)) most = error;\n"
      "  }}\n"
      "  return most;\n}}\n",
      type, kTestStates);
  std::string calls;
  for (const Trace& trace : traces) {
    std::string tables, before, after, arguments;
    const auto add = [&](const Array& a, const char* kind) {
      tables += fmt::format("  static const {}* const some_{}[] = {{", type, a.name);
      for (int s = 0; s < kTestStates; ++s) {
        tables += fmt::format("{}{}{}_{}_{}", s == 0 ? "" : ", ", kind, trace.name, a.name, s);
      }
      tables += fmt::format("}};\n  static {} {}[MOST * {} + 1];\n", type, a.name, a.size());
      arguments += ", " + a.name;
    };
    for (const Array& a : trace.inputs) {
      add(a, "");
      before += fmt::format("  fill({0}, some_{0}, {1}, states, rows);\n", a.name, a.size());
    }
    for (const Array& a : trace.outputs) {
      add(a, "expected_");
      tables += fmt::format("  static {} one_{}[{}];\n", type, a.name, a.size());
      before += fmt::format("  {}[states * {}] = 77;\n", a.name, a.size());
      after += fmt::format(
          "  bad += check(rows ? \"{0} {1} by rows\" : \"{0} {1} by columns\",\n"
          "               compare({1}, some_{1}, one_{1}, {2}, states, rows));\n",
          trace.name, a.name, a.size());
    }
    text += fmt::format(
        "\nstatic int test_{0}(int states, int rows) {{\n{1}  int bad = 0;\n{2}"
        "  if (rows) {{\n    {3}_{0}_rows((size_t)states{4});\n  }} else {{\n"
        "    {3}_{0}_columns((size_t)states{4});\n  }}\n{5}  return bad;\n}}\n",
        trace.name, tables, before, o.prefix, arguments, after);
    for (const int rows : {1, 0}) {
      for (const int states : {0, 1, 5, 37}) {
        calls += fmt::format("  bad += test_{}({}, {});\n", trace.name, states, rows);
      }
    }
  }
  return text + main_of(fmt::format("  printf(\"%d lanes\\n\", {}_lanes());\n", o.prefix) + calls);
}

std::string cpp_test(const std::vector<Trace>& traces, const CPackageOptions& o) {
  std::string text = c_comment(o.comment);
  text += fmt::format("#include \"{0}.hpp\"\n\n#include <algorithm>\n\n#include \"{0}_test.h\"\n\n",
                      o.prefix);
  text += fmt::format(
      "template <typename To, std::size_t n>\n"
      "static To array(const {0} (&from)[n]) {{\n"
      "  To to{{}};\n  std::copy(from, from + n, to.begin());\n  return to;\n}}\n",
      c_type(o.precision));
  std::string calls;
  for (const Trace& trace : traces) {
    for (int s = 0; s < kTestStates; ++s) {
      std::string arguments;
      const auto type = [&](const Array& a) {
        return a.cols == 1 ? fmt::format("limb_{}::Vector<{}>", o.prefix, a.rows)
                           : fmt::format("limb_{}::Matrix<{}, {}>", o.prefix, a.rows, a.cols);
      };
      for (const Array& a : trace.inputs) {
        arguments += fmt::format("{}array<{}>({}_{}_{})", arguments.empty() ? "" : ", ", type(a),
                                 trace.name, a.name, s);
      }
      calls += fmt::format("  {{\n    const auto x = limb_{}::{}({});\n", o.prefix, trace.name,
                           arguments);
      for (const Array& a : trace.outputs) {
        calls += fmt::format(
            "    bad += check(\"{0}_{1}_{2}\", worst(x{3}.data(), expected_{0}_{1}_{2}, {4}));\n",
            trace.name, a.name, s, trace.outputs.size() == 1 ? "" : "." + a.name, a.size());
      }
      calls += "  }\n";
    }
  }
  return text + main_of(calls);
}

}  // namespace

std::vector<GeneratedFile> make_c_tests(const std::vector<Trace>& traces,
                                        const CPackageOptions& o) {
  std::vector<GeneratedFile> files = {{o.prefix + "_test.h", data(traces, o)},
                                      {o.prefix + "_test.c", test(traces, o)}};
  if (o.simd) files.push_back({o.prefix + "_simd_test.c", simd_test(traces, o)});
  if (o.cpp) files.push_back({o.prefix + "_cpp_test.cpp", cpp_test(traces, o)});
  return files;
}

}  // namespace limb::codegen
