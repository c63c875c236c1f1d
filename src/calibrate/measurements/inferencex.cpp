#include <algorithm>

#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view export_columns[] = {"source",
                                               "measured",
                                               "framework",
                                               "version",
                                               "image",
                                               "model",
                                               "gpu",
                                               "precision",
                                               "gemm_quant",
                                               "moe_quant",
                                               "mode",
                                               "spec_decode",
                                               "tpot_vs_slowest_twin",
                                               "parallel_fixed",
                                               "isl",
                                               "osl",
                                               "concurrency",
                                               "batch_size",
                                               "total_gpus",
                                               "tp",
                                               "pp",
                                               "attn_dp",
                                               "moe_tp",
                                               "moe_ep",
                                               "p_workers",
                                               "p_batch",
                                               "p_tp",
                                               "p_pp",
                                               "p_attn_dp",
                                               "p_moe_tp",
                                               "p_moe_ep",
                                               "d_workers",
                                               "d_batch",
                                               "d_tp",
                                               "d_pp",
                                               "d_attn_dp",
                                               "d_moe_tp",
                                               "d_moe_ep",
                                               "ttft_ms",
                                               "tpot_ms",
                                               "family"};
constexpr std::string_view percentile_columns[] = {"source",
                                                   "commit",
                                                   "date",
                                                   "run_url",
                                                   "image",
                                                   "framework",
                                                   "model",
                                                   "gpu",
                                                   "precision",
                                                   "spec_method",
                                                   "disagg",
                                                   "multinode",
                                                   "p_tp",
                                                   "p_ep",
                                                   "p_dp_attn",
                                                   "p_workers",
                                                   "n_prefill_gpu",
                                                   "d_tp",
                                                   "d_ep",
                                                   "d_dp_attn",
                                                   "d_workers",
                                                   "n_decode_gpu",
                                                   "isl",
                                                   "osl",
                                                   "conc",
                                                   "median_ttft_ms",
                                                   "mean_ttft_ms",
                                                   "p99_ttft_ms",
                                                   "median_tpot_ms",
                                                   "mean_tpot_ms",
                                                   "p99_tpot_ms",
                                                   "median_itl_ms",
                                                   "p99_itl_ms",
                                                   "median_e2el_ms",
                                                   "p99_e2el_ms",
                                                   "tput_per_gpu",
                                                   "input_tput_per_gpu",
                                                   "output_tput_per_gpu",
                                                   "family"};

// The client draws lengths evenly between 0.8 and 1.0 of the nominal ones.
constexpr double mean_length = 0.9;

void add(Measurement& m, const char* kernel, std::optional<double> value, double scale) {
  if (value) m.figures.push_back({kernel, *value * scale});
}
}  // namespace
const std::span<const std::string_view> inferencex_columns = export_columns,
                                        dsr1_columns = percentile_columns;

Measurement read_inferencex(const Row& row) {
  Measurement m;
  m.gpu = row.word("gpu"), m.framework = row.word("framework"), m.version = row.text("version");
  Serving s;
  s.model = row.word("model"), s.precision = row.text("precision");
  m.dtype = s.precision.empty() ? "unstated" : s.precision;
  const double share = row.text("source").starts_with("InferenceX") ? mean_length : 1.0;
  s.prompt = share * static_cast<double>(row.count("isl")),
  s.output = share * static_cast<double>(row.count("osl"));
  const std::string& mode = row.text("mode");
  const std::string& speculative = row.text("spec_decode");
  s.tp = row.count_or("tp", 1, 0), s.pp = row.count_or("pp", 1, 1);
  // Exports write 0 for what a dense model has not.
  s.attn_dp = std::max<std::int64_t>(1, row.count_or("attn_dp", 0, 1));
  s.moe_ep = std::max<std::int64_t>(1, row.count_or("moe_ep", 0, 1));
  s.gpus = row.count_or("total_gpus", 1, s.tp);
  const std::int64_t batch = row.count_or("batch_size", 1, 0);
  s.concurrency =
      batch > 0 ? batch * (s.attn_dp > 1 ? s.attn_dp : 1) : row.count_or("concurrency", 1, 0);
  const bool replicated = batch > 0 && row.count_or("concurrency", 1, 0) > s.concurrency;
  if (mode != "agg")
    s.unrepresentable = "prefill and decode on separate engines";
  else if (speculative != "none" && speculative != "none_by_run_date" &&
           speculative != "none_assumed")
    s.unrepresentable =
        speculative == "unknown" ? "may be speculative decoding" : "speculative decoding";
  else if (replicated)
    s.unrepresentable = "several engines behind one figure";
  else if (s.concurrency == 0)
    s.unrepresentable = "concurrency not stated";
  // Exports of vLLM count the ranks of a data parallel engine twice.
  if (s.attn_dp > 1 && s.attn_dp == s.tp && s.gpus == s.tp * s.attn_dp) s.gpus = s.tp;
  const auto ttft = row.optional_positive("ttft_ms"), tpot = row.optional_positive("tpot_ms");
  add(m, "e2e_ttft", ttft, 1e-3);
  add(m, "e2e_tpot", tpot, 1e-3);
  // A closed loop's throughput follows from what it keeps in flight and how long that takes.
  if (ttft && tpot && s.concurrency > 0)
    m.figures.push_back(
        {"e2e_throughput", static_cast<double>(s.concurrency) * s.output /
                               (1e-3 * (*ttft + *tpot * std::max(0.0, s.output - 1))) /
                               static_cast<double>(s.gpus)});
  m.shape = std::move(s);
  if (m.figures.empty()) m.unmeasured = "no TTFT and no TPOT";
  return m;
}

Measurement read_dsr1(const Row& row) {
  Measurement m;
  m.gpu = row.word("gpu"), m.framework = row.word("framework"), m.version = row.text("image");
  Serving s;
  s.model = row.word("model"), s.precision = row.word("precision");
  m.dtype = s.precision;
  s.prompt = mean_length * static_cast<double>(row.count("isl"));
  s.output = mean_length * static_cast<double>(row.count("osl"));
  s.concurrency = row.count("conc");
  s.tp = row.count("d_tp"), s.moe_ep = row.count("d_ep");
  s.attn_dp = row.count("d_dp_attn", 0) == 1 ? s.tp : 1;
  s.gpus = row.count("n_decode_gpu");
  if (row.count("disagg", 0) == 1)
    s.unrepresentable = "prefill and decode on separate engines";
  else if (row.text("spec_method") != "none")
    s.unrepresentable = "speculative decoding";
  else if (row.count("multinode", 0) == 1)
    s.unrepresentable = "one engine across several nodes";
  m.shape = std::move(s);
  add(m, "e2e_ttft", row.optional_positive("mean_ttft_ms"), 1e-3);
  add(m, "e2e_tpot", row.optional_positive("mean_tpot_ms"), 1e-3);
  add(m, "e2e_throughput", row.optional_positive("output_tput_per_gpu"), 1);
  if (m.figures.empty()) m.unmeasured = "no mean TTFT, TPOT or throughput";
  return m;
}

}  // namespace kvsim::calibrate
