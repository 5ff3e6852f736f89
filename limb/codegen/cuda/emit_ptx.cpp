#include "limb/codegen/cuda/emit_ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <unordered_map>

#include "limb/base/error.hpp"
#include "limb/codegen/lower/argument_places.hpp"
#include "limb/codegen/lower/lower.hpp"
#include "limb/codegen/lower/register_order.hpp"

namespace limb::codegen {
namespace {

constexpr int kWarp = 32;
/// Results of one array that are collected in shared memory before they are written.
constexpr int kChunk = 32;
/// Arrays with at most this many entries per state are written at once, at the end.
constexpr int kWhole = 64;
/// Dynamic shared memory of a block that every device of the last years allows.
constexpr int kSharedLimit = 96 * 1024;

std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Odd, so that the entries of 32 states are in different banks of shared memory.
int padded(int entries) {
  return entries | 1;
}

/// Results of one array that are in shared memory at the same time.
struct Chunk {
  std::vector<int> entries;  ///< sorted, so that neighbours are written by neighbouring threads
  int stores = 0;            ///< done so far
};

class PtxWriter {
 public:
  PtxWriter(const Code& code, std::string name, const PtxOptions& options)
      : code_(code),
        options_(options),
        wide_(options.precision == Precision::f64),
        bytes_(wide_ ? 8 : 4),
        inputs_(argument_places(code.inputs)),
        outputs_(argument_places(code.outputs)) {
    kernel_.name = std::move(name);
    kernel_.operations = code.operation_count();
    masks_.assign(code.instructions.size(), 0);
    if (options.layout == Layout::rows) plan_rows();
    kernel_.threads = options.threads;
    while (kernel_.threads > kWarp && kernel_.threads / kWarp * warp_bytes_ > kSharedLimit) {
      kernel_.threads /= 2;
    }
    kernel_.shared_bytes = kernel_.threads / kWarp * warp_bytes_;
    if (kernel_.shared_bytes > kSharedLimit) {
      throw Error(fmt::format("{}: a state has too many numbers for rows on a GPU, use columns",
                              kernel_.name));
    }
  }

  PtxKernel run() {
    begin();
    for (std::size_t i = 0; i < code_.instructions.size(); ++i) write(static_cast<int>(i));
    finish();
    kernel_.text = header() + body_ + "  ret;\n}\n";
    return std::move(kernel_);
  }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    body_ += "  ";
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
    body_ += '\n';
  }

  // --- Layout of shared memory: per warp, the arguments, then the chunks of each result.

  void plan_rows() {
    for (const Array& array : code_.inputs) {
      input_offset_.push_back(warp_bytes_);
      warp_bytes_ += kWarp * padded(array.size()) * bytes_;
    }
    // Stores of each array in the order of the program, cut into chunks.
    chunks_.resize(code_.outputs.size());
    whole_.assign(code_.outputs.size(), 0);
    std::vector<int> count(code_.outputs.size(), 0);
    for (const Instruction& x : code_.instructions) {
      if (x.opcode == Opcode::store) ++count[at(outputs_[at(x.b)].array)];
    }
    for (std::size_t k = 0; k < chunks_.size(); ++k) {
      const int size = code_.outputs[k].size();
      whole_[k] = count[k] == size && size <= kWhole;
    }
    for (const Instruction& x : code_.instructions) {
      if (x.opcode != Opcode::store) continue;
      const ArgumentPlace& place = outputs_[at(x.b)];
      std::vector<Chunk>& chunks = chunks_[at(place.array)];
      const std::size_t most = at(whole_[at(place.array)] != 0 ? kWhole : kChunk);
      if (chunks.empty() || chunks.back().entries.size() == most) chunks.emplace_back();
      chunks.back().entries.push_back(place.entry);
    }
    for (std::vector<Chunk>& chunks : chunks_) {
      output_offset_.push_back(warp_bytes_);
      std::size_t most = 0;
      for (Chunk& chunk : chunks) {
        std::sort(chunk.entries.begin(), chunk.entries.end());
        most = std::max(most, chunk.entries.size());
      }
      if (most > 0) warp_bytes_ += kWarp * padded(static_cast<int>(most)) * bytes_;
    }
    current_.assign(code_.outputs.size(), 0);
  }

