#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/c/emit_c_statements.hpp"

namespace limb::codegen {
namespace {

/// A header for C and C++.
std::string guarded(const std::string& text, const std::string& name, const CPackageOptions& o,
                    const char* includes = "") {
  std::string guard = name + "_H";
  std::transform(guard.begin(), guard.end(), guard.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return c_comment(o.comment) +
         fmt::format(
             "#ifndef {0}\n#define {0}\n\n{1}#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n{2}\n"
             "#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
             guard, includes, text);
}

/// C arrays of the rows and columns of the entries of results that are not full matrices: declared,
/// or with their numbers.
std::string pattern_arrays(const Trace& trace, const std::string& prefix, bool with_numbers) {
  std::string text;
  for (std::size_t k = 0; k < trace.patterns.size(); ++k) {
    const Pattern& p = trace.patterns[k];
    const bool whole = !p.symmetric && p.size() == p.rows * p.cols;
    if (whole || p.size() == 0) continue;
    for (const auto& [which, numbers] : {std::pair{"row", &p.row}, std::pair{"col", &p.col}}) {
      text += fmt::format("{}const short {}_{}_{}_{}[{}]", with_numbers ? "" : "extern ", prefix,
                          trace.name, trace.outputs[k].name, which, p.size());
      if (with_numbers) {
        text += " = {";
        for (std::size_t i = 0; i < numbers->size(); ++i) {
          text += fmt::format("{}{}", i == 0 ? "" : i % 16 == 0 ? ",\n  " : ", ", (*numbers)[i]);
        }
        text += "}";
      }
      text += ";\n";
    }
  }
  return text;
}

std::string describe(const Array& a) {
  return a.cols > 1 ? fmt::format(" {}: {} x {}, column by column.", a.name, a.rows, a.cols)
                    : fmt::format(" {}: {}.", a.name, a.rows);
}
/// Description of a result, for the comment before its function.
std::string describe(const Trace& trace, std::size_t k) {
  const Array& a = trace.outputs[k];
  if (!trace.patterns.empty()) {
    const Pattern& p = trace.patterns[k];
    if (p.symmetric || p.size() != p.rows * p.cols) {
      return fmt::format(" {0}: {1} entries of a {2}{3} x {4} matrix, at {0}_row, {0}_col{5}.",
                         a.name, p.size(), p.symmetric ? "symmetric " : "", p.rows, p.cols,
                         p.zeros > 0 ? "; then zeros" : "");
    }
  }
  return describe(a);
}

std::string header(const std::vector<Trace>& traces, const CPackageOptions& o) {
  std::string text;
  for (const Trace& trace : traces) {
    text += text.empty() ? "/*" : "\n/*";
    for (const Array& a : trace.inputs) text += describe(a);
    text += "\n  ";
    for (std::size_t k = 0; k < trace.outputs.size(); ++k) text += describe(trace, k);
    text += " */\n" + c_prototype(trace, o.prefix, o.precision) + ";\n";
    text += pattern_arrays(trace, o.prefix, false);
  }
  return guarded(text, o.prefix, o);
}

std::string simd_header(const std::vector<Trace>& traces, const CPackageOptions& o) {
  std::string text = fmt::format(
      "/* Batches; arguments and results must not overlap. By rows: the entries of a state side "
      "by\n"
      "   side. By columns: an entry of all states side by side. */\n\n"
      "/* States computed at once. */\nint {}_lanes(void);\n",
      o.prefix);
  for (const Trace& trace : traces) {
    text += fmt::format("\n{}", simd_prototypes(trace, o.prefix, o.precision));
  }
  return guarded(text, o.prefix + "_simd", o, "#include <stddef.h>\n\n");
}

/// A program for each test, its flags as variables.
std::string makefile(const CPackageOptions& o) {
  const std::string& p = o.prefix;
  std::string tests = p + "_test", rules, objects;
  const auto rule = [&](const std::string& target, const std::string& needs, const char* compiler,
                        const char* flags, const std::string& source) {
    objects += fmt::format("{}: {}{}\n\t$({}) $({}) -c -o $@ {}\n", target, source, needs, compiler,
                           flags, source);
  };
  rule(p + ".o", fmt::format(" {}.h", p), "CC", "CFLAGS", p + ".c");
  rule(p + "_test.o", fmt::format(" {0}.h {0}_test.h", p), "CC", "CFLAGS", p + "_test.c");
  rules += fmt::format("{0}_test: {0}_test.o {0}.o\n\t$(CC) -o $@ $^ -lm\n", p);
  if (o.simd) {
    tests += fmt::format(" {}_simd_test", p);
    rule(p + "_simd.o", fmt::format(" {0}_simd.h {0}.h", p), "CC", "SIMD_FLAGS", p + "_simd.c");
    rule(p + "_simd_test.o", fmt::format(" {0}_simd.h {0}_test.h", p), "CC", "CFLAGS",
         p + "_simd_test.c");
    rules +=
        fmt::format("{0}_simd_test: {0}_simd_test.o {0}_simd.o {0}.o\n\t$(CC) -o $@ $^ -lm\n", p);
  }
  if (o.cpp) {
    tests += fmt::format(" {}_cpp_test", p);
    rule(p + "_cpp_test.o", fmt::format(" {0}.hpp {0}.h {0}_test.h", p), "CXX", "CXXFLAGS",
         p + "_cpp_test.cpp");
    rules += fmt::format("{0}_cpp_test: {0}_cpp_test.o {0}.o{1}\n\t$(CXX) -o $@ $^ -lm\n", p,
                         o.simd ? " " + p + "_simd.o" : "");
  }
  std::string text = "CC ?= cc\nCFLAGS ?= -std=c99 -O2 -Wall -Wextra -Werror -ffp-contract=off\n";
  if (o.simd) {
    text +=
        "# Vectors are as wide as these flags allow.\n"
        "SIMD_FLAGS ?= -std=c99 -O3 -march=native -Wall -Wextra -Werror -ffp-contract=fast "
        "-fno-math-errno\n";
  }
  if (o.cpp) text += "CXX ?= c++\nCXXFLAGS ?= -std=c++17 -O2 -Wall -Wextra -Werror\n";
  text += fmt::format(
      "\nTESTS = {}\n\ntest: $(TESTS)\n\tset -e; for t in $(TESTS); do ./$$t; done\n\n", tests);
  return text + rules + "\n" + objects + "\nclean:\n\trm -f $(TESTS) *.o\n\n.PHONY: test clean\n";
}

}  // namespace

std::string c_comment(const std::string& comment) {
  std::string text = "/* Generated by limb.\n";
  std::size_t start = 0;
  while (start < comment.size()) {
    const std::size_t end = std::min(comment.find('\n', start), comment.size());
    text += " * " + comment.substr(start, end - start) + "\n";
    start = end + 1;
  }
  return text + " */\n";
}

CPackage make_c_package(const std::vector<Trace>& recorded, const CPackageOptions& options) {
  std::vector<Trace> traces;
  for (const Trace& trace : recorded) traces.push_back(with_c_names(trace));
  const std::string& prefix = options.prefix;
  const std::string head = c_comment(options.comment);
  const auto bound = [](std::size_t scratch) { return scratch * 3 / 2 + 256; };
  CPackage package;
  std::string source = head + fmt::format("#include \"{}.h\"\n\n#include <math.h>\n", prefix);
  for (const Trace& trace : traces) {
    const CSource function = emit_c(trace, prefix, options.precision);
    source += fmt::format("\n/* {} operations; {} bytes of scratch on the stack. */\n",
                          function.operations, function.scratch_bytes);
    source += function.text + pattern_arrays(trace, prefix, true);
    package.stack_bytes = std::max(package.stack_bytes, bound(function.scratch_bytes));
  }
  package.files = {{prefix + ".h", header(traces, options)}, {prefix + ".c", std::move(source)}};
  if (options.simd) {
    const CSource batches = emit_c_simd(traces, prefix, options.precision);
    package.simd_stack_bytes = bound(batches.scratch_bytes);
    package.files.push_back({prefix + "_simd.h", simd_header(traces, options)});
    package.files.push_back(
        {prefix + "_simd.c",
         head +
             fmt::format("#include \"{0}_simd.h\"\n\n#include <math.h>\n\n#include \"{0}.h\"\n",
                         prefix) +
             batches.text});
  }
  if (options.cpp) {
    package.files.push_back(
        {prefix + ".hpp",
         head + emit_cpp_wrapper(traces, prefix, options.precision, options.simd)});
  }
  for (GeneratedFile& test : make_c_tests(traces, options))
    package.files.push_back(std::move(test));
  package.files.push_back({"Makefile", makefile(options)});
  return package;
}

}  // namespace limb::codegen
