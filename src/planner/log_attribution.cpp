#include "planner/log_attribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "diag/diagnostic.h"
#include "memory/pool.h"
#include "memory/sizing.h"
#include "units/format.h"

namespace kvsim::planner {
namespace {

using launch::EngineLog;
using launch::Figure;
using launch::Term;
using memory::Options;
using memory::Pool;

// A prediction this near to the printed figure needs no explanation; KV memory as printed that
// leaves more than the second share open is a difference of layout.
constexpr double near_share = 0.01, layout_share = 0.02;
// A term explains a difference when it takes away at least this share of it.
constexpr double least_gain = 0.2;

Bytes whole(double bytes) { return Bytes(static_cast<std::int64_t>(std::llround(bytes))); }

// A printed figure of the budget, perhaps computed from two.
struct Printed {
  double value = 0;
  int line = 0;
  std::string worker, note;
};

// `total` stands in for a total memory that the log does not print.
std::optional<Printed> printed(const EngineLog& log, Term term, double total) {
  if (const Figure* f = log.find(term)) return Printed{f->value, f->line, f->worker, ""};
  const auto difference = [&](Term sum, Term part, const char* note) -> std::optional<Printed> {
    const Figure* a = log.find(sum);
    const Figure* b = log.find(part);
    if (!a || !b || a->value < b->value) return std::nullopt;
    return Printed{a->value - b->value, a->line, a->worker, note};
  };
  if (term == Term::activation)
    return difference(Term::peak_torch, Term::weights, "peak of the tensor allocator - weights");
  if (term == Term::non_torch)
    return difference(Term::consumed, Term::weights, "consumed memory - weights");
  if (term == Term::graph_estimate) {
    // The log says which share without graphs would give the same pool.
    const Figure* share = log.find(Term::utilization);
    const Figure* equivalent = log.find(Term::equivalent_utilization);
    const Figure* memory = log.find(Term::total_memory);
    if (share && equivalent && share->value >= equivalent->value)
      return Printed{(share->value - equivalent->value) * (memory ? memory->value : total),
                     equivalent->line, equivalent->worker,
                     fmt::format("{:g} acts as {:g}", share->value, equivalent->value)};
  }
  if (term == Term::residual && log.engine == "vllm-v1") {
    // V1 prints neither part before its rarer messages.
    if (log.find(Term::activation) || log.find(Term::peak_torch)) return std::nullopt;
    const Figure* budget = log.find(Term::budget);
    const Figure* weights = log.find(Term::weights);
    const Figure* kv = log.find(Term::kv_memory);
    if (!budget || !weights || !kv) return std::nullopt;
    const auto graphs = printed(log, Term::graph_estimate, total);
    const double rest = budget->value - weights->value - kv->value - (graphs ? graphs->value : 0);
    if (rest < 0) return std::nullopt;
    return Printed{rest, kv->line, kv->worker,
                   graphs ? "budget - weights - KV memory - CUDA graph estimate"
                          : "budget - weights - KV memory"};
  }
  if (term == Term::tokens) {
    // vLLM before V1 prints blocks only; they are of 16 tokens unless the log says otherwise.
    const Figure* blocks = log.find(Term::blocks);
    const Figure* size = log.find(Term::block_size);
    if (blocks && (size || log.engine == "vllm-v1")) {
      const double tokens = size ? size->value : 16;
      return Printed{blocks->value * tokens, blocks->line, blocks->worker,
                     fmt::format("{} blocks of {}", blocks->value, tokens)};
    }
  }
  return std::nullopt;
}

// The options with one term as printed; nothing for terms that are results.
std::optional<Options> replaced(Options o, Term term, double value) {
  switch (term) {
    case Term::total_memory:
      o.stated.total = whole(value);
      return o;
    case Term::weights:
      o.stated.weights = whole(value);
      return o;
    case Term::activation:
      o.stated.activation = whole(value);
      return o;
    case Term::non_torch:
      o.stated.non_torch = whole(value);
      return o;
    case Term::graph_estimate:
      o.stated.cuda_graphs = whole(value);
      return o;
    case Term::cuda_graphs:
      // Captured after the pool exists, in whatever is left: of no effect on its size before the
      // estimate joined the budget, and the estimate's line stands for it since.
      if (o.rules.graphs_in_budget) return std::nullopt;
      o.stated.cuda_graphs = whole(value);
      return o;
    case Term::residual:
      o.stated.activation = whole(value), o.stated.non_torch = Bytes(0);
      return o;
    case Term::free_memory:
      o.free_memory = {whole(value)};
      // SGLang prints what is free before the weights: the CUDA context and the buffers of the
      // communication are already gone from it, and the pool is a share of it.
      if (o.rules.engine == memory::Engine::sglang) o.stated.non_torch = Bytes(0);
      return o;
    case Term::block_size:
      o.block_tokens = static_cast<std::int64_t>(value);
      return o;
    case Term::kv_memory:
      o.kv_cache_memory = {whole(value)};
      return o;
    default:
      return std::nullopt;
  }
}

std::optional<double> predicted(const Pool& pool, Term term, const EngineLog& log) {
  const memory::Ledger& l = pool.ledger;
  const auto bytes = [](Bytes b) { return static_cast<double>(b.value()); };
  switch (term) {
    case Term::total_memory:
      return bytes(l.total);
    case Term::budget:
      return bytes(l.budget);
    case Term::weights:
      return bytes(l.weights);
    case Term::activation:
      return bytes(l.activation);
    case Term::non_torch:
      return bytes(l.non_torch);
    case Term::residual:
      return bytes(l.activation) + bytes(l.non_torch);
    case Term::cuda_graphs:
    case Term::graph_estimate:
      return bytes(l.cuda_graphs);
    case Term::kv_memory:
      return bytes(l.kv) - (log.engine == "sglang" ? bytes(l.state) : 0);
    case Term::state_memory:
      return bytes(l.state);
    case Term::tokens:
      return static_cast<double>(pool.tokens);
    case Term::blocks:
      return static_cast<double>(pool.num_gpu_blocks);
    case Term::block_size:
      return static_cast<double>(pool.block_tokens);
    case Term::max_concurrency:
      return pool.max_concurrency;
    case Term::kv_needed:
      return pool.options.rules.engine == memory::Engine::vllm_v1
                 ? pool.layout.bytes_for(pool.options.max_model_len)
                 : memory::sequence_bytes(pool.footprint, pool.options.max_model_len);
    case Term::estimated_length:
      return static_cast<double>(pool.feasible_len);
    default:
      return std::nullopt;
  }
}

Unit unit(Term term) {
  switch (term) {
    case Term::tokens:
    case Term::estimated_length:
    case Term::block_size:
      return Unit::tokens;
    case Term::blocks:
      return Unit::count;
    case Term::max_concurrency:
      return Unit::ratio;
    default:
      return Unit::bytes;
  }
}

// The terms of a table, in the order of the ledger.
constexpr Term table[] = {Term::total_memory, Term::free_memory,     Term::budget,
                          Term::weights,      Term::activation,      Term::non_torch,
                          Term::residual,     Term::cuda_graphs,     Term::graph_estimate,
                          Term::state_memory, Term::kv_memory,       Term::block_size,
                          Term::blocks,       Term::tokens,          Term::max_concurrency,
                          Term::kv_needed,    Term::estimated_length};

// Those that the KV memory is what remains of.
bool is_budget(Term t) {
  return t == Term::total_memory || t == Term::free_memory || t == Term::weights ||
         t == Term::activation || t == Term::non_torch || t == Term::residual ||
         t == Term::cuda_graphs || t == Term::graph_estimate;
}

class Attribution {
 public:
  Attribution(const Request& request, const EngineLog& log) : r_(request), log_(log) {}

