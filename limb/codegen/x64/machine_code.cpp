#include "limb/codegen/x64/machine_code.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "limb/base/error.hpp"
#include "limb/codegen/x64/product_writer.hpp"
#include "limb/codegen/x64/stream/interleaved_stores.hpp"

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

// Enough for each instruction with its loads and stores.
std::size_t code_capacity(const Code& code, const Target& target, const Split* split) {
  std::size_t rows = 0;
  for (const auto* arrays : {&code.inputs, split != nullptr ? &split->outputs : &code.outputs}) {
    for (const Array& array : *arrays) rows += static_cast<std::size_t>(array.size()) + 16;
  }
  rows += PartialLines::kCode / 128 * (split != nullptr ? split->outputs : code.outputs).size();
  const std::size_t products = split != nullptr ? ProductWriter::code_bytes(*split, target) : 0;
  return 4096 + 48 * code.instructions.size() + 128 * rows + products;
}
std::size_t pool_capacity(const Code& code, const Target& target, const Split* split) {
  std::size_t tables = ResultWriter::table_bytes(split != nullptr ? split->outputs : code.outputs);
  if (split != nullptr) tables += ProductWriter::table_bytes(*split, target);
  return (4096 + 40 * code.constants.size() + 64 * code.fours.size() + tables) / 64 * 64;
}

class KernelWriter {
 public:
  KernelWriter(const Code& code, const Target& target, const Split* split, std::size_t pool,
               ExecutableMemory& memory)
      : code_(code),
        split_(split),
        pool_bytes_(pool),
        machine_(target, {memory.data(), memory.size()}, pool),
        inputs_(entries_of(code.inputs)),
        outputs_(entries_of(code.outputs)) {}

  void write() {
    if (machine_.target().shape == Shape::one) {
      write_one();
    } else {
      write_lanes();
    }
    // The size of the stack frame is known now.
    const std::uint32_t frame = static_cast<std::uint32_t>((frame_.used + 63) / 64 * 64);
    std::memcpy(const_cast<unsigned char*>(machine_.getCode()) + frame_patch_, &frame, 4);
  }

