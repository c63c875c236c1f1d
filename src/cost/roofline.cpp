#include "cost/roofline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "cost/roofline_constants.h"

namespace kvsim::cost {
namespace {

using namespace roofline;

// Receives every operator of a step. Time alone for step_seconds(), everything for bill().
struct Sum {
  double seconds = 0;
  void operator()(std::string_view, double s, double, double, std::int64_t, Binds) { seconds += s; }
};
struct Lines {
  StepBill bill;
  void operator()(std::string_view name, double s, double flops, double bytes, std::int64_t calls,
                  Binds binds) {
    bill.seconds += s;
    for (OperatorTime& line : bill.operators)
      if (line.name == name) {
        line.seconds += s;
        line.flops += flops;
        line.bytes += bytes;
        line.calls += calls;
        return;
      }
    bill.operators.push_back({std::string(name), s, flops, bytes, calls, binds});
  }
};

class Roofline final : public CostModel {
 public:
  Roofline(const spec::ModelSpec& model, const spec::GpuSpec& gpu, const RooflineOptions& options)
      : plan_(plan_roofline(model, gpu, options)),
        graph_tokens_(options.enforce_eager ? 0 : options.cuda_graph_tokens),
        ridge_rate_(gpu.matrix_rate(spec::compute_dtype(
            model, model.moe ? spec::WeightKind::experts : spec::WeightKind::dense_mlp, gpu))),
        bandwidth_(gpu.memory_bandwidth),
        gpu_(gpu.id) {}

  double step_seconds(const StepShape& shape) const override {
    Sum sum;
    evaluate(shape, sum);
    return sum.seconds;
  }

  StepBill bill(const StepShape& shape) const override {
    Lines lines;
    evaluate(shape, lines);
    StepBill b = std::move(lines.bill);
    std::array<double, binds_names.size()> by_limit{};
    for (const OperatorTime& line : b.operators) {
      by_limit[static_cast<std::size_t>(line.binds)] += line.seconds;
      b.flops += line.flops;
      if (line.binds != Binds::link) b.bytes += line.bytes;
    }
    b.intensity = b.bytes > 0 ? b.flops / b.bytes : 0;
    b.ridge = ridge_rate_.value() / bandwidth_.value();
    b.binds =
        static_cast<Binds>(std::max_element(by_limit.begin(), by_limit.end()) - by_limit.begin());
    return b;
  }

  Spread spread(const StepShape&) const override { return {spread_below, spread_above}; }
  Source source() const override { return Source::datasheet; }
  std::string describe() const override {
    return "datasheet roofline of " + gpu_ +
           ": 80 % of the peak bandwidth, 81 % of the matrix peak, 3 us per kernel; the engine's "
           "host time is not "
           "included, so expect steps 5 to 40 % longer";
  }

 private:
  // One kernel in `layers` layers: the slower of memory and matrix units, after a launch floor.
  template <class Out>
  void kernel(Out& out, std::string_view name, std::int64_t layers, std::int64_t calls,
              double bytes, double flops, double seconds_per_flop) const {
    const double n = static_cast<double>(layers);
    const double memory = bytes * plan_.seconds_per_byte, compute = flops * seconds_per_flop;
    const double floor = kernel_floor_s * static_cast<double>(calls);
    const double work = std::max(memory, compute);
    const Binds binds = work < floor        ? Binds::launch
                        : memory >= compute ? Binds::memory_bandwidth
                                            : Binds::compute;
    out(name, n * (floor + work), n * flops, n * bytes, layers * calls, binds);
  }

  template <class Out>
  void reduce(Out& out, std::string_view name, const AllReduce& r, double tokens) const {
    if (r.ranks <= 1 || r.calls == 0) return;
    const double sent = 2 * (r.ranks - 1) / r.ranks * tokens * r.tokens * plan_.hidden_bytes;
    const double n = static_cast<double>(r.calls);
    out(name, n * (plan_.reduce_floor + sent * plan_.seconds_per_link_byte), 0, n * sent, r.calls,
        Binds::link);
  }

