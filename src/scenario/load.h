#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/document.h"
#include "config/reader.h"
#include "cost/step/step_cost.h"
#include "kv/groups/group_spec.h"
#include "memory/pool.h"
#include "scenario/scenario.h"
#include "spec/catalog.h"

namespace kvsim::scenario {

// "path=value" of --set, as the user wrote it.
struct Override {
  std::string path, value;
};

// One pool with every reference resolved and every default filled in.
struct ResolvedPool {
  std::string name;
  int replicas = 1;
  engine::EngineConfig config;  // optionals filled
  spec::GpuSpec gpu;
  spec::ModelSpec model;  // with the engine's quantization applied
  std::optional<spec::ModelSpec> draft_model;
  std::optional<spec::LinkSpec> link;        // between its GPUs
  const cost::CostLibrary* costs = nullptr;  // fits for its GPU, of Resolved::costs
  spec::ParallelPlan plan;
  const kvformat::KvDtype* kv_dtype = nullptr;
  memory::Pool size;                  // ledger, rules, what the engine would print
  std::vector<kv::GroupSpec> groups;  // KV cache groups of the model, where it has several
  // vllm-v1: physical blocks, the null block included; elsewhere usable blocks, pages or slots.
  std::int64_t num_blocks = 0;
  // Engines of one replica.
  int ranks() const { return config.vllm.data_parallel_size; }
  bool has_null_block() const { return size.options.rules.engine == memory::Engine::vllm_v1; }
  std::int64_t usable_blocks() const { return has_null_block() ? num_blocks - 1 : num_blocks; }
};

// A scenario ready to be built: everything it says has been checked against everything else.
struct Resolved {
  std::shared_ptr<const cost::CostBook> costs;  // what the pools' libraries are part of
  Scenario scenario;
  config::Origins origins;
  std::string folder;  // file references of the scenario are relative to it
  spec::ModelSpec model;
  std::vector<ResolvedPool> pools;
  std::vector<std::string> warnings;
  std::string echo_json() const;  // the scenario as results carry it
};

// Reads, overrides and resolves a scenario file. Throws InputError with every problem found,
// IoError for files that cannot be read. `path` "-" is standard input.
Resolved load(const std::string& path, const spec::Catalog& catalog,
              const std::vector<Override>& overrides = {},
              std::optional<std::int64_t> seed = std::nullopt);
// The same for a document that is in memory already; `folder` is where its relative paths start.
Resolved resolve(config::Document document, const std::string& folder, const spec::Catalog& catalog,
                 const std::vector<Override>& overrides = {},
                 std::optional<std::int64_t> seed = std::nullopt);

}  // namespace kvsim::scenario
