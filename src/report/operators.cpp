#include "report/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/table.h"

namespace kvsim::report {

using metrics::OperatorShare;

std::vector<OperatorShare> pool_operators(const metrics::RunResult& result, int pool_index) {
  std::vector<OperatorShare> out;
  std::map<std::string, double> longest;
  double busy = 0;
  for (const metrics::EngineResult& e : result.engines) {
    if (e.pool_index != pool_index) continue;
    busy += e.busy_s;
    for (const OperatorShare& op : e.operators) {
      auto at = std::ranges::find(out, op.name, &OperatorShare::name);
      if (at == out.end()) {
        out.push_back({op.name, 0, 0, 0, {}, {}});
        at = out.end() - 1;
      }
      at->seconds += op.seconds;
      at->calls += op.calls;
      if (double& most = longest[op.name]; at->binds.empty() || op.seconds > most) {
        most = op.seconds;
        at->binds = op.binds;
        at->source = op.source;
      }
    }
  }
  for (OperatorShare& op : out) op.share_ratio = busy > 0 ? op.seconds / busy : 0;
  std::ranges::stable_sort(out, std::ranges::greater{}, &OperatorShare::seconds);
  return out;
}

std::vector<OperatorShare> shortened(std::vector<OperatorShare> operators, std::size_t count) {
  // One line for one operator saves nothing.
  if (operators.size() <= count + 1) return operators;
  OperatorShare rest;
  rest.name = fmt::format("{} others", operators.size() - count);
  for (std::size_t i = count; i < operators.size(); ++i) {
    rest.seconds += operators[i].seconds;
    rest.share_ratio += operators[i].share_ratio;
    rest.calls += operators[i].calls;
  }
  operators.resize(count);
  operators.push_back(std::move(rest));
  return operators;
}

std::string share_bar(double share, std::size_t width, Glyphs glyphs) {
  if (share <= 0) return {};
  const double cells = std::min(share, 1.0) * static_cast<double>(width);
  if (glyphs == Glyphs::ascii)
    return std::string(std::max<std::size_t>(static_cast<std::size_t>(std::lround(cells)), 1), '#');
  // Eighths of a block, from one eighth to a full one.
  static constexpr const char* parts[] = {"",       "\u258f", "\u258e", "\u258d", "\u258c",
                                          "\u258b", "\u258a", "\u2589", "\u2588"};
  const auto eighths = std::max<std::int64_t>(std::llround(cells * 8), 1);
  std::string out;
  for (std::int64_t i = 0; i < eighths / 8; ++i) out += parts[8];
  return out + parts[eighths % 8];
}

std::string operator_table(const std::vector<OperatorShare>& operators, Glyphs glyphs,
                           std::size_t indent) {
  constexpr std::size_t bar = 32;
  Table table({{"", Align::left}, {"", Align::right}, {"", Align::left}, {"", Align::left}});
  double longest = 0;
  for (const OperatorShare& op : operators) longest = std::max(longest, op.share_ratio);
  for (const OperatorShare& op : operators)
    table.row({op.name, fmt::format("{:.1f} %", 100 * op.share_ratio), op.binds,
               share_bar(longest > 0 ? op.share_ratio / longest : 0, bar, glyphs)});
  return table.text(indent);
}

}  // namespace kvsim::report
