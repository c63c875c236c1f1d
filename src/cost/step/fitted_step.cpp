#include "cost/step/fitted_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "cost/operators/work.h"
#include "cost/step/rules.h"
#include "cost/step/step_plan.h"
#include "spec/weights.h"

namespace kvsim::cost {
namespace {

using namespace step;

// Times of a count of tokens or rows, kept once computed: equal whoever computes them, so a relaxed
// store may be done twice. Beyond its size nothing is kept.
class Kept {
 public:
  explicit Kept(std::size_t size) : values_(size) {}
  template <class Compute>
  double get(std::int64_t at, const Compute& compute) const {
    if (at < 0 || at >= static_cast<std::int64_t>(values_.size())) return compute();
    std::atomic<double>& value = values_[static_cast<std::size_t>(at)];
    double known = value.load(std::memory_order_relaxed);
    if (known > 0) return known;
    known = compute();
    value.store(known, std::memory_order_relaxed);
    return known;
  }

 private:
  mutable std::vector<std::atomic<double>> values_;
};

// One operator of a step, all layers together. Times in microseconds.
struct Line {
  double us = 0;
  double flops = 0, bytes = 0, link_bytes = 0;
  double compute_us = 0;  // flops at the peak of their operands
  double outside = 0;
  bool fitted = false;
  bool link = false;
};

double wide(std::int64_t n) { return static_cast<double>(n); }

// The matrix rate of the widest part of the model.
double peak_of(const spec::ModelSpec& model, const spec::GpuSpec& gpu) {
  return device_of(gpu).rate(spec::compute_dtype(
      model, model.moe ? spec::WeightKind::experts : spec::WeightKind::dense_mlp, gpu));
}

// What the matrix units multiply in a call.
spec::DType operands_of(const Shape& shape) {
  if (const auto* gemm = std::get_if<Gemm>(&shape)) return gemm->format.operands;
  if (const auto* experts = std::get_if<ExpertMlp>(&shape)) return experts->format.operands;
  if (const auto* prefill = std::get_if<PrefillAttention>(&shape)) return prefill->compute.operands;
  return spec::DType::bfloat16;
}

class FittedStep final : public CostModel {
 public:
  FittedStep(Plan plan, const spec::ModelSpec& model, const spec::GpuSpec& gpu,
             const FittedOptions& options)
      : plan_(std::move(plan)),
        host_(options.host),
        framework_(framework_names[static_cast<std::size_t>(options.framework)]),
        gpu_(gpu.id),
        graph_tokens_(options.deployment.enforce_eager ? 0 : options.deployment.cuda_graph_tokens),
        piecewise_(options.framework == Framework::vllm && !options.deployment.enforce_eager),
        bf16_(plan_.device.bf16),
        peak_(peak_of(model, gpu)) {
    for (const AttentionOperator& a : plan_.attention)
      prefill_floor_.push_back(plan_.fits[a.prefill_fit].model.microseconds(
          prefill_shape(a, 1, 1, 1, 1), Buffers::cold));
    for (const AttentionOperator& a : plan_.attention) around_.emplace_back(a.mla ? kept_rows : 0);
    for (const TokenOperator& op : plan_.tokens) calls_ += op.layers * op.calls;
    for (const AttentionOperator& a : plan_.attention) calls_ += a.layers * (a.mla ? 3 : 1);
    for (const RecurrentOperator& r : plan_.recurrent) calls_ += r.layers;
    spread_ = typical_spread();
  }

  double step_seconds(const StepShape& s) const override {
    if (s.tokens <= 0) return 0;
    const std::int64_t tokens = padded(s);
    const bool prefill = s.prefill_requests > 0;
    double us =
        (prefill ? mixed_ : decode_).get(tokens, [&] { return token_sum(tokens, prefill); });
    for (std::size_t i = 0; i < plan_.attention.size(); ++i)
      us += wide(plan_.attention[i].layers) * attention(i, s, nullptr);
    for (const RecurrentOperator& r : plan_.recurrent)
      us += wide(r.layers) * recurrent(r, s, tokens);
    if (s.sampled_rows > 0)
      us += head_.get(s.sampled_rows, [&] { return head_sum(s.sampled_rows); });
    if (plan_.stages > 1) us += wide(plan_.stages - 1) * plan_.send.us(wide(tokens));
    return 1e-6 * with_host(std::max(us, launch_us(s)), s);
  }

