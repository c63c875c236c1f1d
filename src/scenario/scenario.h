#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "engine/engine_config.h"
#include "metrics/slo.h"
#include "workload/spec.h"

// The scenario file (kvsim.scenario/1) as plain data.
namespace kvsim::scenario {

// Engines of one kind. The role decides what part of a request they serve.
struct PoolConfig {
  std::string name = "serve";
  int replicas = 1;
  engine::EngineConfig engine;
};

struct RouterConfig {
  std::string policy = "round-robin";
};

struct ClusterConfig {
  std::vector<PoolConfig> pools;
  RouterConfig router;
};

struct PriceConfig {
  std::optional<double> gpu_hour_usd;
};

struct Scenario {
  std::string name;
  std::string purpose;
  config::RawValue model;
  std::int64_t seed = 1;
  workload::WorkloadSpec workload;
  ClusterConfig cluster;
  metrics::Slo slo;
  PriceConfig price;
};

inline constexpr std::string_view scenario_schema = "kvsim.scenario/1";
void fields(config::FieldVisitor& v, Scenario& s);
void fields(config::FieldVisitor& v, ClusterConfig& c);
void fields(config::FieldVisitor& v, PoolConfig& p);
void fields(config::FieldVisitor& v, RouterConfig& r);
void fields(config::FieldVisitor& v, PriceConfig& p);

}  // namespace kvsim::scenario
