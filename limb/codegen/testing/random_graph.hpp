#pragma once

#include <limits>
#include <span>
#include <string>

#include "limb/codegen/record/trace.hpp"
#include "limb/codegen/testing/run.hpp"

/// Computations made from bytes. Any bytes are valid, so that a fuzzer can change them.
namespace limb::testing {

/// A stream of bytes, followed by zeros.
class Bytes {
 public:
  explicit Bytes(std::span<const unsigned char> data) : data_(data) {}
  bool empty() const { return at_ >= data_.size(); }
  std::size_t next(std::size_t below) {
    const std::size_t x = empty() ? 0 : data_[at_];
    ++at_;
    return x % below;
  }
  /// Ordinary numbers and edge cases of arithmetic.
  double number() {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    constexpr double kEdges[] = {
        0,      -0.0,  1,         -1,         0.5,
        1e-310, 1e-40, 1e300,     3e4,        1e6,
        -2e6,   1e13,  kInfinity, -kInfinity, 0x1p52,
        1e38,   2e-7,  0x1p-1,    1e9,        std::numeric_limits<double>::quiet_NaN()};
    const std::size_t kind = next(64);
    if (kind < std::size(kEdges)) return kEdges[kind];
    return (double(next(256)) + double(next(256)) / 256 - 128) / double(1 + next(64));
  }

 private:
  std::span<const unsigned char> data_;
  std::size_t at_ = 0;
};

/// Up to 400 operations on one to three arguments, their last values as results.
inline codegen::Trace random_graph(Bytes& bytes) {
  using codegen::TracedMask;
  codegen::Tracer tracer("random_graph");
  std::vector<Traced> pool;
  const std::size_t arguments = 1 + bytes.next(3);
  for (std::size_t k = 0; k < arguments; ++k) {
    const VectorX<Traced> x =
        tracer.input("x" + std::to_string(k), 1 + static_cast<int>(bytes.next(9)));
    for (int i = 0; i < x.size(); ++i) pool.push_back(x[i]);
  }
  std::vector<TracedMask> masks = {pool[0] < pool.back()};
  // Mostly one of the last 32 values: deep graphs.
  const auto value = [&]() -> const Traced& {
    const std::size_t window = std::min<std::size_t>(pool.size(), 32), k = bytes.next(256);
    return k < 224 ? pool[pool.size() - 1 - k % window] : pool[k % pool.size()];
  };
  const auto mask = [&] { return masks[masks.size() - 1 - bytes.next(masks.size())]; };
  const std::size_t operations = 1 + bytes.next(256) + bytes.next(144);
  for (std::size_t k = 0; k < operations && !bytes.empty(); ++k) {
    switch (bytes.next(21)) {
      case 0:
        pool.push_back(Traced(bytes.number()) * value());
        break;
      case 1:
        pool.push_back(Traced(bytes.number()) + value());
        break;
      case 2:
        pool.push_back(value() / value());
        break;
      case 3:
        pool.push_back(sqrt(value()));
        break;
      case 4:
        pool.push_back(abs(value()));
        break;
      case 5:
        pool.push_back(-value());
        break;
      case 6:
        pool.push_back(sin(value()));
        break;
      case 7:
        pool.push_back(cos(value()));
        break;
      case 8:
        masks.push_back(value() < value());
        break;
      case 9:
        masks.push_back(value() <= value());
        break;
      case 10:
        masks.push_back(mask() && mask());
        break;
      case 11:
        masks.push_back(mask() || !mask());
        break;
      case 12:
      case 13: {
        const TracedMask m = mask();
        const Traced a = value(), b = value();
        pool.push_back(select(m, a, b));
        break;
      }
      case 14:
        pool.push_back(value() * value());
        break;
      case 15:
        pool.push_back(value() - value());
        break;
      case 16: {
        const Traced y = value(), x = value();
        pool.push_back(atan2(y, x));
        break;
      }
      default: {  // fused into one instruction
        const Traced product = value() * value();
        pool.push_back(bytes.next(2) == 0 ? product + value() : value() - product);
      }
    }
  }
  const int results = 1 + static_cast<int>(bytes.next(20));
  MatrixX<Traced> out(results, 1);
  for (int i = 0; i < results; ++i) {
    out(i, 0) = pool[pool.size() - 1 - static_cast<std::size_t>(i) % pool.size()];
  }
  tracer.output("first", out.topRows((results + 1) / 2));
  tracer.output("second", out.bottomRows(results / 2));
  return tracer.finish();
}

inline Batch<double> random_numbers(Bytes& bytes, const codegen::Trace& trace,
                                    std::int64_t states) {
  Batch<double> in = batch_of(trace.inputs, states, 0.0);
  for (auto& array : in.data) {
    for (double& x : array) x = bytes.number();
  }
  return in;
}

}  // namespace limb::testing
