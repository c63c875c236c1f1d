#include <fmt/format.h>

#include "report/plan_answers.h"
#include "report/table.h"
#include "report/wrap.h"
#include "units/format.h"

namespace kvsim::report {
namespace {

using planner::Plan;

// Counts of blocks and cells whole, bytes with a unit.
std::string amount(double value, const std::string& unit) {
  if (unit == "bytes") return format_bytes(Bytes(static_cast<std::int64_t>(value)));
  return fmt::format("{} {}", format_count(value), unit);
}

std::string both_sizes(Bytes size) {
  return fmt::format("{} = {}", format_bytes_decimal(size), format_bytes(size));
}

std::string spread(const planner::AtLengths& a) {
  if (a.unit == "bytes") return amount(a.deviation_held, a.unit);
  return format_count(a.deviation_held);
}

std::string lengths(const planner::AtLengths& a) {
  Table t({{"", Align::left}, {"", Align::left}});
  t.row({"a request", fmt::format("{:.0f} prompt and {:.0f} output tokens on average; none shared",
                                  a.mean_prompt_tokens, a.mean_output_tokens)});
  t.row(
      {"keeps", fmt::format("{} +- {} at a random moment, {} at its full length",
                            amount(a.mean_held, a.unit), spread(a), amount(a.mean_full, a.unit))});
  t.row({"steady", fmt::format("{:.1f} requests: the pool of {} over the mean", a.steady,
                               amount(a.capacity, a.unit))});
  t.row({"safe", fmt::format("{} fit 95 % of the time (independent lengths, normal approximation)",
                             format_integer(a.safe))});
  t.row({"at peak", fmt::format("{} when all are at their full length, {} when all are the longest",
                                format_integer(a.at_peak), format_integer(a.all_longest))});
  if (static_cast<double>(a.max_num_seqs) < a.steady)
    t.row({"but", fmt::format("max_num_seqs lets {} run", format_integer(a.max_num_seqs))});
  return fmt::format("Requests at once at these lengths ({})\n", a.description) + t.text(2);
}

std::string streams(const planner::Streams& s) {
  const bool both = !s.rows.empty() && s.rows.front().if_gib.has_value();
  std::vector<Table::Column> columns{{"tokens each", Align::right},
                                     {"KV each", Align::left},
                                     {"in the pool", Align::right},
                                     {"streams", Align::right},
                                     {"by bytes", Align::right}};
  if (both) columns.push_back({"if GiB was meant", Align::right});
  Table t(std::move(columns));
  for (const planner::Stream& row : s.rows) {
    std::vector<std::string> cells{format_integer(row.tokens), both_sizes(row.kv_each),
                                   amount(row.need, s.unit), format_integer(row.requests),
                                   format_integer(row.by_bytes)};
    if (both) cells.push_back(format_integer(*row.if_gib));
    t.row(std::move(cells));
  }
  return fmt::format("Streams at once in {} of KV over all GPUs\n", both_sizes(s.deployment_kv)) +
         t.text(2);
}

std::string room(const planner::Room& r) {
  Table t({{"", Align::left}, {"", Align::left}});
  t.row({"now", r.holds > 0 ? fmt::format("holds {}", format_integer(r.holds)) : "holds none"});
  if (r.kv_memory)
    t.row(
        {"kv_cache_memory_bytes",
         fmt::format("{} on each GPU ({}){}", format_integer(r.kv_memory->value()),
                     format_bytes(*r.kv_memory),
                     r.kv_memory_fits ? fmt::format(", {} over all", format_bytes(*r.deployment_kv))
                                      : ", more than there is")});
  if (r.length_binds)
    t.row({"", "one request of max_model_len needs that much; a smaller one lowers it"});
  if (r.fraction)
    t.row({r.fraction_flag, fmt::format("{:g}", *r.fraction)});
  else if (!r.fraction_flag.empty())
    t.row({r.fraction_flag, "no value up to 0.98 does"});
  for (const planner::Advice& a : r.instead) t.row({"instead", settings_text(a) + ": " + a.gain});
  if (!r.fraction && !r.kv_memory_fits && r.instead.empty())
    t.row({"instead", "no split, replicas or KV format on up to 64 GPUs does"});
  return fmt::format("Room for {} request{} of {} tokens\n", format_integer(r.ask.requests),
                     r.ask.requests == 1 ? "" : "s", format_integer(r.ask.tokens)) +
         t.text(2);
}

std::string difference(Bytes size) {
  if (size.value() == 0) return "";
  return fmt::format("{:+.2f}", to_gib(size));
}

std::string against(const Plan& p, const planner::Against& a) {
  Table t({{"GiB", Align::left},
           {"this", Align::right},
           {"against", Align::right},
           {"", Align::right}});
  for (const planner::Against::Term& term : a.terms)
    t.row({term.name, fmt::format("{:.2f}", to_gib(term.here)),
           fmt::format("{:.2f}", to_gib(term.there)), difference(term.difference())});
  t.rule();
  const auto row = [&](const char* name, std::string here, std::string there) {
    t.row({name, std::move(here), std::move(there), ""});
  };
  t.row({"KV tokens", format_integer(p.tokens), format_integer(a.tokens),
         p.tokens > 0
             ? fmt::format("{:.2f}x", static_cast<double>(a.tokens) / static_cast<double>(p.tokens))
             : ""});
  row("max_model_len", format_integer(p.max_model_len), format_integer(a.max_model_len));
  row("requests of it", fmt::format("{:.2f}", p.max_concurrency),
      fmt::format("{:.2f}", a.max_concurrency));
  row("longest that starts", format_integer(p.feasible.largest),
      format_integer(a.feasible.largest));
  row("GPUs", format_integer(p.parallel.gpus()), format_integer(a.gpus));
  row("fits", p.fits ? "yes" : "no", a.fits ? "yes" : "no");
  std::string out = wrap("Against " + a.flags, 100, 2) + t.text(2);
  std::string other;
  if (a.model != p.model) other += a.model + " ";
  if (a.gpu != p.gpu) other += "on " + a.gpu + " ";
  if (a.rules != p.rules) other += "with rules " + a.rules + " ";
  if (!other.empty())
    out += wrap("  The other is " + other.substr(0, other.size() - 1) + ".", 100, 2);
  if (a.explains == planner::holds_the_same) return out + "  Both hold the same.\n";
  return out + wrap("  Explains most: " + a.explains + ".", 100, 4);
}

}  // namespace

std::string questions_text(const Plan& p) {
  std::string out;
  if (p.against) out += "\n" + against(p, *p.against);
  if (p.at_lengths) out += "\n" + lengths(*p.at_lengths);
  if (p.streams) out += "\n" + streams(*p.streams);
  for (const planner::Room& r : p.room) out += "\n" + room(r);
  return out;
}

}  // namespace kvsim::report