  // --- Text around the instructions.

  const char* type() const { return wide_ ? "f64" : "f32"; }
  std::size_t parameter_count() const { return code_.inputs.size() + code_.outputs.size() + 1; }

  std::string header() const {
    std::string text = ".version 6.4\n.target sm_70\n.address_size 64\n\n" + tables_;
    if (kernel_.shared_bytes > 0) text += ".extern .shared .align 16 .b8 stage[];\n";
    text += fmt::format("\n.visible .entry {}(", kernel_.name);
    for (std::size_t k = 0; k < parameter_count(); ++k) {
      text += fmt::format("{}\n    .param .u64 parameter{}", k == 0 ? "" : ",", k);
    }
    text += fmt::format(")\n.maxntid {}, 1, 1\n{{\n", kernel_.threads);
    text += fmt::format("  .reg .{} %v<{}>;\n", type(), code_.instructions.size() + 1);
    text += fmt::format("  .reg .pred %m<{}>;\n", code_.instructions.size() + 1);
    text += fmt::format("  .reg .{} %t<{}>;\n", type(), temporaries_ + 1);
    text += fmt::format("  .reg .b32 %r<{}>;\n  .reg .b64 %a<{}>;\n  .reg .pred %p<{}>;\n", words_,
                        addresses_, predicates_);
    return text;
  }

  int word() { return words_++; }
  int address() { return addresses_++; }
  int predicate() { return predicates_++; }
  int temporary() { return temporaries_++; }

  /// Registers: %r0 the thread's number in its warp; %a0 the state of the thread (columns) or the
  /// first of the warp (rows); %a1 the number of states.
  void begin() {
    line("ld.param.u64 %a1, [parameter{}];", parameter_count() - 1);
    const int thread = word(), block = word(), size = word();
    line("mov.u32 %r{}, %tid.x;", thread);
    line("mov.u32 %r{}, %ctaid.x;", block);
    line("mov.u32 %r{}, %ntid.x;", size);
    const int wide = address();
    line("mul.wide.u32 %a0, %r{}, %r{};", block, size);
    const bool rows = options_.layout == Layout::rows;
    if (rows) {
      line("and.b32 %r0, %r{}, 31;", thread);
      line("and.b32 %r{0}, %r{0}, 0xffffffe0;", thread);
    }
    line("cvt.u64.u32 %a{}, %r{};", wide, thread);
    line("add.u64 %a0, %a0, %a{};", wide);
    const int outside = predicate();
    line("setp.ge.u64 %p{}, %a0, %a1;", outside);
    line("@%p{} ret;", outside);
    for (std::size_t k = 0; k + 1 < parameter_count(); ++k) {
      arrays_.push_back(address());
      line("ld.param.u64 %a{}, [parameter{}];", arrays_.back(), k);
      line("cvta.to.global.u64 %a{0}, %a{0};", arrays_.back());
    }
    if (rows) {
      begin_rows(thread);
    } else {
      stride_ = address();
      line("shl.b64 %a{}, %a1, {};", stride_, wide_ ? 3 : 2);
      for (const int array : arrays_) {
        line("mad.lo.u64 %a{0}, %a0, {1}, %a{0};", array, bytes_);
      }
    }
  }

  void begin_rows(int warp_start) {
    // Rows of this warp, at most 32; its part of shared memory; the thread's row in it.
    valid_ = word();
    const int left = address();
    line("sub.u64 %a{}, %a1, %a0;", left);
    line("min.u64 %a{0}, %a{0}, 32;", left);
    line("cvt.u32.u64 %r{}, %a{};", valid_, left);
    stage_ = word();
    line("mov.u32 %r{}, stage;", stage_);
    line("mad.lo.u32 %r{0}, %r{1}, {2}, %r{0};", stage_, warp_start, warp_bytes_ / kWarp);
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      const int size = code_.inputs[k].size();
      if (size > 0) copy_rows(arrays_[k], size, input_offset_[k], true);
    }
    line("bar.warp.sync 0xffffffff;");
    for (std::size_t k = 0; k < code_.inputs.size(); ++k) {
      row_.push_back(row_address(input_offset_[k], code_.inputs[k].size()));
    }
  }

