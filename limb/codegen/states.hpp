#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "limb/codegen/record/trace.hpp"
#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

/// The arrays of one call for many states, and how code for one state or for a block of them reads
/// and writes them. States that must be copied go to a buffer of the thread, which allocates only
/// when it grows.
template <typename T>
class States {
 public:
  States(const Trace& trace, const T* const* inputs, T* const* outputs, Layout layout,
         std::int64_t states)
      : trace_(trace), inputs_(inputs), outputs_(outputs), layout_(layout), states_(states) {
    buffers_.in.resize(trace.inputs.size());
    buffers_.out.resize(trace.outputs.size());
  }

  /// Calls run(in, out) with pointers to a state of the arrays.
  template <typename Run>
  auto run_at(std::int64_t state, const Run& run) {
    for (std::size_t k = 0; k < buffers_.in.size(); ++k) {
      buffers_.in[k] = inputs_[k] + state * step(trace_.inputs[k]);
    }
    for (std::size_t k = 0; k < buffers_.out.size(); ++k) {
      buffers_.out[k] = outputs_[k] + state * step(trace_.outputs[k]);
    }
    return run(buffers_.in.data(), buffers_.out.data());
  }

  /// Calls run(in, out) with arrays of `block` states in the same layout: `count` states from
  /// `first` on, repeated to fill the block. @returns what `run` returns: whether there are
  /// results, which are then copied back.
  template <typename Run>
  bool run_block(std::int64_t first, std::int64_t count, std::int64_t block, const Run& run) {
    buffers_.numbers.resize(
        static_cast<std::size_t>(block * (trace_.input_size() + trace_.output_size())));
    T* next = buffers_.numbers.data();
    for (std::size_t k = 0; k < buffers_.in.size(); ++k) {
      const std::int64_t size = trace_.inputs[k].size();
      buffers_.in[k] = next;
      if (layout_ == Layout::rows) {
        next = repeat(inputs_[k] + first * size, count * size, next, block * size);
      } else {
        for (std::int64_t j = 0; j < size; ++j) {
          next = repeat(inputs_[k] + j * states_ + first, count, next, block);
        }
      }
    }
    for (std::size_t k = 0; k < buffers_.out.size(); ++k) {
      buffers_.out[k] = next;
      next += block * trace_.outputs[k].size();
    }
    if (!run(buffers_.in.data(), buffers_.out.data())) return false;
    for (std::size_t k = 0; k < buffers_.out.size(); ++k) {
      const std::int64_t size = trace_.outputs[k].size();
      if (layout_ == Layout::rows) {
        std::copy_n(buffers_.out[k], count * size, outputs_[k] + first * size);
      } else {
        for (std::int64_t j = 0; j < size; ++j) {
          std::copy_n(buffers_.out[k] + j * block, count, outputs_[k] + j * states_ + first);
        }
      }
    }
    return true;
  }

  /// Calls run(in, out) with the contiguous arrays of one state.
  template <typename Run>
  void run_one(std::int64_t state, const Run& run) {
    if (layout_ == Layout::rows) return run_at(state, run);
    run_block(state, 1, 1, [&](const T* const* in, T* const* out) {
      run(in, out);
      return true;
    });
  }

 private:
  struct Buffers {
    std::vector<const T*> in;
    std::vector<T*> out;
    std::vector<T> numbers;
  };
  static Buffers& thread_buffers() {
    thread_local Buffers buffers;
    return buffers;
  }

  /// Repeats `from` until `to` is full, doubling the copied length. @returns the end of `to`.
  static T* repeat(const T* from, std::int64_t count, T* to, std::int64_t size) {
    std::copy_n(from, count, to);
    for (std::int64_t n = count; count > 0 && n < size; n *= 2) {
      std::copy_n(to, std::min(n, size - n), to + n);
    }
    return to + size;
  }

  /// Distance between states; the pointer to an array without entries is not moved.
  std::int64_t step(const Array& array) const {
    return layout_ == Layout::rows ? array.size() : std::min(array.size(), 1);
  }

  const Trace& trace_;
  const T* const* inputs_;
  T* const* outputs_;
  Layout layout_;
  std::int64_t states_;
  Buffers& buffers_ = thread_buffers();
};

}  // namespace limb::codegen
