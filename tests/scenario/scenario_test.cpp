#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "config/document.h"
#include "scenario/load.h"
#include "scenario/run.h"
#include "scenario/sweep.h"

using namespace kvsim;

namespace {

// A folder with a request list; scenarios are given as text.
struct World {
  World() {
    folder = std::filesystem::path(KVSIM_BINARY_DIR) / "scenario_test";
    std::filesystem::create_directories(folder);
    std::string list;
    for (int i = 0; i < 20; ++i)
      list += "{\"id\":\"r" + std::to_string(i) + "\",\"arrival_s\":" + std::to_string(i / 4) +
              ",\"prompt\":[[\"common\",500],[\"r" + std::to_string(i) + "\"," +
              std::to_string(100 + 37 * i) + "]],\"output_tokens\":" + std::to_string(5 + i) +
              "}\n";
    config::write_file((folder / "requests.jsonl").string(), list);
  }
  static std::string text(const std::string& engine = "", const std::string& more = "") {
    return R"({"schema":"kvsim.scenario/1","name":"t","model":"llama-3.1-8b","seed":1,
 "workload":{"trace":{"file":"requests.jsonl","format":"kvsim"}},
 "cluster":{"pools":[{"name":"serve","replicas":1,"engine":{"profile":"vllm-v1","gpu":"h100-sxm")" +
           engine + "}}]}" + more + "}";
  }
  scenario::Resolved resolve(const std::string& scenario,
                             const std::vector<scenario::Override>& overrides = {}) const {
    return scenario::resolve(config::Document::parse(scenario, "s.json"), folder.string(), catalog,
                             overrides);
  }
  // The messages of a refused scenario, together.
  std::string refusal(const std::string& scenario,
                      const std::vector<scenario::Override>& overrides = {}) const {
    try {
      resolve(scenario, overrides);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  std::filesystem::path folder;
  spec::Catalog catalog;
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_SUITE("scenario/kv_groups") {
  TEST_CASE("a group needs the length of its kind and takes no other") {
    World w;
    const auto refusal = [&](const std::string& groups, const std::string& more = "") {
      return w.refusal(World::text(R"(,"kv_groups":[)" + groups + "]" + more));
    };
    CHECK(has(refusal(R"({"kind":"sliding_window"})"), "needs \"window\""));
    CHECK(has(refusal(R"({"kind":"chunked_local"})"), "needs \"attention_chunk_size\""));
    CHECK(has(refusal(R"({"kind":"full","window":5})"), "no meaning for a group of kind full"));
    CHECK(refusal(R"({"kind":"full"},{"kind":"sliding_window","window":64})").empty());
  }

  TEST_CASE("states at block boundaries need chunked prefill and whole blocks") {
    World w;
    const auto refusal = [&](const std::string& more) {
      return w.refusal(World::text(R"(,"kv_groups":[{"kind":"full"},{"kind":"mamba"}])" + more));
    };
    CHECK(refusal("").empty());
    CHECK(has(refusal(R"(,"enable_chunked_prefill":false)"), "need chunked prefill"));
    CHECK(refusal(R"(,"enable_chunked_prefill":false,"mamba_cache_mode":"none")").empty());
    CHECK(has(refusal(R"(,"mamba_block_size":64)"), "must be block_size, 16"));
    CHECK(has(refusal(R"(,"prefix_match_unit":5)"), "does not divide"));
    CHECK(refusal(R"(,"prefix_match_unit":4)").empty());
    CHECK(has(w.refusal(World::text(R"(,"prefix_match_unit":4)")), "beside recurrent states"));
    CHECK(
        w
            .resolve(World::text(
                R"(,"kv_groups":[{"kind":"mamba"}],"enable_prefix_caching":false,"num_gpu_blocks_override":9000,)"
                R"("mamba_cache_mode":"all")"))
            .warnings.size() == 1);
  }

  TEST_CASE("a model of several kinds of layers gets its groups and the pool that plan sizes") {
    World w;
    const auto pool = [&](const char* model, int tp) {
      return w
          .resolve(World::text(R"(,"max_model_len":8192)"),
                   {{"model", model},
                    {"cluster.pools.0.engine.tensor_parallel_size", std::to_string(tp)}})
          .pools.front();
    };
    const auto count = [](const scenario::ResolvedPool& p, kv::GroupKind kind) {
      return std::count_if(p.groups.begin(), p.groups.end(),
                           [&](const kv::GroupSpec& spec) { return spec.kind == kind; });
    };
    const scenario::ResolvedPool windows = pool("gemma-3-27b", 4);
    CHECK(count(windows, kv::GroupKind::full) == 1);
    CHECK(count(windows, kv::GroupKind::sliding_window) == 6);
    CHECK(windows.groups.front().window == 1024);
    CHECK(windows.num_blocks == windows.size.num_gpu_blocks);
    const scenario::ResolvedPool states = pool("qwen3-next-80b-a3b", 4);
    CHECK(count(states, kv::GroupKind::full) == 1);
    CHECK(count(states, kv::GroupKind::mamba) == 3);
    CHECK(states.groups.front().block_tokens == *states.config.block_size);
    CHECK(states.num_blocks == states.size.num_gpu_blocks);
    const scenario::ResolvedPool chunks = pool("llama-4-scout-17b-16e", 8);
    CHECK(count(chunks, kv::GroupKind::chunked_local) == 3);
    CHECK(pool("llama-3.1-8b", 1).groups.empty());
  }

  TEST_CASE("a pool that holds no request of full length names the longest that fits") {
    World w;
    const std::string text = World::text(R"(,"tensor_parallel_size":4,"max_model_len":32768,)"
                                         R"("max_num_batched_tokens":2048)");
    const auto refusal = [&](int blocks, int len) {
      return w.refusal(text,
                       {{"model", "gemma-3-27b"},
                        {"cluster.pools.0.engine.num_gpu_blocks_override", std::to_string(blocks)},
                        {"cluster.pools.0.engine.max_model_len", std::to_string(len)}});
    };
    const std::string told = refusal(2500, 32768);
    const auto at = told.find("at most ");
    REQUIRE(at != std::string::npos);
    const int longest = std::stoi(told.substr(at + 8));
    CHECK(refusal(2500, longest).empty());
    CHECK_FALSE(refusal(2500, longest + 64).empty());
  }
}

TEST_SUITE("scenario/load") {
  TEST_CASE("every open default is filled in and echoed") {
    World w;
    const scenario::Resolved r = w.resolve(World::text());
    REQUIRE(r.pools.size() == 1);
    CHECK(r.pools[0].config.max_num_seqs == 1024);
    CHECK(r.pools[0].config.max_num_batched_tokens == 8192);
    CHECK(r.pools[0].config.max_model_len == 131072);
    CHECK(r.pools[0].config.block_size == 16);
    CHECK(r.pools[0].num_blocks > 20000);
    CHECK(has(r.echo_json(), "\"max_num_seqs\": 1024"));
  }

  TEST_CASE("the echoed scenario runs to the same result") {
    World w;
    const scenario::Resolved first = w.resolve(World::text(R"(,"max_model_len":4096)"));
    const scenario::Resolved again = w.resolve(first.echo_json());
    CHECK(again.echo_json() == first.echo_json());
    CHECK(scenario::run(again).summary.e2el_ms.mean == scenario::run(first).summary.e2el_ms.mean);
  }

  TEST_CASE("a pool too small for the longest context is refused with both ways out") {
    World w;
    const std::string small = World::text(R"(,"num_gpu_blocks_override":200,"max_model_len":4096)");
    CHECK(has(w.refusal(small), "cannot hold one request of max_model_len 4096"));
    CHECK(has(w.refusal(small), "allow_small_pool"));
    CHECK(w
              .refusal(World::text(
                  R"(,"num_gpu_blocks_override":200,"max_model_len":4096,"allow_small_pool":true)"))
              .empty());
  }

  TEST_CASE("heads that tensor parallelism does not divide are refused at its field") {
    World w;
    const std::string text = w.refusal(World::text(R"(,"tensor_parallel_size":3)"));
    CHECK(has(text, "tensor_parallel_size"));
    CHECK(has(text, "/cluster/pools/0/engine/tensor_parallel_size"));
    CHECK(has(text, "s.json:3:"));
  }

  TEST_CASE("what is not modelled is refused and not ignored") {
    World w;
    CHECK(has(
        w.refusal(World::text(
            R"(,"async_scheduling":true,"speculative":{"method":"ngram","num_speculative_tokens":2})")),
        "async_scheduling together with speculative decoding is not modelled"));
    CHECK(has(w.refusal(World::text(R"(,"profile":"vllm-v2")")), "duplicate key"));
    CHECK(has(w.refusal(World::text(), {{"cluster.pools.0.engine.profile", "vllm-v2"}}),
              "did you mean \"vllm-v1\"?"));
    CHECK(
        has(w.refusal(World::text(), {{"cluster.router.policy", "round-robbin"}}), "round-robin"));
    CHECK(has(w.refusal(World::text(R"(,"cost":{"kind":"constant"})")), "needs its \"step\""));
    CHECK(has(w.refusal(World::text(R"(,"cost":{"step":"1s"})")), "constant"));
  }

  TEST_CASE("an override is blamed under its own name") {
    World w;
    const std::string text =
        w.refusal(World::text(), {{"cluster.pools.0.engine.max_num_sequs", "4"}});
    CHECK(has(text, "--set cluster.pools.0.engine.max_num_sequs=4"));
    CHECK(has(text, "max_num_seqs"));
  }

  TEST_CASE("a model that does not fit the GPU is refused with the way to its ledger") {
    World w;
    const std::string text = w.refusal(World::text(), {{"model", "llama-3.1-70b"}});
    CHECK(has(text, "does not fit"));
    CHECK(has(text, "kvsim plan llama-3.1-70b --gpu h100-sxm"));
  }
}

TEST_SUITE("scenario/run") {
  TEST_CASE("all requests are accounted for and equal inputs give equal figures") {
    World w;
    const scenario::Resolved r = w.resolve(World::text(R"(,"max_model_len":4096)"));
    const metrics::RunResult a = scenario::run(r), b = scenario::run(r);
    CHECK(a.complete);
    CHECK(a.summary.completed == 20);
    CHECK(a.summary.total_output_tokens == 20 * 5 + 190);
    CHECK(a.kv.prefix_hit_tokens > 0);
    CHECK(a.summary.e2el_ms.mean == b.summary.e2el_ms.mean);
    CHECK(a.engines[0].busy_s == doctest::Approx(a.engines[0].compute_s + a.engines[0].memory_s +
                                                 a.engines[0].link_s + a.engines[0].launch_s));
  }

  TEST_CASE("requests that follow one another on an idle engine take the sum of their own steps") {
    World w;
    const auto step = [&](const char* value) {
      return scenario::run(w.resolve(
          World::text(
              R"(,"max_model_len":4096,"max_num_seqs":1,"cost":{"kind":"constant","step":"1ms"})"),
          {{"cluster.pools.0.engine.cost.step", value}}));
    };
    // One request at a time, 1 ms a step: 20 prompts of one chunk each, 270 decodes.
    const metrics::RunResult r = step("1ms");
    CHECK(r.engines[0].steps == 20 + 270);
    CHECK(r.engines[0].busy_s == doctest::Approx(0.290).epsilon(1e-12));
    CHECK(step("2ms").engines[0].busy_s == doctest::Approx(0.580).epsilon(1e-12));
  }
}

TEST_SUITE("scenario/sweep") {
  TEST_CASE("axes are lists or ranges") {
    scenario::Axis axis;
    std::string problem;
    CHECK(scenario::parse_axis("a.b=1:2:0.5", axis, problem));
    CHECK(axis.values == std::vector<std::string>{"1", "1.5", "2"});
    scenario::Axis words;
    CHECK(scenario::parse_axis("model=llama-3.1-8b,qwen3-8b", words, problem));
    CHECK(words.values.size() == 2);
    for (const char* bad : {"a", "a=", "=1", "a=1,,2", "a=2:1:1", "a=1:2:0", "a=1:1e9:1"})
      CHECK_FALSE(scenario::parse_axis(bad, axis, problem));
  }

  TEST_CASE("a grid has the same results for one job and for three and for shards put together") {
    World w;
    const std::string path = (w.folder / "sweep.json").string();
    config::write_file(path, World::text(R"(,"max_model_len":4096)"));
    const std::vector<scenario::Axis> axes{
        {"cluster.pools.0.replicas", {"1", "2"}},
        {"cluster.pools.0.engine.max_num_seqs", {"2", "8", "nonsense"}}};
    const auto sweep = [&](int jobs, std::size_t shard, std::size_t shards) {
      scenario::SweepOptions o;
      o.jobs = jobs, o.shard = shard, o.shards = shards;
      std::string text;
      for (const scenario::SweepPoint& p : scenario::sweep(path, w.catalog, axes, o))
        text += std::to_string(p.index) + ":" +
                (p.result ? std::to_string(p.result->summary.e2el_ms.mean) : "refused") + "\n";
      return text;
    };
    const std::string one = sweep(1, 0, 1);
    CHECK(one == sweep(3, 0, 1));
    CHECK(has(one, "2:refused"));
    CHECK(std::count(one.begin(), one.end(), '\n') == 6);
    const auto lines = [](const std::string& text) {
      std::set<std::string> out;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        out.insert(text.substr(at, end - at));
        at = end + 1;
      }
      return out;
    };
    CHECK(lines(sweep(1, 0, 2) + sweep(1, 1, 2)) == lines(one));
  }
}

TEST_SUITE("scenario/pool") {
  TEST_CASE("a drafter takes its memory from the pool and must be there") {
    World w;
    const auto blocks = [&](const std::string& speculative) {
      return w.resolve(World::text(speculative)).pools.front().num_blocks;
    };
    const std::string ngram =
        R"(,"speculative":{"method":"ngram","num_speculative_tokens":3,"accept_pattern":[1]})";
    const std::string eagle =
        R"(,"speculative":{"method":"eagle","num_speculative_tokens":3,"accept_pattern":[1]})";
    const std::string draft = R"(,"speculative":{"method":"draft_model","model":"llama-3.2-1b",
        "num_speculative_tokens":3,"accept_pattern":[1]})";
    CHECK(blocks(ngram) == blocks(""));
    CHECK(blocks(eagle) < blocks(ngram));
    CHECK(blocks(draft) < blocks(eagle));
    // One table of one group: the drafter's layers share the blocks.
    CHECK(w.resolve(World::text(eagle)).pools.front().groups.empty());
    CHECK(
        has(w.refusal(World::text(R"(,"speculative":{"method":"mtp","num_speculative_tokens":1})")),
            "no multi-token prediction layers"));
    CHECK(has(w.refusal(World::text(
                  R"(,"speculative":{"method":"draft_model","num_speculative_tokens":1})")),
              "needs its \"model\""));
  }

  TEST_CASE("the word of another engine for a shared field is an unknown key") {
    World w;
    CHECK(has(w.refusal(World::text(R"(,"free_gpu_memory_fraction":0.5)")), "unknown key"));
    CHECK(has(w.refusal(World::text(R"(,"page_size":16)")), "unknown key"));
    const std::vector<scenario::Override> sglang{{"cluster.pools.0.engine.profile", "sglang"}};
    CHECK(w.refusal(World::text(R"(,"page_size":16,"mem_fraction_static":0.8)"), sglang).empty());
    CHECK(has(w.refusal(World::text(R"(,"page_size":16,"chunked_prefill_size":8)"), sglang),
              "holds no page"));
  }

  TEST_CASE("models with recurrent states reuse no prefix where no state cache is modelled") {
    World w;
    for (const char* profile : {"sglang", "trtllm"}) {
      const scenario::Resolved r =
          w.resolve(World::text(R"(,"tensor_parallel_size":4,"max_model_len":8192)"),
                    {{"cluster.pools.0.engine.profile", profile}, {"model", "qwen3-next-80b-a3b"}});
      CHECK(!r.pools.front().config.enable_prefix_caching);
      CHECK(std::ranges::any_of(r.warnings, [](const std::string& warning) {
        return has(warning, "are not kept for reuse");
      }));
    }
  }
}