  /// Address of the thread's own row of a block of shared memory.
  int row_address(int offset, int entries) {
    const int row = word();
    line("mad.lo.u32 %r{}, %r0, {}, %r{};", row, padded(entries) * bytes_, stage_);
    if (offset != 0) line("add.u32 %r{0}, %r{0}, {1};", row, offset);
    return row;
  }

  /// Copies the rows of the warp, which are adjacent in memory, to shared memory or back.
  void copy_rows(int array, int size, int offset, bool load) {
    const int first = address(), limit = word();
    line("mad.lo.u64 %a{}, %a0, {}, %a{};", first, size * bytes_, array);
    line("mul.lo.u32 %r{}, %r{}, {};", limit, valid_, size);
    const int lane = address();
    line("mul.wide.u32 %a{}, %r0, {};", lane, bytes_);
    line("add.u64 %a{0}, %a{0}, %a{1};", first, lane);
    for (int k = 0; k < size; ++k) {
      const int e = word(), inside = predicate(), value = temporary();
      line("add.u32 %r{}, %r0, {};", e, k * kWarp);
      line("setp.lt.u32 %p{}, %r{}, %r{};", inside, e, limit);
      int where = e;
      if (padded(size) != size) {  // the row, times one number of padding
        const int row = word();
        divide(row, e, size, kWarp * size);
        where = word();
        line("add.u32 %r{}, %r{}, %r{};", where, e, row);
      }
      const int to = word();
      line("mad.lo.u32 %r{}, %r{}, {}, %r{};", to, where, bytes_, stage_);
      if (load) {
        line("mov.{} %t{}, {};", type(), value, literal(0));
        line("@%p{} ld.global.nc.{} %t{}, [%a{}+{}];", inside, type(), value, first,
             k * kWarp * bytes_);
        line("st.shared.{} [%r{}+{}], %t{};", type(), to, offset, value);
      } else {
        line("ld.shared.{} %t{}, [%r{}+{}];", type(), value, to, offset);
        line("@%p{} st.global.{} [%a{}+{}], %t{};", inside, type(), first, k * kWarp * bytes_,
             value);
      }
    }
  }

  /// %r{to} = %r{of} / by, for %r{of} below `limit`.
  void divide(int to, int of, int by, int limit) {
    const std::uint32_t shift = 20, factor = (1u << shift) / static_cast<std::uint32_t>(by) + 1;
    bool exact = true;
    for (std::uint32_t x = 0; x < static_cast<std::uint32_t>(limit); ++x) {
      const std::uint64_t product = std::uint64_t(x) * factor;
      exact = exact && product < (1ull << 32) &&
              (product >> shift) == x / static_cast<std::uint32_t>(by);
    }
    if (!exact) return line("div.u32 %r{}, %r{}, {};", to, of, by);
    line("mul.lo.u32 %r{}, %r{}, {};", to, of, factor);
    line("shr.u32 %r{0}, %r{0}, {1};", to, shift);
  }

  void finish() {
    if (options_.layout != Layout::rows) return;
    for (std::size_t k = 0; k < whole_.size(); ++k) {
      if (whole_[k] == 0 || code_.outputs[k].size() == 0) continue;
      line("bar.warp.sync 0xffffffff;");
      copy_rows(arrays_[code_.inputs.size() + k], code_.outputs[k].size(), output_offset_[k],
                false);
    }
  }

  // --- Instructions.

  std::string literal(double x) const {
    if (wide_) return fmt::format("0d{:016x}", std::bit_cast<std::uint64_t>(x));
    return fmt::format("0f{:08x}", std::bit_cast<std::uint32_t>(static_cast<float>(x)));
  }

