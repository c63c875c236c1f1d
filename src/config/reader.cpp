#include "config/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "diag/suggest.h"
#include "units/format.h"
#include "units/parse.h"

namespace kvsim::config {
namespace {

std::string range_text(const Range& range) {
  const auto text = [](double x) {
    return x == std::floor(x) && std::abs(x) < 1e15 ? fmt::format("{:.0f}", x)
                                                    : fmt::format("{}", x);
  };
  const bool low = std::isfinite(range.low), high = std::isfinite(range.high);
  if (low && high)
    return fmt::format("{} {} up to {}", range.open_low ? "above" : "from", text(range.low),
                       text(range.high));
  if (low) return fmt::format("{} {}", range.open_low ? "above" : "at least", text(range.low));
  if (high) return fmt::format("at most {}", text(range.high));
  return "any number";
}

bool inside(double value, const Range& range) {
  return value <= range.high && (range.open_low ? value > range.low : value >= range.low);
}

class Reader final : public FieldVisitor {
 public:
  Reader(Value root, Diagnostics& diagnostics, Origins* origins)
      : diagnostics_(diagnostics), origins_(origins) {
    if (root.is_object()) {
      scopes_.push_back({root, {}, {}, root.pointer()});
    } else {
      diagnostics.add(root.diagnostic(
          "wrong-type", fmt::format("expected an object, found {}", root.describe())));
      scopes_.push_back({});
    }
  }

  void finish_scope() {
    Scope& scope = scopes_.back();
    if (!scope.object.exists()) return;
    std::size_t unknown = 0;
    for (std::size_t i = 0; i < scope.object.size(); ++i) {
      const std::string& key = scope.object.key(i);
      if (is_known(scope, key)) continue;
      // Beyond a screenful the nearest words help nobody and cost the most.
      if (++unknown <= suggested_keys)
        diagnostics_.add(scope.object.at(i).key_diagnostic(
            "unknown-key", fmt::format("unknown key {}", json_string(key)),
            suggestion(key, scope.known)));
    }
    if (unknown > suggested_keys)
      diagnostics_.add(scope.object.diagnostic(
          "unknown-key", fmt::format("{} more unknown keys", unknown - suggested_keys)));
  }

  using FieldVisitor::field;
  void field(const Field& f, bool& value) override {
    const Value v = take(f);
    if (!v.exists()) return;
    if (v.kind() != Kind::boolean) return mismatch(f, v, "true or false");
    value = v.boolean();
  }
  void field(const Field& f, std::int64_t& value, Range range) override {
    const Value v = take(f);
    if (v.exists()) integer(f, v, value, range);
  }
  void field(const Field& f, double& value, Range range) override {
    const Value v = take(f);
    if (v.exists()) number(f, v, value, range);
  }
  void field(const Field& f, std::string& value) override {
    const Value v = take(f);
    if (!v.exists()) return;
    if (!v.is_string()) return mismatch(f, v, "a string");
    value = v.string();
  }
  void field(const Field& f, Bytes& value, Range range) override {
    const Value v = take(f);
    if (!v.exists()) return;
    std::optional<Bytes> parsed;
    if (v.is_string())
      parsed = parse_bytes(v.string());
    else if (v.kind() == Kind::integer)
      parsed = Bytes(v.integer());
    if (!parsed) return mismatch(f, v, "a size such as \"80GiB\" or a whole number of bytes");
    if (!inside(static_cast<double>(parsed->value()), range))
      return out_of_range(f, v, range, " bytes");
    value = *parsed;
  }
  void field(const Field& f, Duration& value, Range range) override {
    const Value v = take(f);
    if (!v.exists()) return;
    std::optional<Duration> parsed;
    if (v.is_string())
      parsed = parse_duration(v.string());
    else if (is_number(v) && std::abs(v.number()) < 9e9)
      parsed = to_duration(v.number());
    if (!parsed)
      return mismatch(f, v, "a time such as \"20us\", \"1.5ms\", \"2s\" or a number of seconds");
    if (!inside(to_seconds(*parsed), range)) return out_of_range(f, v, range, " seconds");
    value = *parsed;
  }
  void field(const Field& f, Bandwidth& value, Range range) override {
    const Value v = take(f);
    if (!v.exists()) return;
    std::optional<Bandwidth> parsed;
    if (v.is_string())
      parsed = parse_bandwidth(v.string());
    else if (is_number(v))
      parsed = Bandwidth(v.number());
    if (!parsed)
      return mismatch(f, v, "a bandwidth such as \"450GB/s\" or a number of bytes per second");
    if (!inside(parsed->value(), range)) return out_of_range(f, v, range, " bytes per second");
    value = *parsed;
  }
  void field(const Field& f, RawValue& value) override {
    const Value v = take(f);
    if (v.exists()) value = {v.json(), v.origin(), v.pointer()};
  }
  void field(const Field& f, std::vector<std::int64_t>& value, Range range) override {
    elements(f, value, [&](const Value& v, std::int64_t& x) { integer(f, v, x, range); });
  }
  void field(const Field& f, std::vector<double>& value, Range range) override {
    elements(f, value, [&](const Value& v, double& x) { number(f, v, x, range); });
  }
  void field(const Field& f, std::vector<std::string>& value) override {
    elements(f, value, [&](const Value& v, std::string& x) {
      if (!v.is_string()) return mismatch(f, v, "a string");
      x = v.string();
    });
  }
  void word(const Field& f, int& index, std::span<const std::string_view> words) override {
    const Value v = take(f);
    if (!v.exists()) return;
    const std::vector<std::string> list(words.begin(), words.end());
    if (!v.is_string()) return mismatch(f, v, fmt::format("one of {}", fmt::join(list, ", ")));
    for (std::size_t i = 0; i < words.size(); ++i)
      if (words[i] == v.string()) return void(index = static_cast<int>(i));
    diagnostics_.add(v.diagnostic("unknown-word",
                                  fmt::format("unknown {} {}", f.name, json_string(v.string())),
                                  suggestion(v.string(), list)));
  }

