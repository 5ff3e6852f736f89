#pragma once

#include <string>
#include <vector>

#include "limb/codegen/lower/code.hpp"
#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

/// One kernel in PTX, the assembly language of NVIDIA's driver, which compiles it for the device.
struct PtxKernel {
  std::string name;      ///< of the entry point
  std::string text;      ///< a whole module
  int threads = 0;       ///< per block, one state each
  int shared_bytes = 0;  ///< of dynamic shared memory per block
  int operations = 0;    ///< Code::operation_count
};

struct PtxOptions {
  Precision precision = Precision::f32;
  Layout layout = Layout::rows;
  /// Threads per block, a multiple of 32. Reduced if shared memory does not suffice.
  int threads = 128;
  /// Compute only these results, counted over all entries of all arrays; empty: all.
  std::vector<int> results = {};
};

/// Straight-line code for one state per thread. Parameters of the kernel: pointers to the arrays of
/// the arguments and of the results, then the number of states, all of 64 bits.
///
/// Each instruction is rounded as on the CPU, so results equal those of the other back ends to the
/// last bit, on any device and for any number of states; but sines and cosines of angles beyond
/// sincos_bound() are NaN. Rows pass through shared memory, by the threads of a warp together, so
/// that memory is read and written in whole lines.
/// @throws Error if one state does not fit into shared memory.
PtxKernel emit_ptx(const Trace& trace, const std::string& name, const PtxOptions& options = {});

}  // namespace limb::codegen
