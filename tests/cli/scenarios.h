#pragma once
#include <string>

// Files for tests that need something to simulate.
namespace kvsim::test {

// `count` requests of the given lengths, one every `gap_ms`.
std::string request_lines(int count, int prompt_tokens, int output_tokens, int gap_ms);

// One llama-3.1-8b engine on one GPU that plays requests.jsonl, every step one millisecond long;
// `engine` is put among the engine's fields (", \"max_num_seqs\": 3").
std::string small_scenario(const std::string& engine = "");

}  // namespace kvsim::test
