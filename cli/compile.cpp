#include "cli/compile.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "cli/choice.hpp"
#include "cli/compiled_options.hpp"
#include "cli/disassemble.hpp"
#include "cli/json_document.hpp"
#include "cli/table.hpp"
#include "limb/base/text_file.hpp"
#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/cuda/emit_ptx.hpp"
#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/record/function_tracer.hpp"
#include "limb/codegen/x64/listing.hpp"
#include "limb/codegen/x64/machine_code.hpp"
#include "limb/estimate/c/c_filter.hpp"

namespace limb::cli {
namespace {

using codegen::Precision;
using codegen::Program;
using Json = nlohmann::json;

class Compile final : public Verb {
 public:
  std::string_view name() const override { return "compile"; }
  std::string_view summary() const override {
    return "compile the dynamics of a robot to C99 source or to machine code in memory";
  }
  std::string_view examples() const override {
    return "  limb compile arm.urdf --target c -o arm_c              C source with a test\n"
           "  limb compile dog.urdf --base free --target c --float --functions rnea -o dog_c\n"
           "  limb compile arm.urdf --target c --simd --cpp -o arm_c also batches and C++\n"
           "  limb compile dog.urdf --base free --target c --filter inekf --feet a,b,c,d -o "
           "dog_c\n"
           "                                                         state estimation in C\n"
           "  limb compile arm.urdf --jit                            sizes and times of machine "
           "code\n"
           "  limb compile arm.urdf --functions gravity --show graph the operations; asm: the\n"
           "                                                         instructions\n";
  }
  std::string_view notes() const override {
    return LIMB_FUNCTION_NOTES
        "The C files need a C99 compiler and <math.h>, but neither limb nor a heap:\n"
        "  make -C FOLDER test\n";
  }
  void add_options(CLI::App& app) override {
    functions_.add(app);
    add_choice(app, "--target", target_, "language of the files: c (C99)", {"c"});
    app.add_option("-o,--output", folder_, "folder for the files; created if missing")
        ->type_name("FOLDER");
    app.add_option("--prefix", prefix_,
                   "prefix of file and function names, default the robot's name")
        ->type_name("NAME");
    app.add_flag("--float", float_, "single precision");
    app.add_flag("--simd", simd_, "also batches, with vector types of gcc and clang");
    app.add_flag("--cpp", cpp_, "also a C++17 header with wrappers");
    add_choice(app, "--filter", filter_,
               "instead of functions, a filter of the floating base: inekf (right-invariant) or "
               "eskf (error state)",
               {"inekf", "eskf"});
    add_names(app, "--feet", feet_, "frames of the feet, for --filter");
    app.add_option("--imu", imu_, "frame of the IMU, for --filter; default the base frame")
        ->type_name("FRAME");
    app.add_flag("--jit", jit_, "compile to machine code and report sizes and times");
    add_choice(app, "--show", show_,
               "print the graph of operations, machine code (asm), or source in c or ptx",
               {"graph", "asm", "c", "ptx"});
    app.add_flag("--json", json_, "the report as JSON");
  }

  Exit run(std::ostream& out) override {
    if (!target_.empty() && folder_.empty()) {
      throw Error("limb compile: --target c needs a folder, -o FOLDER");
    }
    if (target_.empty() && !folder_.empty()) {
      throw Error("limb compile: -o FOLDER needs --target c");
    }
    if (target_.empty() && (simd_ || cpp_)) {
      throw Error(fmt::format("limb compile: {} needs --target c", simd_ ? "--simd" : "--cpp"));
    }
    const Model<double> model = functions_.model();
    if (!filter_.empty()) return write_filter(model, out);
    if (!feet_.empty() || !imu_.empty()) {
      throw Error(
          fmt::format("limb compile: {} needs --filter", feet_.empty() ? "--imu" : "--feet"));
    }
    const std::vector<DynamicsFunction> functions = functions_.functions();
    const CompileOptions options = functions_.options(model);
    const bool loops =
        options.strategy == Strategy::recursion || options.strategy == Strategy::split;
    if (loops && !(target_.empty() && show_.empty())) {
      throw Error(fmt::format("limb compile: --strategy {} has no code for {}",
                              limb::to_text(options.strategy),
                              target_.empty() ? "--show " + show_ : "--target c"));
    }
    if (!target_.empty()) return write_c(model, functions, options, out);
    if (!show_.empty()) return show(model, functions, options, out);
    return report(model, functions, options, out);
  }

