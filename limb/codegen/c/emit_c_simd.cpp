// Batches in C: the vector extension of gcc and clang, one state per lane. Names of files and
// functions begin with the prefix, so that one program may contain several robots.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "limb/codegen/c/emit_c.hpp"
#include "limb/codegen/c/emit_c_statements.hpp"
#include "limb/codegen/lower/lower.hpp"

namespace limb::codegen {
namespace {

/// The beginning of every generated file with lanes; @S is double or float, @U an unsigned integer
/// of that size, @P the prefix in capitals, @f the suffix of <math.h>.
constexpr const char* kPreamble = R"(
#if defined(__GNUC__) && !defined(@P_NO_SIMD)
#define @P_SIMD 1
#else
#define @P_SIMD 0
#endif

#if @P_SIMD
#ifdef __FAST_MATH__
#error "-ffast-math breaks the sines below; -ffp-contract=fast is fine"
#endif
#if defined(__AVX512F__)
#define BYTES 64
#elif defined(__AVX__)
#define BYTES 32
#else
#define BYTES 16
#endif
#define LANES (BYTES / (int)sizeof(@S))
#define ALIGNED __attribute__((aligned(BYTES)))
#define HELPER static inline __attribute__((unused))
typedef @S lanes_t __attribute__((vector_size(BYTES), may_alias));
typedef @U bits_t __attribute__((vector_size(BYTES), may_alias));
#define LOAD(x, i) (*(const lanes_t*)((x) + (i) * LANES))
#define STORE(x, i) (*(lanes_t*)((x) + (i) * LANES))

HELPER lanes_t all(@S x) { return x - (lanes_t){0}; }
HELPER lanes_t pick(lanes_t mask, lanes_t yes, lanes_t no) {
  return (lanes_t)(((bits_t)mask & (bits_t)yes) | (~(bits_t)mask & (bits_t)no));
}
HELPER lanes_t lanes_abs(lanes_t x) { return (lanes_t)((bits_t)x & ~(bits_t)all(-@0)); }
HELPER lanes_t lanes_sqrt(lanes_t x) {
  int k;
  for (k = 0; k < LANES; ++k) x[k] = sqrt@f(x[k]);
  return x;
}
HELPER lanes_t lanes_atan2(lanes_t y, lanes_t x) {
  int k;
  for (k = 0; k < LANES; ++k) y[k] = atan2@f(y[k], x[k]);
  return y;
}
)";

/// pi/2 in parts whose products with the number of quarter turns are exact; polynomials of the
/// remainder; the quadrant from the last bits of that number.
constexpr const char* kSines64 = R"(
/* Within 2.5 units in the last place up to 1e6 rad; `range` collects squares to check that. */
HELPER void sines(lanes_t x, lanes_t* sine, lanes_t* cosine, lanes_t* range) {
  const lanes_t t = x * 6.36619772367581382433e-01 + 0x1.8p52; /* low bits: quarter turns */
  const lanes_t n = t - 0x1.8p52;
  const lanes_t y = ((x - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) -
                    n * 2.02226624879595063154e-21;
  const lanes_t z = y * y, zz = z * z;
  const lanes_t p = ((1.58969099521155010221e-10 * z - 2.50507602534068634195e-08) * zz +
                     (2.75573137070700676789e-06 * z - 1.98412698298579493134e-04)) *
                        zz +
                    (8.33333333332248946124e-03 * z - 1.66666666666666324348e-01);
  const lanes_t e = ((-1.13596475577881948265e-11 * z + 2.08757232129817482790e-09) * zz +
                     (-2.75573143513906633035e-07 * z + 2.48015872894767294178e-05)) *
                        zz +
                    (-1.38888888888741095749e-03 * z + 4.16666666666666019037e-02);
  const lanes_t s = y + y * z * p, c = (1.0 - 0.5 * z) + zz * e;
  const bits_t turn = (bits_t)t;
  const lanes_t odd = (lanes_t)(0 - (turn & 1));
  *sine = (lanes_t)((bits_t)pick(odd, c, s) ^ ((turn & 2) << 62));
  *cosine = (lanes_t)((bits_t)pick(odd, s, c) ^ (((turn + 1) & 2) << 62));
  *range += x * x;
}
#define RANGE 1e12
)";

constexpr const char* kSines32 = R"(
/* Within 2 units in the last place up to 5000 rad; `range` collects squares to check that. */
HELPER void sines(lanes_t x, lanes_t* sine, lanes_t* cosine, lanes_t* range) {
  const lanes_t t = x * 0x1.45f306p-1f + 0x1.8p23f; /* low bits: quarter turns */
  const lanes_t n = t - 0x1.8p23f;
  const lanes_t y = ((x - n * 1.5703125f) - n * 4.837512969970703125e-4f) -
                    n * 7.549789948768648e-8f;
  const lanes_t z = y * y;
  const lanes_t p = (-0x1.9aca52p-13f * z + 0x1.110c2ap-7f) * z - 0x1.555552p-3f;
  const lanes_t e = (0x1.9bd908p-16f * z - 0x1.6c12d4p-10f) * z + 0x1.555554p-5f;
  const lanes_t s = y + y * z * p, c = (1.0f - 0.5f * z) + z * z * e;
  const bits_t turn = (bits_t)t;
  const lanes_t odd = (lanes_t)(0 - (turn & 1));
  *sine = (lanes_t)((bits_t)pick(odd, c, s) ^ ((turn & 2) << 30));
  *cosine = (lanes_t)((bits_t)pick(odd, s, c) ^ (((turn + 1) & 2) << 30));
  *range += x * x;
}
#define RANGE 2.5e7f
)";

