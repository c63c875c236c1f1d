#include "scenario/scenario.h"

namespace kvsim::metrics {

// Beside its only file format; the metrics room itself reads no files.
static void fields(config::FieldVisitor& v, Slo& s) {
  v.field({"ttft_ms", "a good request's longest time to the first token, in milliseconds"},
          s.ttft_ms, config::above(0));
  v.field({"tpot_ms", "its longest mean time per output token after the first"}, s.tpot_ms,
          config::above(0));
  v.field({"e2el_ms", "its longest time from arrival to the last token"}, s.e2el_ms,
          config::above(0));
}

}  // namespace kvsim::metrics

namespace kvsim::scenario {

void fields(config::FieldVisitor& v, RouterConfig& r) {
  v.field({"policy", "how an arriving request finds its engine"}, r.policy);
}

void fields(config::FieldVisitor& v, PriceConfig& p) {
  v.field({"gpu_hour_usd", "price of one GPU for one hour, in US dollars"}, p.gpu_hour_usd,
          config::between(0, 1e6));
}

void fields(config::FieldVisitor& v, PoolConfig& p) {
  v.field({"name", "name of the pool in results"}, p.name);
  v.field({"replicas", "engines in the pool"}, p.replicas, config::between(1, 100000));
  v.object({"engine", "the engine of every replica", {}, true}, p.engine);
}

void fields(config::FieldVisitor& v, ClusterConfig& c) {
  v.list({"pools", "groups of equal engines", {}, true}, c.pools);
  v.object({"router", "placement of requests"}, c.router);
}

void fields(config::FieldVisitor& v, Scenario& s) {
  v.field({"name", "name of the scenario in results"}, s.name);
  v.field({"purpose", "one line: the question this scenario answers"}, s.purpose);
  v.field({"model", "model: catalog id, path or object", {}, true}, s.model);
  v.field({"seed", "seed of everything random"}, s.seed, config::between(0, 9e18));
  v.object({"workload", "the requests", {}, true}, s.workload);
  v.object({"cluster", "the engines", {}, true}, s.cluster);
  v.object({"slo", "limits that a good request keeps; goodput counts those"}, s.slo);
  v.object({"price", "what the GPUs cost"}, s.price);
}

}  // namespace kvsim::scenario
