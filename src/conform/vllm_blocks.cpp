#include <fmt/format.h>

#include <map>

#include "conform/operations.h"
#include "kv/block_manager.h"

namespace kvsim::conform {
namespace {

// vLLM's KVCacheManager alone: `allocate` looks a prompt up and takes blocks for all of it,
// `append` does one step of n output tokens, `free` gives a request's blocks back.
class VllmBlocks final : public Operations {
 public:
  explicit VllmBlocks(const kv::BlockManager::Options& options)
      : block_tokens_(options.block_tokens), manager_(options) {}

  void apply(std::string_view name, Arguments& op, Answers& got) override {
    const std::string id = op.text("id");
    if (name == "allocate") allocate(id, op, got);
    if (name == "append") append(id, op, got);
    if (name == "free") {
      manager_.free(find(id, op).table);
      requests_.erase(id);
    }
    got.set("free", manager_.pool().free());
    got.set("queue", Answer::list(manager_.pool().queue()));
  }

 private:
  struct Request {
    kv::BlockTable table;
    kv::TokenChain chain;
    std::int64_t computed = 0;
  };

  Request& find(const std::string& id, const Arguments& op) {
    const auto found = requests_.find(id);
    if (found == requests_.end())
      op.invalid("id", "conform-order", fmt::format("request \"{}\" holds no blocks", id));
    return found->second;
  }

  void allocate(const std::string& id, Arguments& op, Answers& got) {
    if (requests_.contains(id))
      op.invalid("id", "conform-order", fmt::format("request \"{}\" holds blocks already", id));
    Request request;
    const std::string salt = op.text("salt", "");
    request.chain.reset(salt.empty() ? 0 : contents_.id(salt), contents_.id(id + "/out"),
                        block_tokens_);
    for (const kv::TokenRun& run : op.runs("spans", contents_)) request.chain.append(run);
    const std::int64_t hit = manager_.lookup(request.chain);
    const bool ok = manager_.admit(request.table, request.chain, hit, request.chain.tokens() - hit,
                                   kv::BlockManager::FullInput::may_wait,
                                   kv::BlockManager::Others::none_running);
    got.set("hit", hit);
    got.set("ok", ok);
    if (!ok) return;
    request.computed = request.chain.tokens();
    set_blocks(request, got);
    requests_.emplace(id, std::move(request));
  }

  void append(const std::string& id, Arguments& op, Answers& got) {
    Request& request = find(id, op);
    const std::int64_t n = op.integer("tokens", 1);
    const bool ok = manager_.extend(request.table, request.computed, n);
    got.set("ok", ok);
    if (!ok) return;
    request.computed += n;
    request.chain.grow_to(request.computed);
    manager_.publish(request.table, request.chain, request.computed);
    set_blocks(request, got);
  }

  static void set_blocks(const Request& request, Answers& got) {
    got.set("blocks", Answer::List{Answer::list(request.table.blocks)});
  }

  std::int64_t block_tokens_;
  Contents contents_;
  kv::BlockManager manager_;
  std::map<std::string, Request> requests_;
};

}  // namespace

std::unique_ptr<Operations> make_vllm_blocks(Arguments& settings) {
  kv::BlockManager::Options options;
  options.num_blocks = settings.integer("num_gpu_blocks_override", 2, 1 << 20);
  options.block_tokens = settings.integer("block_size", 1, 1 << 20);
  options.prefix_caching = settings.flag("enable_prefix_caching");
  options.max_model_len = Arguments::max_tokens;
  if (settings.has("kv_groups"))
    settings.unsupported("kv_groups", "kv_groups: several KV groups are not modelled");
  settings.raw("prefix_cache_retention_interval");
  return std::make_unique<VllmBlocks>(options);
}

}  // namespace kvsim::conform
