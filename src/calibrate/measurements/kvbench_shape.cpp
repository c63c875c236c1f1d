#include "calibrate/measurements/kvbench_shape.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace kvsim::calibrate {

using config::Kind;
using config::Value;

Value member(Value object, std::string_view name, bool right_kind(Value), std::string_view wanted,
             Diagnostics& diagnostics) {
  const Value v = object.find(name);
  if (!v.exists()) {
    diagnostics.add(
        object.diagnostic("missing-field", fmt::format("required field \"{}\" is missing", name)));
    return {};
  }
  if (right_kind(v)) return v;
  diagnostics.add(v.diagnostic(
      "wrong-type", fmt::format("{}: expected {}, found {}", name, wanted, v.describe())));
  return {};
}
bool is_text(Value v) { return v.is_string() && !v.string().empty(); }
bool is_amount(Value v) {
  return (v.kind() == Kind::integer || v.kind() == Kind::number) && v.number() >= 0 &&
         v.number() <= 1e21;
}

namespace {

bool is_object(Value v) { return v.is_object(); }
bool is_count(Value v) { return v.kind() == Kind::integer && v.number() >= 1 && v.number() <= 1e9; }

// The named numbers of a case's shape.
class ShapeFields {
 public:
  ShapeFields(Value shape, Diagnostics& diagnostics) : shape_(shape), diagnostics_(diagnostics) {}

  std::int64_t count(std::string_view name) {
    const Value v = member(shape_, name, is_count, "a whole number from 1 to 1e9", diagnostics_);
    return v.exists() ? static_cast<std::int64_t>(v.number()) : 1;
  }
  std::int64_t count_or(std::string_view name, std::int64_t otherwise) {
    const Value v = shape_.find(name);
    return !v.exists() || is_zero(v) ? otherwise : count(name);
  }
  std::string word_or(std::string_view name, std::string otherwise) {
    if (!shape_.find(name).exists()) return otherwise;
    const Value v = member(shape_, name, is_text, "a word", diagnostics_);
    return v.exists() ? v.string() : std::move(otherwise);
  }

 private:
  static bool is_zero(Value v) { return v.kind() == Kind::integer && v.number() == 0; }

  Value shape_;
  Diagnostics& diagnostics_;
};

void read_decode(ShapeFields shape, Measurement& m) {
  m.shape = DecodeAttention{shape.count("B"),   shape.count("L"), shape.count("Hq"),
                            shape.count("Hkv"), shape.count("D"), shape.count_or("window", 0)};
  m.figures.front().kernel = "decode_attn";
}

void read_prefill(ShapeFields shape, Measurement& m) {
  const std::int64_t queries = shape.count("Lq");
  m.shape = PrefillAttention{shape.count("B"),
                             queries,
                             shape.count_or("Lk", queries),
                             shape.count("Hq"),
                             shape.count("Hkv"),
                             shape.count("D"),
                             0};
  m.figures.front().kernel = "prefill_attn";
  if (const std::string mask = shape.word_or("mask", "causal"); mask != "causal")
    m.unmeasured = "attention without the causal mask";
}

void read_mla(ShapeFields shape, Measurement& m) {
  Mla core;
  core.batch = shape.count("B"), core.kv_len = shape.count("L"), core.n_heads = shape.count("Hq");
  core.q_len = shape.count_or("T", 1);
  m.shape = core;
  m.regime = "decode";
  m.figures.front().kernel = "mla";
}

void read_gemm(ShapeFields shape, Measurement& m) {
  m.shape = Gemm{shape.count("M"), shape.count("N"), shape.count("K")};
  m.figures.front().kernel = "gemm";
}

// "q" and "kv" of the dtype object, or one word for both.
void read_dtypes(Value result, Measurement& m) {
  const Value dtype = result.find("dtype");
  if (!dtype.exists()) return;
  if (dtype.is_string()) {
    m.dtype = dtype.string();
    return;
  }
  if (!dtype.is_object()) return;
  const auto word = [&](std::string_view name) {
    const Value v = dtype.find(name);
    return v.exists() && v.is_string() ? v.string() : std::string();
  };
  m.dtype = word("q"), m.kv_dtype = word("kv");
}

struct Reader {
  std::string_view kernel;
  void (*read)(ShapeFields shape, Measurement& m);
};
constexpr std::array<Reader, 7> readers{{{"decode_contiguous", read_decode},
                                         {"decode_paged", read_decode},
                                         {"decode_window", read_decode},
                                         {"decode_quantised", read_decode},
                                         {"prefill", read_prefill},
                                         {"mla_decode", read_mla},
                                         {"gemm", read_gemm}}};

}  // namespace

bool read_shape(std::string_view kernel, Value result, Measurement& m, Diagnostics& diagnostics) {
  for (const Reader& reader : readers) {
    if (reader.kernel != kernel) continue;
    read_dtypes(result, m);
    // A product's operands have one type; it has no cache.
    if (kernel == "gemm") m.kv_dtype.clear();
    const Value object = member(result, "shape", is_object, "an object", diagnostics);
    if (!object.exists()) return true;
    ShapeFields shape(object, diagnostics);
    if (const std::string lens = shape.word_or("lens", "uniform"); lens != "uniform")
      m.unmeasured = "sequences of several lengths (" + lens + ")";
    else
      reader.read(shape, m);
    if (const auto* s = std::get_if<DecodeAttention>(&m.shape);
        s && s->n_kv_heads > 0 && s->n_heads % s->n_kv_heads != 0)
      m.unmeasured = "query heads are no multiple of KV heads";
    return true;
  }
  return false;
}

void read_stated(std::string_view kernel, Value result, const BenchCase& work, Measurement& m) {
  read_dtypes(result, m);
  make_stated(kernel, work, m);
}

void make_stated(std::string_view kernel, const BenchCase& work, Measurement& m) {
  // Where only the cache is stored in another type, that is the type of the case.
  if (!m.kv_dtype.empty()) m.dtype = std::exchange(m.kv_dtype, "");
  m.shape = work;
  m.regime = kernel;
  m.figures.front().kernel = "bench";
}

}  // namespace kvsim::calibrate
