#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/step/host_profile.h"
#include "spec/model_spec.h"

namespace kvsim::cost {

// The host constants that ship with kvsim (models/host/*.json, schema kvsim.host/1).
inline constexpr std::string_view host_schema = "kvsim.host/1";
struct HostFile {
  std::string id;
  std::vector<std::string> sources;
  std::vector<HostEntry> entries;
};
void fields(config::FieldVisitor& v, HostFile& f);

// What a deployment looks for.
struct HostQuery {
  std::string_view framework, version, gpu, precision, model;
};

// The entry that agrees in most points, of equal ones that with more runs behind it. One that names
// another framework, GPU, precision or model is none; one of another version may be. An entry that
// names nothing stands for everything.
const HostEntry* find_host(const std::vector<HostEntry>& entries, const HostQuery& query);
// All entries of the catalog that is embedded in the binary.
const std::vector<HostEntry>& known_hosts();

// bf16, fp8, fp4 or int4, as published runs name the precision of a model's weights.
std::string_view precision_of(const spec::ModelSpec& model);

}  // namespace kvsim::cost