  template <class Out>
  void evaluate(const StepShape& shape, Out& out) const {
    if (shape.tokens <= 0) return;
    const double tokens = static_cast<double>(cuda_graph_size(shape.tokens, graph_tokens_));
    const double decodes = static_cast<double>(shape.tokens - shape.prefill_tokens);
    for (const Linear& l : plan_.linears) {
      double rows = tokens;
      if (l.up_projection) rows = std::max(tokens, decodes + shape.context.prefill_kv_tokens);
      kernel(out, l.name, l.layers, 1, l.weight_bytes + rows * l.token_bytes, rows * l.token_flops,
             l.seconds_per_flop);
    }
    for (const Experts& e : plan_.experts) {
      // Each token picks its experts without repetition, evenly over all.
      const double group_tokens = tokens * e.ranks_tokens;
      const double touched = e.local_experts * (1 - std::pow(1 - e.share, group_tokens));
      const double rows = group_tokens * e.token_rows;
      kernel(out, "experts", e.layers, 4, touched * e.expert_bytes + rows * e.row_bytes,
             rows * e.row_flops, e.seconds_per_flop);
    }
    for (const Attention& a : plan_.attention) attention(out, a, shape, tokens);
    for (const Recurrent& r : plan_.recurrent) {
      const double requests = static_cast<double>(shape.decode_requests + shape.prefill_requests);
      kernel(out, r.name, r.layers, 1, requests * r.state_bytes, tokens * r.token_flops,
             plan_.attention_seconds_per_flop);
    }
    const double calls = static_cast<double>(plan_.elementwise.calls);
    out("elementwise",
        calls * kernel_floor_s + tokens * plan_.elementwise.token_bytes * plan_.seconds_per_byte, 0,
        tokens * plan_.elementwise.token_bytes, plan_.elementwise.calls,
        tokens * plan_.elementwise.token_bytes * plan_.seconds_per_byte < calls * kernel_floor_s
            ? Binds::launch
            : Binds::memory_bandwidth);
    reduce(out, "all_reduce", plan_.attention_reduce, tokens);
    reduce(out, "expert_exchange", plan_.expert_reduce, tokens);
    if (plan_.stages > 1) {
      const double hops = static_cast<double>(plan_.stages - 1),
                   sent = 2 * tokens * plan_.hidden_bytes;
      out("stage_send", hops * (plan_.send_floor + sent * plan_.seconds_per_link_byte), 0,
          hops * sent, plan_.stages - 1, Binds::link);
    }
    if (shape.sampled_rows > 0) head(out, static_cast<double>(shape.sampled_rows));
  }

  template <class Out>
  void attention(Out& out, const Attention& a, const StepShape& shape, double tokens) const {
    const StepShape::Group& g = shape.groups[static_cast<std::size_t>(a.group)];
    const double write = tokens * a.write_bytes;
    if (shape.decode_requests > 0)
      kernel(out, a.name, a.layers, 1, g.decode_kv_tokens * a.kv_bytes + write,
             g.decode_pairs * a.decode_flops, plan_.attention_seconds_per_flop);
    if (shape.prefill_requests > 0)
      kernel(out, a.name, a.layers, 1,
             g.prefill_kv_tokens * a.kv_bytes + (shape.decode_requests > 0 ? 0 : write),
             g.prefill_pairs * a.prefill_flops, plan_.attention_seconds_per_flop);
    if (a.index_layers > 0)
      kernel(out, "indexer", a.index_layers, 1,
             (shape.context.decode_kv_tokens + shape.context.prefill_kv_tokens) * a.index_bytes,
             (shape.context.decode_pairs + shape.context.prefill_pairs) * a.index_flops,
             plan_.attention_seconds_per_flop);
  }

  // LM head on the sampled rows, gathering of the logits, three passes of sampling over them.
  template <class Out>
  void head(Out& out, double rows) const {
    kernel(out, plan_.head.name, 1, 1, plan_.head.weight_bytes + rows * plan_.head.token_bytes,
           rows * plan_.head.token_flops, plan_.head.seconds_per_flop);
    const double all = rows * plan_.vocab * plan_.tp;
    if (plan_.tp > 1) {
      const double sent = 2 * all * (plan_.tp - 1) / plan_.tp;
      out("logits_gather", plan_.reduce_floor + sent * plan_.seconds_per_link_byte, 0, sent, 1,
          Binds::link);
    }
    kernel(out, "sampling", 1, 3, 3 * 4 * all, 0, 0);
  }

  Plan plan_;
  std::int64_t graph_tokens_;
  FlopRate ridge_rate_;
  Bandwidth bandwidth_;
  std::string gpu_;
};

}  // namespace

std::unique_ptr<CostModel> make_roofline(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                         const RooflineOptions& options) {
  return std::make_unique<Roofline>(model, gpu, options);
}

}  // namespace kvsim::cost
