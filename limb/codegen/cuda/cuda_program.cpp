#include "limb/codegen/cuda/cuda_program.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "limb/base/error.hpp"
#include "limb/base/text_file.hpp"
#include "limb/codegen/cuda/driver.hpp"
#include "limb/codegen/cuda/split_results.hpp"

namespace limb::codegen {
namespace {

constexpr const char* kCall = "CudaProgram";
constexpr std::size_t kMaxArrays = 64;
// Numbers of the driver's interface.
constexpr int kMajor = 75, kMinor = 76;                         // cuDeviceGetAttribute
constexpr int kLocalBytes = 3, kRegisters = 4, kMaxShared = 8;  // cuFuncGetAttribute
constexpr int kErrorLog = 5, kErrorLogBytes = 6, kLevel = 7;    // cuLinkCreate
constexpr int kPtx = 1;                                         // cuLinkAddData

std::filesystem::path cache_folder() {
  const auto variable = [](const char* name) -> const char* { return std::getenv(name); };
  if (const char* named = variable("LIMB_CACHE")) return named;
  if (const char* cache = variable("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::filesystem::path(cache) / "limb";
  }
  const char* home = variable("HOME");
  return home != nullptr && *home != '\0' ? std::filesystem::path(home) / ".cache" / "limb" : "";
}

/// FNV-1a, from two starting values: 128 bits.
std::string hash(std::string_view text) {
  std::string key;
  for (std::uint64_t h : {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull}) {
    for (const char c : text) {
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ull;
    }
    key += fmt::format("{:016x}", h);
  }
  return key;
}

/// A part of the results, loaded.
struct Loaded {
  std::string name;
  CudaDriver::Module module = nullptr;
  CudaDriver::Function function = nullptr;
  int threads = 0, shared_bytes = 0;
};

/// The kernels of one precision and layout.
struct Kernels {
  std::once_flag once;
  std::vector<Loaded> parts;
  CudaKernelReport report;
};

}  // namespace

struct CudaProgram::Impl {
  const CudaDriver& driver;
  Trace trace;
  int device = 0;
  CudaDriver::Context context = nullptr;
  std::string device_name, target;
  mutable std::array<Kernels, 4> kernels;

  Impl(Trace t, int number) : driver(CudaDriver::require(kCall)), trace(std::move(t)) {
    if (trace.inputs.size() + trace.outputs.size() + 1 > kMaxArrays) {
      throw Error(fmt::format("{}: {} has too many arrays", kCall, trace.name));
    }
    int count = 0;
    driver.check(driver.cuDeviceGetCount(&count), kCall, "counting the devices");
    driver.check(driver.cuCtxGetCurrent(&context), kCall, "current context");
    device = number;
    if (device < 0) {
      device = 0;
      if (context != nullptr) {
        driver.check(driver.cuCtxGetDevice(&device), kCall, "device of the current context");
      }
    }
    if (device >= count) {
      throw Error(fmt::format("{}: device is {}, expected 0 to {}", kCall, device, count - 1));
    }
    driver.check(driver.cuDevicePrimaryCtxRetain(&context, device), kCall, "context of the device");
    char name[256] = {};
    driver.check(driver.cuDeviceGetName(name, sizeof name, device), kCall, "name of the device");
    device_name = name;
    int major = 0, minor = 0, version = 0;
    driver.check(driver.cuDeviceGetAttribute(&major, kMajor, device), kCall, "kind of the device");
    driver.check(driver.cuDeviceGetAttribute(&minor, kMinor, device), kCall, "kind of the device");
    driver.check(driver.cuDriverGetVersion(&version), kCall, "version of the driver");
    target = fmt::format("sm_{}{} driver {}", major, minor, version);
    if (major < 7) {
      throw Error(fmt::format("{}: {} has compute capability {}.{}, expected 7.0 or more", kCall,
                              device_name, major, minor));
    }
  }
  ~Impl() {
    if (driver.cuCtxSetCurrent(context) != 0) return;
    for (Kernels& k : kernels) {
      for (const Loaded& part : k.parts) driver.cuModuleUnload(part.module);
    }
  }

