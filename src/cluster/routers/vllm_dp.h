#pragma once
#include "cluster/router.h"

namespace kvsim::cluster {

// The score of an engine in vLLM's internal load balancer (vllm/v1/engine/core_client.py, main of
// 2026-08-17): the lowest gets the request.
//
//   max(clients * inflight, waiting + running) + (waiting > 0) waiting * 6 * max(0, kv usage - 0.5)
//
// `load.requests` are those in flight from this client, the report is the last one published.
double vllm_dp_score(const EngineLoad& load, int clients = 1);

}  // namespace kvsim::cluster
