#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "limb/codegen/cuda/emit_ptx.hpp"

namespace limb::codegen {

/// Registers, memory and times of a kernel on its device.
struct CudaKernelReport {
  int registers = 0;        ///< per thread
  int local_bytes = 0;      ///< per thread: values that do not fit into registers
  int shared_bytes = 0;     ///< per block
  double compile_ms = 0;    ///< by the driver; 0 if it was in the cache
  bool from_cache = false;  ///< compiled by an earlier run
};

/// A recorded computation on an NVIDIA GPU: one thread per state. The driver compiles it on the
/// first use of a precision and layout, or prepare(); the machine code is cached on disk, in
/// $XDG_CACHE_HOME/limb or ~/.cache/limb (LIMB_CACHE names another folder; empty: no cache).
/// Any number of threads may run one program.
///
///   const CudaProgram rnea(trace(model, DynamicsFunction::rnea));
///   rnea.run_rows<float>(inputs, outputs, states, stream);   // pointers to memory of the device
///
/// Results equal those of Program to the last bit, for any device, number of states and position in
/// the batch, except for angles beyond sincos_bound(), which make the state NaN.
class CudaProgram {
 public:
  /// @param device its number; -1: that of the current context, or 0.
  /// @throws Error if there is no driver or no such device.
  explicit CudaProgram(Trace trace, int device = -1);
  ~CudaProgram();
  CudaProgram(CudaProgram&&) noexcept;
  CudaProgram& operator=(CudaProgram&&) noexcept;

  const Trace& trace() const;
  /// Name of the device.
  const std::string& device() const;

  /// Starts the computation on a stream (a CUstream or cudaStream_t; null: the default stream) and
  /// returns at once. Arrays are those of Program::run_rows, in memory of the device; results must
  /// not overlap arguments. No allocation, no synchronisation. @throws Error with the name of the
  /// kernel if the driver refuses to start it.
  template <typename T>
  void run_rows(std::span<const T* const> inputs, std::span<T* const> outputs, std::int64_t states,
                void* stream = nullptr) const;
  /// The same with structures of arrays, as in Program::run_columns.
  template <typename T>
  void run_columns(std::span<const T* const> inputs, std::span<T* const> outputs,
                   std::int64_t states, void* stream = nullptr) const;

  /// Compiles and loads the kernel of a precision and layout, if that was not done yet.
  CudaKernelReport prepare(Precision precision, Layout layout) const;

 private:
  template <typename T>
  void run(Layout layout, std::span<const T* const> inputs, std::span<T* const> outputs,
           std::int64_t states, void* stream) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Why no program can run on a GPU in this process; empty if one can.
std::string why_no_cuda();

}  // namespace limb::codegen
