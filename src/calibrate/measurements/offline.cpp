#include <algorithm>
#include <iterator>

#include "calibrate/measurements/kinds.h"

namespace kvsim::calibrate {
namespace {
constexpr std::string_view overview[] = {"source",
                                         "version",
                                         "commit",
                                         "model",
                                         "gpu",
                                         "precision",
                                         "parallel",
                                         "tp",
                                         "pp",
                                         "dep",
                                         "n_gpus",
                                         "batch_size",
                                         "isl",
                                         "osl",
                                         "scenario",
                                         "output_tok_s",
                                         "output_tok_s_per_gpu",
                                         "throughput_as_written",
                                         "ttft_ms",
                                         "family"};
constexpr std::string_view mlperf[] = {
    "source",       "version",  "commit",   "submission_id", "submitter",        "category",
    "availability", "model",    "scenario", "accelerator",   "accel_per_node",   "nodes",
    "weight_dtype", "software", "result",   "units",         "result_per_accel", "system",
    "gpu",          "family"};

// Mean tokens per sample. Outputs as submitted (llama2-70b 270 to 302, mixtral 143 to 147, 405b 603
// to 761, deepseek-r1 3,624 to 3,854 tokens); inputs are assumptions from the tasks' data sets.
struct Lengths {
  std::string_view task, model;
  double input, output;
};
constexpr Lengths mlperf_lengths[] = {{"llama2-70b", "llama-2-70b", 294, 286},
                                      {"mixtral-8x7b", "mixtral-8x7b", 410, 145},
                                      {"llama3.1-405b", "llama-3.1-405b", 9400, 684},
                                      {"deepseek-r1", "deepseek-r1", 800, 3740}};
}  // namespace
const std::span<const std::string_view> trtllm_columns = overview, mlperf_columns = mlperf;

Measurement read_trtllm(const Row& row) {
  Measurement m;
  m.gpu = row.word("gpu"), m.framework = "trtllm", m.version = row.word("version");
  Serving s;
  s.model = row.word("model"), s.precision = row.word("precision");
  m.dtype = s.precision, m.regime = "offline";
  s.prompt = static_cast<double>(row.count("isl")),
  s.output = static_cast<double>(row.count("osl"));
  const std::int64_t dep = row.count("dep", 0);
  s.gpus = row.count("n_gpus"), s.pp = row.count("pp");
  s.tp = dep > 0 ? dep : row.count("tp"), s.attn_dp = dep > 0 ? dep : 1,
  s.moe_ep = dep > 0 ? dep : 1;
  s.concurrency = row.count_or("batch_size", 1, 0);
  m.shape = std::move(s);
  if (const auto rate = row.optional_positive("output_tok_s_per_gpu"))
    m.figures.push_back({"e2e_throughput", *rate});
  if (const auto ttft = row.optional_positive("ttft_ms"))
    m.figures.push_back({"e2e_ttft", *ttft * 1e-3});
  if (m.figures.empty()) m.unmeasured = "the source does not say whether its figure is per GPU";
  return m;
}

Measurement read_mlperf(const Row& row) {
  Measurement m;
  m.gpu = row.word("gpu"),
  m.framework = row.text("software").find("vLLM") != std::string::npos ? "vllm" : "trtllm",
  m.version = row.word("version");
  m.dtype = row.word("weight_dtype"), m.regime = row.word("scenario");
  Serving s;
  s.model = row.word("model"), s.precision = m.dtype;
  s.gpus = row.count("accel_per_node") * row.count("nodes");
  const auto lengths = std::ranges::find_if(
      mlperf_lengths, [&](const Lengths& l) { return s.model.starts_with(l.task); });
  if (lengths == std::end(mlperf_lengths))
    s.unrepresentable = "input and output lengths are not published";
  else if (m.regime != "Offline")
    s.unrepresentable = "tuned to latency limits";
  else
    s.model = lengths->model, s.prompt = lengths->input, s.output = lengths->output;
  s.tp = 0, s.concurrency = 0;
  m.shape = std::move(s);
  m.figures = {{"e2e_throughput", row.positive("result_per_accel")}};
  return m;
}

}  // namespace kvsim::calibrate
