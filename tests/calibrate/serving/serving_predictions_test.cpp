#include "calibrate/serving/serving_predictions.h"

#include <doctest/doctest.h>

#include <memory>

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}

struct Row {
  const char *framework, *model;
  std::int64_t clients;
  double ttft, tpot;
};

// Figures of nobody's engine: what matters is who uses them.
std::vector<Row> table() {
  std::vector<Row> rows;
  for (const char* model : {"llama-3.1-8b", "qwen3-8b", "qwen3-14b"})
    for (const std::int64_t clients : {1, 4, 8, 16, 32, 64})
      for (const char* framework : {"vllm", "sglang"})
        rows.push_back({framework, model, clients, 0.05 + 0.002 * static_cast<double>(clients),
                        0.012 + 0.0001 * static_cast<double>(clients)});
  return rows;
}

Measurement measurement(const Row& r) {
  Measurement m;
  m.gpu = "h100-sxm", m.framework = r.framework, m.version = "9.9";
  Serving s;
  s.model = r.model, s.precision = "bf16", s.prompt = 1000, s.output = 300;
  s.concurrency = r.clients;
  m.shape = s;
  m.figures = {{"e2e_ttft", r.ttft}, {"e2e_tpot", r.tpot}};
  return m;
}

std::unique_ptr<const ServingPredictions> predictions(const std::vector<Row>& rows,
                                                      HostConstants host) {
  auto p = std::make_unique<ServingPredictions>(catalog(), ServingPredictions::Options{host});
  for (const Row& r : rows) {
    const auto added = p->add(measurement(r), catalog().gpu("h100-sxm"));
    REQUIRE(added.unrepresentable.empty());
  }
  p->predict();
  return p;
}

void check_equal(const cost::HostProfile& a, const cost::HostProfile& b) {
  CHECK(a.decode_scale == b.decode_scale);
  CHECK(a.prefill_scale == b.prefill_scale);
  CHECK(a.step_us == b.step_us);
  CHECK(a.sequence_us == b.sequence_us);
  CHECK(a.prefill_us == b.prefill_us);
  CHECK(a.request_us == b.request_us);
}

}  // namespace

TEST_CASE("Constants fitted to one half never use a scored run") {
  std::vector<Row> rows = table();
  const auto before = predictions(rows, HostConstants::halves);
  std::size_t scored = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (before->is_scored(i)) ++scored, rows[i].tpot *= 5, rows[i].ttft *= 3;
  CHECK(scored == rows.size() / 2);
  const auto after = predictions(rows, HostConstants::halves);
  REQUIRE(before->fitted().size() == 2);
  REQUIRE(after->fitted().size() == 2);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(before->fitted()[i].terms != HostTerms::none);
    check_equal(before->fitted()[i].entry.profile, after->fitted()[i].entry.profile);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(after->is_scored(i) == before->is_scored(i));
    CHECK(after->value(i, "e2e_tpot") == before->value(i, "e2e_tpot"));
  }
  // The other half does move them.
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (!before->is_scored(i)) rows[i].tpot *= 1.3;
  const auto moved = predictions(rows, HostConstants::halves);
  std::size_t changed = 0;
  for (std::size_t i = 0; i < rows.size(); ++i)
    changed += moved->value(i, "e2e_tpot") != before->value(i, "e2e_tpot");
  CHECK(changed >= scored);
}

TEST_CASE("Constants for a left-out model never use a run of it") {
  std::vector<Row> rows = table();
  const auto before = predictions(rows, HostConstants::left_out);
  for (Row& r : rows)
    if (std::string_view(r.model) == "qwen3-8b") r.tpot *= 5, r.ttft *= 3;
  const auto after = predictions(rows, HostConstants::left_out);
  std::size_t same = 0, moved = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(after->is_scored(i));
    const bool equal = after->value(i, "e2e_tpot") == before->value(i, "e2e_tpot");
    if (std::string_view(rows[i].model) == "qwen3-8b") {
      CHECK(equal);
      ++same;
    } else {
      moved += !equal;
    }
  }
  CHECK(same == rows.size() / 3);
  CHECK(moved > 0);
  // One fit per framework and model.
  CHECK(before->fitted().size() == 6);
}

