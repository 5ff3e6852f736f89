#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "limb/codegen/x64/machine.hpp"
#include "limb/codegen/x64/stack_frame.hpp"

namespace limb::codegen {

/// Writes the instructions of a Code in order and allocates registers: when one is needed, the
/// value whose next use is furthest away is spilled [Belady 1966, replacement]; values that need no
/// store count twice the distance. Values that are in memory anyway (constants, arguments, sines)
/// are operands of the instructions that use them, unless they are soon used again.
class RegisterWriter {
 public:
  using Address = Xbyak::Address;

  /// Up to four adjacent columns of the rows of a block.
  struct Group {
    Xbyak::Reg64 rows;
    int stride, first, count;  ///< entries per row; the first column, and how many
    int input;                 ///< index of the first among all arguments
  };

  /// Where arguments and results are. `result` is for code of one state; with one state per lane
  /// results stay in the frame, see result_place().
  struct Places {
    std::function<Address(int input)> input;
    std::function<Xbyak::RegExp(int input)> input_expression;
    std::function<Address(int result)> result;
    /// In double lanes of AVX-512, by rows: the columns next to an argument, which are loaded
    /// together at the first use of one. Null: arguments are in memory, lane by lane.
    std::function<Group(int input)> group;
    /// Called before each instruction, in lanes: results keep their slots until the next block
    /// computes them again. Null: nothing to do between instructions.
    std::function<void(int instruction)> before_instruction;
  };

  RegisterWriter(Machine& machine, const Code& code, StackFrame& frame, Places places);

  /// All instructions; jumps to `out_of_range` if angles are too large for the polynomials.
  void write(Xbyak::Label& out_of_range);

  /// In lanes: the slot of a value that is a result; -1 for constants.
  int result_place(int value) const { return results_[static_cast<std::size_t>(value)]; }

  struct Counts {
    int instructions = 0, loads = 0, stores = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  static constexpr int kNever = std::numeric_limits<int>::max();
  /// A value in memory is loaded into a register if it is used again this soon.
  static constexpr int kSoon = 40;

  const Instruction& at(int i) const { return code_.instructions[static_cast<std::size_t>(i)]; }
  void find_uses();
  /// The first use after instruction `now`.
  int next_use(int value, int now) {
    int k = first_use_[static_cast<std::size_t>(value)];
    while (uses_[static_cast<std::size_t>(k)] <= now) ++k;
    first_use_[static_cast<std::size_t>(value)] = k;
    return uses_[static_cast<std::size_t>(k)];
  }
  bool is_last_use(int value, int now) { return next_use(value, now) == kNever; }
  bool has_memory(int value) const;
  Address memory_of(int value);
  int& register_of(int value) { return registers_[static_cast<std::size_t>(value)]; }

  void spill_register(int r);
  int free_register(int now, std::span<const int> keep);
  int free_register(int now, std::initializer_list<int> keep) {
    return free_register(now, std::span<const int>(keep.begin(), keep.size()));
  }
  bool is_unread(int value) const;
  void read_group(int value, int now, const Operands& keep);
  int ensure_in_register(int value, int now, std::initializer_list<int> keep);
  void load_if_used_soon(int value, int now, std::initializer_list<int> keep);
  const Xbyak::Operand& operand(int value, bool four);
  void release(int value, int now);
  void drop(int value);
  void define(int value, int reg, int now);

  bool is_zero(int value) const;
  struct Zeros {
    int first, count;  ///< one, two or four consecutive results
  };
  std::vector<Zeros> find_zeros() const;
  void write_zeros(const Zeros& zeros);
  void write_instruction(int now, Xbyak::Label& out_of_range);
  void write_arithmetic(int now);
  void write_fused(int now);
  void write_unary(int now);
  void write_bits(int now);
  void write_store(int now);
  void write_four_values(int now);

  Machine& machine_;
  const Code& code_;
  StackFrame& frame_;
  Places places_;
  Counts counts_;
  std::vector<char> live_;
  std::vector<int> uses_, first_use_;             ///< instructions that use a value, by value
  std::vector<int> registers_, slots_, results_;  ///< by value; -1: none
  std::vector<int> value_in_register_;            ///< value, -1 or kReserved
  std::vector<int> value_of_input_;               ///< if arguments are read in groups; -1: none
  std::vector<char> was_read_;                    ///< by value
  std::vector<char> is_result_;  ///< by value; empty unless results have dedicated slots
  static constexpr int kReserved = -2;
  std::vector<int> free_slots_, free_wide_slots_;
  std::size_t reserved_ = 0;  ///< number of registers, from the first on, that are not allocated
  int tested_ = -1;           ///< the value whose last bits are in k3
  Xbyak::Address address_;
  Xbyak::Xmm xmm_;
};

}  // namespace limb::codegen