  StepBill bill(const StepShape& s) const override;

  Spread spread(const StepShape&) const override { return spread_; }
  Source source() const override { return Source::fitted; }
  std::string describe() const override;

 private:
  std::int64_t padded(const StepShape& s) const {
    return s.prefill_requests > 0 ? s.tokens : cuda_graph_size(s.tokens, graph_tokens_);
  }
  double with_host(double us, const StepShape& s) const {
    const bool prefill = s.prefill_requests > 0;
    const double kernels = us * (prefill ? host_.prefill_scale : host_.decode_scale);
    return std::max(kernels, prefill ? host_.prefill_us : 0) + host_us(s);
  }
  // The host's launches, where no graph replays them.
  double launch_us(const StepShape& s) const {
    const bool graph = s.prefill_requests > 0 ? piecewise_ && s.tokens <= piecewise_graph_tokens
                                              : s.tokens <= graph_tokens_;
    return graph ? 0 : plan_.launch_us * wide(calls_);
  }
  double host_us(const StepShape& s) const {
    const double sequences = wide(s.decode_requests + s.prefill_requests);
    return host_.step_us + host_.sequence_us * sequences;
  }

  // Time of one layer; adds to `line` what the bill wants to know.
  double token_us(const TokenOperator& op, double tokens, bool prefill, Line* line) const {
    if (op.overlapped && !prefill && tokens <= shared_expert_tokens) return 0;
    const double group = tokens * op.ranks_tokens;
    if (!op.fit) {
      if (line) {
        (op.link == Binds::link ? line->link_bytes : line->bytes) +=
            op.plain.fixed_bytes + group * op.plain.token_bytes;
        line->link |= op.link == Binds::link;
      }
      return op.plain.us(group);
    }
    const Shape shape = scaled(op, tokens);
    std::size_t fit = *op.fit;
    double us = plan_.fits[fit].model.microseconds(shape, Buffers::cold);
    if (op.rival && group <= op.rival_tokens) {
      const double other = plan_.fits[*op.rival].model.microseconds(shape, Buffers::cold);
      if (other < us) us = other, fit = *op.rival;
    }
    if (op.ranks_tokens > 1 && op.link == Binds::link) us = exchange_factor * us + op.extra_us;
    if (line) note(*line, shape, fit, us);
    return us;
  }

  static Shape scaled(const TokenOperator& op, double tokens) {
    Shape shape = op.shape;
    const double group = tokens * op.ranks_tokens;
    if (auto* gemm = std::get_if<Gemm>(&shape)) {
      // Narrow kernels are tuned for full tiles of rows, and engines pad to them: odd counts of the
      // measurements are off their path.
      gemm->m = gemm->format.quantises_activations ? 8 * std::ceil(tokens / 8) : tokens;
    } else if (auto* experts = std::get_if<ExpertMlp>(&shape)) {
      experts->tokens = group;
    } else if (auto* collective = std::get_if<Collective>(&shape)) {
      collective->bytes *= group;
    }
    return shape;
  }

  void note(Line& line, const Shape& shape, std::size_t fit, double us) const {
    const Work w = work_of(shape);
    line.flops += w.flops, line.bytes += w.bytes, line.link_bytes += w.link_bytes;
    line.link |= w.link_bytes > 0;
    const ChosenOperator& chosen = plan_.fits[fit];
    line.fitted = true;
    line.compute_us += w.flops / (plan_.device.rate(operands_of(shape)) * 1e6);
    const double outside = chosen.model.octaves_outside(shape);
    if (us > 0 && outside > trusted_octaves) line.outside = std::max(line.outside, outside);
  }

  double token_sum(std::int64_t tokens, bool prefill) const {
    double us = 0;
    for (const TokenOperator& op : plan_.tokens)
      us += wide(op.layers) * token_us(op, wide(tokens), prefill, nullptr);
    return us;
  }

