#include "limb/codegen/assemble.hpp"

#include <algorithm>
#include <cstring>
#include <map>

#include "limb/base/error.hpp"
#include "limb/codegen/x64_registers.hpp"
#include "limb/codegen/x64_rows.hpp"

namespace limb::codegen {
namespace {

using Xbyak::Reg64;

/// Array and entry of each number of all inputs, or of all outputs.
struct Entry {
  int array, entry;
};
std::vector<Entry> entries_of(const std::vector<Array>& arrays) {
  std::vector<Entry> entries;
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    for (int j = 0; j < arrays[k].size(); ++j) entries.push_back({static_cast<int>(k), j});
  }
  return entries;
}

// Long enough for each instruction, with the loads and stores around it.
std::size_t code_room(const Code& code) {
  std::size_t rows = 0;
  for (const auto* arrays : {&code.inputs, &code.outputs}) {
    for (const Array& array : *arrays) rows += static_cast<std::size_t>(array.size()) + 16;
  }
  return 4096 + 48 * code.instructions.size() + 128 * rows;
}
std::size_t pool_room(const Code& code) {
  std::size_t results = 0;  // two tables of their places
  for (const Array& array : code.outputs) results += static_cast<std::size_t>(array.size());
  return (4096 + 40 * code.constants.size() + 64 * code.fours.size() + 8 * results) / 64 * 64;
}

class KernelWriter {
 public:
  KernelWriter(const Code& code, const Target& target, ExecutableMemory& memory)
      : code_(code),
        machine_(target, {memory.data(), memory.size()}, pool_room(code)),
        inputs_(entries_of(code.inputs)),
        outputs_(entries_of(code.outputs)) {}

  void write() {
    if (machine_.target().shape == Shape::one) {
      write_one();
    } else {
      write_lanes();
    }
    // The size of the frame is known now.
    const std::uint32_t frame = static_cast<std::uint32_t>((frame_.used + 63) / 64 * 64);
    std::memcpy(const_cast<unsigned char*>(machine_.getCode()) + frame_patch_, &frame, 4);
  }

  const Machine& machine() const { return machine_; }
  const Frame& frame() const { return frame_; }
  RegisterWriter::Counts counts() const { return counts_; }

 private:
  static constexpr int kLine = 64;

  void enter() {
    Machine& m = machine_;
    for (const Reg64& r : {m.rbp, m.rbx, m.r12, m.r13, m.r14, m.r15}) m.push(r);
    m.mov(m.rax, m.rsp);
    m.and_(m.rsp, -kLine);
    m.sub(m.rsp, 0x7fffffff);
    frame_patch_ = m.getSize() - 4;
    m.lea(m.rbp, m.ptr[m.rsp + m.frame_bias()]);
    m.mov(m.ptr[m.slot(frame_.take(kLine))], m.rax);  // the first place
    m.mov(m.rbx,
          reinterpret_cast<std::uint64_t>(m.getCode()) - pool_room(code_) + Machine::kPoolBias);
  }
  void leave() {
    Machine& m = machine_;
    m.vzeroupper();
    m.mov(m.rsp, m.ptr[m.slot(0)]);
    for (const Reg64& r : {m.r15, m.r14, m.r13, m.r12, m.rbx, m.rbp}) m.pop(r);
    m.ret();
  }

  // One state: rdi and rsi point to the tables of arrays. As many arrays as possible have a
  // register of their own; the others are looked up where they are used.
  void write_one() {
    Machine& m = machine_;
    enter();
    const Reg64 homes[] = {m.rcx, m.rdx, m.r8, m.r9, m.r10, m.r11, m.r13, m.r14, m.r15, m.r12};
    std::size_t next = 0;
    std::vector<int> input_home, output_home;
    const auto give = [&](std::size_t count, const Reg64& table, std::vector<int>& home) {
      for (std::size_t k = 0; k < count; ++k) {
        if (next == std::size(homes)) {
          home.push_back(-1);
          continue;
        }
        home.push_back(homes[next].getIdx());
        m.mov(homes[next++], m.ptr[table + static_cast<int>(8 * k)]);
      }
    };
    give(code_.inputs.size(), m.rdi, input_home);
    give(code_.outputs.size(), m.rsi, output_home);
    const auto place = [&m](const Entry& e, const std::vector<int>& home, const Reg64& table) {
      const int r = home[static_cast<std::size_t>(e.array)];
      if (r >= 0) return Reg64(r) + 8 * e.entry;
      m.mov(m.rax, m.ptr[table + 8 * e.array]);
      return m.rax + 8 * e.entry;
    };
    const auto input = [&](int i) {
      return place(inputs_[static_cast<std::size_t>(i)], input_home, m.rdi);
    };
    const auto output = [&](int i) {
      return place(outputs_[static_cast<std::size_t>(i)], output_home, m.rsi);
    };
    Xbyak::Label beyond;
    RegisterWriter writer(
        m, code_, frame_,
        {[&](int i) { return m.ptr[input(i)]; }, input, [&](int i) { return m.ptr[output(i)]; }});
    writer.write(beyond);
    counts_ = writer.counts();
    m.xor_(m.eax, m.eax);
    leave();
    m.L(beyond);
    m.mov(m.eax, 1);
    leave();
  }

