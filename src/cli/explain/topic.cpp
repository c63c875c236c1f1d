#include "cli/explain/topic.h"

#include <algorithm>
#include <cctype>

namespace kvsim::cli {
namespace {

std::string folded(std::string_view word) {
  std::string out(word);
  while (out.starts_with('-')) out.erase(0, 1);
  for (char& c : out) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (c == '-') c = '_';
  }
  return out;
}

std::string_view last_part(std::string_view name) { return name.substr(name.rfind('.') + 1); }

// "ttft_ms" of "p99_ttft_ms", "mean_ttft_ms_high" and their like; else the word itself.
std::string without_statistic(std::string_view word) {
  for (const std::string_view end : {"_low", "_high"})
    if (word.ends_with(end)) word.remove_suffix(end.size());
  const auto underscore = word.find('_');
  if (underscore == std::string_view::npos) return std::string(word);
  const std::string_view head = word.substr(0, underscore);
  const bool percentile =
      head.size() > 1 && head[0] == 'p' && std::ranges::all_of(head.substr(1), [](char c) {
        return std::isdigit(static_cast<unsigned char>(c)) || c == '.';
      });
  const bool moment = head == "mean" || head == "median" || head == "std";
  return std::string(percentile || moment ? word.substr(underscore + 1) : word);
}

}  // namespace

std::vector<Topic> all_topics() {
  std::vector<Topic> out;
  add_command_topics(out);
  add_metric_topics(out);
  add_step_log_topics(out);
  add_field_topics(out);
  add_policy_topics(out);
  add_format_topics(out);
  add_form_topics(out);
  add_code_topics(out);
  return out;
}

std::vector<Topic> find_topics(const std::vector<Topic>& all, std::string_view name) {
  const auto pick = [&](auto matches) {
    std::vector<Topic> out;
    std::ranges::copy_if(all, std::back_inserter(out), matches);
    return out;
  };
  const std::string key = folded(name), plain = without_statistic(key);
  if (auto out = pick([&](const Topic& t) {
        if (name.starts_with('-')) return t.name == name;
        return folded(t.name) == key || folded(last_part(t.name)) == key ||
               (t.kind == "metric" && t.name == plain);
      });
      !out.empty())
    return out;
  // "goodput" and "ttft" stand for the metrics that have them as a word.
  const std::string word = "_" + key + "_";
  return pick([&](const Topic& t) {
    return t.kind == "metric" && ("_" + t.name + "_").find(word) != std::string::npos;
  });
}

}  // namespace kvsim::cli
