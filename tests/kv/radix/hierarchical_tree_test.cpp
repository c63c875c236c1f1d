#include "kv/radix/hierarchical_tree.h"

#include <doctest/doctest.h>

#include <string>

#include "kv/radix/radix_keys.h"

using namespace kvsim::kv;

namespace {

// Writes down what moves: -d 1..4 left the device, -h the host, +h was copied to the host.
struct Moves : HierarchyObserver {
  void left_device(const RadixNodes& nodes, NodeId node) override { add("-d", nodes, node); }
  void left_host(const RadixNodes& nodes, NodeId node) override { add("-h", nodes, node); }
  void written(const RadixNodes& nodes, NodeId node) override { add("+h", nodes, node); }
  void add(const char* what, const RadixNodes& nodes, NodeId node) {
    const TokenRun run = nodes.tokens(node).front();
    text += (text.empty() ? "" : ", ") + std::string(what) + " " + std::to_string(run.offset) +
            ".." + std::to_string(run.offset + nodes[node].length - 1);
  }
  std::string take() {
    std::string all;
    all.swap(text);
    return all;
  }
  std::string text;
};

struct World {
  World(HostWrite policy, std::int64_t host, std::int64_t page = 1,
        RadixEviction order = RadixEviction::lru)
      : tree({{page, order, KeyUnit::token}, policy, host}, &moves) {}
  std::int64_t insert(const RadixKey& key, InsertKind kind = InsertKind::whole) {
    const std::int64_t prefix = tree.insert(key.view(), 0, kind).prefix;
    tree.verify();
    return prefix;
  }
  std::int64_t evict(std::int64_t units) {
    const std::int64_t evicted = tree.evict(units);
    tree.verify();
    return evicted;
  }
  HierarchicalMatch match(const RadixKey& key) {
    const HierarchicalMatch found = tree.match(key.view());
    tree.verify();
    return found;
  }
  Moves moves;
  HierarchicalTree tree;
};

}  // namespace

TEST_CASE("A match splits a node that only the host has") {
  World w(HostWrite::write_through, 100, 4);  // R34
  w.insert(key_from(0, 15));
  w.tree.ack_writes(1);
  CHECK(w.evict(16) == 16);
  const HierarchicalMatch found = w.match(key_of({0, 1, 2, 3, 4, 5, 6, 7, 90, 91, 92, 93}));
  CHECK(found.length == 0);
  CHECK(found.host_length == 8);
  CHECK(found.node == root_node);
  CHECK(w.tree.nodes().count() == 2);
  CHECK(w.tree.host_used() == 16);
  CHECK(w.tree.total() == 0);
}

TEST_CASE("Write-through copies a node at its first insert and locks it until acknowledged") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  CHECK(w.moves.take() == "+h 0..9");
  CHECK(w.tree.pending_writes() == 1);
  CHECK(w.tree.protected_units() == 10);
  CHECK(w.evict(1) == 0);
  w.tree.ack_writes(5);
  CHECK(w.tree.pending_writes() == 0);
  CHECK(w.evict(1) == 10);
  CHECK(w.moves.take() == "-d 0..9");
  CHECK(w.tree.host_used() == 10);
}

TEST_CASE("Chunks are copied to the host by a later insert that passes over them") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9), InsertKind::chunk);
  CHECK(w.moves.take().empty());
  CHECK(w.insert(key_from(0, 19)) == 10);
  CHECK(w.moves.take() == "+h 0..9, +h 10..19");
}

TEST_CASE("Selective write-through copies at the second insert and below copied nodes only") {
  World w(HostWrite::write_through_selective, 100);
  w.insert(key_from(0, 9));
  CHECK(w.moves.take().empty());
  w.insert(key_from(0, 9));
  CHECK(w.moves.take() == "+h 0..9");
  World x(HostWrite::write_through_selective, 12);
  x.insert(key_from(50, 59));
  x.insert(key_from(50, 59));  // held in the host pool by its own lock
  x.insert(key_from(0, 9));
  x.insert(key_from(0, 12));
  x.moves.take();
  x.insert(key_from(0, 12));  // 10 do not fit, so the 3 below them are not copied either
  CHECK(x.moves.take().empty());
  CHECK(x.tree.pending_writes() == 1);
}

TEST_CASE("A copy that does not fit costs host leaves all the same") {
  World w(HostWrite::write_through, 12);
  w.insert(key_from(0, 9));
  w.tree.ack_writes(1);
  w.evict(10);
  w.moves.take();
  w.insert(key_from(100, 119));
  CHECK(w.moves.take() == "-h 0..9");
  CHECK(w.tree.host_used() == 0);
  CHECK(w.tree.pending_writes() == 0);
  CHECK(w.tree.evictable() == 20);
}

TEST_CASE("A node that is not on the host is removed when the device evicts it") {
  World w(HostWrite::write_through_selective, 100);
  w.insert(key_from(0, 9));
  CHECK(w.evict(1) == 10);
  CHECK(w.moves.take() == "-d 0..9");
  CHECK(w.tree.nodes().count() == 0);
}

TEST_CASE("An insert over host nodes brings their device copy and does not count them") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  w.tree.ack_writes(1);
  w.evict(10);
  CHECK(w.insert(key_from(0, 14)) == 0);
  const HierarchicalMatch found = w.match(key_from(0, 14));
  CHECK(found.length == 15);
  CHECK(found.host_length == 0);
  CHECK(w.tree.total() == 15);
  CHECK(w.insert(key_from(0, 14)) == 15);
}