constexpr const char* kTransfers = R"(
HELPER int all_in_range(lanes_t range) {
  int k, good = 1;
  for (k = 0; k < LANES; ++k) good &= range[k] <= RANGE;
  return good;
}

#else
#define LANES 1
#define ALIGNED
#endif /* @P_SIMD */

/* `count` states into a block, entry i of state k at i * LANES + k; the last state is repeated.
   `entry` and `state` are the strides of x between entries and between states. */
static void load(@S* block, const @S* x, int entries, size_t entry, size_t state, int count) {
  int i, k;
  for (k = 0; k < LANES; ++k) {
    const @S* from = x + (size_t)(k < count ? k : count - 1) * state;
    for (i = 0; i < entries; ++i) block[i * LANES + k] = from[(size_t)i * entry];
  }
}
static void store(const @S* block, @S* x, int entries, size_t entry, size_t state, int count) {
  int i, k;
  for (k = 0; k < count; ++k) {
    @S* to = x + (size_t)k * state;
    for (i = 0; i < entries; ++i) to[(size_t)i * entry] = block[i * LANES + k];
  }
}

int @p_lanes(void) { return LANES; }
)";

std::string fill_in(std::string text, const std::string& prefix, Precision p) {
  const bool f64 = p == Precision::f64;
  std::string capitals = prefix;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const std::pair<std::string, std::string> names[] = {
      {"@S", c_type(p)},   {"@U", f64 ? "unsigned long long" : "unsigned int"},
      {"@P", capitals},    {"@p", prefix},
      {"@f", c_suffix(p)}, {"@0", c_literal(0, p)}};
  for (const auto& [name, value] : names) {
    for (std::size_t k = text.find(name); k != std::string::npos;
         k = text.find(name, k + value.size())) {
      text.replace(k, name.size(), value);
    }
  }
  return text;
}

/// Values of all lanes. A mask has all bits set or none.
class LanesC final : public CDialect {
 public:
  explicit LanesC(Precision precision) : precision_(precision) {}

  std::string constant(double x) const override { return c_literal(x, precision_); }
  std::string input(const Array& array, int entry) const override {
    return fmt::format("LOAD({}, {})", array.name, entry);
  }
  std::string store(const Array& array, int entry, const std::string& value) const override {
    return fmt::format("  STORE({}, {}) = {};\n", array.name, entry, broadcast(value));
  }
  bool pairs_sines() const override { return true; }
  std::string sine_and_cosine(const std::string& angle, const std::string& sine,
                              const std::string& cosine) const override {
    return fmt::format("  sines({}, &{}, &{}, &range);\n", angle, sine, cosine);
  }

