#include <doctest/doctest.h>

#include <algorithm>

#include "config/document.h"
#include "planner/answers.h"
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
    const planner::Plan plan = planner::answer(request("qwen3-next-80b-a3b", gpu));
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
      report::plan_json(planner::answer(request("llama-3.1-8b", "l40s"))), "plan");
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
  planner::Plan plan = planner::answer(r);
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
  const planner::Plan plan = planner::answer(r);
  const auto document = config::Document::parse(report::plan_json(plan, list), "plan");
  CHECK(document.root().find("search").size() == list.size());
  CHECK(report::plan_text(plan, list).find("tok/s/GPU") != std::string::npos);
  CHECK_FALSE(
      config::Document::parse(report::plan_json(plan), "plan").root().find("search").exists());
}

TEST_CASE("the document lists the lengths that start and what is the least that fits") {
  planner::Request r = request("llama-3.1-8b", "rtx-3090");
  const planner::Plan plan = planner::answer(r);
  const auto document = config::Document::parse(report::plan_json(plan), "plan");
  const config::Value kv = document.root().find("kv");
  const config::Value ranges = kv.find("feasible_lengths");
  REQUIRE(ranges.size() == plan.feasible.ranges.size());
  CHECK(ranges.at(0).at(0).integer() == 1);
  CHECK(ranges.at(ranges.size() - 1).at(1).integer() == plan.feasible.largest);
  CHECK(kv.find("largest_max_model_len").integer() == plan.feasible.largest);
  CHECK(kv.find("usable_tokens").integer() == plan.usable.tokens);
  const config::Value smallest = document.root().find("smallest");
  REQUIRE(smallest.size() == 4);
  CHECK(smallest.at(0).find("set").find("tensor_parallel_size").integer() == 2);
}

TEST_CASE("no line of a plan is wider than a hundred columns") {
  for (const auto& [model, gpu] :
       {std::pair{"gemma-3-27b", "h100-sxm"}, std::pair{"qwen3-next-80b-a3b", "h200-sxm"},
        std::pair{"deepseek-v4-pro", "t4"}, std::pair{"llama-3.1-8b", "b300-sxm"}}) {
    const planner::Request r = request(model, gpu);
    std::string text = report::plan_text(planner::answer(r), planner::search_deployments(r, 8));
    while (!text.empty()) {
      const std::string line = text.substr(0, text.find('\n'));
      CAPTURE(line);
      CHECK(line.size() <= 100);
      text.erase(0, line.size() + 1);
    }
  }
}

TEST_CASE("answers to questions are in the document and keep to a hundred columns") {
  for (const char* model : {"llama-3.1-8b", "qwen3-next-80b-a3b", "deepseek-v4-flash"}) {
    const planner::Request r = request(model, "b300-sxm");
    planner::Questions questions;
    questions.lengths = planner::parse_length_mix("1000+-300:200");
    questions.streams = {1000, 100000};
    questions.room = {{4, 8192}, {100000, 8192}};
    planner::Plan plan = planner::answer(r, questions);
    plan.against = planner::compare_plans(plan, planner::answer(request(model, "t4")), "--gpu t4");
    const auto document = config::Document::parse(report::plan_json(plan), "plan");
    const config::Value root = document.root();
    CHECK(root.find("at_lengths").find("safe_95").integer() == plan.at_lengths->safe);
    CHECK(root.find("streams").find("rows").size() == 2);
    CHECK(root.find("room").size() == 2);
    CHECK(root.find("against").find("terms").size() == plan.against->terms.size());
    std::string text = report::plan_text(plan);
    while (!text.empty()) {
      const std::string line = text.substr(0, text.find('\n'));
      CAPTURE(line);
      CHECK(line.size() <= 100);
      text.erase(0, line.size() + 1);
    }
  }
}
