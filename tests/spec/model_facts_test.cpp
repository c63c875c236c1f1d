#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "spec/catalog.h"
#include "spec/facts.h"
#include "spec/parameters.h"

// The catalog against the table of published dimensions, by an arithmetic of its own.
using namespace kvsim;
using namespace kvsim::spec;
using kvsim::test::Row;
using kvsim::test::value;

namespace {

// Elements that one token adds to a layer for good (the growing part).
double growing_elements(const LayerGroup& g) {
  const double index =
      g.indexer && g.indexer->stores_keys ? static_cast<double>(g.indexer->head_dim) : 0;
  if (g.compression)
    return static_cast<double>(g.compression->entry_dim + g.compression->index_dim) /
           static_cast<double>(g.compression->ratio);
  if (!g.owns_kv) return 0;
  if (g.attention == AttentionKind::mla)
    return static_cast<double>(g.kv_lora_rank + g.qk_rope_head_dim) + index;
  if (g.attention == AttentionKind::full)
    return static_cast<double>(g.num_kv_heads *
                               (g.shared_kv_tensor ? g.head_dim : g.head_dim + g.value_dim())) +
           index;
  return 0;
}

double constant_bytes(const LayerGroup& g) {
  const double token =
      2.0 * static_cast<double>(g.num_kv_heads *
                                (g.shared_kv_tensor ? g.head_dim : g.head_dim + g.value_dim()));
  if (g.compression) return token * static_cast<double>(g.compression->window);
  if (g.recurrent)
    return static_cast<double>(g.recurrent->state_elements) * bits(g.recurrent->state_dtype) / 8 +
           static_cast<double>(g.recurrent->conv_elements()) * bits(g.recurrent->conv_dtype) / 8;
  return g.owns_kv ? token * static_cast<double>(g.window) : 0;
}

}  // namespace

TEST_SUITE("spec/model_facts") {
  TEST_CASE("growing and constant bytes of every catalog model equal the published table") {
    const std::vector<Row> rows = kvsim::test::facts("models/model_facts.csv");
    if (rows.empty()) return;
    const Catalog catalog;
    const auto ids = catalog.model_ids();
    const std::set<std::string> known(ids.begin(), ids.end());
    int compared = 0;
    for (const Row& row : rows) {
      const std::string& name = row.at("name");
      if (!known.contains(name)) continue;
      CAPTURE(name);
      const ModelSpec model = catalog.model(name);
      double growing = 0, constant = 0;
      for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
        growing +=
            2 * growing_elements(model.layer_groups[i]) * static_cast<double>(model.layers_in(i));
        constant += constant_bytes(model.layer_groups[i]) * static_cast<double>(model.layers_in(i));
      }
      // IndexShare: only some layers keep an index key.
      for (const LayerGroup& g : model.layer_groups)
        if (g.indexer && g.indexer->layers > 0)
          growing -= 2.0 * static_cast<double>(g.indexer->head_dim *
                                               (model.num_layers - g.indexer->layers));
      CHECK(growing == value(row, "kv_bytes_per_token_bf16"));
      CHECK(constant == value(row, "kv_const_bytes_bf16"));
      ++compared;
    }
    CHECK(compared >= 95);
  }

  TEST_CASE("dimensions of every catalog model equal the published table") {
    const std::vector<Row> rows = kvsim::test::facts("models/model_facts.csv");
    if (rows.empty()) return;
    const Catalog catalog;
    const auto ids = catalog.model_ids();
    const std::set<std::string> known(ids.begin(), ids.end());
    for (const Row& row : rows) {
      const std::string& name = row.at("name");
      if (!known.contains(name)) continue;
      CAPTURE(name);
      const ModelSpec model = catalog.model(name);
      CHECK(static_cast<double>(model.num_layers) == value(row, "layers"));
      CHECK(static_cast<double>(model.hidden_size) == value(row, "hidden"));
      CHECK(static_cast<double>(model.vocab_size) == value(row, "vocab"));
      if (!row.at("total_params_b").empty())
        CHECK(model.total_params_b == value(row, "total_params_b"));
      if (!row.at("experts").empty()) {
        CHECK(static_cast<double>(model.moe->num_experts) == value(row, "experts"));
        CHECK(static_cast<double>(model.moe->num_experts_per_tok) == value(row, "experts_per_tok"));
        CHECK(static_cast<double>(model.moe->moe_intermediate_size) ==
              value(row, "moe_intermediate"));
      }
    }
  }

  TEST_CASE(
      "parameters counted from dimensions explain the published total within 2 percent or the "
      "notes say why not") {
    const Catalog catalog;
    for (const std::string& id : catalog.model_ids()) {
      const ModelSpec model = catalog.model(id);
      if (model.total_params_b == 0) continue;
      const double counted = static_cast<double>(count_parameters(model).total()) / 1e9;
      const bool close = std::abs(counted / model.total_params_b - 1) <= 0.02;
      CHECK_MESSAGE((close || model.notes.find("10^9 parameters") != std::string::npos ||
                     model.notes.find("total_params_b") != std::string::npos),
                    id << ": counted " << counted << ", published " << model.total_params_b);
    }
  }
}
