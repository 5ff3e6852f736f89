#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "limb/codegen/split.hpp"
#include "limb/codegen/x64_target.hpp"

namespace limb::codegen {

class MachineCode;

struct ProgramOptions {
  /// No machine code even where it is possible, as with the environment variable LIMB_NO_JIT=1.
  bool interpret = false;
  /// At most these instructions, where the processor has them.
  Isa most = Isa::avx512;
};

/// How lanes run.
struct LanesOptions {
  bool split = false;   ///< in the two steps of a Split instead of one straight line
  bool stream = false;  ///< rows of results go past the caches, which they would fill
};

/// A recorded computation, ready to run: machine code in memory, or, where there can be none, an
/// interpreter that gives the same bits. Any number of threads may run one program.
class Program {
 public:
  explicit Program(Trace trace, const ProgramOptions& options = {});
  /// The same with a second way for lanes; `make` is called where machine code can be, once, when
  /// that way is first taken. What polynomials for sines do not cover goes the first way.
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

  /// `states` states: array k has a row for each, entries as in run, rows one after the other.
  /// Results must not overlap arguments. The first call for a precision makes its machine code.
  void run_rows(const double* const* inputs, double* const* outputs, std::int64_t states,
                const LanesOptions& options = {}) const;
  void run_rows(const float* const* inputs, float* const* outputs, std::int64_t states,
                const LanesOptions& options = {}) const;
  /// The same with an entry of all states side by side, entry after entry (structure of arrays):
  /// `states` is how many the arrays hold, of which those in [first, first + count) are computed.
  void run_columns(const double* const* inputs, double* const* outputs, std::int64_t states,
                   std::int64_t first, std::int64_t count, const LanesOptions& options = {}) const;
  void run_columns(const float* const* inputs, float* const* outputs, std::int64_t states,
                   std::int64_t first, std::int64_t count, const LanesOptions& options = {}) const;
  /// Makes the machine code that run_rows or run_columns needs, so that no later call does.
  void prepare(Precision precision, Layout layout, bool split = false) const;
  /// States that machine code computes at once there; 1 without.
  int lanes(Precision precision) const;

  bool is_compiled() const;
  /// Whether lanes have both ways.
  bool has_split() const;
  /// Why there is no machine code, one line; empty if there is.
  const std::string& notice() const;
  /// Null without machine code.
  const MachineCode* one_state() const;
  const MachineCode* lanes_code(Precision precision, Layout layout = Layout::rows,
                                bool split = false) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Why machine code cannot be made in this process; empty if it can: LIMB_NO_JIT, an old or other
/// processor, a system that lets no memory become executable (tried once).
const std::string& why_no_machine_code();

}  // namespace limb::codegen
