#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "limb/codegen/split.hpp"
#include "limb/codegen/x64_results.hpp"

namespace limb::codegen {

/// Rows of results past the caches while the next block is computed: memory takes its time for
/// them, which the units need not wait for. Portions of rows stand between the instructions of a
/// straight line, spread evenly, each before the first instruction that puts another number where
/// one of its own still lies. Results have places of their own for that
/// (RegisterWriter::Places::between).
///
/// r14 says whether the block before this one still has portions to write. If the rows of no result
/// can be written so, they are staged.
class RowWeaver {
 public:
  /// @param split of which the code is the first step, or null; its rows are staged or left alone.
  RowWeaver(Machine& machine, Frame& frame, ResultWriter& results, const Code& code,
            const Split* split);

  /// Whether there is something to do between instructions.
  bool is_used() const { return !portions_.empty() || staged_; }
  void begin();
  /// What is due before an instruction of the code.
  void before(int instruction);
  /// The results of a block. @param write_all writes them at once, as without this.
  void end_block(const std::vector<RowMover::Source>& sources,
                 const std::function<void()>& write_all);
  /// After the last block, before ResultWriter::finish_stream().
  void finish();
  /// What the others call; where no other code runs into it.
  void write_routines();

 private:
  struct Due : ResultWriter::Portion {
    int before = 0;  ///< which instruction
  };
  void plan(const Code& code);
  void write(std::size_t begin, std::size_t end);

  Machine& machine_;
  ResultWriter& results_;
  std::vector<Due> portions_;
  std::vector<ResultWriter::Portion> at_end_;  ///< the others
  std::vector<int> saved_;                     ///< places for registers
  std::size_t next_ = 0;
  std::optional<StagedRows> staged_;
  int instructions_, copied_ = 0;
  Xbyak::Label save_, restore_;
};

}  // namespace limb::codegen