  /// Makes the program's context current if the thread has none. @throws Error for one of another
  /// device.
  void enter() const {
    CudaDriver::Context current = nullptr;
    driver.check(driver.cuCtxGetCurrent(&current), kCall, "current context");
    if (current == context) return;
    if (current != nullptr) {
      int other = -1;
      driver.check(driver.cuCtxGetDevice(&other), kCall, "device of the current context");
      if (other != device) {
        throw Error(fmt::format("{}: {} is compiled for device {}, but device {} is current", kCall,
                                trace.name, device, other));
      }
    }
    driver.check(driver.cuCtxSetCurrent(context), kCall, "context of the device");
  }

  std::string compile(const PtxKernel& kernel, int level) const {
    std::array<char, 4096> log{};
    int keys[] = {kErrorLog, kErrorLogBytes, kLevel};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size()),
                      reinterpret_cast<void*>(static_cast<std::size_t>(level))};
    CudaDriver::LinkState state = nullptr;
    const std::string what = "compiling " + kernel.name;
    driver.check(driver.cuLinkCreate(3, keys, values, &state), kCall, what);
    std::string text = kernel.text, code;
    void* data = nullptr;
    std::size_t size = 0;
    int result = driver.cuLinkAddData(state, kPtx, text.data(), text.size() + 1,
                                      kernel.name.c_str(), 0, nullptr, nullptr);
    if (result == 0) result = driver.cuLinkComplete(state, &data, &size);
    if (result == 0) code.assign(static_cast<const char*>(data), size);
    driver.cuLinkDestroy(state);
    driver.check(result, kCall, log[0] != '\0' ? what + ": " + log.data() : what);
    return code;
  }

  Loaded load(const PtxKernel& kernel, int level, CudaKernelReport& report) const {
    Loaded part{kernel.name, nullptr, nullptr, kernel.threads, kernel.shared_bytes};
    const std::filesystem::path folder = cache_folder();
    const std::filesystem::path file =
        folder / "cuda" / (hash(target + std::to_string(level) + kernel.text) + ".cubin");
    std::error_code ignored;
    bool loaded = false;
    if (!folder.empty() && std::filesystem::exists(file, ignored)) {
      // A damaged file is compiled again.
      try {
        const std::string code = read_text_file(kCall, file);
        loaded = driver.cuModuleLoadData(&part.module, code.data()) == 0;
      } catch (const Error&) {
        loaded = false;
      }
    }
    report.from_cache = report.from_cache && loaded;
    if (!loaded) {
      const auto start = std::chrono::steady_clock::now();
      const std::string code = compile(kernel, level);
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      report.compile_ms += elapsed.count();
      driver.check(driver.cuModuleLoadData(&part.module, code.data()), kCall,
                   "loading " + kernel.name);
      if (!folder.empty()) {
        // Without the cache the next run compiles again: no reason to stop.
        try {
          std::filesystem::create_directories(file.parent_path(), ignored);
          write_text_file(kCall, file, code);
        } catch (const Error&) {
          ignored.clear();
        }
      }
    }
    driver.check(driver.cuModuleGetFunction(&part.function, part.module, kernel.name.c_str()),
                 kCall, kernel.name);
    if (part.shared_bytes > 0) {
      driver.check(driver.cuFuncSetAttribute(part.function, kMaxShared, part.shared_bytes), kCall,
                   kernel.name + ": shared memory");
    }
    int number = 0;
    driver.check(driver.cuFuncGetAttribute(&number, kRegisters, part.function), kCall, kernel.name);
    report.registers = std::max(report.registers, number);
    driver.check(driver.cuFuncGetAttribute(&number, kLocalBytes, part.function), kCall,
                 kernel.name);
    report.local_bytes = std::max(report.local_bytes, number);
    report.shared_bytes = std::max(report.shared_bytes, part.shared_bytes);
    return part;
  }

