#include <nlohmann/json.hpp>

#include "config/document.h"
#include "report/exporter.h"
#include "report/json_layout.h"

namespace kvsim::report {
namespace {

using namespace metrics;
using Json = nlohmann::ordered_json;

void header(Json& out, const RunResult& r) {
  // vLLM writes when the benchmark ran; a simulation has no date, and equal inputs give equal
  // bytes.
  out["date"] = "19700101-000000";
  out["endpoint_type"] = "kvsim";
  out["backend"] = r.engines.empty() ? "kvsim" : "kvsim:" + r.engines.front().profile;
  out["label"] = r.name;
  out["model_id"] = r.engines.empty() ? "" : r.engines.front().model;
  out["tokenizer_id"] = out["model_id"];
  out["num_prompts"] = r.summary.completed + r.summary.failed;
  out["request_rate"] = r.summary.offered_rate ? Json(*r.summary.offered_rate) : Json("inf");
  out["burstiness"] = nullptr;
  out["max_concurrency"] = nullptr;
}

void distribution(Json& out, const std::string& name, const Distribution& d,
                  const std::vector<double>& levels) {
  out["mean_" + name] = d.mean;
  out["median_" + name] = d.median;
  out["std_" + name] = d.std;
  for (std::size_t i = 0; i < levels.size(); ++i)
    out["p" + percentile_word(levels[i]) + "_" + name] = d.percentiles[i];
}

void arrays(Json& out, const RunResult& r) {
  Json input = Json::array(), output = Json::array(), ttfts = Json::array(), itls = Json::array();
  bool kept = true;  // the gaps of every request, so that itls says what it seems to say
  Json starts = Json::array(), errors = Json::array(), texts = Json::array();
  for (const RequestRow& row : r.requests) {
    if (!row.measured) continue;
    input.push_back(row.prompt_tokens);
    output.push_back(row.output_tokens);
    ttfts.push_back(row.failure.empty() ? to_seconds(row.first_token - row.arrival) : 0.0);
    kept = kept && (!row.gaps.empty() || row.output_tokens <= 1);
    Json gaps = Json::array();
    for (const Duration gap : row.gaps) gaps.push_back(to_seconds(gap));
    itls.push_back(std::move(gaps));
    starts.push_back(to_seconds(row.arrival));
    texts.push_back("");
    errors.push_back(row.failure);
  }
  out["input_lens"] = std::move(input);
  out["output_lens"] = std::move(output);
  out["ttfts"] = std::move(ttfts);
  if (kept) out["itls"] = std::move(itls);
  out["start_times"] = std::move(starts);
  out["generated_texts"] = std::move(texts);
  out["errors"] = std::move(errors);
}

}  // namespace

std::string render_vllm_bench(const RunResult& r, const Style& style) {
  const Summary& s = r.summary;
  Json out = Json::object();
  header(out, r);
  out["duration"] = s.duration;
  out["completed"] = s.completed;
  out["failed"] = s.failed;
  out["total_input_tokens"] = s.total_input_tokens;
  out["total_output_tokens"] = s.total_output_tokens;
  out["request_throughput"] = s.request_throughput;
  out["request_goodput"] = s.request_goodput ? Json(*s.request_goodput) : Json();
  out["output_throughput"] = s.output_throughput;
  out["total_token_throughput"] = s.total_token_throughput;
  if (style.detailed) arrays(out, r);
  out["max_output_tokens_per_s"] = s.max_output_tokens_per_s;
  out["max_concurrent_requests"] = s.max_concurrent_requests;
  distribution(out, "ttft_ms", s.ttft_ms, s.percentile_levels);
  distribution(out, "tpot_ms", s.tpot_ms, s.percentile_levels);
  distribution(out, "itl_ms", s.itl_ms, s.percentile_levels);
  distribution(out, "e2el_ms", s.e2el_ms, s.percentile_levels);
  return layout(out.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace kvsim::report