  /// rcx = the block's part of an array with `size` entries a row.
  void point_at(const Reg64& table, int array, int size) {
    Machine& m = machine_;
    m.mov(m.rcx, m.ptr[table + 8 * array]);
    m.imul(m.rax, m.r12, m.target().bytes() * size);
    m.add(m.rcx, m.rax);
  }

  bool by_columns() const { return machine_.target().layout == Layout::columns; }

  // Blocks of states: rdi, rsi tables of arrays, rdx the number of blocks, r12 the block; r13 the
  // bytes from a column to the next.
  void write_lanes() {
    Machine& m = machine_;
    const int bytes = m.target().bytes();
    enter();
    const std::vector<int> input_place = take_inputs(bytes);
    Xbyak::Label next, done;
    m.mov(m.r13, m.rcx);
    m.xor_(m.r12d, m.r12d);
    m.L(next);
    m.cmp(m.r12, m.rdx);
    m.jae(done, m.T_NEAR);
    if (by_columns()) {
      read_columns(input_place);
    } else {
      read_rows(input_place);
    }
    RegisterWriter writer(
        m, code_, frame_,
        {[&](int i) { return m.ptr[m.slot(input_place[static_cast<std::size_t>(i)])]; },
         [&](int) -> Xbyak::RegExp { throw Error("assemble: fours have no place in lanes"); },
         [&](int) -> Xbyak::Address { throw Error("assemble: results are rows"); }});
    writer.write(done);
    counts_ = writer.counts();
    write_results(writer);
    m.inc(m.r12);
    m.jmp(next, m.T_NEAR);
    m.L(done);
    m.mov(m.rax, m.r12);
    leave();
  }

  /// From so many groups of columns on, rows are moved in a loop: shorter code.
  static constexpr int kLoopFrom = 8;

  bool reads_in_loop(int size) const {
    return !by_columns() && size / (machine_.target().lanes() / 2) >= kLoopFrom;
  }

  /// Where the arguments lie: those that are used; all of an array that is read in a loop.
  std::vector<int> take_inputs(int bytes) {
    std::vector<int> place(inputs_.size(), -1);
    std::size_t start = 0;
    for (const Array& array : code_.inputs) {
      for (int j = 0; reads_in_loop(array.size()) && j < array.size(); ++j) {
        place[start + static_cast<std::size_t>(j)] = frame_.take(bytes);
      }
      start += static_cast<std::size_t>(array.size());
    }
    for (const Instruction& x : code_.instructions) {
      if (x.act != Act::input) continue;
      int& to = place[static_cast<std::size_t>(x.a)];
      if (to < 0) to = frame_.take(bytes);
    }
    return place;
  }

  void read_rows(const std::vector<int>& place) {
    Machine& m = machine_;
    RowMover mover(m);
    std::size_t start = 0;
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      const int size = code_.inputs[k].size(), n = mover.columns();
      if (size > 0) point_at(m.rdi, static_cast<int>(k), size);
      int j = 0;
      if (reads_in_loop(size)) {
        mover.read_groups(m.rcx, size, size / n, place[start]);
        j = size / n * n;
        m.sub(m.rcx, j * m.target().scalar_bytes());
      }
      for (; j < size; j += n) {
        mover.read(m.rcx, size, j, std::min(n, size - j),
                   [&](int column) { return place[start + static_cast<std::size_t>(column)]; });
      }
      start += static_cast<std::size_t>(size);
    }
  }

  /// Several registers in turn, so that no load waits for the store before.
  static constexpr std::size_t kTurns = 8;