 private:
  Precision precision() const { return float_ ? Precision::f32 : Precision::f64; }

  Exit write_filter(const Model<double>& model, std::ostream& out) const {
    if (target_.empty()) throw Error("limb compile: --filter needs --target c");
    if (simd_ || cpp_ || !show_.empty() || jit_) {
      throw Error("limb compile: --filter writes C only, without --simd, --cpp, --show or --jit");
    }
    if (feet_.empty()) throw Error("limb compile: --filter needs the frames of the feet, --feet");
    CFilterOptions options;
    options.prefix = codegen::c_identifier(prefix_.empty() ? model.name() : prefix_);
    options.filter = filter_kind("limb compile", filter_);
    options.precision = precision();
    options.comment = comment(model) + "Feet:";
    for (const std::string& foot : feet_) options.comment += " " + foot;
    return write_package(make_c_filter(LegKinematics(model, feet_, imu_), options), out);
  }

  Exit write_c(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
               const CompileOptions& options, std::ostream& out) const {
    codegen::CPackageOptions package;
    package.prefix = codegen::c_identifier(prefix_.empty() ? model.name() : prefix_);
    package.precision = precision();
    package.simd = simd_;
    package.cpp = cpp_;
    package.comment = comment(model);
    std::mt19937_64 engine(1);
    package.sample = [&](const codegen::Array& array) {
      std::vector<double> x(static_cast<std::size_t>(array.size()));
      fill_argument(model, array.name, engine, x);
      return x;
    };
    std::vector<codegen::Trace> traces;
    const codegen::FunctionTracer tracer(model, options);
    for (const DynamicsFunction f : functions) traces.push_back(tracer.trace(f));
    return write_package(codegen::make_c_package(traces, package), out);
  }

  Exit write_package(const codegen::CPackage& made, std::ostream& out) const {
    std::error_code code;
    std::filesystem::create_directories(folder_, code);
    if (code) {
      throw Error(
          fmt::format("limb compile: cannot create the folder {} ({})", folder_, code.message()));
    }
    Json files = Json::array();
    for (const codegen::GeneratedFile& file : made.files) {
      const std::string path = (std::filesystem::path(folder_) / file.name).string();
      write_text_file("limb compile", path, file.text);
      files.push_back(path);
      if (!json_) out << fmt::format("{:>9} bytes  {}\n", file.text.size(), path);
    }
    if (json_) {
      Json result{{"files", files}, {"stack_bytes", made.stack_bytes}};
      if (simd_) result["simd_stack_bytes"] = made.simd_stack_bytes;
      out << json_document(result);
    } else {
      out << fmt::format("stack: at most {} bytes\n", made.stack_bytes);
      if (simd_) out << fmt::format("stack of batches: at most {} bytes\n", made.simd_stack_bytes);
    }
    return Exit::ok;
  }

  std::string comment(const Model<double>& model) const {
    std::string text = fmt::format(
        "Robot: {}. {} positions q, {} velocities v.\n"
        "SI units and rad; linear before angular; quaternions x y z w.\nFirst index of each "
        "joint in q and v:\n",
        model.name(), model.nq(), model.nv());
    for (std::size_t i = 1; i < model.bodies().size(); ++i) {
      const auto& row = model.coupling().rows()[i - 1];
      if (row.yq < 0 || row.terms.empty()) continue;
      std::string name = model.bodies()[i].name;
      for (std::size_t k = name.find("*/"); k != std::string::npos; k = name.find("*/")) {
        name[k] = '?';  // "*/" would end the comment
      }
      text += fmt::format("  {} q[{}] v[{}]\n", name, row.yq, row.terms[0].y);
    }
    return text;
  }

