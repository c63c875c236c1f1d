#pragma once
#include <memory>

#include "cluster/router.h"

namespace kvsim::cluster {

std::unique_ptr<Router> make_round_robin();
std::unique_ptr<Router> make_least_requests();
std::unique_ptr<Router> make_least_tokens();
std::unique_ptr<Router> make_session_sticky();
std::unique_ptr<Router> make_vllm_dp();

}  // namespace kvsim::cluster