  void read_columns(const std::vector<int>& input_place) {
    Machine& m = machine_;
    std::size_t i = 0;
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      if (code_.inputs[k].size() > 0) point_at(m.rdi, static_cast<int>(k), 1);
      for (int j = 0; j < code_.inputs[k].size(); ++j, ++i) {
        if (input_place[i] >= 0) {
          const int r = static_cast<int>(i % kTurns);
          m.load(r, m.ptr[m.rcx]);
          m.store(m.ptr[m.slot(input_place[i])], r);
        }
        m.add(m.rcx, m.r13);
      }
    }
  }

  void write_columns(const std::vector<RowMover::Source>& sources) {
    Machine& m = machine_;
    std::size_t i = 0;
    for (std::size_t k = 0; k < code_.outputs.size(); ++k) {
      if (code_.outputs[k].size() > 0) point_at(m.rsi, static_cast<int>(k), 1);
      for (int j = 0; j < code_.outputs[k].size(); ++j, ++i) {
        const int r = static_cast<int>(i % kTurns);
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

  void write_results(const RegisterWriter& writer) {
    std::vector<RowMover::Source> sources(outputs_.size());
    for (const Instruction& x : code_.instructions) {
      if (x.act != Act::store) continue;
      const Instruction& from = code_.instructions[static_cast<std::size_t>(x.a)];
      RowMover::Source& source = sources[static_cast<std::size_t>(x.b)];
      if (from.act == Act::constant) {
        source.constant = code_.constants[static_cast<std::size_t>(from.a)];
      } else {
        source.place = writer.result_place(x.a);
      }
    }
    if (by_columns()) {
      write_columns(sources);
    } else {
      write_rows(sources);
    }
  }

  /// Where each result lies, for loops: constants get a place of their own.
  std::vector<std::int32_t> places_of(std::span<const RowMover::Source> sources) {
    std::map<double, int> constants;
    std::vector<std::int32_t> places;
    for (const RowMover::Source& x : sources) {
      int place = x.place;
      if (place < 0) {
        const auto [found, is_new] = constants.try_emplace(x.constant, 0);
        if (is_new) {
          found->second = frame_.take(machine_.target().bytes());
          machine_.load_constant(0, x.constant);
          machine_.store(machine_.ptr[machine_.slot(found->second)], 0);
        }
        place = found->second;
      }
      places.push_back(place);
    }
    return places;
  }

  /// Columns [begin, size) of the rows at rcx: in a loop from `start` on, which ends where no whole
  /// group is left, and one group at a time before and after.
  void write_columns_of_rows(RowMover& mover, std::span<const RowMover::Source> row,
                             const std::vector<std::int32_t>& places, int start) {
    Machine& m = machine_;
    const int size = static_cast<int>(row.size()), n = mover.columns();
    const auto write = [&](int j, int end) {
      mover.write(m.rcx, size, j, {row.begin() + j, row.begin() + end});
    };
    if (start > 0) write(0, start);
    const int groups = places.empty() ? 0 : (size - start) / n, end = start + groups * n;
    if (groups > 0) {
      const int bytes = m.target().scalar_bytes();
      m.add(m.rcx, start * bytes);
      mover.write_groups(m.rcx, size, groups, m.table(std::span(places).subspan(start)));
      m.sub(m.rcx, end * bytes);
    }
    for (int j = end; j < size; j += n) write(j, std::min(size, j + n));
  }

  void write_rows(const std::vector<RowMover::Source>& sources) {
    Machine& m = machine_;
    RowMover mover(m);
    const int n = mover.columns(), bytes = m.target().scalar_bytes();
    auto first = sources.begin();
    for (std::size_t k = 0; k < code_.outputs.size(); ++k) {
      const int size = code_.outputs[k].size();
      const std::span<const RowMover::Source> row(first, first + size);
      first += size;
      if (size == 0) continue;
      point_at(m.rsi, static_cast<int>(k), size);
      if (size / n < kLoopFrom) {
        write_columns_of_rows(mover, row, {}, 0);
        continue;
      }
      const std::vector<std::int32_t> places = places_of(row);
      mover.prepare();
      // Memory comes aligned to 16 bytes. Where that is no multiple of 32, which all rows then
      // share, half a group goes first, and no other store lies on two lines of the cache.
      constexpr int kStore = 32;
      if (!m.is_wide() || size * bytes % kStore != 0) {
        write_columns_of_rows(mover, row, places, 0);
        continue;
      }
      Xbyak::Label even, done;
      m.test(m.cl, kStore / 2);
      m.jz(even, m.T_NEAR);
      write_columns_of_rows(mover, row, places, n / 2);
      m.jmp(done, m.T_NEAR);
      m.L(even);
      write_columns_of_rows(mover, row, places, 0);
      m.L(done);
    }
  }

  const Code& code_;
  Machine machine_;
  Frame frame_;
  RegisterWriter::Counts counts_;
  std::vector<Entry> inputs_, outputs_;
  std::size_t frame_patch_ = 0;
};

}  // namespace

MachineCode::MachineCode(const Code& code, const Target& target)
    : target_(target), memory_(pool_room(code) + code_room(code)) {
  if (target.isa == Isa::none) throw Error("MachineCode: no machine code for this processor");
  if (target.shape == Shape::one && target.precision == Precision::f32) {
    throw Error("MachineCode: code for one state is of double precision");
  }
  KernelWriter writer(code, target, memory_);
  writer.write();
  start_ = pool_room(code);
  code_bytes_ = writer.machine().getSize();
  constant_bytes_ = writer.machine().pool_used();
  stack_bytes_ = static_cast<std::size_t>(writer.frame().used) + 128;
  instructions_ = writer.counts().instructions;
  spills_ = writer.counts().stores;
  memory_.seal(start_ + code_bytes_);
  entry_ = memory_.data() + start_;
}

}  // namespace limb::codegen
