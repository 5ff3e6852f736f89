#include "cli/gpu_bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>

#include "cli/compiled_options.hpp"
#include "cli/interrupt.hpp"
#include "limb/codegen/cuda/cuda_program.hpp"
#include "limb/codegen/cuda/driver.hpp"

namespace limb::cli {
namespace {

using codegen::CudaDriver;
using codegen::CudaProgram;
using codegen::Layout;
using codegen::Precision;
using Clock = std::chrono::steady_clock;
constexpr const char* kCall = "limb bench";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Memory of the device.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) : driver_(CudaDriver::require(kCall)) {
    driver_.check(driver_.cuMemAlloc(&address_, std::max<std::size_t>(bytes, 1)), kCall,
                  fmt::format("{} MB of the GPU's memory", bytes >> 20));
  }
  ~DeviceMemory() { driver_.cuMemFree(address_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::uint64_t address() const { return address_; }

 private:
  const CudaDriver& driver_;
  std::uint64_t address_ = 0;
};

/// Seconds per call: the median of groups of calls, each with one synchronisation.
template <typename Call>
double median_time(double seconds, const Call& call) {
  const CudaDriver& driver = CudaDriver::require(kCall);
  const auto group = [&](int calls) {
    const auto start = Clock::now();
    for (int k = 0; k < calls; ++k) call();
    driver.check(driver.cuStreamSynchronize(nullptr), kCall, "a computation");
    return seconds_since(start) / calls;
  };
  group(1);
  // Groups of about 10 ms, so that starting and waiting do not count.
  const int calls = static_cast<int>(std::clamp(0.01 / group(3), 1.0, 1000.0));
  std::vector<double> times;
  const auto start = Clock::now();
  while (times.size() < 5 || seconds_since(start) < seconds) {
    times.push_back(group(calls));
    Interrupt::check(kCall, "while timing the GPU");
  }
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2),
                   times.end());
  return times[times.size() / 2];
}

/// Bytes per second, read and written, of a copy of 1 GB.
double copy_rate(double seconds) {
  const CudaDriver& driver = CudaDriver::require(kCall);
  constexpr std::size_t kBytes = std::size_t(1) << 30;
  const DeviceMemory from(kBytes), to(kBytes);
  const double time = median_time(seconds, [&] {
    driver.check(driver.cuMemcpyDtoD(to.address(), from.address(), kBytes), kCall, "a copy");
  });
  return 2.0 * kBytes / time;
}

struct Rate {
  double seconds = 0, bytes = 0, first = 0;
  codegen::CudaKernelReport report;
};

/// The arguments are those of 1000 random states, repeated.
template <typename T>
Rate measure(const Model<double>& model, const CudaProgram& program, Layout layout,
             std::int64_t states, double seconds) {
  const CudaDriver& driver = CudaDriver::require(kCall);
  const codegen::Trace& trace = program.trace();
  constexpr Precision kPrecision = sizeof(T) == 8 ? Precision::f64 : Precision::f32;
  Rate rate;
  const auto start = Clock::now();
  rate.report = program.prepare(kPrecision, layout);
  std::vector<std::unique_ptr<DeviceMemory>> arrays;
  std::vector<const T*> inputs;
  std::vector<T*> outputs;
  const std::size_t count = static_cast<std::size_t>(states);
  std::mt19937_64 engine(1);
  for (const codegen::Array& array : trace.inputs) {
    const std::size_t size = static_cast<std::size_t>(array.size());
    constexpr std::size_t kStates = 1000;
    std::vector<double> samples(kStates * size), one(size);
    for (std::size_t i = 0; i < kStates; ++i) {
      fill_argument(model, array.name, engine, one);
      std::copy(one.begin(), one.end(), samples.begin() + static_cast<std::ptrdiff_t>(i * size));
    }
    std::vector<T> host(count * size);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < size; ++j) {
        host[layout == Layout::rows ? i * size + j : j * count + i] =
            static_cast<T>(samples[i % kStates * size + j]);
      }
    }
    const std::size_t bytes = host.size() * sizeof(T);
    arrays.push_back(std::make_unique<DeviceMemory>(bytes));
    driver.check(driver.cuMemcpyHtoD(arrays.back()->address(), host.data(), bytes), kCall,
                 "copying arguments");
    inputs.push_back(reinterpret_cast<const T*>(arrays.back()->address()));
    rate.bytes += static_cast<double>(bytes);
  }
  for (const codegen::Array& array : trace.outputs) {
    const std::size_t bytes = count * static_cast<std::size_t>(array.size()) * sizeof(T);
    arrays.push_back(std::make_unique<DeviceMemory>(bytes));
    outputs.push_back(reinterpret_cast<T*>(arrays.back()->address()));
    rate.bytes += static_cast<double>(bytes);
  }
  const auto call = [&] {
    if (layout == Layout::rows) {
      program.run_rows<T>(inputs, outputs, states);
    } else {
      program.run_columns<T>(inputs, outputs, states);
    }
  };
  call();
  driver.check(driver.cuStreamSynchronize(nullptr), kCall, trace.name);
  rate.first = seconds_since(start);
  rate.seconds = median_time(seconds, call);
  return rate;
}

}  // namespace