  bool describes() const override { return false; }

 protected:
  bool begin_part(bool relevant, std::string_view owner) override {
    owner_ = relevant ? "" : owner;
    return true;
  }
  void end_part() override { owner_ = {}; }
  // Absent: a value that the struct starts with stays; null takes it away.
  bool begin_optional(const Field& f, bool has_value) override {
    const Value v = peek(f);
    if (v.exists() ? !v.is_null() : has_value && !f.required) return true;
    if (!v.exists() && f.required) missing(f);
    note_origin(f, v);
    return false;
  }
  void end_optional() override {}
  bool begin_object(const Field& f) override {
    const Value v = take(f);
    if (v.exists() && !v.is_object()) mismatch(f, v, "an object");
    const std::string pointer = scopes_.back().pointer + "/" + std::string(f.name);
    // Absent: visit all the same, so that nested required fields and defaults are seen.
    if (!v.exists() && !f.required)
      scopes_.push_back({Value{}, {}, {}, pointer});
    else if (v.exists() && v.is_object())
      scopes_.push_back({v, {}, {}, pointer});
    else
      return false;
    return true;
  }
  void end_object() override {
    finish_scope();
    scopes_.pop_back();
  }
  std::size_t begin_list(const Field& f, std::size_t size) override {
    const Value v = take(f);
    if (v.exists() && !v.is_array()) mismatch(f, v, "a list");
    const bool usable = v.exists() && v.is_array();
    scopes_.push_back(
        {Value{}, {}, usable ? v : Value{}, scopes_.back().pointer + "/" + std::string(f.name)});
    return usable ? v.size() : v.exists() ? 0 : size;
  }
  bool begin_item(std::size_t i) override {
    const Value list = scopes_.back().list;
    if (!list.exists()) return false;  // a default list, not from the file
    const Value v = list.at(i);
    if (!v.is_object()) {
      diagnostics_.add(
          v.diagnostic("wrong-type", fmt::format("expected an object, found {}", v.describe())));
      return false;
    }
    scopes_.push_back({v, {}, {}, v.pointer()});
    return true;
  }
  void end_item() override { end_object(); }
  void end_list() override { scopes_.pop_back(); }

 private:
  struct Scope {
    Value object;                    // absent: every field is at its default
    std::vector<std::string> known;  // names asked for, aliases included
    Value list;
    std::string pointer;
  };

  static constexpr std::size_t suggested_keys = 20;

  static bool is_known(const Scope& scope, std::string_view key) {
    return std::ranges::find(scope.known, key) != scope.known.end();
  }
  static bool is_number(const Value& v) {
    return v.kind() == Kind::integer || v.kind() == Kind::number;
  }

