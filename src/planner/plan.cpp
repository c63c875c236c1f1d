#include "planner/plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "memory/pool.h"
#include "planner/advice.h"
#include "planner/point.h"
#include "spec/parameters.h"
#include "units/format.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

void copy_ledger(Plan& plan, const memory::Ledger& l) {
  plan.total = l.total, plan.budget = l.budget, plan.weights = l.weights,
  plan.activation = l.activation;
  plan.non_torch = l.non_torch, plan.cuda_graph = l.cuda_graphs, plan.kv = l.kv,
  plan.state = l.state;
  plan.reserve = l.reserve, plan.shortfall = l.shortfall;
  for (const memory::LedgerLine& line : l.lines)
    plan.ledger.push_back({line.name, line.bytes, line.note, line.in_budget, line.uncertainty});
}

void copy_groups(Plan& plan, const memory::Pool& pool) {
  for (const kvformat::GroupFootprint& g : pool.footprint.groups) {
    std::int64_t block = pool.block_tokens;
    for (const memory::KvGroup& k : pool.layout.groups)
      if (k.model_group == g.group) block = k.block_tokens;
    plan.groups.push_back(
        {g.name, std::string(spec::attention_names[static_cast<std::size_t>(g.attention)]),
         g.layers, g.window, block, g.bytes_per_token(),
         static_cast<double>(g.layers) * g.bytes_per_sequence_layer});
  }
}

// Sized again with every estimate off by its uncertainty to one side and to the other.
void copy_uncertainty(Plan& plan, const Request& r, const memory::Pool& pool) {
  plan.tokens_low = plan.tokens_high = pool.tokens;
  if (!pool.options.kv_cache_memory.empty()) return;
  plan.kv_uncertainty = pool.ledger.kv_uncertainty();
  const auto tokens = [&](Bytes shift) {
    memory::Options o = r.options;
    o.estimate_shift = shift;
    return memory::size_pool(r.model, r.gpu, o).tokens;
  };
  plan.tokens_low = std::min(pool.tokens, tokens(plan.kv_uncertainty));
  plan.tokens_high = std::max(pool.tokens, tokens(Bytes(0) - plan.kv_uncertainty));
}

Explorer explore(const Request& r) {
  Explorer table;
  for (std::int64_t n = 2048; n <= 1048576; n *= 2) table.contexts.push_back(n);
  for (const char* name : {"bfloat16", "fp8_e4m3", "nvfp4", "int4", "int2"}) {
    Request other = r;
    other.options.kv_dtype = *kvformat::find_kv_dtype(name);
    const memory::Pool pool = memory::size_pool(other.model, other.gpu, other.options);
    Explorer::Row row{name, other.options.kv_dtype.bits_per_element(), {}};
    for (std::int64_t n : table.contexts) row.requests.push_back(memory::Holding(pool).requests(n));
    table.rows.push_back(std::move(row));
  }
  return table;
}

// vLLM's and the other engines' own lists; anything else is a what-if.
bool engine_has(memory::Engine engine, const kvformat::KvDtype& dtype) {
  if (engine == memory::Engine::llamacpp)
    return dtype.name == "float16" || dtype.name == "bfloat16" || dtype.name == "float32" ||
           dtype.name[0] == 'q' || dtype.name == "iq4_nl";
  if (engine == memory::Engine::trtllm && dtype.name == "int8") return true;
  return dtype.bits >= 16 || dtype.is_fp8() || dtype.name == "nvfp4";
}

}  // namespace

Request resolved(Request r) {
  r.options.kv_dtype = kvformat::resolve_kv_dtype(r.kv_dtype, r.model);
  return r;
}

Plan make_plan(const Request& asked) {
  const Request r = resolved(asked);
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  const memory::Options& o = pool.options;
  Plan plan;
  plan.model = r.model.id, plan.gpu = r.gpu.id;
  plan.engine = memory::name(o.rules.engine), plan.rules = o.rules.label;
  plan.parallel = o.plan;
  plan.fits = pool.fits, plan.limit = pool.limit;
  copy_ledger(plan, pool.ledger);
  plan.stage = pool.stage;
  plan.fraction_flag = fraction_name(o.rules.engine);
  plan.fraction = *o.memory_fraction;
  plan.parameters_b = static_cast<double>(spec::count_parameters(r.model).total()) / 1e9;
  const spec::Quantization& q = r.model.quantization;
  plan.weight_format = q.method == "none" ? std::string(spec::name(r.model.dtype)) : q.method;
  plan.kv_dtype = o.kv_dtype.name;
  plan.bytes_per_token = pool.footprint.bytes_per_token;
  plan.bytes_per_sequence = pool.footprint.bytes_per_sequence;
  plan.bytes_per_sequence_extra = pool.footprint.bytes_per_sequence_extra;
  plan.block_tokens = pool.block_tokens, plan.blocks = pool.num_gpu_blocks,
  plan.tokens = pool.tokens;
  plan.kv_given = !o.kv_cache_memory.empty();
  copy_uncertainty(plan, r, pool);
  if (plan.bytes_per_sequence > 0 && plan.bytes_per_token > 0)
    plan.break_even_tokens =
        static_cast<std::int64_t>(plan.bytes_per_sequence / plan.bytes_per_token);
  plan.max_concurrency = pool.max_concurrency;
  plan.max_model_len = o.max_model_len, plan.feasible_len = pool.feasible_len;
  plan.max_num_seqs = o.max_num_seqs, plan.max_num_batched_tokens = o.max_num_batched_tokens;
  copy_groups(plan, pool);
  plan.at = make_point(r, pool);
  plan.explorer = explore(r);
  plan.engine_log = pool.engine_log;
  plan.warnings = pool.warnings;
  if (!engine_has(o.rules.engine, o.kv_dtype))
    plan.warnings.push_back(
        fmt::format("{} has no KV format {}: a what-if by its size", plan.engine, plan.kv_dtype));
  if ((r.context || r.batch) && !plan.at.kv_fits)
    plan.warnings.push_back(
        fmt::format("{} requests of {} tokens do not fit at once: the pool holds {}", plan.at.batch,
                    format_integer(plan.at.context),
                    memory::Holding(pool).requests(plan.at.context) * o.plan.data_parallel_size));
  if (plan.at.outside_range_ratio > 0.05)
    plan.warnings.push_back(
        fmt::format("{:.0f} % of the decode step goes into operators outside the shapes that were "
                    "measured: their times are extrapolated",
                    100 * plan.at.outside_range_ratio));
  plan.advice = make_advice(r, pool);
  return plan;
}

}  // namespace kvsim::planner