  const Machine& machine() const { return machine_; }
  const StackFrame& frame() const { return frame_; }
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
    m.mov(m.ptr[m.slot(frame_.allocate(kLine))], m.rax);  // the first slot
    m.mov(m.rbx, reinterpret_cast<std::uint64_t>(m.getCode()) - pool_bytes_ + Machine::kPoolBias);
  }
  void leave() {
    Machine& m = machine_;
    m.vzeroupper();
    m.mov(m.rsp, m.ptr[m.slot(0)]);
    for (const Reg64& r : {m.r15, m.r14, m.r13, m.r12, m.rbx, m.rbp}) m.pop(r);
    m.ret();
  }

  // One state: rdi and rsi point to the tables of arrays. As many arrays as possible have a base
  // register; the addresses of the others are loaded at each use. Remaining registers point into
  // long results: short displacements have shorter instructions.
  void write_one() {
    Machine& m = machine_;
    enter();
    const Reg64 registers[] = {m.rcx, m.rdx, m.r8, m.r9, m.r10, m.r11, m.r13, m.r14, m.r15, m.r12};
    std::size_t next = 0;
    /// The base registers of an array, the k-th for its k-th part; the last one for the rest.
    using Bases = std::vector<int>;
    std::vector<Bases> input_bases, output_bases;
    const auto assign = [&](std::size_t count, const Reg64& table, std::vector<Bases>& bases) {
      bases.resize(count);
      for (std::size_t k = 0; k < count && next < std::size(registers); ++k) {
        bases[k].push_back(registers[next].getIdx());
        m.mov(registers[next++], m.ptr[table + static_cast<int>(8 * k)]);
      }
    };
    assign(code_.inputs.size(), m.rdi, input_bases);
    assign(code_.outputs.size(), m.rsi, output_bases);
    constexpr int kMaxOffset = 1016, kPart = 2 * kMaxOffset;  // bytes on each side of a base
    constexpr int kLong = 4096;
    const auto is_long = [&](int size) { return m.is_wide() && 8 * size > kLong; };
    for (std::size_t k = 0; k < code_.outputs.size(); ++k) {
      Bases& bases = output_bases[k];
      const int size = code_.outputs[k].size();
      if (bases.empty() || !is_long(size)) continue;
      const Reg64 first(bases[0]);
      m.add(first, kMaxOffset);
      for (int part = 1; part * kPart < 8 * size && next < std::size(registers); ++part) {
        bases.push_back(registers[next].getIdx());
        m.lea(registers[next++], m.ptr[first + part * kPart]);
      }
    }
    const auto address = [&](const Entry& e, const Bases& bases, int size, const Reg64& table) {
      const int at = 8 * e.entry;
      if (bases.empty()) {
        m.mov(m.rax, m.ptr[table + 8 * e.array]);
        return m.rax + at;
      }
      const int part = std::min(at / kPart, static_cast<int>(bases.size()) - 1);
      return Reg64(bases[static_cast<std::size_t>(part)]) +
             (is_long(size) ? at - kMaxOffset - part * kPart : at);
    };
    const auto input = [&](int i) {
      const Entry& e = inputs_[static_cast<std::size_t>(i)];
      return address(e, input_bases[static_cast<std::size_t>(e.array)], 0, m.rdi);
    };
    const auto output = [&](int i) {
      const Entry& e = outputs_[static_cast<std::size_t>(i)];
      const std::size_t k = static_cast<std::size_t>(e.array);
      return address(e, output_bases[k], code_.outputs[k].size(), m.rsi);
    };
    Xbyak::Label out_of_range;
    RegisterWriter writer(m, code_, frame_,
                          {[&](int i) { return m.ptr[input(i)]; },
                           input,
                           [&](int i) { return m.ptr[output(i)]; },
                           {},
                           {}});
    writer.write(out_of_range);
    counts_ = writer.counts();
    m.xor_(m.eax, m.eax);
    leave();
    m.L(out_of_range);
    m.mov(m.eax, 1);
    leave();
  }

  bool by_columns() const { return machine_.target().layout == Layout::columns; }

  // Blocks of states: rdi, rsi tables of arrays, rdx the number of blocks, r12 the current block;
  // r13 the bytes between columns.
  void write_lanes() {
    Machine& m = machine_;
    const int bytes = m.target().bytes();
    enter();
    const Reg64 rows[] = {m.r8, m.r9, m.r10, m.r11, m.r15};
    // With more instructions per argument, intermediate values need all registers.
    constexpr std::size_t kMaxPerInput = 100;
    const bool in_groups = !by_columns() && m.is_wide() && m.target().precision == Precision::f64 &&
                           code_.inputs.size() <= std::size(rows) &&
                           code_.instructions.size() <= kMaxPerInput * inputs_.size();
    const std::vector<int> input_place =
        in_groups ? std::vector<int>(inputs_.size(), -1) : allocate_inputs(bytes);
    Xbyak::Label next, done;
    m.mov(m.r13, m.rcx);
    m.set_quarters();
    ResultWriter results(m, frame_, split_ != nullptr ? split_->outputs : code_.outputs);
    std::optional<InterleavedStores> interleaved;
    if (!by_columns() && m.is_wide() && !in_groups) {
      interleaved.emplace(m, frame_, results, code_, split_);
      interleaved->is_used() ? interleaved->begin() : interleaved.reset();
    }
    m.xor_(m.r12d, m.r12d);
    m.L(next);
    m.cmp(m.r12, m.rdx);
    m.jae(done, m.T_NEAR);
    if (in_groups) {
      RowMover mover(m);
      for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
        mover.point_at(m.rdi, static_cast<int>(k), code_.inputs[k].size());
        m.mov(rows[k], m.rcx);
      }
    } else if (by_columns()) {
      read_columns(input_place);
    } else {
      read_rows(input_place);
    }
    std::function<RegisterWriter::Group(int)> group;
    if (in_groups) {
      group = [&](int i) {
        constexpr int kWidth = 4;
        const Entry& e = inputs_[static_cast<std::size_t>(i)];
        const int size = code_.inputs[static_cast<std::size_t>(e.array)].size();
        const int first = e.entry / kWidth * kWidth;
        return RegisterWriter::Group{rows[e.array], size, first, std::min(kWidth, size - first),
                                     i - e.entry + first};
      };
    }
    std::function<void(int)> before_instruction;
    if (interleaved)
      before_instruction = [&](int instruction) { interleaved->write_due(instruction); };
    RegisterWriter writer(
        m, code_, frame_,
        {[&](int i) { return m.ptr[m.slot(input_place[static_cast<std::size_t>(i)])]; },
         [&](int) -> Xbyak::RegExp {
           throw Error("MachineCode: lanes do not group values by four");
         },
         [&](int) -> Xbyak::Address { throw Error("MachineCode: results of lanes are rows"); },
         group, before_instruction});
    writer.write(done);
    counts_ = writer.counts();
    std::optional<ProductWriter> products;
    const std::vector<RowMover::Source> sources = sources_of(writer);
    if (split_ != nullptr) products.emplace(m, *split_);
    const auto write_all = [&] {
      products ? write_products(*products, sources, results) : results.write(sources);
    };
    interleaved ? interleaved->end_block(sources, write_all) : write_all();
    m.inc(m.r12);
    m.jmp(next, m.T_NEAR);
    m.L(done);
    if (interleaved) interleaved->finish();
    if (!by_columns()) results.finish_stream();
    m.mov(m.rax, m.r12);
    leave();
    if (products) products->write_routines();
    results.write_routines();
    if (interleaved) interleaved->write_routines();
  }

  bool reads_in_loop(int size) const {
    return !by_columns() && size / (machine_.target().lanes() / 2) >= RowMover::kLoopFrom;
  }

  /// Slots of the arguments: those that are used; all of an array that is read in a loop.
  std::vector<int> allocate_inputs(int bytes) {
    std::vector<int> place(inputs_.size(), -1);
    std::size_t start = 0;
    for (const Array& array : code_.inputs) {
      for (int j = 0; reads_in_loop(array.size()) && j < array.size(); ++j) {
        place[start + static_cast<std::size_t>(j)] = frame_.allocate(bytes);
      }
      start += static_cast<std::size_t>(array.size());
    }
    for (const Instruction& x : code_.instructions) {
      if (x.opcode != Opcode::input) continue;
      int& to = place[static_cast<std::size_t>(x.a)];
      if (to < 0) to = frame_.allocate(bytes);
    }
    return place;
  }

  void read_rows(const std::vector<int>& place) {
    Machine& m = machine_;
    RowMover mover(m);
    std::size_t start = 0;
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      const int size = code_.inputs[k].size(), n = mover.columns();
      if (size > 0) mover.point_at(m.rdi, static_cast<int>(k), size);
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

  /// Alternating registers, so that no load waits for the previous store.
  static constexpr std::size_t kRegisters = 8;

  void read_columns(const std::vector<int>& input_place) {
    Machine& m = machine_;
    RowMover mover(m);
    std::size_t i = 0;
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      if (code_.inputs[k].size() > 0) mover.point_at(m.rdi, static_cast<int>(k), 1);
      for (int j = 0; j < code_.inputs[k].size(); ++j, ++i) {
        if (input_place[i] >= 0) {
          const int r = static_cast<int>(i % kRegisters);
          m.load(r, m.ptr[m.rcx]);
          m.store(m.ptr[m.slot(input_place[i])], r);
        }
        m.add(m.rcx, m.r13);
      }
    }
  }

  /// Slots of the results of the straight-line code.
  std::vector<RowMover::Source> sources_of(const RegisterWriter& writer) const {
    std::vector<RowMover::Source> sources(outputs_.size());
    for (const Instruction& x : code_.instructions) {
      if (x.opcode != Opcode::store) continue;
      const Instruction& from = code_.instructions[static_cast<std::size_t>(x.a)];
      RowMover::Source& source = sources[static_cast<std::size_t>(x.b)];
      if (from.opcode == Opcode::constant) {
        source.constant = code_.constants[static_cast<std::size_t>(from.a)];
      } else {
        source.place = writer.result_place(x.a);
      }
    }
    return sources;
  }

  void write_products(ProductWriter& products, std::vector<RowMover::Source> numbers,
                      ResultWriter& results) {
    Machine& m = machine_;
    numbers.resize(static_cast<std::size_t>(split_->size));
    for (std::size_t k = outputs_.size(); k < numbers.size(); ++k) {
      numbers[k].place = frame_.allocate(m.target().bytes());
    }
    std::vector<RowMover::Source> sources;
    for (const int number : split_->results) {
      sources.push_back(numbers[static_cast<std::size_t>(number)]);
    }
    const std::vector<std::int32_t> places = results.places_of(numbers);
    m.mov(m.r10, m.rsp);
    std::vector<std::vector<ResultWriter::Portion>> portions(products.tiles().size());
    const bool spread = !by_columns() && !products.tiles().empty();
    if (spread) {
      results.begin_rows(sources);
      portions = spread_portions(products.tiles(), *split_, results);
    }
    for (std::size_t t = 0; t < products.tiles().size(); ++t) {
      products.write(products.tiles()[t], places);
      for (const ResultWriter::Portion& p : portions[t]) results.write_portion(p);
    }
    spread ? results.finish_rows() : results.write(sources);
  }

  const Code& code_;
  const Split* split_;
  std::size_t pool_bytes_;
  Machine machine_;
  StackFrame frame_;
  RegisterWriter::Counts counts_;
  std::vector<Entry> inputs_, outputs_;
  std::size_t frame_patch_ = 0;
};

}  // namespace

