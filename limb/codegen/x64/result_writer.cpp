#include "limb/codegen/x64/result_writer.hpp"

#include <algorithm>

namespace limb::codegen {
namespace {

/// Alternating registers, so that no load waits for the previous store.
constexpr std::size_t kRegisters = 8;
constexpr int kEntry = static_cast<int>(sizeof(std::int32_t));
/// Alignment of arrays.
constexpr int kUnit = 16;

}  // namespace

std::size_t ResultWriter::table_bytes(const std::vector<Array>& arrays) {
  std::size_t results = 0;
  for (const Array& array : arrays) results += static_cast<std::size_t>(array.size());
  return kEntry * results;
}

/// Whether all rows of an array have the same offset from a half line.
bool ResultWriter::is_aligned(int size) const {
  return machine_.is_wide() && size * machine_.target().scalar_bytes() % (RowMover::kLine / 2) == 0;
}

/// Whether every other aligned row is shifted by half a line.
bool ResultWriter::has_half_lines(int size) const {
  return is_aligned(size) && size * machine_.target().scalar_bytes() % RowMover::kLine != 0;
}

// Some columns of aligned rows come before the steps: up to a line, and the half line of shifted
// rows.
int ResultWriter::step_count(int array) const {
  const int size = size_of(array), n = mover_.columns();
  if (size / n < RowMover::kLoopFrom) return 0;
  return (is_aligned(size) ? size - lead(size) - 3 * n / 2 : size) / columns();
}
int ResultWriter::first_entry(int array, int step) const {
  const int size = size_of(array);
  return step * columns() + lead(size) - (has_half_lines(size) ? mover_.columns() : 0);
}
int ResultWriter::last_entry(int array, int step) const {
  const int size = size_of(array);
  return (step + 1) * columns() + lead(size) + (is_aligned(size) ? 3 * mover_.columns() / 2 : 0) -
         1;
}

/// rcx = address of the rows of this block.
void ResultWriter::point_at(int array) {
  staged_ != nullptr ? staged_->point_at(array)
                     : mover_.point_at(machine_.rsi, array, size_of(array));
}

/// eax = bytes from rcx to the next cache line.
void ResultWriter::find_offset() {
  Machine& m = machine_;
  m.mov(m.eax, m.ecx);
  m.neg(m.eax);
  m.and_(m.eax, RowMover::kLine - kUnit);
}

std::span<const ResultWriter::Source> ResultWriter::row_of(int array) const {
  std::size_t start = 0;
  for (int k = 0; k < array; ++k) start += static_cast<std::size_t>(size_of(k));
  return std::span(sources_).subspan(start, static_cast<std::size_t>(size_of(array)));
}

void ResultWriter::write(const std::vector<Source>& sources) {
  if (machine_.target().layout == Layout::columns) return write_columns(sources);
  begin_rows(sources);
  write_portions();
  finish_rows();
}

void ResultWriter::write_portions() {
  for (int k = 0; k < static_cast<int>(arrays_.size()); ++k) {
    if (step_count(k) > 0) write_portion({k, 0, step_count(k)});
  }
}

void ResultWriter::write_columns(const std::vector<Source>& sources) {
  Machine& m = machine_;
  std::size_t i = 0;
  for (std::size_t k = 0; k < arrays_.size(); ++k) {
    if (arrays_[k].size() > 0) mover_.point_at(m.rsi, static_cast<int>(k), 1);
    for (int j = 0; j < arrays_[k].size(); ++j, ++i) {
      const int r = static_cast<int>(i % kRegisters);
      if (sources[i].place >= 0) {
        m.load(r, m.ptr[m.slot(sources[i].place)]);
      } else {
        m.load_constant(r, sources[i].constant);
      }
      m.store(m.ptr[m.rcx], r);
      m.add(m.rcx, m.r13);
    }
  }
}

std::vector<std::int32_t> ResultWriter::places_of(std::span<const Source> sources) {
  std::vector<std::int32_t> places;
  for (const Source& x : sources) {
    int place = x.place;
    if (place < 0) {
      const auto [found, is_new] = constants_.try_emplace(x.constant, 0);
      if (is_new) {
        found->second = frame_.allocate(machine_.target().bytes());
        machine_.load_constant(0, x.constant);
        machine_.store(machine_.ptr[machine_.slot(found->second)], 0);
      }
      place = found->second;
    }
    places.push_back(place);
  }
  return places;
}

/// Entries [begin, end) of the rows at rcx, group by group.
void ResultWriter::write_range(int array, int begin, int end) {
  const auto row = row_of(array);
  const int step = columns();
  for (int j = begin; j < end; j += step) {
    mover_.write(machine_.rcx, size_of(array), j,
                 {row.begin() + j, row.begin() + std::min(end, j + step)});
  }
}

void ResultWriter::begin_rows(const std::vector<Source>& sources) {
  sources_ = sources;
  for (int k = 0; k < static_cast<int>(arrays_.size()); ++k) {
    if (step_count(k) == 0) continue;
    const std::vector<std::int32_t> places = places_of(row_of(k));
    std::copy(places.begin(), places.end(), table(k).numbers.begin());
  }
  if (!tables_.empty()) machine_.mov(machine_.r10, machine_.rsp);
}

const Machine::Table& ResultWriter::table(int array) {
  const auto found = tables_.find(array);
  if (found != tables_.end()) return found->second;
  return tables_.emplace(array, machine_.allocate_table(static_cast<std::size_t>(size_of(array))))
      .first->second;
}

std::vector<int> ResultWriter::registers() const {
  bool half_lines = false;
  for (const Array& array : arrays_) half_lines = half_lines || has_half_lines(array.size());
  return mover_.registers(half_lines);
}

void ResultWriter::write_portion(const Portion& p) {
  point_at(p.array);
  call_portion(p);
}

void ResultWriter::write_previous_block(const Portion& p) {
  Machine& m = machine_;
  mover_.point_at(m.rsi, p.array, size_of(p.array));
  m.sub(m.rcx, m.target().bytes() * size_of(p.array));
  m.mov(m.r10, m.rsp);
  call_portion(p);
}

void ResultWriter::call_portion(const Portion& p) {
  Machine& m = machine_;
  const int size = size_of(p.array);
  const int first = p.first * columns() + lead(size);
  m.lea(m.r8, m.ptr[table(p.array).start + first * kEntry]);
  if (is_aligned(size)) {
    // Skips these bytes in the array, and as many entries in the table.
    find_offset();
    m.add(m.rcx, m.rax);
    if (m.target().scalar_bytes() == 8) m.shr(m.eax, 1);
    m.add(m.r8, m.rax);
  }
  m.add(m.rcx, first * m.target().scalar_bytes());
  m.lea(m.r9, m.ptr[m.r8 + p.steps * columns() * kEntry]);
  m.call(routines_[size]);
}

void ResultWriter::finish_rows() {
  Machine& m = machine_;
  for (int k = 0; k < static_cast<int>(arrays_.size()); ++k) {
    const int size = size_of(k), steps = step_count(k), n = mover_.columns();
    if (size == 0) continue;
    point_at(k);
    if (steps == 0) {
      write_range(k, 0, size);
      continue;
    }
    const auto around = [&](int start) {
      write_range(k, 0, start + lead(size));
      write_range(k, start + lead(size) + steps * columns() - (has_half_lines(size) ? n : 0), size);
    };
    if (!is_aligned(size)) {
      write_range(k, steps * columns(), size);
      continue;
    }
    Xbyak::Label plain, done;
    find_offset();
    m.cmp(m.r13d, kStream);
    m.jne(plain, m.T_NEAR);
    const auto partial_lines =
        partial_lines_.try_emplace(k, m, frame_, size, has_half_lines(size), steps).first;
    partial_lines->second.write(mover_, row_of(k));
    m.jmp(done, m.T_NEAR);
    m.L(plain);
    for (int unit = 0; unit < RowMover::kLine / kUnit; ++unit) {
      Xbyak::Label other;
      m.cmp(m.eax, unit * kUnit);
      m.jne(other, m.T_NEAR);
      around(unit * kUnit / m.target().scalar_bytes());
      m.jmp(done, m.T_NEAR);
      m.L(other);
    }
    m.L(done);
  }
}

void ResultWriter::finish_stream() {
  Machine& m = machine_;
  Xbyak::Label none, fence;
  m.cmp(m.r13d, kStream);
  m.jne(none, m.T_NEAR);
  m.test(m.r12, m.r12);
  m.jz(fence, m.T_NEAR);
  for (auto& [k, partial_lines] : partial_lines_) {
    mover_.point_at(m.rsi, k, size_of(k));
    find_offset();
    partial_lines.finish();
  }
  m.L(fence);
  // Non-temporal stores must be visible before later stores of the caller.
  m.sfence();
  m.L(none);
}

void ResultWriter::write_routines() {
  for (auto& [size, label] : routines_) {
    Xbyak::Label stream;
    machine_.L(label);
    if (is_aligned(size)) {
      machine_.cmp(machine_.r13d, kStream);
      machine_.je(stream, machine_.T_NEAR);
    }
    mover_.write_loop(machine_.rcx, size, false);
    machine_.ret();
    if (!is_aligned(size)) continue;
    machine_.L(stream);
    has_half_lines(size) ? mover_.stream_half_lines(machine_.rcx, size)
                         : mover_.write_loop(machine_.rcx, size, true);
    machine_.ret();
  }
}

}  // namespace limb::codegen
