#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "limb/codegen/cuda/emit_ptx.hpp"

namespace limb::testing {

/// Executes kernels that emit_ptx() writes, on the CPU, for tests on machines without a GPU: all
/// threads of a block run the same instruction before the next one. Instructions that emit_ptx()
/// does not use, and accesses outside of the arrays, throw std::runtime_error.
class PtxMachine {
 public:
  explicit PtxMachine(codegen::PtxKernel kernel) : kernel_(std::move(kernel)) { parse(); }

  /// @param arrays arguments, then results. @param bytes their sizes.
  void run(const std::vector<void*>& arrays, const std::vector<std::size_t>& bytes,
           std::uint64_t states) {
    arrays_ = arrays;
    bytes_ = bytes;
    states_ = states;
    const std::uint64_t threads = static_cast<std::uint64_t>(kernel_.threads);
    for (std::uint64_t block = 0; block * threads < states; ++block) run_block(block);
  }

 private:
  struct Line {
    std::string name, guard;  // guard: the predicate register
    std::vector<std::string> operands;
    std::vector<int> registers;  // of the operands; -1: none
    int guard_register = -1;
  };
  using Word = std::uint64_t;

  static std::runtime_error fault(const Line& line, const std::string& why) {
    std::string text = line.name;
    for (const std::string& operand : line.operands) text += " " + operand;
    return std::runtime_error(why + ": " + text);
  }

  void parse() {
    std::istringstream in(kernel_.text);
    bool inside = false;
    for (std::string text; std::getline(in, text);) {
      if (text.starts_with(".global")) parse_table(text);
      if (text == "{") inside = true;
      if (!inside || text == "{" || text == "}" || text.find(".reg") != std::string::npos) continue;
      parse_line(text);
    }
  }

  /// .global .align 4 .u32 name[n] = {a, b, ...};
  void parse_table(const std::string& text) {
    const std::size_t name = text.find(".u32 ") + 5, bracket = text.find('[');
    std::istringstream numbers(text.substr(text.find('{') + 1));
    std::vector<std::uint32_t> table;
    std::uint32_t number = 0;
    for (char comma = ','; comma == ',' && numbers >> number; numbers >> comma) {
      table.push_back(number);
    }
    tables_[text.substr(name, bracket - name)] = std::move(table);
  }

  int register_of(const std::string& name) {
    return names_.try_emplace(name, static_cast<int>(names_.size())).first->second;
  }

  void parse_line(const std::string& text) {
    if (text.ends_with(":")) {
      labels_[text.substr(0, text.size() - 1)] = lines_.size();
      return;
    }
    std::istringstream words(text);
    Line line;
    words >> line.name;
    if (line.name.starts_with("@")) {
      line.guard = line.name.substr(1);
      line.guard_register = register_of(line.guard);
      words >> line.name;
    }
    std::string rest;
    std::getline(words, rest, ';');
    if (line.name.ends_with(";")) line.name.pop_back();
    std::string operand;
    int depth = 0;
    for (const char c : rest + ",") {
      if (c == '{') ++depth;
      if (c == '}') --depth;
      if (c == ',' && depth == 0) {
        if (!operand.empty()) line.operands.push_back(operand);
        operand.clear();
      } else if (c != ' ') {
        operand += c;
      }
    }
    for (const std::string& name : line.operands) {
      line.registers.push_back(
          name[0] == '%' && name.find('.') == std::string::npos ? register_of(name) : -1);
    }
    lines_.push_back(std::move(line));
  }

  void run_block(std::uint64_t block) {
    const std::size_t threads = static_cast<std::size_t>(kernel_.threads);
    shared_.assign(static_cast<std::size_t>(kernel_.shared_bytes), 0xff);
    registers_.assign(threads, std::vector<Word>(names_.size(), 0xdeadbeefdeadbeefull));
    std::vector<char> ended(threads, 0);
    block_ = block;
    for (std::size_t next = 0; next < lines_.size();) {
      const Line& line = lines_[next++];
      if (line.name == "bra.uni") {
        if (takes_branch(line, ended)) next = labels_.at(line.operands.at(0));
        continue;
      }
      for (std::size_t t = 0; t < threads; ++t) {
        if (ended[t] != 0) continue;
        thread_ = t;
        if (line.guard_register >= 0 &&
            current()[static_cast<std::size_t>(line.guard_register)] != 1)
          continue;
        if (line.name == "ret") {
          ended[t] = 1;
        } else {
          execute(line);
        }
      }
    }
  }

  /// All threads of the block must agree.
  bool takes_branch(const Line& line, const std::vector<char>& ended) {
    int taken = -1;
    for (std::size_t t = 0; t < ended.size(); ++t) {
      if (ended[t] != 0) continue;
      const Word guard = registers_[t][static_cast<std::size_t>(line.guard_register)];
      if (taken >= 0 && taken != static_cast<int>(guard)) throw fault(line, "threads disagree");
      taken = static_cast<int>(guard);
    }
    return taken == 1;
  }

