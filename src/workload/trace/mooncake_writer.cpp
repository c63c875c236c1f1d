#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "config/document.h"
#include "random/stream.h"
#include "workload/analysis/block_keys.h"
#include "workload/trace/writer.h"

namespace kvsim::workload {
namespace {

// Hash ids number the prefixes that end at a block's end, in order of first appearance.
class MooncakeWriter final : public TraceWriter {
 public:
  explicit MooncakeWriter(const WriteOptions& options)
      : options_(options), losses_(options.loss, "mooncake") {}

  void add(const RequestSpec& r, std::string& out) override {
    if (r.after >= 0) losses_.add(follows_another, r);
    if (r.max_tokens > r.output_tokens)
      losses_.add("a limit on output tokens beyond those made", r);
    block_keys(r.prompt, r.prefix_key(), options_.block_tokens, keys_);
    if (splits_a_block(r))
      losses_.add(fmt::format("a prefix shared up to the middle of a {}-token block",
                              options_.block_tokens),
                  r);

    fmt::format_to(
        std::back_inserter(out),
        "{{\"timestamp\": {}, \"input_length\": {}, \"output_length\": {}, \"hash_ids\": [",
        decimal(r.arrival.nanoseconds(), 6), r.prompt_tokens,
        std::min(r.output_tokens, r.max_tokens));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const auto id = ids_.emplace(keys_[i].key, ids_.size()).first->second;
      fmt::format_to(std::back_inserter(out), "{}{}", i == 0 ? "" : ", ", id);
    }
    out += ']';
    if (!r.session.empty()) out += ", \"session_id\": " + config::json_string(r.session);
    if (r.priority != 0) fmt::format_to(std::back_inserter(out), ", \"priority\": {}", r.priority);
    out += "}\n";
  }
  std::vector<std::string> losses() const override { return losses_.notes(); }

 private:
  // Whether, where the prompt leaves the known prefixes, its next piece is known to have been
  // followed differently: then both share tokens inside that block.
  bool splits_a_block(const RequestSpec& r) {
    bool split = false;
    std::uint64_t parent = random::mix(r.prefix_key(), 0);
    std::size_t block = 0;
    std::int64_t start = 0;
    for (const Span& span : r.prompt) {
      std::int64_t done = 0;
      while (done < span.length && block < keys_.size()) {
        const std::int64_t within =
            start + done - static_cast<std::int64_t>(block) * options_.block_tokens;
        if (within == 0) {
          const std::uint64_t piece = random::mix(random::mix(parent, span.content),
                                                  static_cast<std::uint64_t>(span.offset + done));
          const auto [known, added] = pieces_.emplace(piece, keys_[block].key);
          split |= !added && known->second != keys_[block].key;
        }
        const std::int64_t step = std::min(span.length - done, options_.block_tokens - within);
        done += step;
        if (within + step == options_.block_tokens) parent = keys_[block++].key;
      }
      start += span.length;
    }
    return split;
  }

  WriteOptions options_;
  Losses losses_;
  std::vector<BlockKey> keys_;
  std::unordered_map<std::uint64_t, std::uint64_t> ids_;
  std::unordered_map<std::uint64_t, std::uint64_t>
      pieces_;  // (prefix, first tokens of a block) -> the block
};

}  // namespace

std::unique_ptr<TraceWriter> make_mooncake_writer(const WriteOptions& options) {
  return std::make_unique<MooncakeWriter>(options);
}

}  // namespace kvsim::workload