  Exit show(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
            const CompileOptions& options, std::ostream& out) const {
    const codegen::FunctionTracer tracer(model, options);
    for (const DynamicsFunction f : functions) {
      const codegen::Trace trace = tracer.trace(f);
      if (show_ == "graph") {
        out << to_text(codegen::lower(trace, {.precision = precision(), .inline_sincos = false}));
      } else if (show_ == "c") {
        const std::string prefix = codegen::c_identifier(prefix_.empty() ? model.name() : prefix_);
        out << codegen::emit_c(trace, prefix, precision()).text;
      } else if (show_ == "ptx") {
        out << codegen::emit_ptx(trace, trace.name, {.precision = precision()}).text;
      } else {
        const Program program(trace, options.program);
        if (!program.is_compiled()) {
          throw Error("limb compile: no machine code: " + program.why_not_compiled(),
                      Error::Kind::computation_failed);
        }
        const codegen::MachineCode& code =
            float_ ? *program.lanes_code(Precision::f32) : *program.one_state();
        const std::string states =
            float_ ? fmt::format("{} states", code.target().lanes()) : "one state";
        out << fmt::format("{}, {}, {}, {} bytes\n", trace.name, states,
                           codegen::to_text(code.target().isa), code.code_bytes());
        const auto text = disassemble({code.begin(), code.code_bytes()});
        if (!text) {
          fmt::print(
              stderr,
              "limb compile: built without Zydis (Debian: libzydis-dev), printing bytes instead "
              "of instructions\n");
        }
        out << (text ? *text : to_text(code));
      }
    }
    return Exit::ok;
  }

  Exit report(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
              const CompileOptions& options, std::ostream& out) const {
    const auto start = std::chrono::steady_clock::now();
    const Compiled fast = compile(model, functions, options);
    const std::chrono::duration<double, std::milli> elapsed =
        std::chrono::steady_clock::now() - start;
    if (!fast.why_not_compiled().empty()) {
      fmt::print(stderr, "limb compile: no machine code: {}; using the templates\n",
                 fast.why_not_compiled());
    }
    Json rows = Json::array();
    Table table(fmt::format("{}: compiled in {:.2f} ms", model.name(), elapsed.count()),
                {"function", "operations", "code", "instructions", "bytes", "constants", "stack"});
    for (const DynamicsFunction f : functions) {
      if (!fast.has_program(f)) {
        table.add({limb::to_text(f), "-", "the templates"});
        continue;
      }
      const Program& p = fast.program(f);
      const int operations = codegen::lower(p.trace()).operation_count();
      const auto add = [&](const char* what, const codegen::MachineCode* code) {
        if (code == nullptr) return;
        table.add({limb::to_text(f), std::to_string(operations),
                   fmt::format("{} {}", codegen::to_text(code->target().isa), what),
                   std::to_string(code->instructions()), std::to_string(code->code_bytes()),
                   std::to_string(code->constant_bytes()), std::to_string(code->stack_bytes())});
        rows.push_back({{"function", limb::to_text(f)},
                        {"operations", operations},
                        {"isa", codegen::to_text(code->target().isa)},
                        {"code", what},
                        {"lanes", code->target().lanes()},
                        {"instructions", code->instructions()},
                        {"code_bytes", code->code_bytes()},
                        {"constant_bytes", code->constant_bytes()},
                        {"stack_bytes", code->stack_bytes()}});
      };
      add("one", p.one_state());
      add("f64", p.lanes_code(Precision::f64));
      add("f32", p.lanes_code(Precision::f32));
      if (!p.is_compiled()) table.add({limb::to_text(f), std::to_string(operations), "none"});
    }
    const StrategyTable strategies(fast, functions);
    if (json_) {
      out << json_document(Json{{"robot", model.name()},
                                {"why_not_compiled", fast.why_not_compiled()},
                                {"compile_ms", elapsed.count()},
                                {"functions", rows},
                                {"strategies", strategies.json}});
    } else {
      out << table.text() << "\n" << strategies.table.text();
    }
    return Exit::ok;
  }

  CompiledOptions functions_{"compile"};
  std::string target_, folder_, prefix_, show_, filter_, imu_;
  std::vector<std::string> feet_;
  bool float_ = false, simd_ = false, cpp_ = false, jit_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_compile() {
  return std::make_unique<Compile>();
}

}  // namespace limb::cli