  std::vector<Word>& current() { return registers_[thread_]; }

  Word value(const Line& line, std::size_t k) {
    const std::string& text = line.operands.at(k);
    if (line.registers[k] >= 0) return current()[static_cast<std::size_t>(line.registers[k])];
    if (text == "%tid.x") return thread_;
    if (text == "%ctaid.x") return block_;
    if (text == "%ntid.x") return static_cast<Word>(kernel_.threads);
    if (text == "stage") return 0;
    if (text.starts_with("0f") || text.starts_with("0d"))
      return std::stoull(text.substr(2), nullptr, 16);
    if (tables_.contains(text))
      return kTable +
             static_cast<Word>(std::distance(tables_.begin(), tables_.find(text))) * kSpace;
    return std::stoull(text, nullptr, 0);
  }
  void set(const Line& line, Word x) {
    current()[static_cast<std::size_t>(line.registers.at(0))] = x;
  }

  template <typename T>
  static T number(Word x) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<float>(static_cast<std::uint32_t>(x));
    else
      return std::bit_cast<double>(x);
  }
  template <typename T>
  static Word bits(T x) {
    if constexpr (sizeof(T) == 4)
      return std::bit_cast<std::uint32_t>(x);
    else
      return std::bit_cast<std::uint64_t>(x);
  }

