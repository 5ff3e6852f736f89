// Times to read a robot (text in memory to a Description, with all diagnostics) and to load one (to
// a Model: structure checked, fixed joints welded, canonical form computed). The chains are
// generated here; the real robots are files of the shared folder LIMB_SHARED and are left out if it
// is missing.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>

#include "limb/base/text_file.hpp"
#include "limb/model/core/load.hpp"
#include "limb/model/urdf/read_urdf.hpp"
#include "limb/model/urdf/write_urdf.hpp"

namespace {

/// A chain of revolute joints; each link has an inertia, a visual and a collision shape.
std::string chain(int joints) {
  std::string text = "<?xml version=\"1.0\"?>\n<robot name=\"chain\">\n";
  for (int i = 0; i <= joints; ++i) {
    text += fmt::format(
        "  <link name=\"link_{0}\">\n"
        "    <inertial>\n"
        "      <origin xyz=\"0.0123 -0.04567 0.1{0}\" rpy=\"0 0 0\"/>\n"
        "      <mass value=\"3.2{0}\"/>\n"
        "      <inertia ixx=\"0.037242\" ixy=\"-0.004761\" ixz=\"-0.011396\" iyy=\"0.036155\" "
        "iyz=\"-0.012805\" izz=\"0.01083\"/>\n"
        "    </inertial>\n"
        "    <visual>\n"
        "      <geometry><mesh filename=\"package://chain/visual/link_{0}.dae\"/></geometry>\n"
        "    </visual>\n"
        "    <collision>\n"
        "      <origin xyz=\"0 0 0.05\" rpy=\"0 0 0\"/>\n"
        "      <geometry><cylinder radius=\"0.06\" length=\"0.2\"/></geometry>\n"
        "    </collision>\n"
        "  </link>\n",
        i);
  }
  for (int i = 0; i < joints; ++i) {
    text += fmt::format(
        "  <joint name=\"joint_{0}\" type=\"revolute\">\n"
        "    <origin xyz=\"0 -0.316 0.1{0}\" rpy=\"1.5707963 0 0\"/>\n"
        "    <parent link=\"link_{0}\"/>\n"
        "    <child link=\"link_{1}\"/>\n"
        "    <axis xyz=\"0 0 1\"/>\n"
        "    <limit lower=\"-2.8973\" upper=\"2.8973\" effort=\"87\" velocity=\"2.175\"/>\n"
        "    <dynamics damping=\"0.003\" friction=\"0.2\"/>\n"
        "  </joint>\n",
        i, i + 1);
  }
  return text + "</robot>\n";
}

void parse(benchmark::State& state, const std::string& text) {
  std::size_t links = 0;
  for (auto _ : state) {
    limb::Diagnostics diagnostics;
    const auto robot = limb::parse_urdf(text, "bench.urdf", {}, diagnostics);
    benchmark::DoNotOptimize(links = robot.links.size());
  }
  state.counters["per_link"] =
      benchmark::Counter(double(state.iterations()) * double(links),
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  state.SetBytesProcessed(state.iterations() * std::int64_t(text.size()));
}

void read_urdf_chain(benchmark::State& state) {
  parse(state, chain(static_cast<int>(state.range(0))));
}
BENCHMARK(read_urdf_chain)->Arg(7)->Arg(38)->Arg(5000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void load_chain(benchmark::State& state) {
  const std::string text = chain(static_cast<int>(state.range(0)));
  for (auto _ : state) {
    limb::Diagnostics diagnostics;
    const auto robot = limb::parse_urdf(text, "bench.urdf", {}, diagnostics);
    benchmark::DoNotOptimize(limb::build_model(robot).nv());
  }
}
BENCHMARK(load_chain)->Arg(7)->Arg(38)->Arg(5000)->Arg(10000)->Unit(benchmark::kMicrosecond);

void write_urdf_chain(benchmark::State& state) {
  limb::Diagnostics diagnostics;
  const auto robot =
      limb::parse_urdf(chain(static_cast<int>(state.range(0))), "bench.urdf", {}, diagnostics);
  for (auto _ : state) {
    diagnostics.clear();
    benchmark::DoNotOptimize(limb::write_urdf(robot, diagnostics));
  }
}
BENCHMARK(write_urdf_chain)->Arg(7)->Arg(10000)->Unit(benchmark::kMicrosecond);

/// The robots of the shared folder, read from file with a warm disk cache.
void register_shared_robots() {
  const char* shared = std::getenv("LIMB_SHARED");
  const auto robots = std::filesystem::path(shared == nullptr ? "../shared" : shared) / "robots";
  for (const char* name : {"iiwa14", "panda", "talos_reduced"}) {
    const auto file = robots / (std::string(name) + ".urdf");
    if (!std::filesystem::exists(file)) continue;
    benchmark::RegisterBenchmark(fmt::format("read_urdf/{}", name).c_str(),
                                 [file](benchmark::State& state) {
                                   for (auto _ : state) {
                                     benchmark::DoNotOptimize(limb::read_urdf(file));
                                   }
                                 })
        ->Unit(benchmark::kMicrosecond);
    benchmark::RegisterBenchmark(fmt::format("load/{}", name).c_str(), [file](benchmark::State&
                                                                                  state) {
      for (auto _ : state) {
        benchmark::DoNotOptimize(limb::load_model(file.string(), limb::Base::free).nv());
      }
    })->Unit(benchmark::kMicrosecond);
  }
}

}  // namespace

int main(int argc, char** argv) {
  register_shared_robots();
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
