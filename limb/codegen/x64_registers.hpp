#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "limb/codegen/x64_machine.hpp"

namespace limb::codegen {

/// Where values lie in memory, all on the stack: distances in bytes from its lower end.
struct Frame {
  int used = 0;

  int take(int bytes) {
    used = (used + bytes - 1) / bytes * bytes;
    used += bytes;
    return used - bytes;
  }
};

/// Writes the instructions of a Code one after the other and decides which values stay in
/// registers: when one is needed, the value whose next use is furthest away leaves [Belady 1966,
/// replacement], by twice the distance if it has to be stored. Values that memory holds anyway
/// (constants, arguments, sines) leave without a store and are read by the instruction that uses
/// them, unless they are soon used again.
class RegisterWriter {
 public:
  using Address = Xbyak::Address;

  /// Up to four neighbouring columns of the rows of a block.
  struct Group {
    Xbyak::Reg64 rows;
    int stride, first, count;  ///< entries of a row; the first column, and how many
    int input;                 ///< the number of the first among all arguments
  };

  /// Where arguments and results are. `result` is for code of one state; with one state a lane a
  /// result stays in the frame, see result_place().
  struct Places {
    std::function<Address(int input)> input;
    std::function<Xbyak::RegExp(int input)> input_expression;
    std::function<Address(int result)> result;
    /// In double lanes of AVX-512, by rows: the neighbours of an argument, which are read together
    /// where the first of them is used. Null: arguments lie in memory, lane by lane.
    std::function<Group(int input)> group;
    /// Called before each instruction, in lanes: results keep their places until the first
    /// instruction of another block computes them again. Null: nothing between instructions.
    std::function<void(int instruction)> between;
  };

  RegisterWriter(Machine& machine, const Code& code, Frame& frame, Places places);

  /// All instructions; jumps to `beyond` where the polynomials for sines do not serve.
  void write(Xbyak::Label& beyond);

  /// In lanes: where in the frame a value lies that is a result; -1 for constants.
  int result_place(int value) const { return results_[static_cast<std::size_t>(value)]; }

  struct Counts {
    int instructions = 0, loads = 0, stores = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  static constexpr int kNever = std::numeric_limits<int>::max();
  /// A value that memory holds is loaded for a second use this near.
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

  void leave_register(int r);
  int free_register(int now, std::span<const int> keep);
  int free_register(int now, std::initializer_list<int> keep) {
    return free_register(now, std::span<const int>(keep.begin(), keep.size()));
  }
  bool is_unread(int value) const;
  void read_group(int value, int now, const Operands& keep);
  int bring(int value, int now, std::initializer_list<int> keep);
  void bring_if_soon(int value, int now, std::initializer_list<int> keep);
  const Xbyak::Operand& operand(int value, bool four);
  void release(int value, int now);
  void drop(int value);
  void define(int value, int reg, int now);

  bool is_zero(int value) const;
  struct Zeros {
    int first, count;  ///< results that follow each other: one, two or four
  };
  std::vector<Zeros> find_zeros() const;
  void write_zeros(const Zeros& zeros);
  void write_one(int now, Xbyak::Label& beyond);
  void write_arithmetic(int now);
  void write_fused(int now);
  void write_unary(int now);
  void write_bits(int now);
  void write_store(int now);
  void write_four_values(int now);

  Machine& machine_;
  const Code& code_;
  Frame& frame_;
  Places places_;
  Counts counts_;
  std::vector<char> live_;
  std::vector<int> uses_, first_use_;             ///< places where a value is used, by value
  std::vector<int> registers_, slots_, results_;  ///< of each value; -1: none
  std::vector<int> held_;                         ///< of each register: value, -1 or kTaken
  std::vector<int> of_input_;    ///< the value of each argument that is read in groups; -1: none
  std::vector<char> was_read_;   ///< of each value
  std::vector<char> is_result_;  ///< of each value, where results have places of their own
  static constexpr int kTaken = -2;
  std::vector<int> free_slots_, free_wide_slots_;
  std::size_t reserved_ = 0;  ///< so many registers, the first ones, are not given away
  int tested_ = -1;           ///< of which value k3 holds the last bits
  Xbyak::Address address_;
  Xbyak::Xmm xmm_;
};

}  // namespace limb::codegen
