#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "limb/codegen/record/split.hpp"
#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

class MachineCode;

struct ProgramOptions {
  /// Do not make machine code, as with the environment variable LIMB_NO_JIT=1.
  bool interpret = false;
  /// The largest instruction set to use, if the processor has it.
  Isa max_isa = Isa::avx512;
};

/// How SIMD lanes run.
struct LanesOptions {
  bool split = false;   ///< in the two steps of a Split instead of straight-line code
  bool stream = false;  ///< write rows of results by non-temporal stores
};

/// A recorded computation, ready to run: machine code in memory, or, where that is not possible, an
/// interpreter with the same results to the bit. Any number of threads may run one program.
class Program {
 public:
  explicit Program(Trace trace, const ProgramOptions& options = {});
  /// The same with split code for lanes; `make` is called once, at the first call that uses it, if
  /// there is machine code. Angles out of the range of the sine polynomials run without it.
  Program(Trace trace, const ProgramOptions& options, std::function<Split()> make);
  ~Program();
  Program(Program&&) noexcept;
  Program& operator=(Program&&) noexcept;

  const std::string& name() const;
  const std::vector<Array>& inputs() const;
  const std::vector<Array>& outputs() const;
  const Trace& trace() const;

  /// One state: inputs[k] points to the entries of argument k, column by column, outputs[k] to
  /// those of result k. Results must not overlap arguments. No allocation, no lock.
  void run(const double* const* inputs, double* const* outputs) const;

  /// `states` states: array k has one row per state, entries as in run, contiguous.
  /// Results must not overlap arguments. The first call for a precision makes its machine code.
  void run_rows(const double* const* inputs, double* const* outputs, std::int64_t states,
                const LanesOptions& options = {}) const;
  void run_rows(const float* const* inputs, float* const* outputs, std::int64_t states,
                const LanesOptions& options = {}) const;
  /// The same with structures of arrays: an entry of all states, then the next entry. The arrays
  /// have `states` states, of which those in [first, first + count) are computed.
  void run_columns(const double* const* inputs, double* const* outputs, std::int64_t states,
                   std::int64_t first, std::int64_t count, const LanesOptions& options = {}) const;
  void run_columns(const float* const* inputs, float* const* outputs, std::int64_t states,
                   std::int64_t first, std::int64_t count, const LanesOptions& options = {}) const;
  /// Makes the machine code that run_rows or run_columns needs, instead of their first call.
  void prepare(Precision precision, Layout layout, bool split = false) const;
  /// States that machine code computes at once; 1 without machine code.
  int lanes(Precision precision) const;

  bool is_compiled() const;
  /// Whether lanes have split code.
  bool has_split() const;
  /// Why there is no machine code, in one line; empty if there is.
  const std::string& why_not_compiled() const;
  /// Null without machine code.
  const MachineCode* one_state() const;
  const MachineCode* lanes_code(Precision precision, Layout layout = Layout::rows,
                                bool split = false) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Why machine code cannot be made in this process; empty if it can: LIMB_NO_JIT, an old or another
/// kind of processor, a system that does not allow executable memory (tested once).
const std::string& why_no_machine_code();

}  // namespace limb::codegen
