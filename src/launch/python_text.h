#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Arguments as Python prints them: `model='x', tensor_parallel_size=2, dtype=torch.bfloat16` or
// `{'model': 'x', 'max_model_len': 8192}`.
namespace kvsim::launch {

struct PythonPair {
  std::string key;
  std::string value;  // a string without its quotes, anything else as printed
};

// The pairs at the front of `text`, which may start with "{" or "(". Ends where the brackets close,
// or where no further pair follows; text that is cut off gives the pairs that are whole. Cost:
// O(text).
std::vector<PythonPair> python_pairs(std::string_view text);

// A printed value as JSON: dicts and objects (`SpeculativeConfig(method='mtp')`) as objects, None,
// True and False as null, true and false; what is none of these as a string.
std::string python_json(std::string_view value);

}  // namespace kvsim::launch
