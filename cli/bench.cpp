#include "cli/bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ostream>

#include "cli/function_options.hpp"
#include "cli/table.hpp"
#include "limb/codegen/assemble.hpp"

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
    return "how fast the dynamics of this robot are here: templates, compiled, SIMD, threads";
  }
  std::string_view examples() const override {
    return "  limb bench arm.urdf                          inverse and forward dynamics, mass "
           "matrix\n"
           "  limb bench dog.urdf --base free -n 65536     larger batches\n";
  }
  std::string_view notes() const override {
    return LIMB_FUNCTION_NOTES
        "ns a state, the fastest of many short runs. Batches read and write matrices by rows.\n";
  }
  void add_options(CLI::App& app) override {
    functions_.add(app);
    app.add_option("-n,--states", states_, "states of a batch, default 4096")->type_name("N");
    app.add_option("--threads", threads_, "of the last column, default 2")->type_name("N");
    app.add_option("--time", time_, "seconds for each number, default 0.2")->type_name("S");
    app.add_flag("--json", json_, "the table as JSON");
  }

  Exit run(std::ostream& out) override {
    if (states_ < 1) throw Error(fmt::format("limb bench: -n is {}, expected 1 or more", states_));
    if (threads_ < 1) {
      throw Error(fmt::format("limb bench: --threads is {}, expected 1 or more", threads_));
    }
    const Model<double> model = functions_.model();
    const std::vector<Function> functions = functions_.functions();
    CompileOptions options = functions_.options(model);
    const auto start = Clock::now();
    const Compiled fast = compile(model, functions, options);
    const double compiling = 1e3 * seconds_since(start);
    options.program.interpret = true;
    const Compiled slow = compile(model, functions, options);
    if (!fast.notice().empty()) {
      fmt::print(stderr, "limb bench: no machine code: {}; the templates serve\n", fast.notice());
    }
    Table table(
        fmt::format("{}: compiled in {:.2f} ms; batches of {}", model.name(), compiling, states_),
        {"ns a state", "template", "compiled", "f64", "f32",
         fmt::format("f64, {} threads", threads_), "operations", "bytes"});
    Json rows = Json::array();
    for (const Function f : functions) {
      const Program& p = fast.program(f);
      const double times[] = {one(slow, f, model), one(fast, f, model),
                              batch<double>(fast, f, model, 1), batch<float>(fast, f, model, 1),
                              batch<double>(fast, f, model, threads_)};
      const int operations = codegen::lower(p.trace()).operation_count();
      const std::size_t bytes = p.is_compiled() ? p.one_state()->code_bytes() : 0;
      std::vector<std::string> cells = {limb::name(f)};
      for (const double t : times) cells.push_back(fmt::format("{:.1f}", t));
      cells.push_back(std::to_string(operations));
      cells.push_back(std::to_string(bytes));
      table.add(cells);
      rows.push_back({{"function", limb::name(f)},
                      {"template_ns", times[0]},
                      {"compiled_ns", times[1]},
                      {"f64_ns", times[2]},
                      {"f32_ns", times[3]},
                      {"threads_ns", times[4]},
                      {"operations", operations},
                      {"code_bytes", bytes}});
    }
    if (json_) {
      out << Json{{"robot", model.name()}, {"notice", fast.notice()}, {"compile_ms", compiling},
                  {"states", states_},     {"threads", threads_},     {"functions", rows}}
                 .dump()
          << "\n";
    } else {
      out << table.text();
    }
    return Exit::ok;
  }

 private:
  /// Rows of arguments: positions near the neutral one, everything else between -1 and 1.
  template <typename T>
  std::vector<RowMatrix<T>> arguments(const Program& p, const Model<double>& model,
                                      std::int64_t states) const {
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::vector<RowMatrix<T>> in;
    for (const codegen::Array& array : p.inputs()) {
      in.emplace_back(states, array.size());
      for (std::int64_t i = 0; i < states; ++i) {
        for (int k = 0; k < array.size(); ++k) in.back()(i, k) = static_cast<T>(uniform(engine));
        if (array.name != "q") continue;
        for (std::size_t b = 1; b < model.bodies().size(); ++b) {
          const auto& row = model.coupling().rows()[b - 1];
          if (row.yq < 0 || row.nq == row.nv) continue;  // a quaternion is to be unit
          double q[7];
          model.bodies()[b].joint.neutral(q);
          for (int k = 0; k < row.nq; ++k) in.back()(i, row.yq + k) = static_cast<T>(q[k]);
        }
      }
    }
    return in;
  }

  template <typename Call>
  double fastest(const Call& call) const {
    double best = std::numeric_limits<double>::infinity();
    const auto start = Clock::now();
    do {
      const auto before = Clock::now();
      call();
      best = std::min(best, seconds_since(before));
    } while (seconds_since(start) < time_);
    return best * 1e9;
  }

  double one(const Compiled& compiled, Function f, const Model<double>& model) const {
    constexpr int kHot = 64;
    const Program& p = compiled.program(f);
    const auto in = arguments<double>(p, model, kHot);
    std::vector<std::vector<std::span<const double>>> from(kHot);
    std::vector<std::vector<double>> out;
    std::vector<std::span<double>> to;
    for (std::size_t i = 0; i < kHot; ++i) {
      for (const auto& x : in) {
        const std::size_t n = static_cast<std::size_t>(x.cols());
        from[i].emplace_back(x.data() + i * n, n);
      }
    }
    for (const auto& a : p.outputs()) out.emplace_back(static_cast<std::size_t>(a.size()));
    for (auto& x : out) to.emplace_back(x);
    return fastest([&] {
             for (const auto& state : from) compiled.run(f, state, to);
           }) /
           kHot;
  }

  template <typename T>
  double batch(const Compiled& compiled, Function f, const Model<double>& model,
               int threads) const {
    const Program& p = compiled.program(f);
    const auto in = arguments<T>(p, model, states_);
    std::vector<RowMatrix<T>> out;
    std::vector<ConstRows<T>> from;
    std::vector<Rows<T>> to;
    for (const auto& x : in) from.push_back({x.data(), x.rows(), x.cols()});
    for (const auto& a : p.outputs()) out.emplace_back(states_, a.size());
    for (auto& x : out) to.push_back({x.data(), x.rows(), x.cols()});
    return fastest([&] { compiled.run(f, from, to, {.threads = threads}); }) /
           static_cast<double>(states_);
  }

  CompiledOptions functions_{"bench"};
  std::int64_t states_ = 4096;
  int threads_ = 2;
  double time_ = 0.2;
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_bench() {
  return std::make_unique<Bench>();
}

}  // namespace limb::cli