MachineCode::MachineCode(const Code& code, const Target& target, const Split* split)
    : target_(target), start_(pool_capacity(code, target, split)) {
  if (target.isa == Isa::none) throw Error("MachineCode: no machine code for this processor");
  if (target.shape == Shape::one && (target.precision == Precision::f32 || split != nullptr)) {
    throw Error("MachineCode: code for one state must have double precision and no split");
  }
  memory_.emplace(start_ + code_capacity(code, target, split));
  KernelWriter writer(code, target, split, start_, *memory_);
  writer.write();
  code_bytes_ = writer.machine().getSize();
  constant_bytes_ = writer.machine().pool_used();
  stack_bytes_ = static_cast<std::size_t>(writer.frame().used) + 128;
  instructions_ = writer.counts().instructions;
  spills_ = writer.counts().stores;
  outputs_ = static_cast<int>(split != nullptr ? split->outputs.size() : code.outputs.size());
  memory_->seal(start_ + code_bytes_);
  entry_ = memory_->data() + start_;
}

std::int64_t MachineCode::run_blocks(const void* const* inputs, void* const* outputs,
                                     std::int64_t blocks, std::int64_t states, bool stream) const {
  using Entry = std::int64_t (*)(const void* const*, void* const*, std::int64_t, std::int64_t);
  std::int64_t argument = states * target_.scalar_bytes();
  if (target_.layout == Layout::rows) {
    for (int k = 0; k < outputs_; ++k) {
      stream = stream && reinterpret_cast<std::uintptr_t>(outputs[k]) % 16 == 0;
    }
    argument = stream ? ResultWriter::kStream : ResultWriter::kPlain;
  }
  return reinterpret_cast<Entry>(entry_)(inputs, outputs, blocks, argument);
}

}  // namespace limb::codegen
