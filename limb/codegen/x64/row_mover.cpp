#include "limb/codegen/x64/row_mover.hpp"

#include <algorithm>

namespace limb::codegen {

void RowMover::point_at(const Xbyak::Reg64& table, int array, int size) {
  Machine& m = machine_;
  m.mov(m.rcx, m.ptr[table + 8 * array]);
  m.imul(m.rax, m.r12, m.target().bytes() * size);
  m.add(m.rcx, m.rax);
}

void RowMover::set_mask(int count) {
  if (!machine_.is_wide() || count == columns()) return;
  machine_.mov(machine_.eax, (1 << count) - 1);
  machine_.kmovw(machine_.k2, machine_.eax);
}

/// Entries beyond `count` are neither read nor written: they belong to the next state, or are
/// outside the array.
void RowMover::load_half(int r, const Xbyak::RegExp& from, int count) {
  if (count == columns()) {
    machine_.vmovups(half(r), machine_.ptr[from]);
  } else if (machine_.is_wide()) {
    single() ? machine_.vmovups(half(r) | machine_.k2 | machine_.T_z, machine_.ptr[from])
             : machine_.vmovupd(half(r) | machine_.k2 | machine_.T_z, machine_.ptr[from]);
  } else {
    machine_.vmovups(half(r), machine_.first_entries_mask(count));
    single() ? machine_.vmaskmovps(half(r), half(r), machine_.ptr[from])
             : machine_.vmaskmovpd(half(r), half(r), machine_.ptr[from]);
  }
}

void RowMover::store_half(const Xbyak::RegExp& to, int r, int count) {
  if (count == columns()) {
    machine_.vmovups(machine_.ptr[to], half(r));
  } else if (machine_.is_wide()) {
    single() ? machine_.vmovups(machine_.ptr[to] | machine_.k2, half(r))
             : machine_.vmovupd(machine_.ptr[to] | machine_.k2, half(r));
  } else {
    constexpr int kMask = kWork + 1;
    machine_.vmovups(half(kMask), machine_.first_entries_mask(count));
    single() ? machine_.vmaskmovps(machine_.ptr[to], half(kMask), half(r))
             : machine_.vmaskmovpd(machine_.ptr[to], half(kMask), half(r));
  }
}

void RowMover::unpack(int to, int a, int b, bool high, bool pairs) {
  const Xbyak::Xmm d = full(to), x = full(a), y = full(b);
  if (pairs) {
    high ? machine_.vunpckhpd(d, x, y) : machine_.vunpcklpd(d, x, y);
  } else {
    high ? machine_.vunpckhps(d, x, y) : machine_.vunpcklps(d, x, y);
  }
}

/// Registers 0 to W/2 - 1: rows l and l + W/2 become column l, and vice versa.
void RowMover::transpose() {
  const int n = columns(), step = single() ? 4 : 2;  // step: numbers in a quarter of a register
  // Inside the quarters: squares of `step` rows.
  for (int g = 0; g < n; g += step) {
    if (step == 2) {
      unpack(kWork + g, g, g + 1, false, true);
      unpack(kWork + g + 1, g, g + 1, true, true);
      continue;
    }
    const int t = kWork + n;  // only with AVX-512, which has enough registers
    const int a = machine_.is_wide() ? t : kWork, b = a + 1, c = a + 2, d = a + 3;
    unpack(a, g, g + 1, false, false);
    unpack(b, g + 2, g + 3, false, false);
    unpack(c, g, g + 1, true, false);
    unpack(d, g + 2, g + 3, true, false);
    const int to = machine_.is_wide() ? kWork + g : kWork + 4;
    unpack(to, a, b, false, true);
    unpack(to + 1, a, b, true, true);
    unpack(to + 2, c, d, false, true);
    unpack(to + 3, c, d, true, true);
  }
  if (!machine_.is_wide()) {
    const int from = single() ? kWork + 4 : kWork;
    for (int j = 0; j < n; ++j) machine_.copy(j, from + j);
    return;
  }
  for (int j = 0; j < step; ++j) {
    machine_.interleave_quarters(j, j + step, kWork + j, kWork + step + j);
  }
}

void RowMover::read(const Xbyak::Reg64& rows, int stride, int first, int count,
                    const std::function<int(int)>& place) {
  const int n = columns(), bytes = machine_.target().scalar_bytes();
  set_mask(count);
  if (count == n) load_rows(rows, stride, first);
  for (int l = 0; count < n && l < n; ++l) {
    load_half(l, rows + (l * stride + first) * bytes, count);
    load_half(kWork, rows + ((l + n) * stride + first) * bytes, count);
    insert_high(l, half(kWork));
  }
  transpose();
  for (int j = 0; j < count; ++j) {
    const int to = place(first + j);
    if (to >= 0) machine_.store(machine_.ptr[machine_.slot(to)], j);
  }
}

void RowMover::write(const Xbyak::Reg64& rows, int stride, int first,
                     const std::vector<Source>& sources) {
  const int n = columns(), count = static_cast<int>(sources.size());
  if (count <= n) return write_narrow(rows, stride, first, sources);
  if (machine_.is_wide() || count == 2 * n) return write_wide(rows, stride, first, sources);
  write_narrow(rows, stride, first, {sources.begin(), sources.begin() + n});
  write_narrow(rows, stride, first + n, {sources.begin() + n, sources.end()});
}

void RowMover::insert_high(int r, const Xbyak::Operand& half) {
  machine_.is_wide() ? machine_.vinsertf64x4(Xbyak::Zmm(r), Xbyak::Zmm(r), half, 1)
                     : machine_.vinsertf128(Xbyak::Ymm(r), Xbyak::Ymm(r), half, 1);
}

/// More than columns() columns: a register has columns j and j + W/2 of half of the states, and
/// becomes a row.
void RowMover::write_wide(const Xbyak::Reg64& rows, int stride, int first,
                          const std::vector<Source>& sources) {
  Machine& m = machine_;
  const int n = columns(), bytes = m.target().scalar_bytes();
  const int count = static_cast<int>(sources.size());
  if (count < 2 * n) {
    m.mov(m.eax, (1 << count) - 1);
    m.kmovw(m.k2, m.eax);
  }
  const bool zero =
      std::all_of(sources.begin(), sources.end(), [](const Source& x) { return x.is_zero(); });
  for (int upper = 0; upper < 2; ++upper) {
    const auto half_of = [&](int place) { return m.ptr[m.slot(place) + upper * n * bytes]; };
    for (int j = 0; !zero && j < n; ++j) {
      const Source& low = sources[static_cast<std::size_t>(j)];
      low.place >= 0 ? m.vmovups(half(j), half_of(low.place)) : m.load_constant(j, low.constant);
      if (j + n >= count) continue;
      const Source& high = sources[static_cast<std::size_t>(j + n)];
      if (high.place >= 0) {
        insert_high(j, half_of(high.place));
      } else {
        m.load_constant(kWork, high.constant);
        insert_high(j, half(kWork));
      }
    }
    zero ? m.clear(0) : transpose();
    for (int l = 0; l < n; ++l) {
      const auto to = m.ptr[rows + ((l + upper * n) * stride + first) * bytes];
      const Xbyak::Xmm row = full(zero ? 0 : l);
      if (count == 2 * n) {
        m.vmovups(to, row);
      } else {
        single() ? m.vmovups(to | m.k2, row) : m.vmovupd(to | m.k2, row);
      }
    }
  }
}

void RowMover::write_narrow(const Xbyak::Reg64& rows, int stride, int first,
                            const std::vector<Source>& sources) {
  const int n = columns(), bytes = machine_.target().scalar_bytes();
  const int count = static_cast<int>(sources.size());
  set_mask(count);
  const bool zero =
      std::all_of(sources.begin(), sources.end(), [](const Source& x) { return x.is_zero(); });
  if (zero) {
    machine_.clear(0);
  } else {
    for (int j = 0; j < count; ++j) {
      const Source& s = sources[static_cast<std::size_t>(j)];
      if (s.place >= 0) {
        machine_.load(j, machine_.ptr[machine_.slot(s.place)]);
      } else {
        machine_.load_constant(j, s.constant);
      }
    }
    transpose();
  }
  if (!zero && count == n) return store_rows(rows, stride, first);
  for (int l = 0; l < n; ++l) {
    const int r = zero ? 0 : l;
    store_half(rows + (l * stride + first) * bytes, r, count);
    if (!zero) {
      machine_.is_wide() ? machine_.vextractf64x4(Xbyak::Ymm(kWork), Xbyak::Zmm(r), 1)
                         : machine_.vextractf128(Xbyak::Xmm(kWork), Xbyak::Ymm(r), 1);
    }
    store_half(rows + ((l + n) * stride + first) * bytes, zero ? r : kWork, count);
  }
}

/// All columns of a group, without masks.
void RowMover::load_rows(const Xbyak::Reg64& rows, int stride, int first) {
  const int n = columns(), bytes = machine_.target().scalar_bytes();
  for (int l = 0; l < n; ++l) {
    const auto high = machine_.ptr[rows + ((l + n) * stride + first) * bytes];
    load_half(l, rows + (l * stride + first) * bytes, n);
    insert_high(l, high);
  }
}

void RowMover::store_rows(const Xbyak::Reg64& rows, int stride, int first) {
  const int n = columns(), bytes = machine_.target().scalar_bytes();
  for (int l = 0; l < n; ++l) {
    const auto high = machine_.ptr[rows + ((l + n) * stride + first) * bytes];
    store_half(rows + (l * stride + first) * bytes, l, n);
    machine_.is_wide() ? machine_.vextractf64x4(high, Xbyak::Zmm(l), 1)
                       : machine_.vextractf128(high, Xbyak::Ymm(l), 1);
  }
}

void RowMover::read_groups(const Xbyak::Reg64& rows, int stride, int groups, int place) {
  Machine& m = machine_;
  const int n = columns(), step = n * m.target().bytes();
  Xbyak::Label next;
  m.lea(m.r8, m.ptr[m.slot(place)]);
  m.lea(m.r9, m.ptr[m.r8 + groups * step]);
  m.L(next);
  load_rows(rows, stride, 0);
  transpose();
  for (int j = 0; j < n; ++j) m.store(m.ptr[m.r8 + j * m.target().bytes()], j);
  m.add(rows, n * m.target().scalar_bytes());
  m.add(m.r8, step);
  m.cmp(m.r8, m.r9);
  m.jb(next);
}

void RowMover::load_group(int at) {
  Machine& m = machine_;
  constexpr int kEntry = static_cast<int>(sizeof(std::int32_t));
  for (int j = 0; j < columns(); ++j) {
    m.mov(m.eax, m.ptr[m.r8 + (at + j) * kEntry]);
    m.load(j, m.ptr[m.r10 + m.rax]);
  }
  transpose();
}

void RowMover::write_loop(const Xbyak::Reg64& rows, int stride, bool stream) {
  Machine& m = machine_;
  const int n = columns(), bytes = m.target().scalar_bytes();
  constexpr int kEntry = static_cast<int>(sizeof(std::int32_t));
  Xbyak::Label next;
  m.L(next);
  for (int upper = 0; upper < 2; ++upper) {
    const auto half_of = [&](int column) {
      m.mov(m.eax, m.ptr[m.r8 + column * kEntry]);
      return m.ptr[m.r10 + m.rax + upper * n * bytes];
    };
    for (int j = 0; j < n; ++j) {
      m.vmovups(half(j), half_of(j));
      insert_high(j, half_of(j + n));
    }
    transpose();
    for (int l = 0; l < n; ++l) {
      const auto to = m.ptr[rows + (l + upper * n) * stride * bytes];
      stream ? m.vmovntps(to, full(l)) : m.vmovups(to, full(l));
    }
  }
  m.add(rows, 2 * n * bytes);
  m.add(m.r8, 2 * n * kEntry);
  m.cmp(m.r8, m.r9);
  m.jb(next);
}

/// The lines of rows l and l + n that begin with the group in register `first` and end with that in
/// `second`.
void RowMover::stream_lines(const Xbyak::RegExp& row, int stride, int first, int second) {
  Machine& m = machine_;
  const Xbyak::Zmm low(kWork), high(kWork + 1), a(first), b(second);
  m.vinsertf64x4(low, a, Xbyak::Ymm(second), 1);
  m.vshuff64x2(high, a, b, 0xee);
  m.vmovntpd(m.ptr[row], low);
  m.vmovntpd(m.ptr[row + columns() * stride * m.target().scalar_bytes()], high);
}

std::vector<int> RowMover::registers(bool half_lines) const {
  std::vector<int> all;
  for (int i = 0; i < columns(); ++i) all.push_back(i);
  for (int i = 0; i < (single() ? columns() + 4 : columns()); ++i) all.push_back(kWork + i);
  for (int i = 0; half_lines && i < columns(); ++i) all.push_back(kKept + i);
  return all;
}

void RowMover::stream_half_lines(const Xbyak::Reg64& rows, int stride) {
  Machine& m = machine_;
  const int n = columns(), bytes = m.target().scalar_bytes(), group = n * bytes;
  const auto is_shifted = [](int l) { return l % 2 == 1; };
  Xbyak::Label next;
  load_group(-n);
  for (int l = 1; l < n; l += 2) m.vmovapd(Xbyak::Zmm(kKept + l), Xbyak::Zmm(l));
  m.L(next);
  load_group(0);
  for (int l = 0; l < n; ++l) {
    if (is_shifted(l)) {
      stream_lines(rows + (l * stride * bytes - group), stride, kKept + l, l);
    } else {
      m.vmovapd(Xbyak::Zmm(kKept + l), Xbyak::Zmm(l));
    }
  }
  load_group(n);
  for (int l = 0; l < n; ++l) {
    if (is_shifted(l)) {
      m.vmovapd(Xbyak::Zmm(kKept + l), Xbyak::Zmm(l));
    } else {
      stream_lines(rows + l * stride * bytes, stride, kKept + l, l);
    }
  }
  m.add(rows, 2 * group);
  m.add(m.r8, 2 * n * static_cast<int>(sizeof(std::int32_t)));
  m.cmp(m.r8, m.r9);
  m.jb(next, m.T_NEAR);
}

}  // namespace limb::codegen