  std::string value(int i) const {
    const Instruction& x = code_.instructions[at(i)];
    return x.opcode == Opcode::constant ? literal(code_.constants[at(x.a)])
                                        : fmt::format("%v{}", i);
  }
  std::string mask(int i) const {
    if (masks_[at(i)] == 0) throw Error(kernel_.name + ": a number is used as a condition");
    return fmt::format("%m{}", i);
  }

  void binary(const char* name, int i, const Instruction& x) {
    line("{}.{} %v{}, {}, {};", name, type(), i, value(x.a), value(x.b));
  }
  void unary(const char* name, int i, const Instruction& x) {
    line("{}.{} %v{}, {};", name, type(), i, value(x.a));
  }
  std::string negative(int operand) {
    const int t = temporary();
    line("neg.{} %t{}, {};", type(), t, value(operand));
    return fmt::format("%t{}", t);
  }
  void fused(int i, const std::string& a, const std::string& b, const std::string& c) {
    line("fma.rn.{} %v{}, {}, {}, {};", type(), i, a, b, c);
  }
  void compare(const char* how, int i, const Instruction& x) {
    masks_[at(i)] = 1;
    line("setp.{}.{} %m{}, {}, {};", how, type(), i, value(x.a), value(x.b));
  }
  void combine(const char* how, int i, const Instruction& x) {
    masks_[at(i)] = 1;
    line("{}.pred %m{}, {}, {};", how, i, mask(x.a), mask(x.b));
  }

  void write(int i) {
    const Instruction& x = code_.instructions[at(i)];
    switch (x.opcode) {
      case Opcode::constant:
        return;
      case Opcode::input:
        return load(i, inputs_[at(x.a)]);
      case Opcode::add:
        return binary("add.rn", i, x);
      case Opcode::sub:
        return binary("sub.rn", i, x);
      case Opcode::mul:
        return binary("mul.rn", i, x);
      case Opcode::div:
        return binary("div.rn", i, x);
      case Opcode::neg:
        return unary("neg", i, x);
      case Opcode::abs:
        return unary("abs", i, x);
      case Opcode::sqrt:
        return unary("sqrt.rn", i, x);
      case Opcode::fma:
        return fused(i, value(x.a), value(x.b), value(x.c));
      case Opcode::fms:
        return fused(i, value(x.a), value(x.b), negative(x.c));
      case Opcode::fnma:
        return fused(i, negative(x.a), value(x.b), value(x.c));
      case Opcode::less:
        return compare("lt", i, x);
      case Opcode::less_equal:
        return compare("le", i, x);
      case Opcode::both:
        return combine("and", i, x);
      case Opcode::either:
        return combine("or", i, x);
      case Opcode::complement:
        masks_[at(i)] = 1;
        return line("not.pred %m{}, {};", i, mask(x.a));
      case Opcode::select:
        return line("selp.{} %v{}, {}, {}, {};", type(), i, value(x.b), value(x.c), mask(x.a));
      case Opcode::quadrant_choice: {
        const int quadrant = low_word(x.a), odd = predicate();
        line("and.b32 %r{0}, %r{0}, 1;", quadrant);
        line("setp.ne.u32 %p{}, %r{}, 0;", odd, quadrant);
        return line("selp.{} %v{}, {}, {}, %p{};", type(), i, value(x.c), value(x.b), odd);
      }
      case Opcode::quadrant_sign:
        return flip_sign(i, x);
      case Opcode::store:
        return store(outputs_[at(x.b)], value(x.a));
      default:
        throw Error(kernel_.name + ": this code is not lowered for a GPU");
    }
  }

  /// The lower 32 bits of a number.
  int low_word(int number) {
    const int low = word();
    if (wide_) {
      line("mov.b64 {{%r{}, %r{}}}, {};", low, word(), value(number));
    } else {
      line("mov.b32 %r{}, {};", low, value(number));
    }
    return low;
  }

