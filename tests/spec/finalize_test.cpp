#include <doctest/doctest.h>

#include "diag/diagnostic.h"
#include "spec/model_spec.h"

using namespace kvsim;
using namespace kvsim::spec;

namespace {

ModelSpec small() {
  ModelSpec m;
  m.id = "small";
  m.hidden_size = 64, m.num_layers = 4, m.vocab_size = 100, m.intermediate_size = 128,
  m.max_position_embeddings = 512;
  LayerGroup g;
  g.name = "full", g.num_heads = 4, g.num_kv_heads = 2, g.head_dim = 16;
  m.layer_groups = {g};
  return m;
}

// The pointer and text of the first problem; "" when there is none.
std::string problem(ModelSpec m) {
  Diagnostics diagnostics;
  finalize(m, "m.json", diagnostics);
  if (diagnostics.size() == 0) return "";
  CHECK(diagnostics.list()[0].file == "m.json");
  return diagnostics.list()[0].pointer + " " + diagnostics.list()[0].message;
}

bool starts(const std::string& text, const std::string& head) {
  return text.compare(0, head.size(), head) == 0;
}

}  // namespace

TEST_SUITE("spec/finalize") {
  TEST_CASE("a consistent model has no problem and every layer has a group") {
    ModelSpec m = small();
    Diagnostics diagnostics;
    finalize(m, "m.json", diagnostics);
    CHECK(diagnostics.size() == 0);
    CHECK(m.layer_group == std::vector<int>{0, 0, 0, 0});
  }

  TEST_CASE("a pattern repeats and its last turn may be cut") {
    ModelSpec m = small();
    LayerGroup local = m.layer_groups[0];
    local.name = "local", local.attention = AttentionKind::sliding_window, local.window = 8;
    m.layer_groups.push_back(local);
    m.layer_pattern = {"local", "local", "full"};
    Diagnostics diagnostics;
    finalize(m, "m.json", diagnostics);
    CHECK(diagnostics.size() == 0);
    CHECK(m.layer_group == std::vector<int>{1, 1, 0, 1});
    CHECK(m.layers_in(1) == 3);
  }

  TEST_CASE("heads that do not divide and missing dimensions are refused by name") {
    ModelSpec m = small();
    m.layer_groups[0].num_kv_heads = 3;
    CHECK(starts(problem(m), "/layer_groups/0/num_kv_heads"));
    m = small(), m.layer_groups[0].head_dim = 0;
    CHECK(starts(problem(m), "/layer_groups/0/head_dim"));
    m = small(), m.layer_groups[0].attention = AttentionKind::sliding_window;
    CHECK(starts(problem(m), "/layer_groups/0/window"));
    m = small(), m.layer_groups[0].attention = AttentionKind::mla;
    CHECK(starts(problem(m), "/layer_groups/0/kv_lora_rank"));
    m = small(), m.layer_groups[0].attention = AttentionKind::recurrent;
    CHECK(starts(problem(m), "/layer_groups/0/recurrent"));
    m = small(), m.intermediate_size = 0;
    CHECK(starts(problem(m), "/layer_groups/0/has_mlp"));
  }

  TEST_CASE("patterns name existing groups and use every group") {
    ModelSpec m = small();
    m.layer_pattern = {"fulll"};
    CHECK(starts(problem(m), "/layer_pattern/0"));
    m = small(), m.layer_pattern = {"full", "full", "full", "full", "full"};
    CHECK(starts(problem(m), "/layer_pattern"));
    m = small(), m.layer_groups.push_back(m.layer_groups[0]), m.layer_groups[1].name = "other";
    CHECK(starts(problem(m), "/layer_pattern"));
    m.layer_pattern = {"full"};
    CHECK(starts(problem(m), "/layer_groups/1"));
    m.layer_groups[1].name = "full";
    CHECK(starts(problem(m), "/layer_groups/1/name"));
  }

  TEST_CASE("experts per token never exceed the experts and ids are lower-case") {
    ModelSpec m = small();
    m.moe.emplace();
    m.moe->num_experts = 4, m.moe->num_experts_per_tok = 8, m.moe->moe_intermediate_size = 16;
    CHECK(starts(problem(m), "/moe/num_experts_per_tok"));
    m = small(), m.id = "Small Model";
    CHECK(starts(problem(m), "/id"));
  }

  TEST_CASE("dimensions whose products would overflow are refused") {
    const std::int64_t huge = std::int64_t{1} << 62;
    ModelSpec m = small();
    m.hidden_size = huge;
    CHECK(starts(problem(m), "/hidden_size"));
    m = small(), m.layer_groups[0].head_dim = huge;
    CHECK(starts(problem(m), "/layer_groups/0"));
    m = small(), m.layer_groups[0].recurrent.emplace();
    m.layer_groups[0].recurrent->value_heads = m.layer_groups[0].recurrent->key_dim =
        m.layer_groups[0].recurrent->value_dim = huge;
    CHECK(starts(problem(m), "/layer_groups/0"));
    m = small(), m.moe.emplace();
    m.moe->num_experts = m.moe->moe_intermediate_size = huge;
    CHECK(starts(problem(m), "/moe"));
  }

  TEST_CASE("a layer is of experts from the first sparse one on and every step layers") {
    ModelSpec m = small();
    m.moe.emplace();
    m.moe->num_experts = 4, m.moe->num_experts_per_tok = 2, m.moe->moe_intermediate_size = 16;
    m.moe->first_dense_layers = 1;
    Diagnostics diagnostics;
    finalize(m, "m.json", diagnostics);
    CHECK_FALSE(m.is_moe_layer(0));
    CHECK(m.is_moe_layer(1));
    m.moe->first_dense_layers = 0, m.moe->layer_step = 2;
    CHECK_FALSE(m.is_moe_layer(0));
    CHECK(m.is_moe_layer(1));
    CHECK_FALSE(m.is_moe_layer(2));
  }
}
