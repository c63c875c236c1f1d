#include <algorithm>
#include <cmath>

#include "calibrate/predict/floors.h"
#include "calibrate/predict/work.h"
#include "cost/roofline_constants.h"

namespace kvsim::calibrate {

// Routing is taken as even: a skewed router touches fewer experts and loads its rank more.
WorkPlan plan(const ExpertMlp& s, const Measurement& m) {
  const auto format = find_format(m.dtype);
  if (!format) return unknown_dtype(m.dtype);
  if (s.topk > s.n_experts) return {{}, "more experts per token than there are"};
  const double tokens = static_cast<double>(s.tokens), hidden = static_cast<double>(s.hidden);
  const double ranks = static_cast<double>(s.moe_ep), topk = static_cast<double>(s.topk);
  const double local = static_cast<double>(s.n_experts) / ranks;
  const double width = static_cast<double>(s.inter) / static_cast<double>(s.moe_tp);
  const double touched =
      local * (1 - std::pow(1 - topk / static_cast<double>(s.n_experts), tokens));
  const double rows = tokens * topk / ranks;
  const double matrices = m.backend.ends_with("nongated") ? 2 : 3;
  Work w;
  w.replayed = touched * matrices * hidden * width * format->weight_bytes;
  w.resident = w.replayed;
  w.bytes = w.replayed + rows * (hidden * (format->activation_bytes + 2) +
                                 width * ((matrices - 1) * 2 + format->activation_bytes));
  w.flops = 2 * rows * matrices * hidden * width;
  w.operands = format->operands, w.matrix_share = cost::roofline::gemm_share,
  w.floor = expert_mlp_floor;
  return {{w}, {}};
}

}  // namespace kvsim::calibrate
