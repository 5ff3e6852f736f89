#include "limb/batch/run_rows.hpp"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <unistd.h>

#include <algorithm>
#include <functional>
#include <memory_resource>
#include <span>

namespace limb {

void for_ranges(std::int64_t states, std::int64_t step, std::int64_t grain, int threads,
                const std::function<void(std::int64_t, std::int64_t)>& part) {
  if (states == 0) return;
  // Whole blocks; the remainder belongs to the last one.
  const std::int64_t blocks = std::max<std::int64_t>(1, states / step);
  const std::int64_t each = std::clamp<std::int64_t>(grain / step, 1, blocks);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    part(begin * step, (end == blocks ? states : end * step) - begin * step);
  };
  if (threads == 1 || blocks <= each) {
    // In pieces of one grain, too, so that their data stay in the caches.
    for (std::int64_t b = 0; b < blocks; b += each) run(b, std::min(blocks, b + each));
    return;
  }
  tbb::task_arena arena(threads == 0 ? tbb::task_arena::automatic : threads);
  arena.execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, blocks, static_cast<std::size_t>(each)),
                      [&](const auto& range) { run(range.begin(), range.end()); });
  });
}

bool should_stream(std::int64_t bytes) {
  static const std::int64_t cache = [] {
    // The cache shared by one group of cores; some systems report the sum of all groups.
    std::int64_t size = 32 << 20;
#ifdef _SC_LEVEL3_CACHE_SIZE
    const std::int64_t found = sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (found > 0) size = std::min(size, found);
#endif
    return size;
  }();
  return bytes > cache / 8 * 3;
}

void check_options(const std::string& call, const BatchOptions& options) {
  if (options.threads < 0) fail(call, "threads", std::to_string(options.threads), "0 or more");
  if (options.grain < 0) fail(call, "grain", std::to_string(options.grain), "0 or more");
}

template <typename T>
std::int64_t check_rows(const std::string& call, const std::vector<codegen::Array>& arguments,
                        const std::vector<codegen::Array>& results,
                        std::span<const ConstStateRows<T>> inputs,
                        std::span<const StateRows<T>> outputs) {
  const auto check_count = [&](const char* what, std::size_t found, std::size_t expected) {
    if (found != expected) {
      fail(call, what, std::to_string(found) + " arrays", std::to_string(expected));
    }
  };
  check_count("arguments", inputs.size(), arguments.size());
  check_count("results", outputs.size(), results.size());
  const std::int64_t states = !inputs.empty()    ? inputs[0].rows
                              : !outputs.empty() ? outputs[0].rows
                                                 : 0;
  const codegen::Layout layout = !inputs.empty()    ? inputs[0].layout
                                 : !outputs.empty() ? outputs[0].layout
                                                    : codegen::Layout::rows;
  const auto check = [&](const auto& x, const codegen::Array& array) {
    if (x.layout != layout) {
      throw Error(call + ": " + array.name + " is stored by " +
                  (layout == codegen::Layout::rows ? "columns" : "rows") + ", unlike " +
                  arguments[0].name);
    }
    if (x.rows == states && x.cols == array.size()) return;
    const auto text = [](std::int64_t r, std::int64_t c) {
      return std::to_string(r) + " x " + std::to_string(c);
    };
    fail(call, array.name, text(x.rows, x.cols), text(states, array.size()), "one state per row");
  };
  for (std::size_t k = 0; k < inputs.size(); ++k) check(inputs[k], arguments[k]);
  for (std::size_t k = 0; k < outputs.size(); ++k) check(outputs[k], results[k]);
  const auto overlap = [](const auto& x, const auto& y) {
    return x.data < y.data + y.rows * y.cols && y.data < x.data + x.rows * x.cols;
  };
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    const auto refuse = [&](const std::string& other) {
      throw Error(call + ": " + results[k].name + " overlaps " + other);
    };
    for (std::size_t j = 0; j < inputs.size(); ++j) {
      if (overlap(outputs[k], inputs[j])) refuse(arguments[j].name);
    }
    for (std::size_t j = 0; j < k; ++j) {
      if (overlap(outputs[k], outputs[j])) refuse(results[j].name);
    }
  }
  return states;
}

template <typename T>
void run_rows(const codegen::Program& program, std::span<const ConstStateRows<T>> inputs,
              std::span<const StateRows<T>> outputs, const BatchOptions& options, bool split) {
  constexpr codegen::Precision kPrecision =
      sizeof(T) == 8 ? codegen::Precision::f64 : codegen::Precision::f32;
  constexpr std::int64_t kGrain = 1024;
  check_options(program.name(), options);
  const std::int64_t states =
      check_rows<T>(program.name(), program.inputs(), program.outputs(), inputs, outputs);
  const codegen::Layout layout = !inputs.empty()    ? inputs[0].layout
                                 : !outputs.empty() ? outputs[0].layout
                                                    : codegen::Layout::rows;
  program.prepare(kPrecision, layout, split);
  codegen::LanesOptions lanes{.split = split, .stream = options.stores == StoreKind::streaming};
  if (options.stores == StoreKind::automatic) {
    std::int64_t results = 0;
    for (const auto& x : outputs) results += x.rows * x.cols;
    lanes.stream = should_stream(results * std::int64_t{sizeof(T)});
  }
  const auto part = [&](std::int64_t first, std::int64_t count) {
    const std::int64_t row = layout == codegen::Layout::rows ? first : 0;
    std::byte buffer[512];  // only calls with many arrays allocate
    std::pmr::monotonic_buffer_resource memory(buffer, sizeof buffer);
    std::pmr::vector<const T*> in(&memory);
    std::pmr::vector<T*> out(&memory);
    in.reserve(inputs.size());
    out.reserve(outputs.size());
    for (const auto& x : inputs) in.push_back(x.data + row * x.cols);
    for (const auto& x : outputs) out.push_back(x.data + row * x.cols);
    if (layout == codegen::Layout::rows) {
      program.run_rows(in.data(), out.data(), count, lanes);
    } else {
      program.run_columns(in.data(), out.data(), states, first, count, lanes);
    }
  };
  for_ranges(states, program.lanes(kPrecision), options.grain > 0 ? options.grain : kGrain,
             options.threads, std::ref(part));
}

#define LIMB_INSTANTIATE(T)                                                                       \
  template std::int64_t check_rows(                                                               \
      const std::string&, const std::vector<codegen::Array>&, const std::vector<codegen::Array>&, \
      std::span<const ConstStateRows<T>>, std::span<const StateRows<T>>);                         \
  template void run_rows(const codegen::Program&, std::span<const ConstStateRows<T>>,             \
                         std::span<const StateRows<T>>, const BatchOptions&, bool);
LIMB_INSTANTIATE(double)
LIMB_INSTANTIATE(float)
#undef LIMB_INSTANTIATE

}  // namespace limb
