#include "report/plan_answers.h"

#include <fmt/format.h>

#include <cmath>

#include "report/table.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {

using planner::Plan;
using planner::Setting;

std::string setting_text(const Setting& s) {
  if (s.word == "true") return s.name;
  if (!s.word.empty()) return s.name + " " + s.word;
  if (s.name == "cpu_offload" || s.name == "kv_cache_memory_bytes")
    return s.name + " " + format_bytes(Bytes(static_cast<std::int64_t>(s.number)));
  const bool whole = s.number == std::floor(s.number);
  return s.name + " " +
         (whole ? format_integer(static_cast<std::int64_t>(s.number))
                : fmt::format("{:g}", s.number));
}

std::string settings_text(const planner::Advice& a) {
  std::string text;
  for (const Setting& s : a.set) text += (text.empty() ? "" : ", ") + setting_text(s);
  return text;
}

std::string feasible_text(const Plan& p) {
  if (p.feasible.ranges.empty())
    return fmt::format("no max_model_len up to {}", format_integer(p.feasible.limit));
  std::string text;
  for (const planner::LengthRange& r : p.feasible.ranges) {
    if (!text.empty()) text += ", ";
    text += r.first == r.last
                ? format_integer(r.first)
                : fmt::format("{} to {}", format_integer(r.first), format_integer(r.last));
  }
  if (p.feasible.largest < p.feasible.limit)
    return text + fmt::format(" of {}", format_integer(p.feasible.limit));
  return text + ", all there are";
}

std::string smallest_text(const Plan& p) {
  if (p.smallest.empty()) return {};
  Table t({{"", Align::left}, {"", Align::left}});
  for (const planner::Smallest& s : p.smallest) {
    if (!s.found) {
      t.row({s.name, fmt::format("none fits (tried {})", s.tried)});
      continue;
    }
    std::string value = s.found->word.empty()
                            ? format_integer(static_cast<std::int64_t>(s.found->number))
                            : s.found->word;
    value += s.same ? ", as asked" : fmt::format(" (asked {})", s.asked);
    t.row({s.name,
           fmt::format("{}: {} KV tokens, {:.2f} requests of {}", value, format_integer(s.tokens),
                       s.max_concurrency, format_integer(p.max_model_len))});
  }
  return "Smallest that fits, each alone (of the formats: the widest)\n" + t.text(2, 100);
}

std::string binding_text(const Plan& p) {
  if (p.fits || p.binding.term.empty()) return {};
  const planner::Binding& b = p.binding;
  std::string text = fmt::format("Largest: {}, {} of {} {}", b.term, format_bytes(b.bytes),
                                 p.kv_given ? "a sum of" : "a budget of", format_bytes(b.budget));
  if (b.line != b.term)
    text +=
        fmt::format(" ({}: {})", b.line.substr(b.line.find(' ') + 1), format_bytes(b.line_bytes));
  if (b.kv_needed.value() > 0)
    text += fmt::format("; one request needs {} of KV, there are {}", format_bytes(b.kv_needed),
                        format_bytes(b.kv_there));
  std::string out = wrap(text + ".", 100, 2);
  if (p.nothing_fits) out += "No setting does, on up to 64 of any GPU of the catalog.\n";
  return out;
}

}  // namespace kvsim::report
