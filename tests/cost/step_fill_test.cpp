#include "cost/step_fill.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "spec/catalog.h"

using namespace kvsim;
using namespace kvsim::cost;

namespace {

// What one query at 0-based position p attends, token by token.
std::int64_t attended(const spec::LayerGroup& g, std::int64_t p) {
  switch (g.attention) {
    case spec::AttentionKind::sliding_window:
      return std::min(p + 1, g.window);
    case spec::AttentionKind::chunked_local:
      return p % g.window + 1;
    case spec::AttentionKind::full:
    case spec::AttentionKind::mla:
      return g.indexer ? std::min(p + 1, g.indexer->top_k) : p + 1;
    case spec::AttentionKind::none:
    case spec::AttentionKind::recurrent:
      return 0;
  }
  return 0;
}

}  // namespace

TEST_CASE("closed forms of attention pairs agree with counting token by token") {
  const spec::Catalog catalog;
  for (const char* id :
       {"gemma-3-1b", "llama-4-scout-17b-16e", "deepseek-v3.2", "qwen3-next-80b-a3b"}) {
    const auto model = catalog.model(id);
    const StepFill fill(model);
    CAPTURE(id);
    for (std::int64_t context : {0, 1, 511, 512, 700, 8191, 8192, 9000})
      for (std::int64_t queries : {1, 2, 100, 1000, 9000}) {
        StepShape chunk, verify;
        fill.add_chunk(chunk, context, queries, 1);
        fill.add_decode(verify, context, queries);
        for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
          double pairs = 0;
          for (std::int64_t q = 0; q < queries; ++q)
            pairs += static_cast<double>(attended(model.layer_groups[i], context + q));
          CHECK(chunk.groups[i].prefill_pairs == pairs);
          CHECK(verify.groups[i].decode_pairs == pairs);
        }
      }
  }
}

TEST_CASE("a batch of equal decodes is the sum of its requests") {
  const auto model = spec::Catalog().model("gemma-3-27b");
  StepShape sum;
  const StepFill fill(model);
  for (int i = 0; i < 7; ++i) fill.add_decode(sum, 5000);
  const StepShape once = decode_shape(model, 5000, 7);
  CHECK(once.tokens == sum.tokens);
  CHECK(once.context.decode_kv_tokens == sum.context.decode_kv_tokens);
  for (std::size_t i = 0; i < sum.groups.size(); ++i)
    CHECK(once.groups[i].decode_kv_tokens == sum.groups[i].decode_kv_tokens);
}

TEST_CASE("decodes summed up are the decodes one by one") {
  spec::ModelSpec model;
  model.layer_groups.resize(2);
  model.layer_groups[0].attention = spec::AttentionKind::full;
  model.layer_groups[1].attention = spec::AttentionKind::recurrent;
  const cost::StepFill fill(model);
  REQUIRE(fill.linear());
  cost::StepShape one_by_one, summed;
  std::int64_t contexts = 0;
  for (std::int64_t context = 1; context < 3000; context += 37) {
    fill.add_decode(one_by_one, context);
    contexts += context;
  }
  fill.add_decodes(summed, one_by_one.decode_requests, contexts);
  CHECK(summed.tokens == one_by_one.tokens);
  CHECK(summed.sampled_rows == one_by_one.sampled_rows);
  CHECK(summed.context.decode_pairs == one_by_one.context.decode_pairs);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(summed.groups[i].decode_pairs == one_by_one.groups[i].decode_pairs);
    CHECK(summed.groups[i].decode_kv_tokens == one_by_one.groups[i].decode_kv_tokens);
  }
  model.layer_groups[1].attention = spec::AttentionKind::sliding_window;
  model.layer_groups[1].window = 128;
  CHECK(!cost::StepFill(model).linear());
}