GpuBench::GpuBench(const Model<double>& model, const std::vector<DynamicsFunction>& functions,
                   const FunctionOptions& options, std::int64_t states, double seconds)
    : table("", {}) {
  if (const std::string why = codegen::why_no_cuda(); !why.empty()) {
    throw Error(fmt::format("{}: --gpu: {}", kCall, why), Error::Kind::computation_failed);
  }
  const codegen::FunctionTracer tracer(model, options);
  nlohmann::json rows = nlohmann::json::array();
  std::string device;
  double ceiling = 0;
  std::vector<std::vector<std::string>> cells;
  for (const DynamicsFunction f : functions) {
    const CudaProgram program(tracer.trace(f));
    device = program.device();
    for (const Precision precision : {Precision::f32, Precision::f64}) {
      for (const Layout layout : {Layout::rows, Layout::columns}) {
        Interrupt::check(kCall, fmt::format("before {}", to_text(f)));
        const Rate rate = precision == Precision::f32
                              ? measure<float>(model, program, layout, states, seconds)
                              : measure<double>(model, program, layout, states, seconds);
        if (ceiling == 0) ceiling = copy_rate(seconds);
        const char* type = precision == Precision::f32 ? "f32" : "f64";
        const char* order = layout == Layout::rows ? "rows" : "columns";
        const double per_second = static_cast<double>(states) / rate.seconds;
        const double bandwidth = rate.bytes / rate.seconds;
        cells.push_back(
            {to_text(f), type, order, fmt::format("{:.4g}", per_second * 1e-9),
             fmt::format("{:.2f}", bandwidth * 1e-12),
             fmt::format("{:.0f} %", 100 * bandwidth / ceiling),
             std::to_string(rate.report.registers), std::to_string(rate.report.local_bytes),
             rate.report.from_cache ? "cached" : fmt::format("{:.0f}", rate.report.compile_ms),
             fmt::format("{:.0f}", 1e3 * rate.first)});
        rows.push_back({{"function", to_text(f)},
                        {"precision", type},
                        {"layout", order},
                        {"states_per_second", per_second},
                        {"bytes_per_second", bandwidth},
                        {"share_of_copy", bandwidth / ceiling},
                        {"registers", rate.report.registers},
                        {"local_bytes", rate.report.local_bytes},
                        {"from_cache", rate.report.from_cache},
                        {"compile_ms", rate.report.compile_ms},
                        {"first_result_ms", 1e3 * rate.first}});
      }
    }
  }
  table = Table(fmt::format("{} on {}: batches of {}; a copy moves {:.2f} TB/s", model.name(),
                            device, states, ceiling * 1e-12),
                {"function", "type", "layout", "10^9 states/s", "TB/s", "of copy", "registers",
                 "local bytes", "compile ms", "first result ms"});
  for (const auto& row : cells) table.add(row);
  json = {{"robot", model.name()},
          {"device", device},
          {"states", states},
          {"copy_bytes_per_second", ceiling},
          {"functions", rows}};
}

}  // namespace limb::cli