  void flip_sign(int i, const Instruction& x) {
    const int sign = low_word(x.a);
    if (x.c != 0) line("add.u32 %r{0}, %r{0}, {1};", sign, x.c);
    line("and.b32 %r{0}, %r{0}, 2;", sign);
    line("shl.b32 %r{0}, %r{0}, 30;", sign);
    const int low = word(), high = wide_ ? word() : low;
    if (wide_) {
      line("mov.b64 {{%r{}, %r{}}}, {};", low, high, value(x.b));
    } else {
      line("mov.b32 %r{}, {};", low, value(x.b));
    }
    line("xor.b32 %r{0}, %r{0}, %r{1};", high, sign);
    if (wide_) {
      line("mov.b64 %v{}, {{%r{}, %r{}}};", i, low, high);
    } else {
      line("mov.b32 %v{}, %r{};", i, low);
    }
  }

  // --- Memory.

  void load(int i, const ArgumentPlace& from) {
    if (options_.layout == Layout::rows) {
      return line("ld.shared.{} %v{}, [%r{}+{}];", type(), i, row_[at(from.array)],
                  from.entry * bytes_);
    }
    line("ld.global.nc.{} %v{}, [%a{}];", type(), i, column(arrays_[at(from.array)], from.entry));
  }

  /// Address of an entry of the thread's state.
  int column(int array, int entry) {
    if (entry == 0) return array;
    const int to = address();
    line("mad.lo.u64 %a{}, %a{}, {}, %a{};", to, stride_, entry, array);
    return to;
  }

  void store(const ArgumentPlace& to, const std::string& number) {
    const std::size_t array = at(to.array);
    if (options_.layout != Layout::rows) {
      const int where = column(arrays_[code_.inputs.size() + array], to.entry);
      return line("st.global.{} [%a{}], {};", type(), where, number);
    }
    Chunk& chunk = chunks_[array][at(current_[array])];
    const int size = static_cast<int>(chunk.entries.size());
    if (chunk.stores++ == 0) own_row_[array] = row_address(output_offset_[array], size);
    const auto slot = std::lower_bound(chunk.entries.begin(), chunk.entries.end(), to.entry) -
                      chunk.entries.begin();
    line("st.shared.{} [%r{}+{}], {};", type(), own_row_[array], slot * bytes_, number);
    if (whole_[array] != 0 || chunk.stores < size) return;
    flush(to.array, chunk);
    ++current_[array];
  }

