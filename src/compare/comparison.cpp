#include "compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "units/parse.h"

namespace kvsim::compare {
namespace {

using config::Value;

bool is_under(std::string_view path, std::string_view name) {
  const std::string_view low = short_name(path);
  const auto below = [&](std::string_view whole) {
    return whole.starts_with(name) && (whole.size() == name.size() || whole[name.size()] == '.');
  };
  return below(path) || below(low);
}

bool is_gated(std::string_view path) {
  return path.starts_with("summary.") || path.starts_with("kv.") || path.starts_with("cost.");
}

// Leaves of two documents side by side; stops at the first 20 differences.
void scenario_differences(Value base, Value now, const std::string& path,
                          std::vector<std::string>& out) {
  if (out.size() >= 20) return;
  if (base.exists() && now.exists() && base.is_object() && now.is_object()) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      const std::string& key = base.key(i);
      scenario_differences(base.at(i), now.find(key), path.empty() ? key : path + '.' + key, out);
    }
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::string& key = now.key(i);
      if (!base.find(key).exists())
        scenario_differences(Value(), now.at(i), path.empty() ? key : path + '.' + key, out);
    }
    return;
  }
  if (base.exists() && now.exists() && base.is_array() && now.is_array() &&
      base.size() == now.size()) {
    for (std::size_t i = 0; i < base.size(); ++i) {
      scenario_differences(base.at(i), now.at(i), path + '.' + std::to_string(i), out);
    }
    return;
  }
  const auto text = [](Value value) {
    if (!value.exists()) return std::string("absent");
    std::string json = value.json();
    return json.size() > 40 ? json.substr(0, 37) + "..." : json;
  };
  if (!base.exists() || !now.exists() || base.json() != now.json()) {
    out.push_back(fmt::format("{}: {} -> {}", path, text(base), text(now)));
  }
}

Difference difference(const std::string& path, std::optional<double> base,
                      std::optional<double> now, double limit) {
  Difference d{path, base, now, 0, limit, Change::same};
  if (!base && !now) return d;
  if (!base || !now) {
    d.change = base ? Change::only_base : Change::only_new;
    return d;
  }
  if (*base == *now) return d;
  d.relative = *base != 0 ? (*now - *base) / std::abs(*base)
                          : std::copysign(std::numeric_limits<double>::infinity(), *now);
  if (std::abs(d.relative) <= limit) return d;
  switch (better(path)) {
    case Better::neutral:
      d.change = Change::drifted;
      break;
    case Better::lower:
      d.change = d.relative > 0 ? Change::regressed : Change::improved;
      break;
    case Better::higher:
      d.change = d.relative < 0 ? Change::regressed : Change::improved;
      break;
  }
  return d;
}

}  // namespace

bool Tolerances::names(std::string_view path) const {
  return std::ranges::any_of(by_name, [&](const auto& item) {
    return path == item.first || short_name(path) == item.first;
  });
}

double Tolerances::of(std::string_view path) const {
  // The last of those that fit, so that a later flag overrides an earlier one.
  for (auto it = by_name.rbegin(); it != by_name.rend(); ++it) {
    const std::string_view low = short_name(path);
    if (path == it->first || low == it->first || low.ends_with('_' + it->first)) return it->second;
  }
  return fallback;
}

std::string parse_tolerances(std::string_view text, Tolerances& out) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0) {
      return fmt::format("\"{}\" is not NAME=LIMIT, such as p99_ttft_ms=2% or default=0.5%", item);
    }
    const std::string name(item.substr(0, equals));
    std::string_view value = item.substr(equals + 1);
    const bool percent = value.ends_with('%');
    if (percent) value.remove_suffix(1);
    const auto number = parse_number(value);
    if (!number || *number < 0) {
      return fmt::format("\"{}\" is no tolerance for {}: a share such as 2% or 0.02",
                         item.substr(equals + 1), name);
    }
    const double limit = percent ? *number / 100 : *number;
    if (name == "default") {
      out.fallback = limit;
    } else {
      out.by_name.emplace_back(name, limit);
    }
  }
  return {};
}

int Comparison::count(Change change) const {
  return static_cast<int>(std::count_if(differences.begin(), differences.end(),
                                        [&](const Difference& d) { return d.change == change; }));
}

Comparison compare(const config::Document& base, const config::Document& now,
                   const Options& options) {
  const Figures before(base), after(now);
  Comparison out;
  const auto describe = [&](const config::Document& document, std::string& digest,
                            std::string& behaviour) {
    const Value scenario = document.root().find("scenario"),
                number = document.root().find("behaviour");
    if (scenario.exists()) digest = config::digest(scenario.json());
    if (number.exists()) behaviour = number.json();
    const Value complete = document.root().find("complete");
    if (complete.exists() && complete.kind() == config::Kind::boolean && !complete.boolean())
      out.complete = false;
  };
  describe(base, out.base_digest, out.base_behaviour);
  describe(now, out.new_digest, out.new_behaviour);
  if (before.is_run() && after.is_run() && !out.same_scenario()) {
    scenario_differences(base.root().find("scenario"), now.root().find("scenario"), "",
                         out.scenario_differences);
  }

  const bool common_only = !before.is_run() || !after.is_run();
  const auto wanted = [&](const std::string& path) {
    return is_gated(path) && (!is_interval_end(path) || options.tolerances.names(path)) &&
           std::none_of(options.ignore.begin(), options.ignore.end(),
                        [&](const std::string& name) { return is_under(path, name); });
  };
  for (const Figure& figure : before.list()) {
    if (!wanted(figure.path)) continue;
    const Figure* other = after.find(figure.path);
    if (other == nullptr && common_only) continue;
    out.differences.push_back(difference(figure.path, figure.value,
                                         other ? other->value : std::nullopt,
                                         options.tolerances.of(figure.path)));
  }
  for (const Figure& figure : after.list()) {
    if (common_only || !wanted(figure.path) || before.find(figure.path) != nullptr) continue;
    out.differences.push_back(difference(figure.path, std::nullopt, figure.value, 0));
  }
  return out;
}

}  // namespace kvsim::compare
