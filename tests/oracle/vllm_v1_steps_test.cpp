// The vllm-v1 profile against steps recorded from vLLM's own scheduler (shared data,
// oracle/README.md).
#include <doctest/doctest.h>
#include <zlib.h>

#include <filesystem>
#include <map>
#include <string>

#include "config/document.h"
#include "engine/engine.h"
#include "workload/request.h"

using namespace kvsim;

namespace {

std::vector<std::string> gz_lines(const std::string& path) {
  std::vector<std::string> lines(1);
  gzFile file = gzopen(path.c_str(), "rb");
  REQUIRE(file != nullptr);
  char buffer[1 << 16];
  for (int got; (got = gzread(file, buffer, sizeof buffer)) > 0;)
    for (int i = 0; i < got; ++i) {
      if (buffer[i] == '\n')
        lines.emplace_back();
      else
        lines.back() += buffer[i];
    }
  gzclose(file);
  if (lines.back().empty()) lines.pop_back();
  return lines;
}

// Turns each step into the recorded form, one text per field.
class Capture final : public engine::StepSink {
 public:
  std::vector<std::map<std::string, std::string>> steps;

  void step(const Step& s) override {
    const auto id = [&](engine::Slot slot) { return (*s.requests)[slot].spec.id; };
    std::map<std::string, std::string> line;
    std::map<std::string, std::int64_t> scheduled, hits;
    for (const auto& item : s.plan->scheduled) scheduled[id(item.slot)] = item.tokens;
    for (const auto& hit : s.plan->admitted)
      if (hit.tokens > 0) hits[id(hit.slot)] = hit.tokens;
    for (const auto& [name, n] : scheduled)
      line["scheduled"] += name + "=" + std::to_string(n) + " ";
    for (const auto& [name, n] : hits) line["hits"] += name + "=" + std::to_string(n) + " ";
    for (const auto& victim : s.plan->preempted) line["preempted"] += id(victim.slot) + " ";
    for (const auto slot : s.plan->finished) line["finished"] += id(slot) + " ";
    line["running"] = std::to_string(s.plan->running);
    line["waiting"] = std::to_string(s.plan->waiting);
    line["free_blocks"] = std::to_string(s.plan->free_blocks);
    steps.push_back(std::move(line));
  }
};

std::string recorded(config::Value step, const std::string& field) {
  const config::Value v = step.find(field);
  std::string text;
  if (v.is_object()) {
    std::map<std::string, std::int64_t> sorted;
    for (std::size_t i = 0; i < v.size(); ++i) sorted[v.key(i)] = v.at(i).integer();
    for (const auto& [name, n] : sorted) text += name + "=" + std::to_string(n) + " ";
  } else if (v.is_array()) {
    for (std::size_t i = 0; i < v.size(); ++i) text += v.at(i).string() + " ";
  } else {
    text = std::to_string(v.integer());
  }
  return text;
}

engine::SchedulerLimits limits_of(config::Value e) {
  engine::SchedulerLimits l;
  l.max_num_seqs = e.find("max_num_seqs").integer();
  l.max_num_batched_tokens = e.find("max_num_batched_tokens").integer();
  l.max_model_len = e.find("max_model_len").integer();
  l.long_prefill_token_threshold = e.find("long_prefill_token_threshold").integer();
  l.num_blocks = e.find("num_gpu_blocks_override").integer();
  l.block_tokens = e.find("block_size").integer();
  l.enable_prefix_caching = e.find("enable_prefix_caching").boolean();
  l.enable_chunked_prefill = e.find("enable_chunked_prefill").boolean();
  l.reserve_full_input = e.find("scheduler_reserve_full_isl").boolean();
  l.priority_policy = e.find("scheduling_policy").string() == "priority";
  l.watermark = e.find("watermark").number();
  return l;
}

std::vector<workload::RequestSpec> requests_of(config::Value list) {
  std::vector<workload::RequestSpec> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const config::Value r = list.at(i);
    workload::RequestSpec spec;
    spec.index = static_cast<std::int64_t>(i);
    spec.id = r.find("id").string();
    spec.arrival = Time((r.find("arrival_step").integer() - 1) * ns_per_second);
    for (std::size_t k = 0; k < r.find("prompt").size(); ++k) {
      const config::Value span = r.find("prompt").at(k);
      spec.prompt.push_back({workload::content_id(span.at(0).string()),
                             span.size() > 2 ? span.at(2).integer() : 0, span.at(1).integer()});
      spec.prompt_tokens += spec.prompt.back().length;
    }
    spec.output_tokens = r.find("output_tokens").integer();
    spec.max_tokens = r.find("max_tokens").integer();
    if (r.find("priority").exists()) spec.priority = r.find("priority").integer();
    if (r.find("salt").exists() && !r.find("salt").string().empty())
      spec.salt = workload::content_id(r.find("salt").string());
    out.push_back(std::move(spec));
  }
  return out;
}