  // The field's value under its name or one of its aliases.
  Value peek(const Field& f) {
    Scope& scope = scopes_.back();
    const bool again = is_known(scope, f.name);  // an optional field is looked at twice
    scope.known.emplace_back(f.name);
    Value found = scope.object.exists() ? scope.object.find(f.name) : Value{};
    std::string_view rest = f.aliases;
    while (!rest.empty()) {
      const auto comma = rest.find(',');
      const std::string_view alias = rest.substr(0, comma);
      rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
      scope.known.emplace_back(alias);
      const Value other = scope.object.exists() ? scope.object.find(alias) : Value{};
      if (!other.exists()) continue;
      if (!found.exists())
        found = other;
      else if (!again)
        diagnostics_.add(other.key_diagnostic(
            "two-names", fmt::format("\"{}\" and \"{}\" are the same field", f.name, alias),
            "keep one of them"));
    }
    if (found.exists() && !owner_.empty() && !again)
      diagnostics_.add(found.key_diagnostic("field-without-use",
                                            fmt::format("\"{}\" is a field of {}", f.name, owner_),
                                            "leave it out"));
    return found;
  }
  Value take(const Field& f) {
    const Value v = peek(f);
    if (!v.exists() && f.required) missing(f);
    note_origin(f, v);
    return v;
  }
  void note_origin(const Field& f, const Value& v) {
    if (!origins_) return;
    origins_->entries.push_back(
        {scopes_.back().pointer + "/" + std::string(f.name), v.exists() ? v.origin() : "default"});
  }
  void missing(const Field& f) {
    // The innermost object that the file does have is where the field would go.
    auto scope = scopes_.rbegin();
    while (scope != scopes_.rend() && !scope->object.exists()) ++scope;
    const std::string message = fmt::format("required field \"{}\" is missing: {}", f.name, f.doc);
    Diagnostic d;
    if (scope != scopes_.rend())
      d = scope->object.diagnostic("missing-field", message);
    else
      d.code = "missing-field", d.message = message;
    d.pointer = scopes_.back().pointer + "/" + std::string(f.name);
    diagnostics_.add(std::move(d));
  }
  void mismatch(const Field& f, const Value& v, std::string_view wanted) {
    diagnostics_.add(v.diagnostic(
        "wrong-type", fmt::format("{}: expected {}, found {}", f.name, wanted, v.describe())));
  }
  void out_of_range(const Field& f, const Value& v, const Range& range,
                    std::string_view unit = "") {
    diagnostics_.add(v.diagnostic(
        "out-of-range",
        fmt::format("{} must be {}{}, found {}", f.name, range_text(range), unit, v.describe())));
  }
  void integer(const Field& f, const Value& v, std::int64_t& value, const Range& range) {
    if (v.is_oversized_integer())
      return out_of_range(
          f, v, {std::max(range.low, -9.2e18), std::min(range.high, 9.2e18), range.open_low});
    if (v.kind() != Kind::integer) return mismatch(f, v, "a whole number");
    if (!inside(static_cast<double>(v.integer()), range)) return out_of_range(f, v, range);
    value = v.integer();
  }
  void number(const Field& f, const Value& v, double& value, const Range& range) {
    if (!is_number(v)) return mismatch(f, v, "a number");
    if (!inside(v.number(), range)) return out_of_range(f, v, range);
    value = v.number();
  }
  template <class T, class Read>
  void elements(const Field& f, std::vector<T>& values, Read read_one) {
    const Value v = take(f);
    if (!v.exists()) return;
    if (!v.is_array()) return mismatch(f, v, "a list");
    values.assign(v.size(), T{});
    for (std::size_t i = 0; i < v.size(); ++i) read_one(v.at(i), values[i]);
  }

  Diagnostics& diagnostics_;
  Origins* origins_;
  std::vector<Scope> scopes_;
  std::string_view owner_;  // of the irrelevant part that is being read; empty outside of one
};

}  // namespace

std::unique_ptr<FieldVisitor> make_reader(Value root, Diagnostics& diagnostics, Origins* origins) {
  return std::make_unique<Reader>(root, diagnostics, origins);
}

void finish(FieldVisitor& reader) { static_cast<Reader&>(reader).finish_scope(); }

void check_schema(Value root, std::string_view wanted, Diagnostics& diagnostics) {
  if (!root.is_object()) return;
  const Value v = root.find("schema");
  if (!v.exists())
    return diagnostics.add(root.diagnostic(
        "schema-missing", fmt::format("the first field must be \"schema\": \"{}\"", wanted)));
  if (!v.is_string())
    return diagnostics.add(v.diagnostic(
        "schema-wrong", fmt::format("schema: expected \"{}\", found {}", wanted, v.describe())));
  if (v.string() == wanted) return;
  const auto kind = [](std::string_view text) { return text.substr(0, text.find('/')); };
  if (kind(v.string()) == kind(wanted))
    diagnostics.add(v.diagnostic(
        "schema-version", fmt::format("schema {} is not a version this kvsim reads", v.describe()),
        fmt::format("it reads \"{}\"", wanted)));
  else
    diagnostics.add(v.diagnostic(
        "schema-wrong",
        fmt::format("expected a file with schema \"{}\", found {}", wanted, v.describe())));
}

}  // namespace kvsim::config
