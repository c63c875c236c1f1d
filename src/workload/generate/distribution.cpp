#include "workload/generate/distribution.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "workload/trace/format.h"
#include "workload/trace/kvsim_line.h"

namespace kvsim::workload {
namespace {

constexpr int most_redraws = 10'000;
constexpr std::string_view length_kinds[] = {"fixed", "uniform", "lognormal", "empirical"};
constexpr std::string_view pause_kinds[] = {"fixed", "exponential", "lognormal"};

void add(Diagnostics& diagnostics, const std::string& pointer, std::string message) {
  Diagnostic d;
  d.code = "workload-distribution", d.pointer = pointer, d.message = std::move(message);
  diagnostics.add(std::move(d));
}

}  // namespace

LengthSpec fixed_length(std::int64_t value) {
  LengthSpec spec;
  spec.value = value;
  return spec;
}

void fields(config::FieldVisitor& v, LengthSpec& s) {
  using namespace config;
  const auto tokens = static_cast<double>(max_request_tokens);
  v.choice({"distribution", "how it is drawn"}, s.kind, length_kinds);
  v.field({"value", "fixed: the number"}, s.value, between(1, tokens));
  v.field({"min", "uniform: the least; lognormal: values below are drawn again"}, s.min,
          between(1, tokens));
  v.field({"max", "uniform: the most; lognormal: values above are drawn again"}, s.max,
          between(1, tokens));
  v.field({"median", "lognormal: the median"}, s.median, above_up_to(0, tokens));
  v.field({"sigma", "lognormal: deviation of the logarithm"}, s.sigma, between(0, 5));
  v.field({"file",
           "empirical: a trace in any format; input and output of one request come from one row"},
          s.file);
}

void check(const LengthSpec& s, Diagnostics& diagnostics, const std::string& pointer) {
  const struct {
    std::string_view name;
    bool given, needed, allowed;
  } rules[] = {
      {"value", s.value.has_value(), s.kind == LengthKind::fixed, s.kind == LengthKind::fixed},
      {"min", s.min.has_value(), s.kind == LengthKind::uniform,
       s.kind == LengthKind::uniform || s.kind == LengthKind::lognormal},
      {"max", s.max.has_value(), s.kind == LengthKind::uniform,
       s.kind == LengthKind::uniform || s.kind == LengthKind::lognormal},
      {"median", s.median.has_value(), s.kind == LengthKind::lognormal,
       s.kind == LengthKind::lognormal},
      {"sigma", s.sigma.has_value(), s.kind == LengthKind::lognormal,
       s.kind == LengthKind::lognormal},
      {"file", s.file.has_value(), s.kind == LengthKind::empirical,
       s.kind == LengthKind::empirical},
  };
  const std::string_view kind = length_kinds[static_cast<int>(s.kind)];
  for (const auto& rule : rules) {
    if (rule.needed && !rule.given)
      add(diagnostics, pointer, fmt::format("distribution \"{}\" needs \"{}\"", kind, rule.name));
    if (rule.given && !rule.allowed)
      add(diagnostics, pointer,
          fmt::format("\"{}\" has no meaning for distribution \"{}\"", rule.name, kind));
  }
  if (s.min && s.max && *s.min > *s.max)
    add(diagnostics, pointer, fmt::format("min {} is above max {}", *s.min, *s.max));
  // Redrawing must come to an end: the bounds have to hold a fair part of the distribution.
  if (s.kind == LengthKind::lognormal && s.median && s.sigma) {
    const double reach = 2 * std::max(*s.sigma, 0.05);
    const double log_median = random::portable_log(*s.median);
    const double low = random::portable_log(static_cast<double>(s.min.value_or(1)) - 0.5);
    const double high =
        random::portable_log(static_cast<double>(s.max.value_or(max_request_tokens)) + 0.5);
    if (low > log_median + reach || high < log_median - reach)
      add(diagnostics, pointer,
          "the bounds lie over two deviations away from the median: nearly every draw would fall "
          "outside");
  }
}

void fields(config::FieldVisitor& v, PauseSpec& s) {
  using namespace config;
  v.choice({"distribution", "how it is drawn"}, s.kind, pause_kinds);
  v.field({"time", "the pause (fixed), its mean (exponential) or its median (lognormal)"}, s.time,
          between(0, 1e7));
  v.field({"sigma", "lognormal: deviation of the logarithm"}, s.sigma, between(0, 5));
}

void check(const PauseSpec& s, Diagnostics& diagnostics, const std::string& pointer) {
  const bool lognormal = s.kind == PauseKind::lognormal;
  if (lognormal && !s.sigma)
    add(diagnostics, pointer, "distribution \"lognormal\" needs \"sigma\"");
  if (!lognormal && s.sigma)
    add(diagnostics, pointer,
        fmt::format("\"sigma\" has no meaning for distribution \"{}\"",
                    pause_kinds[static_cast<int>(s.kind)]));
}

Duration draw(const PauseSpec& s, random::Stream& stream) {
  const double seconds = to_seconds(s.time);
  switch (s.kind) {
    case PauseKind::fixed:
      return s.time;
    case PauseKind::exponential:
      return to_duration(stream.exponential(seconds));
    case PauseKind::lognormal:
      return to_duration(seconds * random::portable_exp(s.sigma.value_or(0) * stream.normal()));
  }
  return {};
}

Lengths::Lengths(const LengthSpec& spec, TraceColumn column, const std::string& folder)
    : spec_(spec) {
  if (spec.kind != LengthKind::empirical) return;
  TraceOptions options;
  options.file = spec.file.value_or("");
  const auto source = open_trace(options, folder);
  RequestSpec request;
  while (source->list(request))
    rows_.push_back(static_cast<std::int32_t>(
        column == TraceColumn::input ? request.prompt_tokens
                                     : std::min(request.output_tokens, request.max_tokens)));
}

std::int64_t Lengths::draw(std::uint64_t seed, std::string_view name, std::uint64_t index) const {
  switch (spec_.kind) {
    case LengthKind::fixed:
      return *spec_.value;
    case LengthKind::uniform:
      return random::Stream(seed, name, index).uniform_integer(*spec_.min, *spec_.max);
    case LengthKind::lognormal: {
      random::Stream stream(seed, name, index);
      const std::int64_t low = spec_.min.value_or(1), high = spec_.max.value_or(max_request_tokens);
      for (int tries = 0; tries < most_redraws; ++tries) {
        const double x = *spec_.median * random::portable_exp(*spec_.sigma * stream.normal());
        if (x >= 1e18) continue;
        const std::int64_t length = std::llround(x);
        if (length >= low && length <= high) return length;
      }
      Diagnostic d;
      d.code = "workload-distribution";
      d.message = fmt::format(
          "{}: a lognormal length with median {} and sigma {} fell outside {} to {} in {} draws",
          name, *spec_.median, *spec_.sigma, low, high, most_redraws);
      throw InputError(std::move(d));
    }
    case LengthKind::empirical: {
      random::Stream stream(seed, "empirical", index);
      return rows_[static_cast<std::size_t>(
          stream.uniform_integer(0, static_cast<std::int64_t>(rows_.size()) - 1))];
    }
  }
  return 0;
}

}  // namespace kvsim::workload
