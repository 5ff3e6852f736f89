#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "limb/codegen/record/split.hpp"
#include "limb/codegen/x64/result_writer.hpp"

namespace limb::codegen {

/// Writes rows of results by non-temporal stores while the next block is computed, so that
/// computation does not wait for memory. Portions of rows are placed between the instructions of
/// the straight-line code, spread evenly, each before the first instruction that overwrites one of
/// its values. Results have dedicated slots for that (RegisterWriter::Places::before_instruction).
///
/// r14 is nonzero if the previous block still has portions to write. If no result can be written
/// this way, rows are staged (StagedStores).
class InterleavedStores {
 public:
  /// @param split the computation whose first step is the code, or null; its rows are staged or
  /// written directly.
  InterleavedStores(Machine& machine, StackFrame& frame, ResultWriter& results, const Code& code,
                    const Split* split);

  /// Whether there is something to do between instructions.
  bool is_used() const { return !portions_.empty() || staged_; }
  void begin();
  /// Writes what is due before an instruction of the code.
  void write_due(int instruction);
  /// The results of a block. @param write_all writes them directly.
  void end_block(const std::vector<RowMover::Source>& sources,
                 const std::function<void()>& write_all);
  /// After the last block, before ResultWriter::finish_stream().
  void finish();
  /// The routines that the others call; must follow a return.
  void write_routines();

 private:
  struct DuePortion : ResultWriter::Portion {
    int before = 0;  ///< instruction
  };
  void plan(const Code& code);
  void write(std::size_t begin, std::size_t end);

  Machine& machine_;
  ResultWriter& results_;
  std::vector<DuePortion> portions_;
  std::vector<ResultWriter::Portion> at_end_;  ///< the others
  std::vector<int> saved_;                     ///< slots for registers
  std::size_t next_ = 0;
  std::optional<StagedStores> staged_;
  int instructions_, copied_ = 0;
  Xbyak::Label save_, restore_;
};

}  // namespace limb::codegen
