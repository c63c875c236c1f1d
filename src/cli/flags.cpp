#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "diag/suggest.h"
#include "units/parse.h"

namespace kvsim::cli {
namespace {

std::string number_text(double x) {
  return x == static_cast<double>(static_cast<std::int64_t>(x)) ? fmt::format("{:.0f}", x)
                                                                : fmt::format("{}", x);
}

// "" or ` of at least 1`.
std::string out_of_range(double value, const config::Range& r) {
  const bool low_ok = r.open_low ? value > r.low : value >= r.low;
  if (low_ok && value <= r.high) return {};
  const bool low = r.low > -std::numeric_limits<double>::infinity();
  const bool high = r.high < std::numeric_limits<double>::infinity();
  std::string text;
  if (low) text += fmt::format(" {} {}", r.open_low ? "above" : "of at least", number_text(r.low));
  if (high) text += fmt::format("{} at most {}", low ? " and" : " of", number_text(r.high));
  return text;
}

template <class T, class Parse, class Plain>
auto quantity(T& target, std::string_view what, Parse parse, Plain plain) {
  return [&target, what, parse, plain](const FlagSpec& spec, std::string_view text) -> std::string {
    const auto parsed = parse(text);
    if (!parsed) return std::string(what);
    if (const std::string limit = out_of_range(plain(*parsed), spec.limits); !limit.empty())
      return std::string(what.substr(0, what.find(" such as"))) + limit;
    target = *parsed;
    return {};
  };
}

}  // namespace

FlagSpec& FlagSpec::words(std::vector<std::string> list) {
  choices = std::move(list);
  complete = Complete::words;
  return *this;
}

FlagSpec& Flags::add(std::string_view names, std::string_view doc, Arity arity) {
  FlagSpec& spec = list_.emplace_back();
  spec.name = names.substr(0, names.find(','));
  for (auto at = names.find(','); at != std::string_view::npos;) {
    const auto next = names.find(',', at + 1);
    spec.aliases.emplace_back(
        names.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    at = next;
  }
  spec.doc = doc, spec.arity = arity, spec.section = section_;
  return spec;
}

FlagSpec& Flags::flag(std::string_view names, bool& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::none);
  spec.accept = [&value](const FlagSpec&, std::string_view text) -> std::string {
    if (text != "true" && text != "false") return "no value, true or false";
    value = text == "true";
    return {};
  };
  return spec;
}

FlagSpec& Flags::flag(std::string_view names, std::optional<bool>& value, std::string_view doc) {
  bool scratch = false;
  FlagSpec& spec = flag(names, scratch, doc);
  spec.accept = [&value](const FlagSpec&, std::string_view text) -> std::string {
    if (text != "true" && text != "false") return "no value, true or false";
    value = text == "true";
    return {};
  };
  FlagSpec& negated = add("--no-" + spec.name.substr(2), "the opposite", Arity::none);
  negated.is_hidden = true;
  negated.accept = [&value](const FlagSpec&, std::string_view text) -> std::string {
    if (text != "true") return "no value";
    value = false;
    return {};
  };
  return spec;
}

FlagSpec& Flags::count(std::string_view names, int& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::none);
  spec.accept = [&value](const FlagSpec&, std::string_view) -> std::string { return ++value, ""; };
  return spec;
}

FlagSpec& Flags::option(std::string_view names, std::string& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "TEXT";
  spec.accept = [&value](const FlagSpec&, std::string_view text) -> std::string {
    return value = std::string(text), "";
  };
  return spec;
}

FlagSpec& Flags::option(std::string_view names, std::int64_t& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "N";
  spec.accept = quantity(value, "a whole number", parse_integer,
                         [](std::int64_t x) { return static_cast<double>(x); });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, int& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "N";
  const auto narrow = [](std::string_view text) -> std::optional<int> {
    const auto wide = parse_integer(text);
    if (!wide || *wide < std::numeric_limits<int>::min() || *wide > std::numeric_limits<int>::max())
      return std::nullopt;
    return static_cast<int>(*wide);
  };
  spec.accept =
      quantity(value, "a whole number", narrow, [](int x) { return static_cast<double>(x); });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, double& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "X";
  spec.accept = quantity(value, "a number", parse_number, [](double x) { return x; });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, Bytes& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "SIZE";
  spec.accept = quantity(value, "a size such as 80GiB, 40GB or a number of bytes", parse_bytes,
                         [](Bytes x) { return static_cast<double>(x.value()); });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, Duration& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "TIME";
  spec.accept = quantity(value, "a time such as 20us, 1.5ms, 2s or 10min", parse_duration,
                         [](Duration x) { return to_seconds(x); });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, Bandwidth& value, std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = "RATE";
  spec.accept = quantity(value, "a bandwidth such as 450GB/s", parse_bandwidth,
                         [](Bandwidth x) { return x.value(); });
  return spec;
}

FlagSpec& Flags::option(std::string_view names, std::vector<std::string>& values,
                        std::string_view doc) {
  FlagSpec& spec = add(names, doc, Arity::many);
  spec.value_name = "TEXT";
  spec.accept = [&values](const FlagSpec&, std::string_view text) -> std::string {
    return values.emplace_back(text), "";
  };
  return spec;
}

FlagSpec& Flags::positional(std::string_view name, std::string& value, std::string_view doc) {
  FlagSpec& spec = option(name, value, doc);
  spec.value_name = spec.name, spec.positional = true;
  return spec;
}

FlagSpec& Flags::positional(std::string_view name, std::vector<std::string>& values,
                            std::string_view doc) {
  FlagSpec& spec = option(name, values, doc);
  spec.value_name = spec.name, spec.positional = true;
  return spec;
}

void Flags::example(std::string_view line, std::string_view meaning) {
  examples_.push_back({std::string(line), std::string(meaning)});
}

const FlagSpec* Flags::find(std::string_view name) const {
  for (const FlagSpec& spec : list_)
    if (!spec.positional && (spec.name == name || std::ranges::count(spec.aliases, name) > 0))
      return &spec;
  return nullptr;
}

}  // namespace kvsim::cli
