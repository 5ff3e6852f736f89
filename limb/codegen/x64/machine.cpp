#include "limb/codegen/x64/machine.hpp"

#include <bit>
#include <cstring>

#include "limb/base/error.hpp"

namespace limb::codegen {
namespace {

constexpr int kLessThan = 1, kLessEqual = 2, kNotLessEqual = 6;

}  // namespace

Machine::Machine(const Target& target, std::span<unsigned char> memory, std::size_t pool_bytes)
    : CodeGenerator(memory.size() - pool_bytes, memory.data() + pool_bytes),
      target_(target),
      pool_(memory.data()),
      pool_size_(pool_bytes) {}

std::uint64_t Machine::scalar_bits(double x) const {
  return single() ? std::bit_cast<std::uint32_t>(static_cast<float>(x))
                  : std::bit_cast<std::uint64_t>(x);
}

int Machine::reserve_in_pool(std::size_t bytes, std::size_t alignment) {
  const std::size_t start = (pool_used_ + alignment - 1) / alignment * alignment;
  if (start + bytes > pool_size_) throw Error("Machine: the pool of constants is full");
  pool_used_ = start + bytes;
  return static_cast<int>(start);
}

/// Bits repeated over `bytes`; `broadcast`: one copy, repeated by the instruction that reads it.
Machine::Address Machine::pooled(std::uint64_t bits, int bytes, bool broadcast) {
  const auto [found, is_new] = offsets_.try_emplace({bits, bytes}, 0);
  if (is_new) {
    const std::size_t size = static_cast<std::size_t>(bytes);
    found->second = reserve_in_pool(size, size);
    const int scalar = target_.scalar_bytes();
    for (int k = 0; k < bytes; k += scalar) {
      std::memcpy(pool_ + found->second + k, &bits, static_cast<std::size_t>(scalar));
    }
  }
  return broadcast ? ptr_b[pool(found->second)] : ptr[pool(found->second)];
}

Machine::Address Machine::constant(double x, bool four) {
  if (!packed(four)) return pooled(scalar_bits(x), target_.scalar_bytes(), false);
  return pattern(scalar_bits(x), four);
}

Machine::Address Machine::pattern(std::uint64_t bits, bool) {
  // Bitwise operations read whole registers, even for a single number.
  if (is_wide()) return pooled(bits, target_.scalar_bytes(), true);
  return pooled(bits, 32, false);
}

Machine::Address Machine::four_constants(const std::array<double, 4>& x) {
  const int start = reserve_in_pool(sizeof x, sizeof x);
  std::memcpy(pool_ + start, x.data(), sizeof x);
  return ptr[pool(start)];
}

Xbyak::RegExp Machine::table(std::span<const std::int32_t> numbers) {
  const Table made = allocate_table(numbers.size());
  std::copy(numbers.begin(), numbers.end(), made.numbers.begin());
  return made.start;
}

Machine::Table Machine::allocate_table(std::size_t count) {
  const int start = reserve_in_pool(count * sizeof(std::int32_t), sizeof(std::int32_t));
  return {pool(start), {reinterpret_cast<std::int32_t*>(pool_ + start), count}};
}

Machine::Address Machine::first_entries_mask(int count) {
  const auto [found, is_new] = masks_.try_emplace(count, 0);
  if (is_new) {
    std::array<double, 4> mask{};
    std::memset(mask.data(), 0xff, static_cast<std::size_t>(count * target_.scalar_bytes()));
    found->second = static_cast<int>(four_constants(mask).getDisp()) + kPoolBias;
  }
  return ptr[pool(found->second)];
}

Machine::Address Machine::sign_bit(bool four) {
  return pattern(single() ? 0x80000000u : 0x8000000000000000u, four);
}

/// Whether a scalar instruction with this memory operand is shorter in EVEX encoding, whose
/// displacements are multiples of the operand size: one byte covers 1024 bytes instead of 128.
bool Machine::is_shorter_in_evex(const Operand& b, bool four) const {
  if (!is_wide() || packed(four) || !b.isMEM()) return false;
  const Xbyak::RegExp& e = b.getAddress().getRegExp();
  const std::int64_t displacement = static_cast<std::int64_t>(e.getDisp());
  const bool near = displacement >= -128 && displacement <= 127;
  return !near && displacement % 8 == 0 && displacement >= -1024 && displacement <= 1016 &&
         e.getIndex().getBit() == 0 && e.getBase().getIdx() != Operand::RSP &&
         e.getBase().getIdx() != Operand::R12;
}

/// EVEX encoding of a scalar instruction with two registers below 32 and memory.
void Machine::write_evex(int map, int prefix, int encoding, int r, int a, const Operand& b) {
  const Xbyak::RegExp& e = b.getAddress().getRegExp();
  const int base = e.getBase().getIdx();
  const auto flipped = [](int x, int bit) { return ((x >> bit) & 1) == 0 ? 1 : 0; };
  db(0x62);
  db(static_cast<std::uint8_t>(flipped(r, 3) << 7 | 1 << 6 | flipped(base, 3) << 5 |
                               flipped(r, 4) << 4 | map));
  db(static_cast<std::uint8_t>(1 << 7 | (~a & 15) << 3 | 1 << 2 | prefix));
  db(static_cast<std::uint8_t>(flipped(a, 4) << 3));
  db(static_cast<std::uint8_t>(encoding));
  db(static_cast<std::uint8_t>(1 << 6 | (r & 7) << 3 | (base & 7)));
  db(static_cast<std::uint8_t>(static_cast<std::int64_t>(e.getDisp()) / 8));
}

template <typename To, typename From>
void Machine::move(const To& to, const From& from, bool four) {
  if (!packed(four)) {
    vmovsd(to, from);
  } else if (single()) {
    vmovups(to, from);
  } else {
    vmovupd(to, from);
  }
}

void Machine::load(int r, const Address& from, bool four) {
  if (is_shorter_in_evex(from, four)) return write_evex(1, 3, 0x10, r, 0, from);
  move(vector(r, four), from, four);
}

void Machine::load_constant(int r, double x, bool four) {
  if (scalar_bits(x) == 0) return clear(r);
  if (!packed(four) || !is_wide()) return load(r, constant(x, four), four);
  // A broadcast reads one number from memory.
  const Address from = pooled(scalar_bits(x), target_.scalar_bytes(), false);
  const Xbyak::Ymm to = target_.shape == Shape::one ? Xbyak::Ymm(r) : Xbyak::Zmm(r);
  if (single()) {
    vbroadcastss(to, from);
  } else {
    vbroadcastsd(to, from);
  }
}

void Machine::store(const Address& to, int r, bool four) {
  if (is_shorter_in_evex(to, four)) return write_evex(1, 3, 0x11, r, 0, to);
  move(to, vector(r, four), four);
}

void Machine::copy(int to, int from, bool four) {
  if (to != from) vmovapd(vector(to, four), vector(from, four));
}

void Machine::clear(int r) {
  if (r < 16) {
    vxorps(Xmm(r), Xmm(r), Xmm(r));  // also clears the rest of the register
  } else {
    vpxord(Xbyak::Zmm(r), Xbyak::Zmm(r), Xbyak::Zmm(r));
  }
}

void Machine::load_four(int r, const Xbyak::RegExp& from, int count) {
  const Xbyak::Ymm to(r);
  if (count == 4) {
    vmovupd(to, ptr[from]);
  } else if (is_wide()) {
    mov(eax, (1 << count) - 1);
    kmovw(k2, eax);
    vmovupd(to | k2 | T_z, ptr[from]);
  } else {
    vmovupd(to, first_entries_mask(count));
    vmaskmovpd(to, to, ptr[from]);
  }
}

#define LIMB_BY_WIDTH(instruction, ...)         \
  (!packed(four) ? instruction##sd(__VA_ARGS__) \
   : single()    ? instruction##ps(__VA_ARGS__) \
                 : instruction##pd(__VA_ARGS__))

void Machine::arithmetic(Opcode opcode, int to, int a, const Operand& b, bool four) {
  if (is_shorter_in_evex(b, four)) {
    const int encoding = opcode == Opcode::add   ? 0x58
                         : opcode == Opcode::sub ? 0x5c
                         : opcode == Opcode::mul ? 0x59
                                                 : 0x5e;
    return write_evex(1, 3, encoding, to, a, b);
  }
  const Xmm d = vector(to, four), x = vector(a, four);
  switch (opcode) {
    case Opcode::add:
      return LIMB_BY_WIDTH(vadd, d, x, b);
    case Opcode::sub:
      return LIMB_BY_WIDTH(vsub, d, x, b);
    case Opcode::mul:
      return LIMB_BY_WIDTH(vmul, d, x, b);
    default:
      return LIMB_BY_WIDTH(vdiv, d, x, b);
  }
}

void Machine::fused(Opcode opcode, FmaOrder order, int to, int a, const Operand& b, bool four) {
  if (is_shorter_in_evex(b, four)) {
    const int first = order == FmaOrder::by231 ? 0xb9 : order == FmaOrder::by213 ? 0xa9 : 0x99;
    return write_evex(2, 1,
                      first + (opcode == Opcode::fma   ? 0
                               : opcode == Opcode::fms ? 2
                                                       : 4),
                      to, a, b);
  }
  const Xmm d = vector(to, four), x = vector(a, four);
  switch (order) {
    case FmaOrder::by231:
      if (opcode == Opcode::fma) return LIMB_BY_WIDTH(vfmadd231, d, x, b);
      if (opcode == Opcode::fms) return LIMB_BY_WIDTH(vfmsub231, d, x, b);
      return LIMB_BY_WIDTH(vfnmadd231, d, x, b);
    case FmaOrder::by213:
      if (opcode == Opcode::fma) return LIMB_BY_WIDTH(vfmadd213, d, x, b);
      if (opcode == Opcode::fms) return LIMB_BY_WIDTH(vfmsub213, d, x, b);
      return LIMB_BY_WIDTH(vfnmadd213, d, x, b);
    case FmaOrder::by132:
      if (opcode == Opcode::fma) return LIMB_BY_WIDTH(vfmadd132, d, x, b);
      if (opcode == Opcode::fms) return LIMB_BY_WIDTH(vfmsub132, d, x, b);
      return LIMB_BY_WIDTH(vfnmadd132, d, x, b);
  }
}

void Machine::negate(int to, int a, bool four) {
  const Xmm d = vector(to, four), x = vector(a, four);
  single() ? vxorps(d, x, sign_bit(four)) : vxorpd(d, x, sign_bit(four));
}

void Machine::absolute(int to, int a, bool four) {
  const Xmm d = vector(to, four), x = vector(a, four);
  if (single()) {
    vandps(d, x, pattern(0x7fffffffu, four));
  } else {
    vandpd(d, x, pattern(0x7fffffffffffffffu, four));
  }
}

void Machine::square_root(int to, int a, bool four) {
  const Xmm d = vector(to, four), x = vector(a, four);
  if (!packed(four)) {
    vsqrtsd(d, x, x);
  } else if (single()) {
    vsqrtps(d, x);
  } else {
    vsqrtpd(d, x);
  }
}

void Machine::compare(Opcode opcode, int to, int a, int b, bool four) {
  const Xmm d = vector(to, four), x = vector(a, four), y = vector(b, four);
  const std::uint8_t how = opcode == Opcode::less ? kLessThan : kLessEqual;
  if (is_wide() && single()) {
    vcmpps(k1, x, y, how);
    vpmovm2d(d, k1);
  } else if (is_wide()) {
    packed(four) ? vcmppd(k1, x, y, how) : vcmpsd(k1, x, y, how);
    vpmovm2q(d, k1);
  } else {
    LIMB_BY_WIDTH(vcmp, d, x, y, how);
  }
}

void Machine::combine(Opcode opcode, int to, int a, int b, bool four) {
  const Xmm d = vector(to, four), x = vector(a, four), y = vector(b, four);
  opcode == Opcode::both ? vandpd(d, x, y) : vorpd(d, x, y);
}

void Machine::complement(int to, int a, bool four) {
  const std::uint64_t all = single() ? 0xffffffffu : ~std::uint64_t{0};
  const Xmm d = vector(to, four), x = vector(a, four);
  single() ? vxorps(d, x, pattern(all, four)) : vxorpd(d, x, pattern(all, four));
}

void Machine::select(int to, int mask, int a, int b, bool four) {
  const Xmm d = vector(to, four), m = vector(mask, four);
  const Xmm x = vector(a, four), y = vector(b, four);
  if (is_wide()) {
    vmovapd(d, m);
    vpternlogq(d, x, y, 0xca);  // m ? x : y, bit by bit
  } else {
    single() ? vblendvps(d, y, x, m) : vblendvpd(d, y, x, m);
  }
}

void Machine::quadrant_choice(int to, int t, int even, int odd, bool tested, bool four) {
  const Xmm d = vector(to, four), n = vector(t, four);
  const Xmm x = vector(even, four), y = vector(odd, four);
  if (is_wide() && single()) {
    if (!tested) vptestmd(k3, n, ones(four));
    vblendmps(d | k3, x, y);
  } else if (is_wide()) {
    if (!tested) vptestmq(k3, n, ones(four));
    vblendmpd(d | k3, x, y);
  } else if (single()) {
    vpslld(d, n, 31);
    vblendvps(d, x, y, d);
  } else {
    vpsllq(d, n, 63);
    vblendvpd(d, x, y, d);
  }
}

void Machine::quadrant_sign(int to, int t, int x, int shift, bool four) {
  const Xmm d = vector(to, four), n = vector(t, four), y = vector(x, four);
  if (single()) {
    if (shift != 0) vpaddd(d, n, ones(four));
    vpslld(d, shift != 0 ? d : n, 30);
  } else {
    if (shift != 0) vpaddq(d, n, ones(four));
    vpsllq(d, shift != 0 ? d : n, 62);
  }
  if (is_wide()) {
    // y with its sign flipped where d is negative: y ^ (d & sign)
    single() ? vpternlogd(d, y, sign_bit(four), 0x6c) : vpternlogq(d, y, sign_bit(four), 0x6c);
  } else {
    vandpd(d, d, sign_bit(four));
    vxorpd(d, d, y);
  }
}

void Machine::set_quarters() {
  if (!is_wide()) return;
  mov(eax, 0xcc);
  kmovw(k4, eax);
  mov(eax, 0x33);
  kmovw(k5, eax);
}

void Machine::interleave_quarters(int even, int odd, int a, int b) {
  const Xbyak::Zmm x(a), y(b), e(even), o(odd);
  vmovapd(e, x);
  vpermpd(e | k4, y, 0x44);
  if (odd != b) vmovapd(o, y);
  vpermpd(o | k5, x, 0xee);
}

void Machine::jump_if_out_of_range(int a, double limit, int scratch, bool four,
                                   Xbyak::Label& label) {
  const Xmm x = vector(a, four);
  const Address bound = constant(limit, four);
  if (is_wide()) {
    if (single()) {
      vcmpps(k1, x, bound, kNotLessEqual);
    } else {
      packed(four) ? vcmppd(k1, x, bound, kNotLessEqual) : vcmpsd(k1, x, bound, kNotLessEqual);
    }
    kortestw(k1, k1);
  } else {
    const Xmm d = vector(scratch, four);
    LIMB_BY_WIDTH(vcmp, d, x, bound, kNotLessEqual);
    if (!packed(four)) {
      vmovq(rax, Xmm(scratch));
      test(rax, rax);
    } else {
      single() ? vmovmskps(eax, d) : vmovmskpd(eax, d);
      test(eax, eax);
    }
  }
  jnz(label, T_NEAR);
}

}  // namespace limb::codegen
