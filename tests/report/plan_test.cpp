#include <doctest/doctest.h>

#include <algorithm>

#include "config/document.h"
#include "planner/plan.h"
#include "planner/search.h"
#include "report/plan_json.h"
#include "spec/catalog.h"

using namespace kvsim;

namespace {

planner::Request request(const char* model, const char* gpu) {
  static const spec::Catalog catalog;
  planner::Request r;
  r.model = catalog.model(model);
  r.gpu = catalog.gpu(gpu);
  return r;
}

}  // namespace

TEST_CASE("the plan document is complete whether it fits or not") {
  for (const char* gpu : {"h200-sxm", "t4"}) {
    const planner::Plan plan = planner::make_plan(request("qwen3-next-80b-a3b", gpu));
    const std::string text = report::plan_json(plan);
    CHECK(text == report::plan_json(plan));
    const auto document = config::Document::parse(text, "plan");
    const config::Value root = document.root();
    CHECK(root.key(0) == "schema");
    CHECK(root.find("schema").string() == "kvsim.plan/1");
    for (const char* key : {"fits", "rules", "engine_log", "limit", "advice", "warnings"})
      CHECK(root.find(key).exists());
    for (const char* key : {"total_bytes", "budget_bytes", "weights_bytes", "activation_bytes",
                            "non_torch_bytes", "cuda_graph_bytes", "kv_bytes"})
      CHECK(root.find("gpu_memory").find(key).kind() == config::Kind::integer);
    for (const char* key : {"bytes_per_token", "bytes_per_sequence", "block_tokens", "blocks",
                            "tokens", "max_concurrency"}) {
      const auto kind = root.find("kv").find(key).kind();
      CHECK((kind == config::Kind::integer || kind == config::Kind::number));
    }
    for (const char* key :
         {"context", "batch", "kv_bytes", "prefill_ms", "decode_ms", "binds", "source"})
      CHECK(root.find("at").find(key).exists());
    const config::Value advice = root.find("advice");
    for (std::size_t i = 0; i < advice.size(); ++i) {
      CHECK(advice.at(i).find("set").size() >= 1);
      CHECK(advice.at(i).find("fits").kind() == config::Kind::boolean);
      CHECK_FALSE(advice.at(i).find("gain").string().empty());
    }
  }
}

TEST_CASE("the ledger in the document adds up to the budget") {
  const auto document = config::Document::parse(
      report::plan_json(planner::make_plan(request("llama-3.1-8b", "l40s"))), "plan");
  const config::Value memory = document.root().find("gpu_memory");
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < memory.find("lines").size(); ++i) {
    const config::Value line = memory.find("lines").at(i);
    if (line.find("in_budget").boolean()) sum += line.find("bytes").integer();
  }
  CHECK(sum == memory.find("budget_bytes").integer());
}

TEST_CASE("a default carries a star and a given setting does not") {
  planner::Request r = request("llama-3.1-8b", "l40s");
  planner::Plan plan = planner::make_plan(r);
  CHECK(report::plan_text(plan).find("gpu_memory_utilization 0.92*") != std::string::npos);
  plan.given.insert("gpu_memory_utilization");
  const std::string text = report::plan_text(plan);
  CHECK(text.find("gpu_memory_utilization 0.92*") == std::string::npos);
  CHECK(text.find("gpu_memory_utilization 0.92") != std::string::npos);
  CHECK(text.find("GPU KV cache size") != std::string::npos);
  CHECK(text.find("Plan: ") != std::string::npos);
}

TEST_CASE("a search is added to the document and the text") {
  planner::Request r = request("llama-3.1-8b", "l40s");
  const auto list = planner::search_deployments(r, 4);
  const planner::Plan plan = planner::make_plan(r);
  const auto document = config::Document::parse(report::plan_json(plan, list), "plan");
  CHECK(document.root().find("search").size() == list.size());
  CHECK(report::plan_text(plan, list).find("tok/s/GPU") != std::string::npos);
  CHECK_FALSE(
      config::Document::parse(report::plan_json(plan), "plan").root().find("search").exists());
}