TEST_CASE("Runs of another framework move no constants") {
  std::vector<Row> rows = table();
  const auto before = predictions(rows, HostConstants::left_out);
  for (Row& r : rows)
    if (std::string_view(r.framework) == "sglang") r.tpot *= 5;
  const auto after = predictions(rows, HostConstants::left_out);
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (std::string_view(rows[i].framework) == "vllm")
      CHECK(after->value(i, "e2e_tpot") == before->value(i, "e2e_tpot"));
}

TEST_CASE(
    "Without host constants a run takes the time of its kernels alone and figures move nothing") {
  std::vector<Row> rows = table();
  const auto before = predictions(rows, HostConstants::none);
  for (Row& r : rows) r.tpot *= 5, r.ttft *= 5;
  const auto after = predictions(rows, HostConstants::none);
  CHECK(before->fitted().empty());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(after->value(i, "e2e_tpot") == before->value(i, "e2e_tpot"));
    CHECK(before->value(i, "e2e_tpot") > 0);
    CHECK(before->value(i, "e2e_ttft") > before->value(i, "e2e_tpot"));
    CHECK(before->source(i) == "fitted");
    CHECK(before->kernel_sigma(i) > 0);
  }
  // llama 8b in bf16 reads 16 GB a step: no decode is faster than memory.
  CHECK(before->value(0, "e2e_tpot") > 15e9 / 3.35e12);
}

TEST_CASE("Known constants are those that a scenario of the same deployment has") {
  const spec::ModelSpec model = catalog().model("qwen3-14b");
  const spec::GpuSpec gpu = catalog().gpu("h100-sxm");
  const Row row{"vllm", "qwen3-14b", 16, 1, 1};
  const auto p = predictions({row}, HostConstants::known);
  const Serving run = std::get<Serving>(measurement(row).shape);
  const cost::CostBook book(catalog());
  const Deployment d = deploy(run, "vllm", gpu, catalog(), &book.of(gpu));
  const EngineHabits habits = habits_of(run, "vllm", "9.9");
  const cost::HostProfile host = cost::known_host(model, gpu, cost::Framework::vllm, "9.9");
  const LoopFigures f = closed_loop(place(run, d, habits).point, habits, host);
  CHECK(p->value(0, "e2e_tpot") == f.tpot);
  CHECK(p->value(0, "e2e_ttft") == f.ttft);
}

TEST_CASE("All runs together give an entry per model and one for all else") {
  const auto p = predictions(table(), HostConstants::none);
  const std::vector<cost::HostEntry> entries = p->fit_all();
  std::size_t of_models = 0, of_parts = 0, general = 0;
  for (const cost::HostEntry& e : entries) {
    if (!e.model.empty()) {
      ++of_models;
      CHECK(e.rows == 6);
      continue;
    }
    ++(e.gpu.empty() ? general : of_parts);
    CHECK(e.rows == (e.framework.empty() ? 36 : 18));
  }
  // One of the six ends on a bound of the request time and gets no entry.
  CHECK(of_models == 5);
  CHECK(of_parts == 4);  // a framework's GPU, with and without the precision
  CHECK(general == 3);
}

TEST_CASE("What one engine cannot be is refused with a reason") {
  ServingPredictions p(catalog(), {});
  Measurement m = measurement({"vllm", "llama-3.1-8b", 4, 1, 1});
  std::get<Serving>(m.shape).pp = 2;
  CHECK(p.add(m, catalog().gpu("h100-sxm")).unrepresentable == "pipeline parallel");
  m = measurement({"vllm", "no-such-model", 4, 1, 1});
  CHECK(p.add(m, catalog().gpu("h100-sxm")).unrepresentable.find("not in the catalog") !=
        std::string::npos);
  m = measurement({"vllm", "llama-3.1-405b", 4, 1, 1});
  CHECK(p.add(m, catalog().gpu("h100-sxm")).unrepresentable ==
        "the weights do not fit by our count");
}
