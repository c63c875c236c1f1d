#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace kvsim::cli {

// One thing that `kvsim explain` has a text for.
struct Topic {
  std::string kind;     // "error code", "metric", "scenario field", "flag", ...
  std::string name;     // what people look up: "ttft_ms", "wrong-type", "--max-model-len"
  std::string summary;  // one line
  std::string text;     // paragraphs without a final newline; may be empty
};

// Every topic, kind by kind in the order of `kvsim explain`.
std::vector<Topic> all_topics();

// Topics of that name, without regard to case and '-' against '_'. A name without dots also finds
// the fields that end in it; "p99_ttft_ms" finds "ttft_ms".
std::vector<Topic> find_topics(const std::vector<Topic>& all, std::string_view name);

// The sources of all_topics().
void add_code_topics(std::vector<Topic>& out);
void add_metric_topics(std::vector<Topic>& out);
void add_step_log_topics(std::vector<Topic>& out);
void add_field_topics(std::vector<Topic>& out);
void add_policy_topics(std::vector<Topic>& out);
void add_format_topics(std::vector<Topic>& out);
void add_form_topics(std::vector<Topic>& out);
void add_command_topics(std::vector<Topic>& out);

}  // namespace kvsim::cli