TEST_CASE("Loading back takes all or nothing and keeps the path locked until acknowledged") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  w.insert(key_from(0, 19));
  w.tree.ack_writes(2);
  CHECK(w.evict(20) == 20);
  const NodeId end = w.match(key_from(0, 19)).host_node;
  CHECK(w.tree.load_back(end, 19).loaded == 0);
  CHECK(w.tree.load_back(end, 100, 19).loaded == 0);
  CHECK(w.tree.pending_loads() == 0);
  CHECK(w.tree.load_back(end, 100, 20).loaded == 20);
  CHECK(w.tree.pending_loads() == 1);
  CHECK(w.tree.protected_units() == 20);
  CHECK(w.match(key_from(0, 19)).length == 20);
  CHECK(w.evict(1) == 0);
  w.tree.ack_loads(1);
  CHECK(w.tree.evictable() == 20);
  CHECK(w.tree.load_back(end, 100).loaded == 0);
}

TEST_CASE("Fewer than ten units are not loaded back") {
  for (const std::int64_t length : {9, 10}) {
    World w(HostWrite::write_through, 100);
    w.insert(key_from(1, length));
    w.tree.ack_writes(1);
    w.evict(100);
    const HierarchicalMatch found = w.match(key_from(1, length));
    CHECK(found.host_length == length);
    CHECK(w.tree.load_back(found.host_node, 1000).loaded == (length < 10 ? 0 : length));
    w.tree.verify();
  }
}

TEST_CASE("A load-back makes room on the device but not at the cost of what it loads") {
  World w(HostWrite::write_back, 12);
  w.insert(key_from(0, 11));
  w.evict(12);
  CHECK(w.moves.take() == "+h 0..11, -d 0..11");
  w.insert(key_from(100, 111));  // 12 of 12 device slots
  const NodeId end = w.match(key_from(0, 11)).host_node;
  const HierarchicalTree::Loaded done = w.tree.load_back(end, 0);
  CHECK(done.loaded == 12);
  CHECK(done.evicted == 12);
  CHECK(w.moves.take() == "-d 100..111");  // the full host pool could not take it
  w.tree.verify();
}

TEST_CASE("A refused load-back leaves its nodes to host eviction") {
  World w(HostWrite::write_through, 40);
  w.insert(key_from(0, 19));
  w.tree.ack_writes(1);
  w.evict(20);
  const NodeId end = w.match(key_from(0, 19)).host_node;
  CHECK(w.tree.load_back(end, 5).loaded == 0);
  w.tree.verify();
  CHECK(w.tree.evict_host(1) == 20);
  CHECK(w.tree.nodes().count() == 0);
}

TEST_CASE("The quota of a load-back shrinks by what locking its path takes") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  w.insert(key_from(0, 19));
  w.tree.ack_writes(2);
  CHECK(w.evict(10) == 10);
  const NodeId end = w.match(key_from(0, 19)).host_node;
  CHECK(w.tree.load_back(end, 100, 19).loaded == 0);
  CHECK(w.tree.load_back(end, 100, 20).loaded == 10);
}

TEST_CASE("Host eviction takes host leaves from the end of the path") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  w.insert(key_from(0, 19));
  w.insert(key_from(50, 54));
  w.tree.ack_writes(3);
  w.evict(100);
  w.moves.take();
  CHECK(w.tree.evict_host(11) == 20);
  CHECK(w.moves.take() == "-h 10..19, -h 0..9");
  CHECK(w.tree.host_used() == 5);
  w.tree.verify();
}

TEST_CASE("Write-back copies on eviction and frees the device when the eviction ends") {
  World w(HostWrite::write_back, 100);
  w.insert(key_from(0, 9));
  w.insert(key_from(0, 9));
  w.insert(key_from(0, 19));
  CHECK(w.moves.take().empty());
  CHECK(w.evict(15) == 20);
  CHECK(w.moves.take() == "+h 10..19, +h 0..9, -d 10..19, -d 0..9");
  CHECK(w.tree.pending_writes() == 0);
}

TEST_CASE("A leaf that the host cannot take is dropped with all that hangs below it") {
  World w(HostWrite::write_back, 20);
  w.insert(key_from(0, 29));
  w.match(key_from(0, 24));
  w.evict(5);
  CHECK(w.moves.take() == "+h 25..29, -d 25..29");
  w.match(key_from(0, 19));
  // 20..24 fits. 0..19 costs the host leaf and does not: 20..24 leaves the device and goes with it.
  CHECK(w.evict(100) == 25);
  CHECK(w.moves.take() == "+h 20..24, -h 25..29, -d 20..24, -d 0..19, -h 20..24");
  CHECK(w.tree.nodes().count() == 0);
  CHECK(w.tree.host_used() == 0);
}

TEST_CASE("A hierarchical tree that was reset holds nothing anywhere") {
  World w(HostWrite::write_through, 100);
  w.insert(key_from(0, 9));
  w.tree.reset();
  w.tree.verify();
  CHECK(w.tree.total() == 0);
  CHECK(w.tree.host_used() == 0);
  CHECK(w.tree.pending_writes() == 0);
  CHECK(w.insert(key_from(0, 9)) == 0);
}

TEST_CASE("Every host write policy has a name of its own that leads back to it") {
  CHECK(host_writes().size() == 3);
  for (const HostWriteRow& row : host_writes()) CHECK(host_write(row.name) == row.policy);
  CHECK_FALSE(host_write("write_around"));
}
