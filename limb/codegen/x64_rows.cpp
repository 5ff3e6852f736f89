#include "limb/codegen/x64_rows.hpp"

#include <algorithm>
#include <bit>

namespace limb::codegen {

void RowMover::set_mask(int count) {
  if (machine_.is_wide()) {
    machine_.mov(machine_.eax, (1 << count) - 1);
    machine_.kmovw(machine_.k2, machine_.eax);
  }
}

/// Entries beyond `count` are neither read nor written: they belong to the next state, or to nobody.
void RowMover::load_row(int r, const Xbyak::RegExp& from, int count) {
  if (count == lanes()) return machine_.load(r, machine_.ptr[from]);
  if (machine_.is_wide()) {
    single() ? machine_.vmovups(reg(r) | machine_.k2 | machine_.T_z, machine_.ptr[from])
             : machine_.vmovupd(reg(r) | machine_.k2 | machine_.T_z, machine_.ptr[from]);
  } else {
    machine_.vmovups(reg(r), machine_.first_entries(count));
    single() ? machine_.vmaskmovps(reg(r), reg(r), machine_.ptr[from])
             : machine_.vmaskmovpd(reg(r), reg(r), machine_.ptr[from]);
  }
}

void RowMover::store_row(const Xbyak::RegExp& to, int r, int count) {
  if (count == lanes()) return machine_.store(machine_.ptr[to], r);
  if (machine_.is_wide()) {
    single() ? machine_.vmovups(machine_.ptr[to] | machine_.k2, reg(r))
             : machine_.vmovupd(machine_.ptr[to] | machine_.k2, reg(r));
  } else {
    const int mask = free_.back();  // a transposition leaves half of the registers free
    machine_.vmovups(reg(mask), machine_.first_entries(count));
    single() ? machine_.vmaskmovps(machine_.ptr[to], reg(mask), reg(r))
             : machine_.vmaskmovpd(machine_.ptr[to], reg(mask), reg(r));
  }
}

void RowMover::unpack(int to, int a, int b, bool high, bool pairs) {
  const Xbyak::Xmm d = reg(to), x = reg(a), y = reg(b);
  if (pairs) {
    high ? machine_.vunpckhpd(d, x, y) : machine_.vunpcklpd(d, x, y);
  } else {
    high ? machine_.vunpckhps(d, x, y) : machine_.vunpcklps(d, x, y);
  }
}

/// Columns L * step + offset from the four (or two) registers whose quarters (halves) are to be
/// exchanged.
void RowMover::transpose_quarters(const std::vector<int>& in, std::vector<int>& out, int step,
                                  int wanted) {
  const auto take = [&] {
    const int r = free_.back();
    free_.pop_back();
    return r;
  };
  const auto column = [&](int L, const auto& make) {
    if (L * step >= wanted) return out.push_back(-1);
    const int r = take();
    make(r);
    out.push_back(r);
  };
  if (in.size() == 2) {
    const Xbyak::Ymm x(in[0]), y(in[1]);
    column(0, [&](int r) { machine_.vperm2f128(Xbyak::Ymm(r), x, y, 0x20); });
    column(1, [&](int r) { machine_.vperm2f128(Xbyak::Ymm(r), x, y, 0x31); });
  } else {
    const auto mix = [&](int r, int x, int y, int how) {
      machine_.vshuff64x2(Xbyak::Zmm(r), Xbyak::Zmm(x), Xbyak::Zmm(y),
                          static_cast<std::uint8_t>(how));
    };
    const int low01 = take(), low23 = take();
    mix(low01, in[0], in[1], 0x44);
    mix(low23, in[2], in[3], 0x44);
    int high01 = -1, high23 = -1;
    if (2 * step < wanted) {
      high01 = take();
      high23 = take();
      mix(high01, in[0], in[1], 0xee);
      mix(high23, in[2], in[3], 0xee);
    }
    free_.insert(free_.end(), in.begin(), in.end());
    column(0, [&](int r) { mix(r, low01, low23, 0x88); });
    column(1, [&](int r) { mix(r, low01, low23, 0xdd); });
    column(2, [&](int r) { mix(r, high01, high23, 0x88); });
    column(3, [&](int r) { mix(r, high01, high23, 0xdd); });
    free_.insert(free_.end(), {low01, low23});
    if (high01 >= 0) free_.insert(free_.end(), {high01, high23});
    return;
  }
  free_.insert(free_.end(), in.begin(), in.end());
}

/// @returns the registers of the first `wanted` columns of the square whose rows are given.
std::vector<int> RowMover::transpose(std::vector<int> rows, int wanted) {
  const int W = lanes(), step = single() ? 4 : 2;  // numbers in a quarter (half) of a register
  const auto take = [&] {
    const int r = free_.back();
    free_.pop_back();
    return r;
  };
  // Inside the quarters first: groups of `step` rows.
  std::vector<int> u;
  for (int g = 0; g < W; g += step) {
    const int* r = rows.data() + g;
    if (step == 2) {
      const int low = take(), high = take();
      unpack(low, r[0], r[1], false, true);
      unpack(high, r[0], r[1], true, true);
      u.insert(u.end(), {low, high});
      free_.insert(free_.end(), {r[0], r[1]});
      continue;
    }
    const int a = take(), b = take(), c = take(), d = take();
    unpack(a, r[0], r[1], false, false);
    unpack(b, r[2], r[3], false, false);
    unpack(c, r[0], r[1], true, false);
    unpack(d, r[2], r[3], true, false);
    unpack(r[0], a, b, false, true);
    unpack(r[1], a, b, true, true);
    unpack(r[2], c, d, false, true);
    unpack(r[3], c, d, true, true);
    u.insert(u.end(), {r[0], r[1], r[2], r[3]});
    free_.insert(free_.end(), {a, b, c, d});
  }
  // Then the quarters among themselves.
  std::vector<int> columns(static_cast<std::size_t>(W), -1);
  for (int offset = 0; offset < step; ++offset) {
    std::vector<int> in, out;
    for (int g = 0; g < W / step; ++g) in.push_back(u[static_cast<std::size_t>(g * step + offset)]);
    transpose_quarters(in, out, step, wanted - offset);
    for (std::size_t L = 0; L < out.size(); ++L) {
      columns[L * static_cast<std::size_t>(step) + static_cast<std::size_t>(offset)] = out[L];
    }
  }
  return columns;
}

void RowMover::read(const Xbyak::Reg64& rows, int stride, int first, int count,
                    const std::function<int(int)>& place) {
  const int W = lanes(), bytes = machine_.target().scalar_bytes();
  free_.clear();
  for (int r = machine_.target().registers() - 1; r >= W; --r) free_.push_back(r);
  if (count < W) set_mask(count);
  std::vector<int> row;
  for (int l = 0; l < W; ++l) {
    load_row(l, rows + (l * stride + first) * bytes, count);
    row.push_back(l);
  }
  const std::vector<int> columns = transpose(row, count);
  for (int j = 0; j < count; ++j) {
    machine_.store(machine_.ptr[machine_.rsp + place(first + j)],
                   columns[static_cast<std::size_t>(j)]);
  }
}

void RowMover::write(const Xbyak::Reg64& rows, int stride, int first,
                     const std::vector<Source>& columns) {
  const int W = lanes(), bytes = machine_.target().scalar_bytes();
  const int count = static_cast<int>(columns.size());
  free_.clear();
  for (int r = machine_.target().registers() - 1; r >= W; --r) free_.push_back(r);
  if (count < W) set_mask(count);
  const bool zero = std::all_of(columns.begin(), columns.end(), [](const Source& s) {
    return s.place < 0 && s.constant == 0;
  });
  std::vector<int> column;
  for (int j = 0; j < W; ++j) column.push_back(j);
  if (zero) {
    machine_.clear(0);
  } else {
    for (int j = 0; j < count; ++j) {
      const Source& s = columns[static_cast<std::size_t>(j)];
      if (s.place >= 0) {
        machine_.load(j, machine_.ptr[machine_.rsp + s.place]);
      } else {
        machine_.load_constant(j, s.constant);
      }
    }
    column = transpose(column, W);
  }
  for (int l = 0; l < W; ++l) {
    store_row(rows + (l * stride + first) * bytes, zero ? 0 : column[static_cast<std::size_t>(l)],
              count);
  }
}

}  // namespace limb::codegen
