#pragma once

#include <map>
#include <span>

#include "limb/codegen/x64/register_writer.hpp"
#include "limb/codegen/x64/row_mover.hpp"
#include "limb/codegen/x64/stream/partial_lines.hpp"
#include "limb/codegen/x64/stream/staged_stores.hpp"

namespace limb::codegen {

/// Writes the results of a block of states, in lanes, from the frame to the arrays of a call: rsi
/// points to their table, r12 is the block. By columns r13 is the number of bytes between columns,
/// by rows kPlain or kStream.
///
/// Arrays are aligned to 16 bytes. Where rows are a multiple of 32 bytes long, the columns before
/// the first cache line are written separately, so that the others are stored as whole cache lines,
/// if requested by non-temporal stores (kStream).
class ResultWriter {
 public:
  using Source = RowMover::Source;
  static constexpr int kPlain = 0, kStream = 1;

  ResultWriter(Machine& machine, StackFrame& frame, const std::vector<Array>& arrays)
      : machine_(machine), frame_(frame), arrays_(arrays), mover_(machine) {}

  /// Rows are written to the staging buffers, if not null.
  void set_staged(StagedStores* staged) { staged_ = staged; }

  /// All results, in the layout of the target.
  void write(const std::vector<Source>& sources);

  // By rows, in portions between other code, which may use all registers:
  // begin_rows(), write_portion() for all steps, finish_rows().

  /// Consecutive steps of one array, columns() columns each.
  struct Portion {
    int array = 0, first = 0, steps = 0;
  };
  int columns() const { return 2 * mover_.columns(); }
  /// How many steps portions can have; finish_rows() writes the rest.
  int step_count(int array) const;
  /// The entries that a step may read, for any alignment of the array.
  int first_entry(int array, int step) const;
  int last_entry(int array, int step) const;

  /// Their slots in the frame; constants are stored there now.
  std::vector<std::int32_t> places_of(std::span<const Source> sources);
  void begin_rows(const std::vector<Source>& sources);
  void write_portion(const Portion& portion);
  void write_portions();  ///< all steps
  /// The same for the previous block, even before begin_rows(); changes registers().
  void write_previous_block(const Portion& portion);
  std::vector<int> registers() const;
  /// Whether rows of an array can be written by non-temporal stores.
  bool can_stream(int array) const { return is_aligned(size_of(array)) && step_count(array) > 0; }
  void finish_rows();
  /// After the last block, r12 of them: writes the remaining lines, and a fence, with non-temporal
  /// stores.
  void finish_stream();
  /// The routines that write_portion() calls; must follow a return.
  void write_routines();
  /// Bytes of tables for loops over results.
  static std::size_t table_bytes(const std::vector<Array>& arrays);

 private:
  bool is_aligned(int size) const;
  bool has_half_lines(int size) const;
  int lead(int size) const { return has_half_lines(size) ? columns() : 0; }
  void point_at(int array);
  void find_offset();
  void call_portion(const Portion& portion);
  const Machine::Table& table(int array);
  int size_of(int array) const { return arrays_[static_cast<std::size_t>(array)].size(); }
  std::span<const Source> row_of(int array) const;
  void write_columns(const std::vector<Source>& sources);
  void write_range(int array, int begin, int end);

  Machine& machine_;
  StackFrame& frame_;
  const std::vector<Array>& arrays_;
  RowMover mover_;
  StagedStores* staged_ = nullptr;
  std::vector<Source> sources_;
  std::map<double, int> constants_;            ///< their slots
  std::map<int, Machine::Table> tables_;       ///< of the arrays that are written in portions
  std::map<int, PartialLines> partial_lines_;  ///< of the arrays that may be streamed
  std::map<int, Xbyak::Label> routines_;       ///< by the size of a row
};

}  // namespace limb::codegen