  /// [%a3+16]: the address, and where its bytes are.
  unsigned char* memory(const Line& line, std::size_t k, std::size_t size) {
    const std::string& text = line.operands.at(k);
    const std::size_t plus = text.find('+');
    const std::string base =
        text.substr(1, (plus == std::string::npos ? text.size() - 1 : plus) - 1);
    const Word offset = plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1));
    const Word to = current()[static_cast<std::size_t>(register_of(base))] + offset;
    if (line.name.find(".shared") != std::string::npos) {
      const Word at = static_cast<std::uint32_t>(to);
      if (at + size > shared_.size() || at % size != 0)
        throw fault(line, "outside of shared memory");
      return shared_.data() + at;
    }
    if (to >= kTable) {
      auto table = std::next(tables_.begin(), static_cast<std::ptrdiff_t>((to - kTable) / kSpace));
      const Word at = (to - kTable) % kSpace;
      if (at + size > table->second.size() * 4) throw fault(line, "outside of a table");
      return reinterpret_cast<unsigned char*>(table->second.data()) + at;
    }
    const std::size_t array = static_cast<std::size_t>(to / kSpace) - 1;
    const Word at = to % kSpace;
    if (array >= arrays_.size() || at + size > bytes_[array] || at % size != 0) {
      throw fault(line, "outside of the arrays");
    }
    return static_cast<unsigned char*>(arrays_[array]) + at;
  }

  void execute(const Line& line) {
    const std::string& name = line.name;
    if (name.ends_with("f32") && !name.starts_with("ld") && !name.starts_with("st"))
      return arithmetic<float>(line);
    if (name.ends_with("f64") && !name.starts_with("ld") && !name.starts_with("st"))
      return arithmetic<double>(line);
    if (name.starts_with("ld.param")) {
      const std::size_t k = std::stoul(line.operands[1].substr(10));  // [parameterK]
      return set(line, k == arrays_.size() ? states_ : (k + 1) * kSpace);
    }
    if (name.starts_with("ld.") || name.starts_with("st.")) return move_memory(line);
    if (name == "bar.warp.sync") return;
    if (name == "cvta.to.global.u64") return set(line, value(line, 1));
    if (name.starts_with("mov.b64") && line.operands[0][0] == '{') return split_pair(line);
    if (name.starts_with("mov.b64") && line.operands[1][0] == '{') return join_pair(line);
    integer(line);
  }

  void move_memory(const Line& line) {
    const std::size_t size = line.name.ends_with("64") ? 8 : 4;
    if (line.name.starts_with("ld.")) {
      Word x = 0;
      std::memcpy(&x, memory(line, 1, size), size);
      return set(line, x);
    }
    const Word x = value(line, 1);
    std::memcpy(memory(line, 0, size), &x, size);
  }

  /// {%r1,%r2}
  std::pair<std::size_t, std::size_t> pair_of(const std::string& text) {
    const std::size_t comma = text.find(',');
    return {static_cast<std::size_t>(register_of(text.substr(1, comma - 1))),
            static_cast<std::size_t>(register_of(text.substr(comma + 1, text.size() - comma - 2)))};
  }
  void split_pair(const Line& line) {
    const auto [low, high] = pair_of(line.operands[0]);
    grow();
    const Word x = value(line, 1);
    current()[low] = x & 0xffffffffu;
    current()[high] = x >> 32;
  }
  void join_pair(const Line& line) {
    const auto [low, high] = pair_of(line.operands[1]);
    grow();
    set(line, (current()[low] & 0xffffffffu) | (current()[high] << 32));
  }
  /// Registers inside of braces are found late.
  void grow() {
    for (auto& registers : registers_) registers.resize(names_.size());
  }

  void integer(const Line& line) {
    const std::string& name = line.name;
    const bool wide = name.ends_with("64");
    const Word mask = wide ? ~Word(0) : 0xffffffffu;
    const auto x = [&](std::size_t k) { return value(line, k) & mask; };
    const auto narrow = [&](std::size_t k) { return value(line, k) & 0xffffffffu; };
    if (name.starts_with("mul.wide.u32")) return set(line, narrow(1) * narrow(2));
    if (name.starts_with("mov.")) return set(line, x(1));
    if (name.starts_with("and.pred")) return set(line, value(line, 1) & value(line, 2));
    if (name.starts_with("or.pred")) return set(line, value(line, 1) | value(line, 2));
    if (name.starts_with("not.pred")) return set(line, value(line, 1) ^ 1);
    if (name.starts_with("and.b")) return set(line, x(1) & x(2));
    if (name.starts_with("xor.b")) return set(line, x(1) ^ x(2));
    if (name.starts_with("shl.b")) return set(line, (x(1) << x(2)) & mask);
    if (name.starts_with("shr.u")) return set(line, x(1) >> x(2));
    if (name.starts_with("add.u")) return set(line, (x(1) + x(2)) & mask);
    if (name.starts_with("sub.u")) return set(line, (x(1) - x(2)) & mask);
    if (name.starts_with("min.u")) return set(line, std::min(x(1), x(2)));
    if (name.starts_with("div.u")) return set(line, x(1) / x(2));
    if (name.starts_with("mul.lo.u")) return set(line, (x(1) * x(2)) & mask);
    if (name.starts_with("mad.lo.u")) return set(line, (x(1) * x(2) + x(3)) & mask);
    if (name.starts_with("cvt.u64.u32") || name == "cvt.u32.u64") return set(line, narrow(1));
    if (name.starts_with("setp.ge.u")) return set(line, x(1) >= x(2) ? 1 : 0);
    if (name.starts_with("setp.ne.u")) return set(line, x(1) != x(2) ? 1 : 0);
    if (name.starts_with("setp.lt.and.u"))
      return set(line, x(1) < x(2) && value(line, 3) == 1 ? 1 : 0);
    if (name.starts_with("setp.lt.u")) return set(line, x(1) < x(2) ? 1 : 0);
    throw fault(line, "unknown instruction");
  }

  template <typename T>
  void arithmetic(const Line& line) {
    const std::string name = line.name.substr(0, line.name.size() - 4);
    const auto x = [&](std::size_t k) { return number<T>(value(line, k)); };
    if (name == "add.rn") return set(line, bits<T>(x(1) + x(2)));
    if (name == "sub.rn") return set(line, bits<T>(x(1) - x(2)));
    if (name == "mul.rn") return set(line, bits<T>(x(1) * x(2)));
    if (name == "div.rn") return set(line, bits<T>(x(1) / x(2)));
    if (name == "sqrt.rn") return set(line, bits<T>(std::sqrt(x(1))));
    if (name == "fma.rn") return set(line, bits<T>(std::fma(x(1), x(2), x(3))));
    if (name == "neg") return set(line, bits<T>(-x(1)));
    if (name == "abs") return set(line, bits<T>(std::abs(x(1))));
    if (name == "mov") return set(line, value(line, 1));
    if (name == "selp") return set(line, value(line, 3) == 1 ? value(line, 1) : value(line, 2));
    if (name == "setp.lt") return set(line, x(1) < x(2) ? 1 : 0);
    if (name == "setp.le") return set(line, x(1) <= x(2) ? 1 : 0);
    throw fault(line, "unknown instruction");
  }

  // Array k is at address (k + 1) kSpace; shared memory starts at 0; tables are far above.
  static constexpr Word kSpace = Word(1) << 40, kTable = Word(1) << 62;

  codegen::PtxKernel kernel_;
  std::vector<Line> lines_;
  std::map<std::string, int> names_;
  std::map<std::string, std::size_t> labels_;
  std::map<std::string, std::vector<std::uint32_t>> tables_;
  std::vector<std::vector<Word>> registers_;
  std::vector<unsigned char> shared_;
  std::vector<void*> arrays_;
  std::vector<std::size_t> bytes_;
  std::uint64_t states_ = 0, block_ = 0;
  std::size_t thread_ = 0;
};

}  // namespace limb::testing