  /// Writes a chunk: in each pass the threads of a warp write `together` rows, neighbouring entries
  /// by neighbouring threads.
  void flush(int array, const Chunk& chunk) {
    const int size = static_cast<int>(chunk.entries.size()), together = kWarp / size;
    const int passes = (kWarp + together - 1) / together;
    const std::string table = fmt::format("entries{}", table_count_++);
    tables_ += fmt::format(".global .align 4 .u32 {}[{}] = {{{}}};\n", table, size,
                           fmt::join(chunk.entries, ", "));
    line("bar.warp.sync 0xffffffff;");
    const int row = word(), slot = word(), is_used = predicate();
    divide(row, 0, size, kWarp);
    line("mul.lo.u32 %r{}, %r{}, {};", slot, row, size);
    line("sub.u32 %r{0}, %r0, %r{0};", slot);
    line("setp.lt.u32 %p{}, %r0, {};", is_used, together * size);
    const int entry_address = address(), wide = address(), entry = word();
    line("mov.u64 %a{}, {};", entry_address, table);
    line("mul.wide.u32 %a{}, %r{}, 4;", wide, slot);
    line("add.u64 %a{0}, %a{0}, %a{1};", entry_address, wide);
    line("mov.u32 %r{}, 0;", entry);
    line("@%p{} ld.global.nc.u32 %r{}, [%a{}];", is_used, entry, entry_address);
    // First address of this thread: state %a0 + row, its entry.
    const int length = code_.outputs[at(array)].size(), to = address();
    line("mad.lo.u64 %a{}, %a0, {}, %a{};", to, length * bytes_,
         arrays_[code_.inputs.size() + at(array)]);
    const int offset = word();
    line("mad.lo.u32 %r{}, %r{}, {}, %r{};", offset, row, length, entry);
    line("mul.wide.u32 %a{}, %r{}, {};", wide, offset, bytes_);
    line("add.u64 %a{0}, %a{0}, %a{1};", to, wide);
    const int from = word();
    line("mad.lo.u32 %r{}, %r{}, {}, %r{};", from, row, padded(size), slot);
    line("mad.lo.u32 %r{0}, %r{0}, {1}, %r{2};", from, bytes_, stage_);
    if (output_offset_[at(array)] != 0) {
      line("add.u32 %r{0}, %r{0}, {1};", from, output_offset_[at(array)]);
    }
    // A loop over groups of passes: unrolled, the compiler would load all of them into registers.
    constexpr int kGroup = 8;
    const int groups = (passes + kGroup - 1) / kGroup, group = word();
    const int more = predicate();
    if (groups > 1) {
      line("mov.u32 %r{}, 0;", group);
      body_ += fmt::format("loop_{}:\n", table);
    }
    for (int pass = 0; pass < std::min(passes, kGroup); ++pass) {
      const int inside = predicate(), reached = word(), number = temporary();
      line("add.u32 %r{}, %r{}, {};", reached, row, pass * together);
      line("setp.lt.and.u32 %p{}, %r{}, %r{}, %p{};", inside, reached, valid_, is_used);
      line("@%p{} ld.shared.{} %t{}, [%r{}+{}];", inside, type(), number, from,
           pass * together * padded(size) * bytes_);
      line("@%p{} st.global.{} [%a{}+{}], %t{};", inside, type(), to,
           pass * together * length * bytes_, number);
    }
    if (groups > 1) {
      line("add.u32 %r{0}, %r{0}, {1};", row, kGroup * together);
      line("add.u32 %r{0}, %r{0}, {1};", from, kGroup * together * padded(size) * bytes_);
      line("add.u64 %a{0}, %a{0}, {1};", to, kGroup * together * length * bytes_);
      line("add.u32 %r{0}, %r{0}, 1;", group);
      line("setp.lt.u32 %p{}, %r{}, {};", more, group, groups);
      line("@%p{} bra.uni loop_{};", more, table);
    }
    line("bar.warp.sync 0xffffffff;");
  }

  const Code& code_;
  const PtxOptions& options_;
  bool wide_;
  int bytes_;
  std::vector<ArgumentPlace> inputs_, outputs_;
  PtxKernel kernel_;
  std::string body_, tables_;
  std::vector<char> masks_;  ///< instructions whose value is a condition
  int words_ = 1, addresses_ = 2, predicates_ = 0, temporaries_ = 0, table_count_ = 0;
  std::vector<int> arrays_;  ///< addresses: of the state (columns) or of the array (rows)
  int stride_ = -1, valid_ = -1, stage_ = -1;
  // Rows.
  int warp_bytes_ = 0;
  std::vector<int> input_offset_, output_offset_, row_;
  std::vector<std::vector<Chunk>> chunks_;  ///< of each result, in the order of their stores
  std::vector<char> whole_;                 ///< one chunk, written at the end
  std::vector<int> current_;                ///< chunk of each result
  std::unordered_map<std::size_t, int> own_row_;
};

}  // namespace

PtxKernel emit_ptx(const Trace& trace, const std::string& name, const PtxOptions& options) {
  if (options.threads < kWarp || options.threads % kWarp != 0) {
    throw Error(fmt::format("emit_ptx: threads is {}, expected a multiple of 32", options.threads));
  }
  Code code = lower(trace, {.precision = options.precision, .range = RangeCheck::nan});
  if (!options.results.empty()) code = with_results(code, options.results);
  // Rows are written in pieces of adjacent entries.
  const bool rows = options.layout == Layout::rows;
  code = with_few_registers(code, rows ? StoreOrder::arrays : StoreOrder::any);
  return PtxWriter(code, name, options).run();
}

}  // namespace limb::codegen