  std::string expression(Opcode opcode, const std::string& a, const std::string& b,
                         const std::string& c) const override {
    const auto bits = [](const std::string& x) { return "(bits_t)" + x; };
    switch (opcode) {
      case Opcode::fma:
        return fmt::format("{} * {} + {}", a, b, c);
      case Opcode::fms:
        return fmt::format("{} * {} - {}", a, b, c);
      case Opcode::fnma:
        return fmt::format("{} - {} * {}", c, a, b);
      case Opcode::abs:
        return fmt::format("lanes_abs({})", a);
      case Opcode::sqrt:
        return fmt::format("lanes_sqrt({})", a);
      case Opcode::atan2:
        return fmt::format("lanes_atan2({}, {})", broadcast(a), broadcast(b));
      case Opcode::less:
        return fmt::format("(lanes_t)({} < {})", broadcast(a), broadcast(b));
      case Opcode::less_equal:
        return fmt::format("(lanes_t)({} <= {})", broadcast(a), broadcast(b));
      case Opcode::both:
        return fmt::format("(lanes_t)({} & {})", bits(a), bits(b));
      case Opcode::either:
        return fmt::format("(lanes_t)({} | {})", bits(a), bits(b));
      case Opcode::complement:
        return fmt::format("(lanes_t)(~{})", bits(a));
      case Opcode::select:
        return fmt::format("pick({}, {}, {})", a, broadcast(b), broadcast(c));
      default:
        return arithmetic(opcode, a, b);
    }
  }

 private:
  /// A constant in all lanes; arithmetic broadcasts it implicitly.
  static std::string broadcast(const std::string& x) {
    const bool value = x[0] == 'w' || x[0] == 'L';
    return value ? x : "all(" + x + ")";
  }

  Precision precision_;
};

std::string parameters(const Trace& trace, Precision p) {
  std::string text = "size_t states";
  for (const Array& a : trace.inputs) text += fmt::format(", const {}* {}", c_type(p), a.name);
  for (const Array& a : trace.outputs) text += fmt::format(", {}* {}", c_type(p), a.name);
  return text;
}

std::vector<Array> arrays_of(const Trace& trace) {
  std::vector<Array> arrays = trace.inputs;
  arrays.insert(arrays.end(), trace.outputs.begin(), trace.outputs.end());
  return arrays;
}

/// The function for one block of lanes.
std::string kernel(const Trace& trace, const Code& code, const CStatements& body,
                   const std::string& capitals, Precision p) {
  std::string arguments;
  const auto add = [&](const Array& a, const char* how) {
    arguments += fmt::format("{}{}* restrict {}, ", how, c_type(p), a.name);
  };
  for (const Array& a : trace.inputs) add(a, "const ");
  for (const Array& a : trace.outputs) add(a, "");
  arguments.resize(arguments.size() - 2);
  const bool angles = code.count(Opcode::sine) + code.count(Opcode::cosine) > 0;
  std::string text = fmt::format("\n#if {}_SIMD\n", capitals);
  text += fmt::format("static int {}_block({}) {{\n", trace.name, arguments);
  if (body.slots > 0) text += fmt::format("  lanes_t w[{}];\n", body.slots);
  if (angles) text += "  lanes_t range = {0};\n";
  text += c_unused_inputs(code) + body.text;
  text += angles ? "  return all_in_range(range);\n" : "  return 1;\n";
  return text + "}\n#endif\n";
}

