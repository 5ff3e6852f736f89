#pragma once

#include <xbyak/xbyak.h>

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "limb/codegen/x64/target.hpp"

namespace limb::codegen {

/// The instructions of a target by operation: selects encoding, width and constants. `four` marks
/// operations on four values at once in code for one state (Instruction::four).
///
/// Registers: the caller numbers the vector registers; rax and k1 to k5 are scratch; rbp points
/// into the stack frame and rbx into the pool of constants before the code, both with short
/// encodings.
class Machine : public Xbyak::CodeGenerator {
 public:
  using Address = Xbyak::Address;
  using Operand = Xbyak::Operand;
  using Xmm = Xbyak::Xmm;

  /// Code starts at memory + pool_bytes, after the constants.
  Machine(const Target& target, std::span<unsigned char> memory, std::size_t pool_bytes);

  const Target& target() const { return target_; }
  bool is_wide() const { return target_.isa == Isa::avx512; }

  Xmm vector(int r, bool four = false) const {
    if (target_.shape == Shape::one) return Xmm(four ? Operand::YMM : Operand::XMM, r);
    return Xmm(is_wide() ? Operand::ZMM : Operand::YMM, r);
  }

  /// A slot of the stack frame. rbp points near its beginning, so that most displacements are
  /// short.
  Xbyak::RegExp slot(int offset) const { return rbp + (offset - frame_bias()); }
  int frame_bias() const { return target_.shape == Shape::one ? 512 : 128 * target_.bytes(); }

  /// The address of a constant, as the last operand of arithmetic.
  Address constant(double x, bool four = false);
  /// The same bits in every lane of a register.
  Address pattern(std::uint64_t bits, bool four = false);
  Address four_constants(const std::array<double, 4>& x);
  /// A table of integers in the pool; the address of the first.
  Xbyak::RegExp table(std::span<const std::int32_t> numbers);
  /// A table in the pool: its address and its entries.
  struct Table {
    Xbyak::RegExp start;
    std::span<std::int32_t> numbers;
  };
  Table allocate_table(std::size_t count);
  /// Without AVX-512: a mask of the first `count` entries of a register.
  Address first_entries_mask(int count);

  void load(int r, const Address& from, bool four = false);
  void load_constant(int r, double x, bool four = false);
  void store(const Address& to, int r, bool four = false);
  void copy(int to, int from, bool four = false);
  void clear(int r);
  /// Four doubles at `from`, of which the first `count` are read; the others are zero.
  void load_four(int r, const Xbyak::RegExp& from, int count);

  /// to = a <opcode> b.
  void arithmetic(Opcode opcode, int to, int a, const Operand& b, bool four);
  /// Operand orders of a fused multiply-add: 231: to = a b + to; 213: to = a to + b;
  /// 132: to = to b + a. b is a register or memory.
  enum class FmaOrder { by231, by213, by132 };
  void fused(Opcode opcode, FmaOrder order, int to, int a, const Operand& b, bool four);

  void negate(int to, int a, bool four);
  void absolute(int to, int a, bool four);
  void square_root(int to, int a, bool four);
  /// Masks as all bits of a value.
  void compare(Opcode opcode, int to, int a, int b, bool four);
  void combine(Opcode opcode, int to, int a, int b, bool four);
  void complement(int to, int a, bool four);
  /// In these, `to` must not be an operand.
  void select(int to, int mask, int a, int b, bool four);
  /// `tested`: the previous choice had the same t.
  void quadrant_choice(int to, int t, int even, int odd, bool tested, bool four);
  void quadrant_sign(int to, int t, int x, int shift, bool four);
  /// Jumps unless all lanes of a are <= limit. `scratch` is a free register.
  void jump_if_out_of_range(int a, double limit, int scratch, bool four, Xbyak::Label& label);

  /// AVX-512: sets the masks (k4, k5) that interleave_quarters() needs.
  void set_quarters();
  /// even = quarters 0 and 2 of a and b interleaved, odd = their quarters 1 and 3; odd may be b.
  /// Uses masks, because two-register permutations block the multipliers of some processors.
  void interleave_quarters(int even, int odd, int a, int b);

  std::size_t pool_used() const { return pool_used_; }
  /// Offset of rbx from the beginning of the pool.
  static constexpr int kPoolBias = 768;

 private:
  bool packed(bool four) const { return four || target_.shape == Shape::lanes; }
  bool single() const { return target_.precision == Precision::f32; }
  template <typename To, typename From>
  void move(const To& to, const From& from, bool four);  ///< between a register and memory
  std::uint64_t scalar_bits(double x) const;
  bool is_shorter_in_evex(const Operand& b, bool four) const;
  void write_evex(int map, int prefix, int encoding, int r, int a, const Operand& b);
  Xbyak::RegExp pool(int offset) const { return rbx + (offset - kPoolBias); }
  int reserve_in_pool(std::size_t bytes, std::size_t alignment);
  Address pooled(std::uint64_t bits, int bytes, bool broadcast);
  Address ones(bool four) { return pattern(1, four); }
  Address sign_bit(bool four);

  Target target_;
  unsigned char* pool_;
  std::size_t pool_size_, pool_used_ = 0;
  std::map<int, int> masks_;                              ///< offsets of first_entries_mask
  std::map<std::pair<std::uint64_t, int>, int> offsets_;  ///< of bits and length in the pool
};

}  // namespace limb::codegen
