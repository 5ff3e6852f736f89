#pragma once

#include <map>
#include <span>

#include "limb/codegen/x64_registers.hpp"
#include "limb/codegen/x64_rows.hpp"
#include "limb/codegen/x64_seams.hpp"
#include "limb/codegen/x64_staging.hpp"

namespace limb::codegen {

/// Writes the results of a block of states, in lanes, from the frame to the arrays of a call: rsi
/// points to their table, r12 is the block. By columns r13 holds the bytes from a column to the
/// next, by rows kPlain or kStream.
///
/// Memory comes aligned to 16 bytes. Where rows are a multiple of 32 bytes long, some columns go
/// first, so that stores are whole lines of the cache, which may be written past it (kStream).
class ResultWriter {
 public:
  using Source = RowMover::Source;
  static constexpr int kPlain = 0, kStream = 1;

  ResultWriter(Machine& machine, Frame& frame, const std::vector<Array>& arrays)
      : machine_(machine), frame_(frame), arrays_(arrays), mover_(machine) {}

  /// Rows go where these say, if not null.
  void set_staged(StagedRows* staged) { staged_ = staged; }

  /// All of them, in the layout of the target.
  void write(const std::vector<Source>& sources);

  // By rows, in portions between other work, which may use all registers:
  // begin_rows(), write_portion() for all steps, finish_rows().

  /// Neighbouring steps of one array, columns() columns each.
  struct Portion {
    int array = 0, first = 0, steps = 0;
  };
  int columns() const { return 2 * mover_.columns(); }
  /// How many steps there are for portions; what is left finish_rows() writes.
  int step_count(int array) const;
  /// The entries that a step may read, whatever the alignment of the array.
  int first_entry(int array, int step) const;
  int last_entry(int array, int step) const;

  /// Where each lies in the frame; constants are put there now.
  std::vector<std::int32_t> places_of(std::span<const Source> sources);
  void begin_rows(const std::vector<Source>& sources);
  void write_portion(const Portion& portion);
  void write_portions();  ///< all steps
  /// The same of the block before, even before begin_rows(); registers() are changed.
  void write_before(const Portion& portion);
  std::vector<int> registers() const;
  /// Whether rows of an array are written past the caches if asked for.
  bool has_streams(int array) const { return is_aligned(size_of(array)) && step_count(array) > 0; }
  void finish_rows();
  /// After the last block, r12 of them: what still waits, and a fence, if rows went past the
  /// caches.
  void finish_stream();
  /// What write_portion() calls; where no other code runs into it.
  void write_routines();
  /// Constants that loops over results need.
  static std::size_t table_bytes(const std::vector<Array>& arrays);

 private:
  bool is_aligned(int size) const;
  bool has_late(int size) const;
  int lead(int size) const { return has_late(size) ? columns() : 0; }
  void point_at(int array);
  void find_offset();
  void call_portion(const Portion& portion);
  const Machine::Table& table(int array);
  int size_of(int array) const { return arrays_[static_cast<std::size_t>(array)].size(); }
  std::span<const Source> row_of(int array) const;
  void write_columns(const std::vector<Source>& sources);
  void write_range(int array, int begin, int end);

  Machine& machine_;
  Frame& frame_;
  const std::vector<Array>& arrays_;
  RowMover mover_;
  StagedRows* staged_ = nullptr;
  std::vector<Source> sources_;
  std::map<double, int> constants_;       ///< their places
  std::map<int, Machine::Table> tables_;  ///< of the arrays that are written in portions
  std::map<int, RowSeams> seams_;         ///< of the arrays that may go past the caches
  std::map<int, Xbyak::Label> routines_;  ///< by the size of a row
};

}  // namespace limb::codegen
