#include "planner/length_mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "config/document.h"
#include "units/format.h"
#include "units/parse.h"
#include "workload/generate/spec.h"
#include "workload/trace/format.h"

namespace kvsim::planner {
namespace {

constexpr int parts = 200;
constexpr double most_tokens = 1 << 30;

// The standard normal quantile, by bisection.
double normal_quantile(double share) {
  double low = -10, high = 10;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::numbers::sqrt2) / 2 < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

struct Side {
  std::vector<std::int64_t> lengths;  // of equal chance
  std::string text;
};

std::optional<Side> parse_side(std::string_view text) {
  const auto sign = text.find("+-");
  const auto mean = parse_integer(text.substr(0, sign));
  if (!mean || *mean < 1 || static_cast<double>(*mean) > most_tokens) return std::nullopt;
  Side side{{*mean}, format_integer(*mean)};
  if (sign == std::string_view::npos) return side;
  const auto deviation = parse_integer(text.substr(sign + 2));
  if (!deviation || *deviation < 0 || static_cast<double>(*deviation) > most_tokens)
    return std::nullopt;
  side.text += "+-" + format_integer(*deviation);
  if (*deviation == 0) return side;
  const double ratio = static_cast<double>(*deviation) / static_cast<double>(*mean);
  const double variance = std::log1p(ratio * ratio);
  const double centre = std::log(static_cast<double>(*mean)) - variance / 2;
  side.lengths.clear();
  for (int i = 0; i < parts; ++i) {
    const double z = normal_quantile((i + 0.5) / parts);
    const double tokens = std::exp(centre + std::sqrt(variance) * z);
    side.lengths.push_back(std::llround(std::clamp(tokens, 1.0, most_tokens)));
  }
  return side;
}

using Counts = std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>;

LengthMix from_source(workload::RequestSource& source, std::string description) {
  Counts counts;
  LengthMix mix;
  mix.description = std::move(description);
  workload::RequestSpec request;
  while (source.list(request)) {
    ++counts[{request.prompt_tokens, std::min(request.output_tokens, request.max_tokens)}];
    ++mix.requests;
  }
  for (const auto& [lengths, count] : counts)
    mix.rows.push_back(
        {lengths.first, std::max<std::int64_t>(lengths.second, 1), static_cast<double>(count)});
  return mix;
}

bool is_workload_file(const std::string& file) {
  if (!file.ends_with(".json")) return false;
  try {
    const auto document = config::Document::load(file);
    const auto schema = document.root().find("schema");
    return schema.exists() && schema.kind() == config::Kind::string &&
           schema.string() == "kvsim.workload/1";
  } catch (const InputError&) {
    return false;  // a trace may be JSON too
  }
}

}  // namespace

std::optional<LengthMix> parse_length_mix(std::string_view text) {
  const auto colon = text.find(':');
  const auto prompt = parse_side(text.substr(0, colon));
  if (!prompt) return std::nullopt;
  LengthMix mix;
  if (colon == std::string_view::npos) {
    mix.description = prompt->text + " tokens";
    for (const std::int64_t n : prompt->lengths) mix.rows.push_back({n, 1, 1});
    return mix;
  }
  const auto output = parse_side(text.substr(colon + 1));
  if (!output) return std::nullopt;
  mix.description = fmt::format("{} in, {} out", prompt->text, output->text);
  for (const std::int64_t in : prompt->lengths)
    for (const std::int64_t out : output->lengths) mix.rows.push_back({in, out, 1});
  return mix;
}

LengthMix read_length_mix(const std::string& file) {
  if (is_workload_file(file)) {
    config::Document document = config::Document::load(file);
    const workload::WorkloadFile spec = workload::read_workload_file(document);
    const auto slash = file.find_last_of('/');
    const std::string folder =
        slash == std::string::npos ? std::string() : file.substr(0, slash + 1);
    const auto source =
        workload::generate(spec.generate, static_cast<std::uint64_t>(spec.seed), folder);
    return from_source(*source, "kvsim.workload/1 file");
  }
  workload::TraceOptions options;
  options.file = file;
  const workload::Trace trace = workload::load_trace(options);
  return from_source(*trace.source, "trace in format " + trace.format);
}

}  // namespace kvsim::planner