  LogAttribution make() {
    const Pool pool = memory::size_pool(r_.model, r_.gpu, r_.options);
    total_ = static_cast<double>(pool.ledger.total.value());
    choose_target(pool);
    Options all = r_.options;
    for (Term term : table) add(pool, term, all);
    if (out_.target) {
      if (replacements_ > 0) out_.with_all = target_of(all);
      explain();
    }
    return std::move(out_);
  }

 private:
  void choose_target(const Pool& pool) {
    for (Term term : {Term::tokens, Term::kv_memory})
      if (const auto p = printed(log_, term, total_)) {
        out_.target = term, out_.printed = p->value;
        out_.predicted = *predicted(pool, term, log_);
        return;
      }
  }

  // What would be predicted for the target with these options; nothing when they cannot be sized.
  std::optional<double> target_of(const Options& options) const {
    try {
      return predicted(memory::size_pool(r_.model, r_.gpu, options), *out_.target, log_);
    } catch (const InputError&) {
      return std::nullopt;
    }
  }

  void add(const Pool& pool, Term term, Options& all) {
    const auto p = printed(log_, term, total_);
    if (!p) return;
    LogTerm row{term, unit(term), p->value, 0, p->line, p->worker, p->note, {}};
    const auto value = predicted(pool, term, log_);
    row.predicted = value.value_or(std::nan(""));
    const auto options = replaced(r_.options, term, p->value);
    if (out_.target && options && term != *out_.target) row.with_it = target_of(*options);
    if (options && is_budget(term)) {
      all = *replaced(all, term, p->value);
      ++replacements_;
    }
    out_.terms.push_back(std::move(row));
  }

