#include <fmt/format.h>

#include <map>

#include "conform/operations.h"
#include "kv/block_manager.h"
#include "kv/groups/group_manager.h"

namespace kvsim::conform {
namespace {

constexpr auto no_gate = kv::BlockManager::FullInput::may_wait;
constexpr auto alone = kv::BlockManager::Others::none_running;

// The manager of one full-attention group.
class OneGroup {
 public:
  using Table = kv::BlockTable;
  explicit OneGroup(const kv::BlockManager::Options& options) : manager_(options) {}

  const kv::BlockPool& pool() const { return manager_.pool(); }
  std::int64_t hash_tokens() const { return manager_.block_tokens(); }
  bool allocate(Table& table, kv::TokenChain& chain, std::int64_t& hit) {
    hit = manager_.lookup(chain);
    return manager_.admit(table, chain, hit, chain.tokens() - hit, no_gate, alone);
  }
  bool extend(Table& table, std::int64_t computed, std::int64_t n) {
    return manager_.extend(table, computed, n);
  }
  void publish(Table& table, kv::TokenChain& chain, std::int64_t computed) {
    manager_.publish(table, chain, computed);
  }
  void free(Table& table) { manager_.free(table); }
  static Answer::List blocks(const Table& table) { return {Answer::list(table.blocks)}; }

 private:
  kv::BlockManager manager_;
};

// The manager of several groups over one pool. The scheduler, which tells where a prompt leaves
// those before it, has no part in these cases.
class SeveralGroups {
 public:
  using Table = kv::GroupTable;
  explicit SeveralGroups(const kv::GroupManager::Options& options) : manager_(options) {}

  const kv::BlockPool& pool() const { return manager_.pool(); }
  std::int64_t hash_tokens() const { return manager_.hash_tokens(); }
  bool allocate(Table& table, kv::TokenChain& chain, std::int64_t& hit) {
    manager_.begin_step();
    hit = manager_.lookup(chain).tokens;
    return manager_.admit(table, chain,
                          {.prompt_tokens = chain.tokens(),
                           .hit = {.tokens = hit},
                           .tokens = chain.tokens() - hit,
                           .gate = no_gate,
                           .others = alone});
  }
  bool extend(Table& table, std::int64_t computed, std::int64_t n) {
    manager_.begin_step();
    return manager_.extend(table, computed, computed, n);
  }
  void publish(Table& table, kv::TokenChain& chain, std::int64_t computed) {
    manager_.publish(table, chain, computed);
  }
  void free(Table& table) { manager_.free(table); }
  static Answer::List blocks(const Table& table) {
    Answer::List groups;
    for (const kv::GroupTable::Group& group : table.groups)
      groups.emplace_back(Answer::list(group.blocks));
    return groups;
  }

 private:
  kv::GroupManager manager_;
};

// vLLM's KVCacheManager alone: `allocate` looks a prompt up and takes blocks for all of it,
// `append` does one step of n output tokens, `free` gives a request's blocks back.
template <class Manager>
class VllmBlocks final : public Operations {
 public:
  template <class Options>
  explicit VllmBlocks(const Options& options) : manager_(options) {}

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
    typename Manager::Table table;
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
                        manager_.hash_tokens());
    for (const kv::TokenRun& run : op.runs("spans", contents_)) request.chain.append(run);
    std::int64_t hit = 0;
    const bool ok = manager_.allocate(request.table, request.chain, hit);
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
    got.set("blocks", Manager::blocks(request.table));
  }

  Contents contents_;
  Manager manager_;
  std::map<std::string, Request> requests_;
};

std::vector<kv::GroupSpec> group_specs(const config::Value& list, std::int64_t block_tokens) {
  static constexpr std::string_view kinds[] = {"full", "sliding_window"};
  std::vector<kv::GroupSpec> groups;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Arguments group(list.at(i));
    kv::GroupSpec spec;
    spec.block_tokens = block_tokens;
    if (group.word("kind", kinds) == kinds[1]) {
      spec.kind = kv::GroupKind::sliding_window;
      spec.window = group.integer("window", 1, Arguments::max_tokens);
    }
    group.finish();
    groups.push_back(spec);
  }
  return groups;
}

}  // namespace

std::unique_ptr<Operations> make_vllm_blocks(Arguments& settings) {
  kv::BlockManager::Options options;
  options.num_blocks = settings.integer("num_gpu_blocks_override", 2, 1 << 20);
  options.block_tokens = settings.integer("block_size", 1, 1 << 20);
  options.prefix_caching = settings.flag("enable_prefix_caching");
  options.max_model_len = Arguments::max_tokens;
  const auto interval =
      settings.maybe_integer("prefix_cache_retention_interval", 0, Arguments::max_tokens);
  if (!settings.has("kv_groups")) return std::make_unique<VllmBlocks<OneGroup>>(options);
  kv::GroupManager::Options several;
  several.blocks = options;
  several.groups = group_specs(settings.list("kv_groups"), options.block_tokens);
  several.retention_interval = interval;
  if (several.groups.empty()) settings.invalid("kv_groups", "conform-case", "no KV cache group");
  return std::make_unique<VllmBlocks<SeveralGroups>>(several);
}

}  // namespace kvsim::conform
