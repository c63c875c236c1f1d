#include "cost/step_fill.h"

#include <algorithm>

#include "diag/check.h"

namespace kvsim::cost {
namespace {

double wide(std::int64_t n) { return static_cast<double>(n); }

// Sum over queries i of min(context + i + 1, limit).
double capped_pairs(std::int64_t context, std::int64_t queries, std::int64_t limit) {
  const std::int64_t growing = std::clamp<std::int64_t>(limit - context, 0, queries);
  const double below = wide(growing) * wide(context) + wide(growing) * wide(growing + 1) / 2;
  return below + wide(queries - growing) * wide(limit);
}

double causal_pairs(std::int64_t context, std::int64_t queries) {
  return wide(queries) * wide(context) + wide(queries) * wide(queries + 1) / 2;
}

// Pairs of the first n tokens when attention restarts every `chunk` tokens.
double chunked_prefix(std::int64_t n, std::int64_t chunk) {
  const double rest = wide(n % chunk);
  return wide(n / chunk) * wide(chunk) * wide(chunk + 1) / 2 + rest * (rest + 1) / 2;
}

}  // namespace

StepFill::StepFill(const spec::ModelSpec& model) {
  using spec::AttentionKind;
  KVSIM_CHECK(model.layer_groups.size() <= max_groups,
              "model {} has {} layer groups, at most {} are supported", model.id,
              model.layer_groups.size(), max_groups);
  count_ = static_cast<int>(model.layer_groups.size());
  for (std::size_t i = 0; i < model.layer_groups.size(); ++i) {
    const spec::LayerGroup& g = model.layer_groups[i];
    Group& out = groups_[i];
    if (g.compression) {
      out = {Rule::compressed, g.compression->window, g.compression->ratio,
             g.indexer ? g.indexer->top_k : 0};
      continue;
    }
    switch (g.attention) {
      case AttentionKind::none:
      case AttentionKind::recurrent:
        out.rule = Rule::nothing;
        break;
      case AttentionKind::full:
      case AttentionKind::mla:
        out.rule = Rule::all;
        break;
      case AttentionKind::sliding_window:
        out = {Rule::window, g.window, 1, 0};
        break;
      case AttentionKind::chunked_local:
        out = {Rule::chunk, g.window, 1, 0};
        break;
    }
    if (out.rule == Rule::all && g.indexer && g.indexer->top_k > 0)
      out = {Rule::window, g.indexer->top_k, 1, 0};
  }
  for (const Group& g : groups_) linear_ &= g.rule == Rule::nothing || g.rule == Rule::all;
}

StepFill::Reads StepFill::reads(const Group& g, std::int64_t context, std::int64_t queries) {
  const std::int64_t end = context + queries;
  switch (g.rule) {
    case Rule::nothing:
      return {};
    case Rule::all:
      return {causal_pairs(context, queries), wide(end)};
    case Rule::window:
      return {capped_pairs(context, queries, g.limit), wide(std::min(end, g.limit - 1 + queries))};
    case Rule::chunk:
      return {chunked_prefix(end, g.limit) - chunked_prefix(context, g.limit),
              wide(end - context / g.limit * g.limit)};
    case Rule::compressed: {
      // Entries seen by the last query stand for all of the step's; exact for one query.
      std::int64_t entries = end / g.ratio;
      if (g.entry_limit > 0) entries = std::min(entries, g.entry_limit);
      if (g.ratio == 1) entries = 0;
      return {capped_pairs(context, queries, std::max<std::int64_t>(g.limit, 1)) +
                  wide(queries) * wide(entries),
              wide(std::min(end, g.limit - 1 + queries) + entries)};
    }
  }
  return {};
}

// Tokens that one query at the end of n tokens attends.
std::int64_t StepFill::attended(const Group& g, std::int64_t n) {
  switch (g.rule) {
    case Rule::nothing:
      return 0;
    case Rule::all:
      return n;
    case Rule::window:
      return std::min(n, g.limit);
    case Rule::chunk:
      return (n - 1) % g.limit + 1;
    case Rule::compressed: {
      std::int64_t entries = g.ratio == 1 ? 0 : n / g.ratio;
      if (g.entry_limit > 0) entries = std::min(entries, g.entry_limit);
      return std::min(n, g.limit) + entries;
    }
  }
  return 0;
}

void StepFill::add_decode(StepShape& shape, std::int64_t context, std::int64_t queries,
                          std::int64_t rows) const {
  shape.tokens += queries;
  shape.decode_requests += 1;
  shape.sampled_rows += rows;
  const std::int64_t end = context + queries;
  shape.context.decode_kv_tokens += wide(end);
  if (queries == 1) {
    // One query reads what it attends: once per request and step, so kept free of the closed forms.
    shape.context.decode_pairs += wide(end);
    for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
      const double read = wide(attended(groups_[i], end));
      shape.groups[i].decode_kv_tokens += read;
      shape.groups[i].decode_pairs += read;
    }
    return;
  }
  shape.context.decode_pairs += causal_pairs(context, queries);
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    const Reads r = reads(groups_[i], context, queries);
    shape.groups[i].decode_kv_tokens += r.tokens;
    shape.groups[i].decode_pairs += r.pairs;
  }
}

void StepFill::add_decodes(StepShape& shape, std::int64_t count, std::int64_t contexts) const {
  KVSIM_CHECK(linear_, "decodes are summed up though a group reads only a part of the context");
  shape.tokens += count;
  shape.decode_requests += count;
  shape.sampled_rows += count;
  const double read = wide(contexts + count);
  shape.context.decode_kv_tokens += read;
  shape.context.decode_pairs += read;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count_); ++i) {
    if (groups_[i].rule != Rule::all) continue;
    shape.groups[i].decode_kv_tokens += read;
    shape.groups[i].decode_pairs += read;
  }
}

void StepFill::add_chunk(StepShape& shape, std::int64_t context, std::int64_t queries,
                         std::int64_t rows) const {
  shape.tokens += queries;
  shape.prefill_tokens += queries;
  shape.prefill_requests += 1;
  shape.sampled_rows += rows;
  shape.context.prefill_kv_tokens += wide(context + queries);
  shape.context.prefill_pairs += causal_pairs(context, queries);
  for (int i = 0; i < count_; ++i) {
    const Reads r = reads(groups_[static_cast<std::size_t>(i)], context, queries);
    StepShape::Group& g = shape.groups[static_cast<std::size_t>(i)];
    g.prefill_kv_tokens += r.tokens;
    g.prefill_pairs += r.pairs;
  }
}

StepShape decode_shape(const spec::ModelSpec& model, std::int64_t context, std::int64_t batch) {
  StepShape one, shape;
  StepFill(model).add_decode(one, context);
  const double n = wide(batch);
  shape.tokens = shape.decode_requests = shape.sampled_rows = batch;
  shape.context = {n * one.context.decode_kv_tokens, n * one.context.decode_pairs, 0, 0};
  for (std::size_t i = 0; i < one.groups.size(); ++i)
    shape.groups[i] = {n * one.groups[i].decode_kv_tokens, n * one.groups[i].decode_pairs, 0, 0};
  return shape;
}

StepShape prefill_shape(const spec::ModelSpec& model, std::int64_t tokens, std::int64_t requests) {
  StepShape shape;
  const StepFill fill(model);
  for (std::int64_t i = 0; i < requests; ++i) fill.add_chunk(shape, 0, tokens, 1);
  return shape;
}

}  // namespace kvsim::cost
