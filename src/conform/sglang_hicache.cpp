#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "conform/operations.h"
#include "conform/radix_keys.h"
#include "conform/radix_settings.h"
#include "kv/radix/hierarchical_tree.h"

namespace kvsim::conform {
namespace {

// SGLang's hierarchical radix cache alone, with a pool of device slots of which the tree holds all
// that is not free.
class SglangHicache final : public Operations, private kv::HierarchyObserver {
 public:
  SglangHicache(const kv::HierarchicalOptions& options, std::int64_t device_slots)
      : slots_(device_slots), tree_(options, this) {}

  void apply(std::string_view name, Arguments& op, Answers& got) override {
    left_device_.clear();
    left_host_.clear();
    written_.clear();
    if (name == "insert") insert(op, got);
    if (name == "match") set_match(tree_.match(read_key(op, contents_).view()), got);
    if (name == "lock") {
      std::string held = locks_.fresh(op);
      const kv::HierarchicalMatch found = tree_.match(read_key(op, contents_).view());
      set_match(found, got);
      tree_.lock(found.node);
      locks_.hold(std::move(held), found.node);
    }
    if (name == "unlock") tree_.unlock(locks_.release(op));
    if (name == "evict") got.set("evicted", tree_.evict(op.integer("tokens")));
    if (name == "evict_host") tree_.evict_host(op.integer("tokens"));
    if (name == "load_back") load_back(op, got);
    if (name == "ack_writes") tree_.ack_writes(op.integer("count"));
    if (name == "ack_loads") tree_.ack_loads(op.integer("count"));
    if (name == "tree") got.set("tree", tree());
    set_state(got);
  }

 private:
  std::int64_t available() const { return slots_ - tree_.total(); }

  void insert(Arguments& op, Answers& got) {
    const kv::RadixKey key = read_key(op, contents_);
    const std::int64_t priority = read_priority(op);
    const kv::InsertKind kind = read_insert_kind(op);
    const std::int64_t slots = tree_.nodes().cursor(key.view()).left;
    if (const std::int64_t short_of = slots - available(); short_of > 0)
      got.set("evicted", tree_.evict(short_of));
    const bool ok = slots <= available();
    got.set("ok", ok);
    if (ok) got.set("prefix", tree_.insert(key.view(), priority, kind).prefix);
  }

  static void set_match(const kv::HierarchicalMatch& found, Answers& got) {
    got.set("hit", found.length);
    got.set("host_hit", found.host_length);
  }

  void load_back(Arguments& op, Answers& got) {
    const kv::HierarchicalMatch found = tree_.match(read_key(op, contents_).view());
    const std::optional<std::int64_t> quota = op.maybe_integer("quota");
    set_match(found, got);
    got.set("loaded", tree_.load_back(found.host_node, available(), quota).loaded);
  }

  void set_state(Answers& got) {
    std::array<std::int64_t, 3> places{};  // device only, both, host only
    for (const kv::NodeId node : tree_.nodes().all())
      ++places[tree_.on_host(node) ? (tree_.on_device(node) ? 1 : 2) : 0];
    got.set("left_device", left_device_);
    got.set("left_host", left_host_);
    got.set("written", written_);
    got.set("evictable", tree_.evictable());
    got.set("protected", tree_.protected_units());
    got.set("available", available());
    got.set("host_used", tree_.host_used());
    got.set("nodes", Answer::list(places));
    got.set("pending_writes", tree_.pending_writes());
    got.set("pending_loads", tree_.pending_loads());
  }

  // Parents first, children in the order of their first token.
  Answer tree() const {
    Answer::List lines;
    add_children(kv::root_node, 0, lines);
    return lines;
  }
  void add_children(kv::NodeId parent, std::int64_t depth, Answer::List& lines) const {
    const kv::RadixNodes& nodes = tree_.nodes();
    std::vector<kv::NodeId> children;
    for (kv::NodeId c = nodes[parent].first_child; c != kv::no_node; c = nodes[c].next)
      children.push_back(c);
    const auto first = [&](kv::NodeId node) {
      const kv::TokenRun& run = nodes[node].runs.front();
      return std::pair(contents_.name(run.content), run.offset);
    };
    std::ranges::sort(children, {}, first);
    for (const kv::NodeId c : children) {
      const std::string_view where =
          tree_.on_host(c) ? (tree_.on_device(c) ? "DH" : "H") : std::string_view("D");
      lines.emplace_back(Answer::List{depth, spans_of(nodes, c, contents_), where,
                                      nodes[c].lock_ref, nodes[c].facts.hit_count});
      add_children(c, depth + 1, lines);
    }
  }

  void left_device(const kv::RadixNodes& nodes, kv::NodeId node) override {
    left_device_.push_back(spans_of(nodes, node, contents_));
  }
  void left_host(const kv::RadixNodes& nodes, kv::NodeId node) override {
    left_host_.push_back(spans_of(nodes, node, contents_));
  }
  void written(const kv::RadixNodes& nodes, kv::NodeId node) override {
    written_.push_back(spans_of(nodes, node, contents_));
  }

  std::int64_t slots_;
  Contents contents_;
  kv::HierarchicalTree tree_;
  NamedLocks<kv::NodeId> locks_;
  Answer::List left_device_, left_host_, written_;
};

}  // namespace

std::unique_ptr<Operations> make_sglang_hicache(Arguments& settings) {
  kv::HierarchicalOptions options;
  options.radix.page_size = read_page_size(settings);
  options.radix.policy = read_eviction_policy(settings, "radix_eviction_policy");
  std::vector<std::string_view> words;
  for (const kv::HostWriteRow& row : kv::host_writes()) words.push_back(row.name);
  options.write_policy = *kv::host_write(settings.word("hicache_write_policy", words));
  options.host_units = settings.integer("host_tokens");
  return std::make_unique<SglangHicache>(options, settings.integer("max_total_tokens"));
}

}  // namespace kvsim::conform
