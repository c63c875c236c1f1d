#include "capacity/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "capacity/prediction.h"
#include "units/format.h"

namespace kvsim::testing {
namespace {

std::string rules_of(const Request& q, const memory::Pool& pool) {
  std::string text(pool.options.rules.label);
  if (!q.version.empty() && q.basis != "given") text += " (estimated: " + q.basis + ")";
  return text;
}

std::string name_of(const Request& q, const Report& r) {
  const std::string model = r.text("model").empty() ? q.model : r.text("model");
  const std::string tp = r.text("tp");
  return model + " on " + (r.text("gpu").empty() ? q.gpu : r.text("gpu")) +
         (tp.empty() || tp == "1" ? "" : ", TP " + tp);
}

// Both ends of the printed size bracket the printed count, a block of slack for rounding.
Row given_row(const Request& q, const Report& r) {
  const double gib_printed = *r.number("kv_mem_gib"), half = r.half_width_gib();
  const Answer low = ask(q, r, gib_printed - half), mid = ask(q, r, gib_printed),
               high = ask(q, r, gib_printed + half);
  Row row{q.id, name_of(q, r), rules_of(q, mid.pool), q.why};
  row.printed = *r.tokens();
  row.predicted = static_cast<double>(mid.pool.tokens);
  row.plain = gib_printed * static_cast<double>(gib) / mid.plain_token_bytes;
  const double slack = static_cast<double>(mid.pool.options.max_model_len) /
                       static_cast<double>(std::max<std::int64_t>(
                           mid.pool.layout.blocks_for(mid.pool.options.max_model_len), 1));
  row.exact = row.printed >= static_cast<double>(low.pool.tokens) - slack - 1 &&
              row.printed <= static_cast<double>(high.pool.tokens) + slack + 1;
  return row;
}

Row geometry_row(const std::string& id, const Geometry& g, const Report& r) {
  const double gib_printed = *r.number("kv_mem_gib"), half = r.half_width_gib();
  Row row{id, r.text("model").empty() ? "model not stated" : r.text("model"), r.text("engine"), {}};
  row.printed = *r.tokens();
  row.predicted = static_cast<double>(tokens_of_geometry(g, r, gib_printed));
  row.plain = gib_printed * static_cast<double>(gib) / g.bytes_per_token();
  const double slack = r.number("block_size").value_or(r.text("engine") == "sglang" ? 1 : 32);
  row.exact =
      row.printed >= static_cast<double>(tokens_of_geometry(g, r, gib_printed - half)) - slack &&
      row.printed <= static_cast<double>(tokens_of_geometry(g, r, gib_printed + half)) + slack;
  return row;
}

void add_term(std::vector<Row>& rows, const Request& q, const Report& r, const Answer& a,
              const char* column, const char* term, Bytes predicted) {
  const auto printed = r.number(column);
  if (!printed || *printed <= 0) return;
  Row row{q.id, name_of(q, r) + ": " + term, rules_of(q, a.pool), q.why};
  row.printed = *printed, row.predicted = to_gib(predicted);
  rows.push_back(row);
}

std::string percent(double x) { return fmt::format("{:+.1f} %", 100 * x); }
std::string whole(double x) { return format_integer(static_cast<std::int64_t>(std::llround(x))); }

std::string summary(const char* what, const std::vector<Row>& rows, bool plain) {
  return fmt::format("| {} | {} | {:.1f} % | {:.0f} % | {:.0f} % |\n", what, rows.size(),
                     100 * median_error(rows, plain), 100 * share_within(rows, 0.05, plain),
                     100 * share_within(rows, 0.10, plain));
}

}  // namespace

Results check_all(const Reports& all) {
  Results results;
  std::map<std::string, bool> seen;
  for (const Request& q : all.requests) {
    const Report& r = all.rows.at(q.id);
    seen[q.id] = true;
    switch (q.check) {
      case Check::given:
        results.given.push_back(given_row(q, r));
        break;
      case Check::predict: {
        const Answer a = ask(q, r);
        if (const auto tokens = r.tokens()) {
          Row row{q.id, name_of(q, r), rules_of(q, a.pool), q.why};
          row.printed = *tokens, row.predicted = static_cast<double>(a.pool.tokens);
          row.plain = a.plain_tokens;
          results.predicted.push_back(row);
        } else if (const auto kv = r.number("kv_mem_gib")) {
          // Without a token count the pool's memory stands for it.
          Row row{q.id, name_of(q, r) + " (tokens of the printed GiB)", rules_of(q, a.pool), q.why};
          const double per_gib =
              static_cast<double>(a.pool.tokens) / std::max(to_gib(a.pool.ledger.kv), 1e-9);
          row.printed = *kv * per_gib, row.predicted = static_cast<double>(a.pool.tokens);
          row.plain = a.plain_tokens;
          results.predicted.push_back(row);
        }
        add_term(results.terms, q, r, a, "weight_mem_gib", "weights", a.pool.ledger.weights);
        add_term(results.terms, q, r, a, "activation_peak_gib", "activation peak",
                 a.pool.ledger.activation);
        break;
      }
      case Check::terms: {
        const Answer a = ask(q, r);
        add_term(results.terms, q, r, a, "weight_mem_gib", "weights", a.pool.ledger.weights);
        add_term(results.terms, q, r, a, "activation_peak_gib", "activation peak",
                 a.pool.ledger.activation);
        break;
      }
      case Check::none:
        results.none.push_back({q.id, r.text("model"), r.text("engine"), q.why});
        break;
    }
  }
  for (const auto& [id, g] : all.geometry) {
    const Report& r = all.rows.at(id);
    const std::string engine = r.text("engine");
    const bool known =
        engine == "vllm" || engine == "sglang" || engine == "tensorrt-llm" || engine == "llama.cpp";
    const auto kv = r.number("kv_mem_gib");
    if (!known || !kv || *kv <= 0 || !r.tokens()) continue;
    if (r.text("precision") == "suspect" || id == "sglang-11309-main" || id == "vllm-21348-vllm")
      continue;
    results.given.push_back(geometry_row(id, g, r));
    seen[id] = true;
  }
  for (const auto& [id, r] : all.rows)
    if (!seen[id])
      results.none.push_back({id, r.text("model"), r.text("engine"),
                              "a geometry, but no KV memory beside a token count"});
  return results;
}

double median_error(const std::vector<Row>& rows, bool plain) {
  std::vector<double> errors;
  for (const Row& r : rows)
    errors.push_back(std::abs((plain ? r.plain : r.predicted) / r.printed - 1));
  if (errors.empty()) return 0;
  std::sort(errors.begin(), errors.end());
  const std::size_t mid = errors.size() / 2;
  return errors.size() % 2 == 1 ? errors[mid] : (errors[mid - 1] + errors[mid]) / 2;
}

double share_within(const std::vector<Row>& rows, double limit, bool plain) {
  const auto hit = std::count_if(rows.begin(), rows.end(), [&](const Row& r) {
    return std::abs((plain ? r.plain : r.predicted) / r.printed - 1) <= limit;
  });
  return rows.empty() ? 0 : static_cast<double>(hit) / static_cast<double>(rows.size());
}

std::string page(const Results& r) {
  std::string out =
      "# Capacity against what engines printed\n\n"
      "Generated by a test (`tests/capacity`, target `kvsim_update_capacity`) from public start-up "
      "reports.\nIds are those of the collection; versions that a report does not state are "
      "estimated and marked.\nThe plain formula is what calculators do: nameplate memory times "
      "fraction, less parameters times bits,\nover layers x 2 x KV heads x head size.\n\n"
      "## In short\n\n| rows | number | median error | within 5 % | within 10 % |\n"
      "| --- | --- | --- | --- | --- |\n";
  out += summary("tokens, KV memory given", r.given, false);
  out += summary("the same by the plain formula", r.given, true);
  out += summary("tokens from model, GPU and flags alone", r.predicted, false);
  out += summary("the same by the plain formula", r.predicted, true);
  out += summary("single terms (weights, activation peak)", r.terms, false);
  const auto exact =
      std::count_if(r.given.begin(), r.given.end(), [](const Row& x) { return x.exact; });
  out += fmt::format(
      "\nOf the rows with KV memory given, {} of {} are exact to what the printed GiB allows.\n",
      exact, r.given.size());
  out +=
      "\n## From model, GPU and flags alone\n\n| id | start | rules | printed | predicted | "
      "error | plain formula | explanation of a miss |\n| --- | --- | --- | --- | --- | --- | "
      "--- | --- |\n";
  for (const Row& x : r.predicted)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", x.id, x.what, x.rules,
                       whole(x.printed), whole(x.predicted), percent(x.error()),
                       percent(x.plain / x.printed - 1), x.why);
  out +=
      "\n## Single terms, GiB\n\n| id | term | rules | printed | predicted | error | note |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Row& x : r.terms)
    out += fmt::format("| {} | {} | {} | {:.2f} | {:.2f} | {} | {} |\n", x.id, x.what, x.rules,
                       x.printed, x.predicted, percent(x.error()), x.why);
  out +=
      "\n## KV memory given\n\n| id | start | rules | printed tokens | computed | exact | plain "
      "formula | note |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n";
  for (const Row& x : r.given)
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} | {} |\n", x.id, x.what, x.rules,
                       whole(x.printed), whole(x.predicted), x.exact ? "yes" : percent(x.error()),
                       percent(x.plain / x.printed - 1), x.why);
  out += "\n## Not checked\n\n| id | model | reason |\n| --- | --- | --- |\n";
  for (const Row& x : r.none) out += fmt::format("| {} | {} | {} |\n", x.id, x.what, x.why);
  return out;
}

}  // namespace kvsim::testing
