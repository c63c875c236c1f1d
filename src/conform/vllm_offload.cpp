#include <fmt/format.h>

#include <set>

#include "conform/operations.h"
#include "kv/tiers/offload_manager.h"

namespace kvsim::conform {
namespace {

using kv::OffloadManager;
using Presence = OffloadManager::Presence;

constexpr std::string_view presence_names[] = {"miss", "hit", "pending"};

// vLLM's CPU offload manager alone: keys are names.
class VllmOffload final : public Operations {
 public:
  explicit VllmOffload(const OffloadManager::Options& options)
      : is_arc_(options.policy == kv::OffloadPolicy::arc), manager_(options) {}

  void apply(std::string_view name, Arguments& op, Answers& got) override {
    if (name == "reset")
      manager_.reset();
    else
      apply(name, read_keys(op), op, got);
    got.set("free", manager_.free());
    got.set("evictable", manager_.idle());
    got.set("pending", manager_.pending());
    if (!is_arc_) return got.set("lru", names(manager_.keys(OffloadManager::List::recency)));
    got.set("t1", names(manager_.keys(OffloadManager::List::t1)));
    got.set("t2", names(manager_.keys(OffloadManager::List::t2)));
    got.set("b1", names(manager_.keys(OffloadManager::List::b1)));
    got.set("b2", names(manager_.keys(OffloadManager::List::b2)));
    got.set("target_t1", manager_.target_t1());
  }

 private:
  using Keys = std::vector<kv::BlockHash>;

  Keys read_keys(Arguments& op) {
    Keys keys;
    std::set<std::string> seen;
    for (const std::string& name : op.texts("keys")) {
      if (!seen.insert(name).second)
        op.invalid("keys", "conform-order", fmt::format("key \"{}\" stands there twice", name));
      keys.push_back(contents_.id(name));
    }
    return keys;
  }

  Answer names(const Keys& keys) const {
    Answer::List out;
    for (const kv::BlockHash key : keys) out.emplace_back(contents_.name(key));
    return out;
  }

  void require(bool holds, std::string_view what, kv::BlockHash key, const Arguments& op) const {
    if (!holds)
      op.invalid("keys", "conform-order", fmt::format("key \"{}\" {}", contents_.name(key), what));
  }

  void apply(std::string_view name, const Keys& keys, Arguments& op, Answers& got) {
    if (name == "lookup") {
      Answer::List result;
      for (const kv::BlockHash key : keys)
        result.emplace_back(presence_names[static_cast<std::size_t>(manager_.lookup(key))]);
      got.set("result", std::move(result));
    } else if (name == "touch") {
      manager_.touch(keys);
    } else if (name == "prepare_store") {
      const bool ok = manager_.prepare_store(keys, store_);
      got.set("ok", ok);
      if (!ok) return;
      got.set("stored", names(store_.keys));
      got.set("blocks", Answer::list(store_.blocks));
      got.set("evicted", names(store_.evicted));
    } else if (name == "complete_store") {
      for (const kv::BlockHash key : keys)
        require(manager_.presence(key) == Presence::pending, "is not being stored", key, op);
      manager_.complete_store(keys, op.flag("success", true) ? OffloadManager::Copy::done
                                                             : OffloadManager::Copy::failed);
    } else if (name == "prepare_load") {
      for (const kv::BlockHash key : keys)
        require(manager_.presence(key) == Presence::hit, "is not there to be loaded", key, op);
      std::vector<kv::BlockId> blocks;
      manager_.prepare_load(keys, blocks);
      got.set("blocks", Answer::list(blocks));
    } else {
      for (const kv::BlockHash key : keys)
        require(manager_.loads(key) > 0, "is not being loaded", key, op);
      manager_.complete_load(keys);
    }
  }

  bool is_arc_;
  Contents contents_;
  OffloadManager manager_;
  OffloadManager::Store store_;
};

}  // namespace

std::unique_ptr<Operations> make_vllm_offload(Arguments& settings) {
  OffloadManager::Options options;
  options.num_cpu_blocks = settings.integer("num_cpu_blocks", 1);
  options.policy = settings.word("cache_policy", kv::offload_policy_names) == "arc"
                       ? kv::OffloadPolicy::arc
                       : kv::OffloadPolicy::lru;
  options.store_threshold = settings.maybe_integer("store_threshold").value_or(0);
  options.max_tracker_size = settings.maybe_integer("max_tracker_size", 1).value_or(64000);
  return std::make_unique<VllmOffload>(options);
}

}  // namespace kvsim::conform