  static Shape decode_shape(const AttentionOperator& a, double batch, double attended,
                            double queries) {
    Shape shape = a.decode;
    if (auto* mla = std::get_if<Mla>(&shape)) {
      mla->batch = batch, mla->kv_len = attended, mla->q_len = queries;
    } else {
      auto& d = std::get<DecodeAttention>(shape);
      d.batch = batch, d.kv_len = attended, d.queries = queries;
    }
    return shape;
  }
  static Shape prefill_shape(const AttentionOperator& a, double batch, double q, double kv,
                             double pairs) {
    Shape shape = a.prefill;
    if (auto* mla = std::get_if<Mla>(&shape)) {
      mla->batch = batch, mla->q_len = q, mla->kv_len = kv, mla->pairs = pairs;
    } else {
      auto& p = std::get<PrefillAttention>(shape);
      p.batch = batch, p.q_len = q, p.kv_len = kv, p.pairs = pairs;
    }
    return shape;
  }

  // Attention of one layer of a group: one call over the decodes, one over the chunks, which share
  // a launch where both are there.
  double attention(std::size_t i, const StepShape& s, Line* line) const {
    const AttentionOperator& a = plan_.attention[i];
    const StepShape::Group& g = s.groups[a.group];
    double us = 0;
    if (s.decode_requests > 0) {
      const double batch = wide(s.decode_requests), decodes = wide(s.tokens - s.prefill_tokens);
      const Shape shape =
          decode_shape(a, batch, std::max(1.0, g.decode_kv_tokens / batch), decodes / batch);
      const double core = plan_.fits[a.decode_fit].model.microseconds(shape, Buffers::cold);
      if (line) note(*line, shape, a.decode_fit, core);
      us += core;
      if (a.mla) us += line ? around_core(a, decodes, line) : kept_around_core(i, s);
    }
    if (s.prefill_requests > 0) {
      const double batch = wide(s.prefill_requests), q = wide(s.prefill_tokens) / batch;
      const double kv = std::max(q, s.context.prefill_kv_tokens / batch);
      const Shape shape = prefill_shape(a, batch, q, kv, g.prefill_pairs);
      double core = plan_.fits[a.prefill_fit].model.microseconds(shape, Buffers::cold);
      if (s.decode_requests > 0) core = std::max(0.1 * core, core - prefill_floor_[i]);
      if (line) note(*line, shape, a.prefill_fit, core);
      us += core;
      if (a.up_fit) {
        Shape up = a.up;
        std::get<Gemm>(up).m = s.context.prefill_kv_tokens;
        const double product = plan_.fits[*a.up_fit].model.microseconds(up, Buffers::cold);
        if (line) note(*line, up, *a.up_fit, product);
        us += product;
      }
    }
    if (a.index_layers > 0) {
      const double tokens = s.context.decode_kv_tokens + s.context.prefill_kv_tokens;
      const double pairs = s.context.decode_pairs + s.context.prefill_pairs;
      const double share = wide(a.index_layers) / wide(a.layers);
      us += share * (a.index.us(tokens) + pairs * a.index_pair_flops / (a.index.rate * 1e6));
      if (line) line->bytes += share * tokens * a.index.token_bytes;
    }
    return us;
  }

  // The per-head products before and after absorbed decode.
  double around_core(const AttentionOperator& a, double tokens, Line* line) const {
    double us = 0;
    const std::array<std::pair<const Shape*, std::optional<std::size_t>>, 2> products{
        {{&a.pre, a.pre_fit}, {&a.post, a.post_fit}}};
    for (const auto& [prototype, fit] : products) {
      Shape shape = *prototype;
      std::get<MlaBmm>(shape).tokens = tokens;
      double one;
      if (fit) {
        one = plan_.fits[*fit].model.microseconds(shape, Buffers::cold);
        if (line) note(*line, shape, *fit, one);
      } else {
        const double bytes = work_of(shape).bytes;
        one = std::max(bmm_floor_us, bytes / (bmm_share * plan_.device.bandwidth * 1e3));
        if (line) line->bytes += bytes;
      }
      us += one;
    }
    return us;
  }

  double kept_around_core(std::size_t i, const StepShape& s) const {
    const std::int64_t tokens = s.tokens - s.prefill_tokens;
    return around_[i].get(tokens,
                          [&] { return around_core(plan_.attention[i], wide(tokens), nullptr); });
  }

  double recurrent(const RecurrentOperator& r, const StepShape& s, std::int64_t tokens) const {
    const double requests = wide(s.decode_requests + s.prefill_requests);
    return rope_floor_us +
           std::max(requests * r.state_bytes / (elementwise_share * plan_.device.bandwidth * 1e3),
                    wide(tokens) * r.token_flops / (0.5 * bf16_ * 1e6));
  }