  const Kernels& get(Precision precision, Layout layout) const {
    Kernels& k =
        kernels[(precision == Precision::f64 ? 2u : 0u) + (layout == Layout::rows ? 1u : 0u)];
    std::call_once(k.once, [&] {
      std::vector<Loaded> parts;
      CudaKernelReport report;
      report.from_cache = true;
      PtxOptions options{.precision = precision, .layout = layout};
      const ResultParts split = split_results(trace, precision);
      for (std::size_t i = 0; i < split.parts.size(); ++i) {
        options.results = split.parts[i];
        const std::string name =
            trace.name + (split.parts.size() > 1 ? "_part" + std::to_string(i) : "");
        parts.push_back(load(emit_ptx(trace, name, options), split.level, report));
      }
      k.parts = std::move(parts);
      k.report = report;
    });
    return k;
  }
};

CudaProgram::CudaProgram(Trace trace, int device)
    : impl_(std::make_unique<Impl>(std::move(trace), device)) {}
CudaProgram::~CudaProgram() = default;
CudaProgram::CudaProgram(CudaProgram&&) noexcept = default;
CudaProgram& CudaProgram::operator=(CudaProgram&&) noexcept = default;

const Trace& CudaProgram::trace() const {
  return impl_->trace;
}
const std::string& CudaProgram::device() const {
  return impl_->device_name;
}

CudaKernelReport CudaProgram::prepare(Precision precision, Layout layout) const {
  impl_->enter();
  return impl_->get(precision, layout).report;
}

template <typename T>
void CudaProgram::run(Layout layout, std::span<const T* const> inputs, std::span<T* const> outputs,
                      std::int64_t states, void* stream) const {
  const Impl& p = *impl_;
  if (inputs.size() != p.trace.inputs.size() || outputs.size() != p.trace.outputs.size()) {
    throw Error(fmt::format("{}: {} got {} arguments and {} results, expected {} and {}", kCall,
                            p.trace.name, inputs.size(), outputs.size(), p.trace.inputs.size(),
                            p.trace.outputs.size()));
  }
  constexpr std::int64_t kMaxStates = std::int64_t(1) << 36;
  if (states < 0 || states > kMaxStates) {
    throw Error(fmt::format("{}: states is {}, expected 0 to {}", kCall, states, kMaxStates));
  }
  if (states == 0) return;
  p.enter();
  const Kernels& kernels = p.get(sizeof(T) == 8 ? Precision::f64 : Precision::f32, layout);
  std::array<std::uint64_t, kMaxArrays> numbers;
  std::array<void*, kMaxArrays> parameters;
  std::size_t count = 0;
  for (const T* array : inputs) numbers[count++] = reinterpret_cast<std::uint64_t>(array);
  for (T* array : outputs) numbers[count++] = reinterpret_cast<std::uint64_t>(array);
  numbers[count++] = static_cast<std::uint64_t>(states);
  for (std::size_t k = 0; k < count; ++k) parameters[k] = &numbers[k];
  for (const Loaded& part : kernels.parts) {
    const std::int64_t blocks = (states + part.threads - 1) / part.threads;
    const int result = p.driver.cuLaunchKernel(
        part.function, static_cast<unsigned>(blocks), 1, 1, static_cast<unsigned>(part.threads), 1,
        1, static_cast<unsigned>(part.shared_bytes), stream, parameters.data(), nullptr);
    if (result != 0) p.driver.check(result, kCall, "starting " + part.name);
  }
}

template <typename T>
void CudaProgram::run_rows(std::span<const T* const> inputs, std::span<T* const> outputs,
                           std::int64_t states, void* stream) const {
  run<T>(Layout::rows, inputs, outputs, states, stream);
}
template <typename T>
void CudaProgram::run_columns(std::span<const T* const> inputs, std::span<T* const> outputs,
                              std::int64_t states, void* stream) const {
  run<T>(Layout::columns, inputs, outputs, states, stream);
}

template void CudaProgram::run_rows(std::span<const float* const>, std::span<float* const>,
                                    std::int64_t, void*) const;
template void CudaProgram::run_rows(std::span<const double* const>, std::span<double* const>,
                                    std::int64_t, void*) const;
template void CudaProgram::run_columns(std::span<const float* const>, std::span<float* const>,
                                       std::int64_t, void*) const;
template void CudaProgram::run_columns(std::span<const double* const>, std::span<double* const>,
                                       std::int64_t, void*) const;

std::string why_no_cuda() {
  std::string why;
  CudaDriver::get(&why);
  return why;
}

}  // namespace limb::codegen
