#include "cli/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <ostream>
#include <thread>

#include "cli/function_timer.hpp"
#include "cli/gpu_bench.hpp"
#include "cli/interrupt.hpp"
#include "cli/json_document.hpp"
#include "cli/progress.hpp"
#include "cli/table.hpp"
#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/x64/machine_code.hpp"

namespace limb::cli {
namespace {

using codegen::Precision;
using codegen::Program;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Bench final : public Verb {
 public:
  std::string_view name() const override { return "bench"; }
  std::string_view summary() const override {
    return "time the dynamics on this machine: templates, compiled, SIMD, threads";
  }
  std::string_view examples() const override {
    return "  limb bench arm.urdf                          inverse and forward dynamics, mass "
           "matrix\n"
           "  limb bench dog.urdf --base free -n 65536     larger batches\n"
           "  limb bench dog.urdf --base free --gpu        states per second of an NVIDIA GPU\n";
  }
  std::string_view notes() const override {
    return LIMB_FUNCTION_NOTES
        "ns per state, the fastest of many short runs. Template: the C++ templates of limb, for\n"
        "derivatives the analytical recursions, for operational_space an interpreter. Compiled:\n"
        "the chosen strategy; f32 uses the recursion only if there is no other. Batches read and\n"
        "write matrices by rows. Operations and bytes are those of the code for one state.\n";
  }
  void add_options(CLI::App& app) override {
    functions_.add(app);
    add_whole_number(app, "-n,--states", states_, "states per batch, default 4096", 1, 10'000'000);
    add_whole_number(app, "--threads", threads_, "threads of the last column, default all cores", 1,
                     1024);
    add_number(app, "--time", time_, "S", "seconds per measurement", NumberRange::positive(3600));
    app.add_flag("--gpu", gpu_,
                 "time an NVIDIA GPU instead, with data in its memory; default 1048576 states");
    app.add_flag("--json", json_, "the table as JSON");
  }

  Exit run(std::ostream& out) override {
    const Model<double> model = functions_.model();
    const std::vector<DynamicsFunction> functions = functions_.functions();
    CompileOptions options = functions_.options(model);
    if (gpu_) {
      const GpuBench bench(model, functions, options, states_.value_or(1 << 20), time_);
      out << (json_ ? json_document(bench.json) : bench.table.text());
      return Exit::ok;
    }
    const std::int64_t states = states_.value_or(4096);
    const auto start = Clock::now();
    const Compiled fast = compile(model, functions, options);
    const double compiling = 1e3 * seconds_since(start);
    options.program.interpret = true;
    options.strategy = Strategy::automatic;  // the templates, if the function has one
    const Compiled slow = compile(model, functions, options);
    if (!fast.why_not_compiled().empty()) {
      fmt::print(stderr, "limb bench: no machine code: {}; using the templates\n",
                 fast.why_not_compiled());
    }
    const auto found = std::find_if(functions.begin(), functions.end(),
                                    [&](DynamicsFunction f) { return fast.has_program(f); });
    const Program* first = found != functions.end() ? &fast.program(*found) : nullptr;
    const bool is_compiled = first != nullptr && first->is_compiled();
    const char* isa =
        codegen::to_text(is_compiled ? first->one_state()->target().isa : codegen::Isa::none);
    const int lanes[] = {is_compiled ? first->lanes(Precision::f64) : 1,
                         is_compiled ? first->lanes(Precision::f32) : 1};
    const std::string code =
        is_compiled ? fmt::format("{}, {} lanes of f64, {} of f32", isa, lanes[0], lanes[1])
                    : "no machine code";
    Table table(fmt::format("{}: compiled in {:.2f} ms; batches of {}; {}", model.name(), compiling,
                            states, code),
                {"ns per state", "template", "compiled", "f64", "f32",
                 fmt::format("f64, {} threads", threads_), "operations", "bytes"});
    const FunctionTimer timer(model, time_, states);
    for (const DynamicsFunction f : functions) timer.check_memory(fast, f);
    const Interrupt interrupt;
    Json rows = Json::array();
    Progress progress(static_cast<double>(functions.size()), "functions");
    for (const DynamicsFunction f : functions) {
      const Program* p = fast.has_program(f) ? &fast.program(f) : nullptr;
      Interrupt::check("limb bench", fmt::format("before {}", limb::to_text(f)));
      progress.show(static_cast<double>(rows.size()));
      const double times[] = {timer.one(slow, f), timer.one(fast, f),
                              timer.batch<double>(fast, f, 1), timer.batch<float>(fast, f, 1),
                              timer.batch<double>(fast, f, threads_)};
      const int operations = p != nullptr ? codegen::lower(p->trace()).operation_count() : 0;
      const std::size_t bytes = p != nullptr && p->is_compiled() ? p->one_state()->code_bytes() : 0;
      std::vector<std::string> cells = {limb::to_text(f)};
      for (const double t : times) cells.push_back(fmt::format("{:.1f}", t));
      cells.push_back(p != nullptr ? std::to_string(operations) : "-");
      cells.push_back(p != nullptr ? std::to_string(bytes) : "-");
      table.add(cells);
      rows.push_back({{"function", limb::to_text(f)},
                      {"template_ns", times[0]},
                      {"compiled_ns", times[1]},
                      {"f64_ns", times[2]},
                      {"f32_ns", times[3]},
                      {"threads_ns", times[4]},
                      {"operations", operations},
                      {"code_bytes", bytes}});
    }
    progress.clear();
    const StrategyTable strategies(fast, functions);
    if (json_) {
      out << json_document(Json{{"robot", model.name()},
                                {"why_not_compiled", fast.why_not_compiled()},
                                {"compile_ms", compiling},
                                {"isa", isa},
                                {"lanes_f64", lanes[0]},
                                {"lanes_f32", lanes[1]},
                                {"states", states},
                                {"threads", threads_},
                                {"functions", rows},
                                {"strategies", strategies.json}});
    } else {
      out << table.text() << "\n" << strategies.table.text();
    }
    return Exit::ok;
  }

 private:
  CompiledOptions functions_{"bench"};
  std::optional<std::int64_t> states_;
  int threads_ = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  double time_ = 0.2;
  bool gpu_ = false, json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_bench() {
  return std::make_unique<Bench>();
}

}  // namespace limb::cli
