#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "limb/codegen/trace.hpp"
#include "limb/codegen/x64_target.hpp"

namespace limb::codegen {

/// The arrays of one call for many states, and how code for one state or for a block of them reads
/// and writes them. Where states must be copied, into room of this thread: a thread allocates for
/// its first call and for the largest only.
template <typename T>
class States {
 public:
  States(const Trace& trace, const T* const* inputs, T* const* outputs, Layout layout,
         std::int64_t states)
      : trace_(trace), inputs_(inputs), outputs_(outputs), layout_(layout), states_(states) {
    room_.in.resize(trace.inputs.size());
    room_.out.resize(trace.outputs.size());
  }

  /// Calls run(in, out) with pointers at a state of the arrays.
  template <typename Run>
  auto at(std::int64_t state, const Run& run) {
    for (std::size_t k = 0; k < room_.in.size(); ++k) {
      room_.in[k] = inputs_[k] + state * step(trace_.inputs[k]);
    }
    for (std::size_t k = 0; k < room_.out.size(); ++k) {
      room_.out[k] = outputs_[k] + state * step(trace_.outputs[k]);
    }
    return run(room_.in.data(), room_.out.data());
  }

  /// Calls run(in, out) with arrays of `block` states in the same layout: `count` states from
  /// `first` on, over and over to the end. @returns what `run` does: whether there are
  /// results, which are then copied back.
  template <typename Run>
  bool in_block(std::int64_t first, std::int64_t count, std::int64_t block, const Run& run) {
    room_.numbers.resize(
        static_cast<std::size_t>(block * (trace_.input_size() + trace_.output_size())));
    T* next = room_.numbers.data();
    for (std::size_t k = 0; k < room_.in.size(); ++k) {
      const std::int64_t size = trace_.inputs[k].size();
      room_.in[k] = next;
      if (layout_ == Layout::rows) {
        next = repeat(inputs_[k] + first * size, count * size, next, block * size);
      } else {
        for (std::int64_t j = 0; j < size; ++j) {
          next = repeat(inputs_[k] + j * states_ + first, count, next, block);
        }
      }
    }
    for (std::size_t k = 0; k < room_.out.size(); ++k) {
      room_.out[k] = next;
      next += block * trace_.outputs[k].size();
    }
    if (!run(room_.in.data(), room_.out.data())) return false;
    for (std::size_t k = 0; k < room_.out.size(); ++k) {
      const std::int64_t size = trace_.outputs[k].size();
      if (layout_ == Layout::rows) {
        std::copy_n(room_.out[k], count * size, outputs_[k] + first * size);
      } else {
        for (std::int64_t j = 0; j < size; ++j) {
          std::copy_n(room_.out[k] + j * block, count, outputs_[k] + j * states_ + first);
        }
      }
    }
    return true;
  }

  /// Calls run(in, out) with the arrays of one state, each in one piece.
  template <typename Run>
  void alone(std::int64_t state, const Run& run) {
    if (layout_ == Layout::rows) return at(state, run);
    in_block(state, 1, 1, [&](const T* const* in, T* const* out) {
      run(in, out);
      return true;
    });
  }

 private:
  struct Room {
    std::vector<const T*> in;
    std::vector<T*> out;
    std::vector<T> numbers;
  };
  static Room& room_of_thread() {
    thread_local Room room;
    return room;
  }

  /// `from` over and over until `to` is full; twice as much in each step. @returns its end.
  static T* repeat(const T* from, std::int64_t count, T* to, std::int64_t room) {
    std::copy_n(from, count, to);
    for (std::int64_t n = count; count > 0 && n < room; n *= 2) {
      std::copy_n(to, std::min(n, room - n), to + n);
    }
    return to + room;
  }

  /// From a state to the next; an array without entries may be nowhere.
  std::int64_t step(const Array& array) const {
    return layout_ == Layout::rows ? array.size() : std::min(array.size(), 1);
  }

  const Trace& trace_;
  const T* const* inputs_;
  T* const* outputs_;
  Layout layout_;
  std::int64_t states_;
  Room& room_ = room_of_thread();
};

}  // namespace limb::codegen