// The first difference between a case and what the profile does, "" if there is none.
std::string replay(config::Value test) {
  Capture capture;
  metrics::Recorder recorder{metrics::RecorderOptions{}};
  spec::ModelSpec model;
  engine::EngineSetup setup;
  setup.profile = engine::find_profile("vllm-v1");
  setup.limits = limits_of(test.find("engine"));
  setup.cost = cost::make_constant(Duration(ns_per_second));
  setup.model = &model;
  engine::Engine engine(setup, recorder, &capture);
  auto requests = requests_of(test.find("requests"));
  std::size_t next = 0;
  const config::Value steps = test.find("steps");
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const Time now(static_cast<std::int64_t>(k) * ns_per_second);
    for (; next < requests.size() && requests[next].arrival <= now; ++next)
      engine.submit(requests[next], true);
    if (!engine.has_work()) return "step " + std::to_string(k + 1) + ": the engine is idle";
    engine.begin_step(now);
    for (const char* field :
         {"scheduled", "hits", "preempted", "finished", "running", "waiting", "free_blocks"})
      if (const std::string want = recorded(steps.at(k), field), got = capture.steps[k][field];
          want != got)
        return "step " + std::to_string(k + 1) + " " + field + ": want " + want + ", got " + got;
    engine.end_step(now + Duration(ns_per_second));
    engine.profile().verify();
  }
  return engine.has_work() ? "requests are left after the last step" : "";
}

}  // namespace

namespace {

constexpr const char* families[] = {"plain",       "pressure", "sharing", "multiturn", "nochunk",
                                    "longprefill", "priority", "gateon",  "gateoff",   "salt",
                                    "watermark",   "mixed",    "large"};

void replay_family(const std::string& family, const std::vector<std::string>& lines) {
  int matched = 0;
  for (const std::string& line : lines) {
    const auto document = config::Document::parse(line, family);
    const std::string difference = replay(document.root());
    matched += difference.empty();
    CHECK_MESSAGE(difference.empty(), document.root().find("id").string() << ": " << difference);
  }
  MESSAGE(family << ": " << matched << " of " << lines.size() << " cases");
  CHECK(!lines.empty());
}

}  // namespace

TEST_SUITE("oracle/vllm-v1") {
  TEST_CASE("the committed sample of recorded steps is reproduced") {
    const std::filesystem::path folder =
        std::filesystem::path(KVSIM_SOURCE_DIR) / "tests/conform/fixtures";
    for (const std::string family : families)
      if (family != "large")
        replay_family(family, gz_lines(folder / ("vllm_" + family + ".jsonl")));
  }

  TEST_CASE("every recorded step of the full-attention families is reproduced") {
    const std::filesystem::path folder =
        std::filesystem::path(KVSIM_SOURCE_DIR) / "../shared/data/oracle";
    if (!std::filesystem::exists(folder)) {
      MESSAGE("skipped: no recorded traces beside the checkout (../shared/data/oracle)");
      return;
    }
    for (const std::string family : families)
      replay_family(family, gz_lines(folder / ("vllm_" + family + ".jsonl.gz")));
  }
}
