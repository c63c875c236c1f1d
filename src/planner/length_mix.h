#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kvsim::planner {

// How long requests are: rows of prompt and output tokens, each with a weight (a count, or a
// share).
struct LengthMix {
  struct Row {
    std::int64_t prompt = 1, output = 1;
    double weight = 1;
  };
  std::vector<Row> rows;
  std::string description;    // "conversation.jsonl (mooncake)", "1,000 in, 200 out"
  std::int64_t requests = 0;  // of a trace; 0 = a distribution
};

// "N" (so many tokens all its life), "IN:OUT", and either as MEAN+-STD: log-normal with that mean
// and standard deviation, cut into parts of equal chance. Prompt and output are independent.
// Empty when the text is of none of these forms.
std::optional<LengthMix> parse_length_mix(std::string_view text);

// The requests of a trace in any format, or of a kvsim.workload/1 file. Throws IoError, InputError.
LengthMix read_length_mix(const std::string& file);

}  // namespace kvsim::planner