  double head_sum(std::int64_t rows) const {
    double us = token_us(plan_.head, wide(rows), true, nullptr) + plan_.sampling.us(wide(rows));
    if (plan_.gather) us += token_us(*plan_.gather, wide(rows), true, nullptr);
    return us;
  }

  Binds limit(const Line& line, double layers) const;
  Spread typical_spread() const;

  Plan plan_;
  HostProfile host_;
  std::string framework_, gpu_;
  std::int64_t graph_tokens_;
  bool piecewise_;                     // small prefill steps come from graphs too
  double bf16_, peak_;                 // TFLOP/s; the second of the operands of most products
  std::vector<double> prefill_floor_;  // by attention operator, us
  Spread spread_;
  std::int64_t calls_ = 0;  // kernels of a step
  static constexpr std::size_t kept_tokens = 16'385, kept_rows = 4'097;
  Kept decode_{kept_tokens}, mixed_{kept_tokens}, head_{kept_rows};
  std::vector<Kept> around_;  // by attention operator: the products around absorbed decode
};

// Launch-bound where neither memory nor the matrix units fill half of the time.
Binds FittedStep::limit(const Line& line, double layers) const {
  if (line.link) return Binds::link;
  const double memory = line.bytes / (plan_.device.bandwidth * 1e3), compute = line.compute_us;
  if (std::max(memory, compute) * layers < 0.5 * line.us) return Binds::launch;
  return memory >= compute ? Binds::memory_bandwidth : Binds::compute;
}

StepBill FittedStep::bill(const StepShape& s) const {
  StepBill out;
  if (s.tokens <= 0) return out;
  const std::int64_t tokens = padded(s);
  const bool prefill = s.prefill_requests > 0;
  const double scale = prefill ? host_.prefill_scale : host_.decode_scale;
  const auto put = [&](const std::string& name, Line line, double layers, std::int64_t calls) {
    line.us *= layers;
    if (line.us <= 0) return;
    const Binds binds = limit(line, layers);
    OperatorTime* at = nullptr;
    for (OperatorTime& known : out.operators)
      if (known.name == name) at = &known;
    if (!at) {
      out.operators.push_back({name, 0, 0, 0, 0, binds, Source::datasheet, 0});
      at = &out.operators.back();
    }
    if (line.fitted) at->source = Source::fitted;
    at->octaves_outside = std::max(at->octaves_outside, line.outside);
    at->seconds += 1e-6 * scale * line.us;
    at->flops += layers * line.flops;
    at->bytes += layers * (line.link ? line.link_bytes : line.bytes);
    at->calls += calls;
  };
  for (const TokenOperator& op : plan_.tokens) {
    Line line;
    line.us = token_us(op, wide(tokens), prefill, &line);
    put(op.name, line, wide(op.layers), op.layers * op.calls);
  }
  for (std::size_t i = 0; i < plan_.attention.size(); ++i) {
    const AttentionOperator& a = plan_.attention[i];
    Line line;
    line.us = attention(i, s, &line);
    put(a.name, line, wide(a.layers), a.layers * (a.mla ? 3 : 1));
  }
  for (const RecurrentOperator& r : plan_.recurrent) {
    Line line;
    line.us = recurrent(r, s, tokens);
    line.bytes = wide(s.decode_requests + s.prefill_requests) * r.state_bytes;
    line.flops = wide(tokens) * r.token_flops;
    line.compute_us = line.flops / (bf16_ * 1e6);
    put(r.name, line, wide(r.layers), r.layers);
  }
  if (s.sampled_rows > 0) {
    Line head;
    head.us = token_us(plan_.head, wide(s.sampled_rows), true, &head);
    put(plan_.head.name, head, 1, 1);
    if (plan_.gather) {
      Line gather;
      gather.us = token_us(*plan_.gather, wide(s.sampled_rows), true, &gather);
      put(plan_.gather->name, gather, 1, 1);
    }
    Line sampling;
    sampling.us = plan_.sampling.us(wide(s.sampled_rows));
    sampling.bytes = wide(s.sampled_rows) * plan_.sampling.token_bytes;
    put("sampling", sampling, 1, 3);
  }
  if (plan_.stages > 1) {
    Line send;
    send.us = plan_.send.us(wide(tokens)), send.link = true;
    send.link_bytes = wide(tokens) * plan_.send.token_bytes;
    put("stage_send", send, wide(plan_.stages - 1), plan_.stages - 1);
  }
  double kernels = 0;
  for (const OperatorTime& line : out.operators) kernels += line.seconds;
  const double launched = std::max(scale * launch_us(s), prefill ? host_.prefill_us : 0);
  if (const double wait = 1e-6 * launched - kernels; wait > 0)
    out.operators.push_back({"launches", wait, 0, 0, calls_, Binds::launch, Source::fitted, 0});
  if (const double host = host_us(s); host > 0)
    out.operators.push_back({"host", 1e-6 * host, 0, 0, 1, Binds::launch, Source::fitted, 0});

  std::array<double, binds_names.size()> by_limit{};
  out.seconds = step_seconds(s);  // the lines add up to it but for the order of their sum
  for (const OperatorTime& line : out.operators) {
    out.flops += line.flops;
    by_limit[static_cast<std::size_t>(line.binds)] += line.seconds;
    if (line.binds != Binds::link) out.bytes += line.bytes;
  }
  out.intensity = out.bytes > 0 ? out.flops / out.bytes : 0;
  out.ridge = peak_ * 1e3 / plan_.device.bandwidth;
  out.binds =
      static_cast<Binds>(std::max_element(by_limit.begin(), by_limit.end()) - by_limit.begin());
  return out;
}

// Of a decode step of ordinary size. A fit errs from shape to shape, so that different operators
// err apart; what no kernel explains comes on top.
Spread FittedStep::typical_spread() const {
  constexpr std::int64_t requests = 32;
  constexpr double context = 2048, unfitted_sigma = 0.25;
  double total = 0, variance = 0, shared = 0;
  const auto add = [&](double us, std::optional<std::size_t> fit) {
    const double own = fit ? plan_.fits[*fit].log_sigma : unfitted_sigma;
    total += us, variance += us * us * own * own;
    if (fit) shared += us * plan_.fits[*fit].shared_sigma;
  };
  for (const TokenOperator& op : plan_.tokens)
    add(wide(op.layers) * token_us(op, requests, false, nullptr), op.fit);
  for (const AttentionOperator& a : plan_.attention)
    add(wide(a.layers) * plan_.fits[a.decode_fit].model.microseconds(
                             decode_shape(a, requests, context, 1), Buffers::cold),
        a.decode_fit);
  const double kernels =
      total > 0 ? std::hypot(std::sqrt(variance), shared) / total : unfitted_sigma;
  const double sigma = std::hypot(kernels, model_discrepancy);
  return {ninety_percent * sigma, ninety_percent * sigma};
}

std::string FittedStep::describe() const {
  std::array<int, kinship_names.size()> count{};
  for (const ChosenOperator& f : plan_.fits) ++count[static_cast<std::size_t>(f.kinship)];
  std::string parts;
  for (std::size_t i = 0; i < count.size(); ++i)
    if (count[i] > 0)
      parts += fmt::format("{}{} from {}", parts.empty() ? "" : ", ", count[i], kinship_names[i]);
  std::string host;
  if (host_.step_us + host_.sequence_us + host_.prefill_us > 0)
    host = fmt::format(
        "; host {:.2f} ms a step and {:.0f} us a sequence, prefill steps at least {:.1f} ms",
        1e-3 * host_.step_us, host_.sequence_us, 1e-3 * host_.prefill_us);
  else if (host_.decode_scale != 1 || host_.prefill_scale != 1)
    host = fmt::format("; host times kernels by {:.2f} in decode and {:.2f} with prefill",
                       host_.decode_scale, host_.prefill_scale);
  return fmt::format("{} kernels on {} fitted to measurements ({}){}", framework_, gpu_, parts,
                     host);
}

}  // namespace

std::unique_ptr<CostModel> make_fitted(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                       const FittedOptions& options, const CostLibrary& library) {
  std::optional<Plan> plan = step::plan_step(model, gpu, options, library);
  if (!plan) return nullptr;
  return std::make_unique<FittedStep>(std::move(*plan), model, gpu, options);
}

}  // namespace kvsim::cost
