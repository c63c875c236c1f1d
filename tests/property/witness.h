#pragma once
#include <string>
#include <vector>

// Evidence that a scenario field does something: two runs that differ in this field alone.
namespace kvsim::testing {

struct Setting {
  std::string path, value;  // as --set takes them
};

struct Witness {
  std::string field;            // name in the reference, "cluster.pools[].engine.block_size"
  std::string world;            // name of the scenario that both runs start from
  std::vector<Setting> before;  // of both runs
  std::string value, other;     // of the field; an empty value leaves it as it is
};

// One row per scenario field.
std::vector<Witness> witnesses();

// The scenarios that witnesses start from. Files they name lie in tests/property/worlds/.
std::string world(const std::string& name);

}  // namespace kvsim::testing
