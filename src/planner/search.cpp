#include "planner/search.h"

#include <algorithm>
#include <cmath>

#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "memory/pool.h"
#include "planner/change.h"
#include "planner/point.h"

#include "memory/holding.h"

namespace kvsim::planner {
namespace {

constexpr std::int64_t usual_context = 4096;

Candidate evaluate(const Request& r) {
  Candidate c;
  c.plan = r.options.plan;
  c.kv_dtype = r.options.kv_dtype.name;
  c.why = kvformat::parallel_problem(r.model, c.plan);
  if (!c.why.empty()) return c;
  const memory::Pool pool = memory::size_pool(r.model, r.gpu, r.options);
  c.fits = pool.fits;
  if (!pool.fits) {
    c.why = pool.limit;
    return c;
  }
  const std::int64_t context =
      r.context.value_or(std::min<std::int64_t>(pool.options.max_model_len, usual_context));
  c.context = context;
  std::int64_t batch = std::min(memory::Holding(pool).requests(context), pool.options.max_num_seqs);
  const bool capped = batch == pool.options.max_num_seqs;
  if (r.batch) batch = std::min(batch, ceil_div(*r.batch, c.plan.data_parallel_size));
  if (batch == 0) {
    c.fits = false;
    c.why = "no request of that context fits";
    return c;
  }
  const auto cost = make_cost(r, pool);
  const cost::StepBill bill = cost->bill(cost::decode_shape(r.model, context, batch));
  const std::int64_t pp = c.plan.pipeline_parallel_size;
  // A pipeline works on one batch per stage at a time; the pool is shared by them.
  c.batch = batch * c.plan.data_parallel_size;
  c.decode_ms = bill.seconds * 1e3;
  c.prefill_ms = prefill_seconds(r, pool, *cost, context) * 1e3;
  c.tokens_per_s_per_user = 1 / bill.seconds;
  if (pp > 1) {
    const std::int64_t part = ceil_div(batch, pp);
    const double seconds = cost->step_seconds(cost::decode_shape(r.model, context, part));
    c.decode_ms = seconds * 1e3;
    c.tokens_per_s_per_user = 1 / seconds;
  }
  c.tokens_per_s_per_gpu = c.tokens_per_s_per_user * static_cast<double>(c.batch) / c.plan.gpus();
  c.why = std::string(cost::binds_names[static_cast<std::size_t>(bill.binds)]) +
          (r.batch  ? ""
           : capped ? ", max_num_seqs"
                    : ", KV capacity");
  return c;
}

}  // namespace

std::vector<Candidate> search_deployments(const Request& asked, int gpus) {
  std::vector<Candidate> list;
  for (int tp = 1; tp <= gpus; tp *= 2)
    for (int pp = 1; tp * pp <= gpus; pp *= 2) {
      if (gpus % (tp * pp) != 0) continue;
      std::vector<std::string> formats{asked.kv_dtype};
      if (kvformat::resolve_kv_dtype(asked.kv_dtype, asked.model).bits > 8)
        formats.emplace_back("fp8");
      for (const std::string& format : formats) {
        list.push_back(
            evaluate(changed(asked, std::vector{number("tensor_parallel_size", tp),
                                                number("pipeline_parallel_size", pp),
                                                number("data_parallel_size", gpus / (tp * pp)),
                                                word("kv_cache_dtype", format)})));
      }
    }
  std::stable_sort(list.begin(), list.end(), [](const Candidate& a, const Candidate& b) {
    return a.fits != b.fits ? a.fits : a.tokens_per_s_per_gpu > b.tokens_per_s_per_gpu;
  });
  for (Candidate& c : list)
    c.pareto = c.fits && std::none_of(list.begin(), list.end(), [&](const Candidate& d) {
                 return d.fits && d.tokens_per_s_per_gpu >= c.tokens_per_s_per_gpu &&
                        d.tokens_per_s_per_user >= c.tokens_per_s_per_user &&
                        (d.tokens_per_s_per_gpu > c.tokens_per_s_per_gpu ||
                         d.tokens_per_s_per_user > c.tokens_per_s_per_user);
               });
  return list;
}

}  // namespace kvsim::planner