/// The loop over blocks; blocks with an angle out of range are computed state by state.
std::string loop(const Trace& trace, const std::string& prefix, const std::string& capitals,
                 Precision p) {
  std::string text =
      fmt::format("\nstatic void {}_states({}, int rows) {{\n", trace.name, parameters(trace, p));
  std::string blocks, singles, in, out, from, to;
  for (const Array& a : arrays_of(trace)) {
    text += fmt::format("  {} block_{}[{} * LANES] ALIGNED;\n", c_type(p), a.name, a.size());
    blocks += (blocks.empty() ? "block_" : ", block_") + a.name;
    singles += fmt::format("{}one_{}", singles.empty() ? "" : ", ", a.name);
  }
  const auto move = [](const char* how, const char* first, const std::string& second,
                       const Array& a, const char* count) {
    return fmt::format("    {}({}, {}, {}, rows ? 1 : states, rows ? {} : 1, {});\n", how, first,
                       second, a.size(), a.size(), count);
  };
  for (const Array& a : trace.inputs) {
    in += move("load", ("block_" + a.name).c_str(),
               fmt::format("{0} + s * (rows ? {1} : 1)", a.name, a.size()), a, "count");
  }
  for (const Array& a : trace.outputs) {
    out += move("store", ("block_" + a.name).c_str(),
                fmt::format("{0} + s * (rows ? {1} : 1)", a.name, a.size()), a, "count");
  }
  for (const Array& a : arrays_of(trace)) {
    from += fmt::format("        {} one_{}[{}];\n", c_type(p), a.name, a.size());
  }
  from += "        int i;\n";
  for (const Array& a : trace.inputs) {
    from +=
        fmt::format("        for (i = 0; i < {1}; ++i) one_{0}[i] = block_{0}[i * LANES + k];\n",
                    a.name, a.size());
  }
  for (const Array& a : trace.outputs) {
    to += fmt::format("        for (i = 0; i < {1}; ++i) block_{0}[i * LANES + k] = one_{0}[i];\n",
                      a.name, a.size());
  }
  text += "  size_t s;\n  for (s = 0; s < states; s += LANES) {\n";
  text += "    const int count = states - s < LANES ? (int)(states - s) : LANES;\n    int k;\n";
  text += in;
  text +=
      fmt::format("#if {}_SIMD\n    if (!{}_block({}))\n#endif\n", capitals, trace.name, blocks);
  text += "    {\n      for (k = 0; k < count; ++k) {\n" + from;
  text +=
      fmt::format("        {}_{}({});\n", prefix, trace.name, singles) + to + "      }\n    }\n";
  return text + out + "  }\n}\n";
}

/// A public function for one layout.
std::string entry_point(const Trace& trace, const std::string& prefix, const char* layout,
                        Precision p, bool body) {
  std::string text =
      fmt::format("void {}_{}_{}({})", prefix, trace.name, layout, parameters(trace, p));
  if (!body) return text + ";\n";
  text += fmt::format(" {{\n  {}_states(states", trace.name);
  for (const Array& a : arrays_of(trace)) text += ", " + a.name;
  return text + fmt::format(", {});\n}}\n", std::string(layout) == "rows" ? 1 : 0);
}

}  // namespace

std::string simd_prototypes(const Trace& trace, const std::string& prefix, Precision precision) {
  return entry_point(trace, prefix, "rows", precision, false) +
         entry_point(trace, prefix, "columns", precision, false);
}

CSource emit_c_simd(const std::vector<Trace>& traces, const std::string& prefix,
                    Precision precision) {
  const std::string capitals = fill_in("@P", prefix, precision);
  CSource source;
  source.text = fill_in(
      std::string(kPreamble) + (precision == Precision::f64 ? kSines64 : kSines32) + kTransfers,
      prefix, precision);
  for (const Trace& trace : traces) {
    const Code code = lower(trace, {.precision = precision, .inline_sincos = false});
    const CStatements body = write_statements(code, LanesC(precision));
    source.operations += code.operation_count();
    source.text += kernel(trace, code, body, capitals, precision);
    source.text += loop(trace, prefix, capitals, precision);
    source.text += entry_point(trace, prefix, "rows", precision, true);
    source.text += entry_point(trace, prefix, "columns", precision, true);
    // 64 bytes per value, and a copy of the arrays of the states.
    std::size_t entries = static_cast<std::size_t>(body.slots);
    for (const Array& a : arrays_of(trace)) entries += static_cast<std::size_t>(a.size());
    source.scratch_bytes = std::max(source.scratch_bytes, 64 * entries);
  }
  return source;
}

}  // namespace limb::codegen
