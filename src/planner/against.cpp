#include "planner/against.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "planner/plan.h"
#include "units/format.h"

namespace kvsim::planner {
namespace {

using Term = Against::Term;

Term& term_of(std::vector<Term>& terms, const LedgerLine& line) {
  const auto at = std::ranges::find(terms, line.name, &Term::name);
  if (at != terms.end()) return *at;
  terms.push_back({line.name, Bytes(0), Bytes(0), line.in_budget});
  return terms.back();
}

// The KV lines last, in one place in both.
std::vector<Term> lines_of(const Plan& here, const Plan& there) {
  std::vector<Term> terms;
  for (const LedgerLine& line : here.ledger) term_of(terms, line).here += line.bytes;
  for (const LedgerLine& line : there.ledger) {
    Term& term = term_of(terms, line);
    term.there += line.bytes;
    term.in_budget = term.in_budget || line.in_budget;
  }
  std::stable_partition(terms.begin(), terms.end(),
                        [](const Term& t) { return t.name != "KV cache"; });
  return terms;
}

// What a line takes from the KV; one outside the budget takes nothing.
Bytes from_budget(const Plan& plan, const std::string& name) {
  Bytes sum;
  for (const LedgerLine& line : plan.ledger)
    if (line.in_budget && line.name == name) sum += line.bytes;
  return sum;
}

std::string signed_bytes(Bytes size) {
  return size.value() < 0 ? "-" + format_bytes(Bytes(-size.value())) : "+" + format_bytes(size);
}

// Of the terms that moved the KV in the direction it went, the one that moved it most.
std::string largest_cause(const Plan& here, const Plan& there, const std::vector<Term>& lines) {
  const Bytes change = (there.kv - there.shortfall) - (here.kv - here.shortfall);
  std::string best;
  Bytes most;
  const auto weigh = [&](const std::string& name, Bytes effect) {
    const Bytes along = change.value() < 0 ? Bytes(-effect.value()) : effect;
    if (along > most)
      most = along, best = fmt::format("{} ({} for KV)", name, signed_bytes(effect));
  };
  weigh("budget", there.budget - here.budget);
  for (const Term& line : lines)
    if (line.name != "KV cache")
      weigh(line.name, from_budget(here, line.name) - from_budget(there, line.name));
  return best;
}

std::string of_token(const Plan& plan) {
  return format_bytes(Bytes(std::llround(plan.bytes_per_token)));
}

std::string explain(const Plan& here, const Plan& there, const std::vector<Term>& lines) {
  if (here.tokens == there.tokens && here.kv == there.kv && here.shortfall == there.shortfall)
    return std::string(holds_the_same);
  const std::string bytes = largest_cause(here, there, lines);
  if (here.tokens <= 0 || there.tokens <= 0) return bytes.empty() ? "max_model_len" : bytes;
  const auto ratio = [](double a, double b) { return std::log(b / a); };
  const double by_bytes =
      ratio(static_cast<double>(here.kv.value()), static_cast<double>(there.kv.value()));
  const double all = ratio(static_cast<double>(here.tokens), static_cast<double>(there.tokens));
  const double by_layout = all - by_bytes;
  if (std::abs(by_bytes) >= std::abs(by_layout) && !bytes.empty()) return bytes;
  if (here.bytes_per_token != there.bytes_per_token)
    return fmt::format("KV bytes per token on one GPU, {} to {}", of_token(here), of_token(there));
  if (here.max_model_len != there.max_model_len)
    return fmt::format("max_model_len {} to {}: the constant part of a request counts {}",
                       format_integer(here.max_model_len), format_integer(there.max_model_len),
                       there.max_model_len > here.max_model_len ? "less" : "more");
  return "the layout of the pool: how blocks are cut and counted";
}

}  // namespace

Against compare_plans(const Plan& here, const Plan& there, std::string flags) {
  Against a;
  a.flags = std::move(flags);
  a.model = there.model, a.gpu = there.gpu, a.rules = there.rules, a.limit = there.limit;
  a.fits = there.fits;
  a.gpus = there.parallel.gpus();
  a.tokens = there.tokens, a.max_model_len = there.max_model_len;
  a.max_concurrency = there.max_concurrency, a.bytes_per_token = there.bytes_per_token;
  a.feasible = there.feasible;
  a.engine_log = there.engine_log;
  const std::vector<Term> lines = lines_of(here, there);
  a.explains = explain(here, there, lines);
  a.terms = {{"GPU", here.total, there.total, false}, {"budget", here.budget, there.budget, false}};
  a.terms.insert(a.terms.end(), lines.begin(), lines.end());
  if (here.shortfall.value() > 0 || there.shortfall.value() > 0)
    a.terms.push_back({"missing", here.shortfall, there.shortfall, false});
  return a;
}

}  // namespace kvsim::planner