  double share(double value) const {
    return out_.printed > 0 ? std::abs(value - out_.printed) / out_.printed : std::abs(value);
  }

  std::string amount(double value) const {
    return *out_.target == Term::tokens
               ? format_integer(static_cast<std::int64_t>(value)) + " tokens"
               : fmt::format("{:.2f} GiB of KV", value / static_cast<double>(gib));
  }

  void name(const LogTerm& t) { out_.explanation = t.term, out_.explained = *t.with_it; }

  void explain() {
    if (share(out_.predicted) <= near_share) {
      out_.verdict =
          fmt::format("the prediction is within {:.1f} % of the log", share(out_.predicted) * 100);
      return;
    }
    const LogTerm* best = nullptr;
    const LogTerm* memory = nullptr;
    for (const LogTerm& t : out_.terms) {
      if (!t.with_it) continue;
      if (t.term == Term::kv_memory) memory = &t;
      if (is_budget(t.term) && (!best || share(*t.with_it) < share(*best->with_it))) best = &t;
    }
    if (memory && share(*memory->with_it) > layout_share) {
      out_.verdict = fmt::format(
          "not the memory but what a token takes: with the KV memory as printed the prediction is "
          "{}; look at --kv-cache-dtype, the drafter, the block size and --engine-version",
          amount(*memory->with_it));
      return;
    }
    if (best && share(*best->with_it) <= (1 - least_gain) * share(out_.predicted)) {
      name(*best);
      out_.verdict = fmt::format(
          "{}: with it as printed the prediction is {}, {:.1f} % off instead of {:.1f} %",
          launch::name(best->term), amount(out_.explained), share(out_.explained) * 100,
          share(out_.predicted) * 100);
    } else if (memory) {
      name(*memory);
      out_.verdict =
          best ? "no printed term alone: none takes away a fifth of the difference; the KV "
                 "memory as printed explains the tokens"
               : "the KV memory: as printed it gives the tokens, but the log does not "
                 "print what it remained of";
    } else {
      out_.verdict = best ? "none of the printed terms takes away a fifth of the difference"
                          : "the log prints no term that the KV memory is what remains of; look at "
                            "--gpu, the share of it and --free-memory";
    }
  }

  const Request& r_;
  const EngineLog& log_;
  LogAttribution out_;
  double total_ = 0;      // of the GPU
  int replacements_ = 0;  // terms of the budget among the table
};

}  // namespace

LogAttribution attribute(const Request& asked, const EngineLog& log) {
  const Request r = resolved(asked);
  return Attribution(r, log).make();
}

}  // namespace kvsim::planner
