#pragma once

#include <xbyak/xbyak.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "limb/codegen/x64_target.hpp"

namespace limb::codegen {

/// The instructions of a target by what they do: which encoding, which width, which constants.
/// `four` marks work on four values at once in code for one state (Instruction::four).
///
/// Registers: the caller's vector registers by number; rax and k1 to k5 are free for use in here;
/// rbp points into the frame and rbx into the pool of constants, which lies before the code: bases
/// that need no longer prefix.
class Machine : public Xbyak::CodeGenerator {
 public:
  using Address = Xbyak::Address;
  using Operand = Xbyak::Operand;
  using Xmm = Xbyak::Xmm;

  /// Code goes to memory + pool_bytes, constants before.
  Machine(const Target& target, std::span<unsigned char> memory, std::size_t pool_bytes);

  const Target& target() const { return target_; }
  bool is_wide() const { return target_.isa == Isa::avx512; }

  Xmm vector(int r, bool four = false) const {
    if (target_.shape == Shape::one) return Xmm(four ? Operand::YMM : Operand::XMM, r);
    return Xmm(is_wide() ? Operand::ZMM : Operand::YMM, r);
  }

  /// A place of the frame. rbp points into its beginning, so that most distances are short.
  Xbyak::RegExp slot(int place) const { return rbp + (place - frame_bias()); }
  int frame_bias() const { return target_.shape == Shape::one ? 512 : 128 * target_.bytes(); }

  /// Where a constant lies, as the last operand of arithmetic.
  Address constant(double x, bool four = false);
  /// The same bits in every place of a register.
  Address pattern(std::uint64_t bits, bool four = false);
  Address four_constants(const std::array<double, 4>& x);
  /// Whole numbers in a row; where they begin.
  Xbyak::RegExp table(std::span<const std::int32_t> numbers);
  /// Room for so many, and what stands there.
  struct Table {
    Xbyak::RegExp begin;
    std::span<std::int32_t> numbers;
  };
  Table table_of(std::size_t count);
  /// Without AVX-512: all bits of the first `count` entries of a register.
  Address first_entries(int count);

  void load(int r, const Address& from, bool four = false);
  void load_constant(int r, double x, bool four = false);
  void store(const Address& to, int r, bool four = false);
  void copy(int to, int from, bool four = false);
  void clear(int r);
  /// Four doubles at `from`, of which the first `count` are read; the others are zero.
  void load_four(int r, const Xbyak::RegExp& from, int count);

  /// to = a (act) b.
  void arithmetic(Act act, int to, int a, const Operand& b, bool four);
  /// Forms of a b + c by which operands stand where: 231: to = a b + to; 213: to = a to + b;
  /// 132: to = to b + a. b is a register or memory.
  enum class Form { by231, by213, by132 };
  void fused(Act act, Form form, int to, int a, const Operand& b, bool four);

  void negate(int to, int a, bool four);
  void absolute(int to, int a, bool four);
  void square_root(int to, int a, bool four);
  /// Masks as all bits of a value.
  void compare(Act act, int to, int a, int b, bool four);
  void combine(Act act, int to, int a, int b, bool four);
  void complement(int to, int a, bool four);
  /// to must be none of the operands in these.
  void select(int to, int mask, int a, int b, bool four);
  /// `tested`: the choice before this one was by the same t.
  void quadrant_choice(int to, int t, int even, int odd, bool tested, bool four);
  void quadrant_sign(int to, int t, int x, int more, bool four);
  /// Jumps unless all of a are <= limit. `scratch` is a free register.
  void jump_beyond(int a, double limit, int scratch, bool four, Xbyak::Label& label);

  /// AVX-512: sets the masks (k4, k5) that weave_quarters() needs.
  void set_quarters();
  /// even = quarters 0 and 2 of a and b in turns, odd = their quarters 1 and 3; odd may be b.
  /// Masks, because permutations of two registers take the units of products on some processors.
  void weave_quarters(int even, int odd, int a, int b);

  std::size_t pool_used() const { return pool_used_; }
  /// How far rbx points behind the beginning of the pool.
  static constexpr int kPoolBias = 768;

 private:
  bool packed(bool four) const { return four || target_.shape == Shape::lanes; }
  bool single() const { return target_.precision == Precision::f32; }
  template <typename To, typename From>
  void move(const To& to, const From& from, bool four);  ///< between a register and memory
  std::uint64_t scalar_bits(double x) const;
  bool shorter_far(const Operand& b, bool four) const;
  void write_far(int map, int prefix, int opcode, int r, int a, const Operand& b);
  Xbyak::RegExp pool(int place) const { return rbx + (place - kPoolBias); }
  int pool_room(std::size_t bytes, std::size_t alignment);
  Address pooled(std::uint64_t bits, int bytes, bool spread);
  Address ones(bool four) { return pattern(1, four); }
  Address sign_bit(bool four);

  Target target_;
  unsigned char* pool_;
  std::size_t pool_size_, pool_used_ = 0;
  std::map<int, int> entries_;                           ///< places of first_entries
  std::map<std::pair<std::uint64_t, int>, int> places_;  ///< of bits and length in the pool
};

}  // namespace limb::codegen
