#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/fields.h"
#include "units/units.h"

// How a command says what it takes. One description serves parsing, --help, did-you-mean, shell
// completion and the reference page.
namespace kvsim::cli {

enum class Arity { none, one, many };  // flag, option, repeatable option
enum class Complete { nothing, words, file, folder, model, gpu, command, topic };

// One flag, option or positional argument. The setters return *this to be chained:
//   flags.option("--kv-cache-dtype", dtype_, "element type of the KV cache").words(names);
struct FlagSpec {
  std::string name;                  // "--max-model-len", or "MODEL" for a positional
  std::vector<std::string> aliases;  // "-o", "--tp"
  std::string doc;                   // one clause; what the default means
  std::string value_name;            // "N", "SIZE", ...; empty for a flag
  std::string section = "Flags";     // heading in --help
  Arity arity = Arity::one;
  bool positional = false;
  bool is_required = false;
  bool is_hidden = false;            // accepted, not listed
  bool holds_flags = false;          // the value is made of flags and may be one
  std::vector<std::string> choices;  // closed list; empty = open
  config::Range limits;
  Complete complete = Complete::nothing;
  // Takes one value; answers what was expected, or "" when it was that.
  std::function<std::string(const FlagSpec&, std::string_view)> accept;

  FlagSpec& words(std::vector<std::string> list);
  FlagSpec& value(std::string name_in_help) { return value_name = std::move(name_in_help), *this; }
  FlagSpec& range(config::Range allowed) { return limits = allowed, *this; }
  FlagSpec& require() { return is_required = true, *this; }
  FlagSpec& of_flags() { return holds_flags = true, *this; }
  FlagSpec& hide() { return is_hidden = true, *this; }
  FlagSpec& completes(Complete what) { return complete = what, *this; }
};

class Flags {
 public:
  // `names` is "--long" with further spellings after commas: "--output,-o",
  // "--tensor-parallel-size,--tp".
  FlagSpec& flag(std::string_view names, bool& value, std::string_view doc);
  // --x and --no-x; unset when neither is given.
  FlagSpec& flag(std::string_view names, std::optional<bool>& value, std::string_view doc);
  FlagSpec& count(std::string_view names, int& value, std::string_view doc);

  FlagSpec& option(std::string_view names, std::string& value, std::string_view doc);
  FlagSpec& option(std::string_view names, std::int64_t& value, std::string_view doc);
  FlagSpec& option(std::string_view names, int& value, std::string_view doc);
  FlagSpec& option(std::string_view names, double& value, std::string_view doc);
  FlagSpec& option(std::string_view names, Bytes& value, std::string_view doc);
  FlagSpec& option(std::string_view names, Duration& value, std::string_view doc);
  FlagSpec& option(std::string_view names, Bandwidth& value, std::string_view doc);
  template <class T>
  FlagSpec& option(std::string_view names, std::optional<T>& value, std::string_view doc);
  // May be given several times; every time takes exactly one word.
  FlagSpec& option(std::string_view names, std::vector<std::string>& values, std::string_view doc);

  // Words that are no flags, in the order of their description; `name` in capitals.
  FlagSpec& positional(std::string_view name, std::string& value, std::string_view doc);
  FlagSpec& positional(std::string_view name, std::vector<std::string>& values,
                       std::string_view doc);

  // What follows is listed under this heading in --help.
  void section(std::string_view heading) { section_ = heading; }
  // A line for --help: what one would type, and what it answers.
  void example(std::string_view line, std::string_view meaning);

  struct Example {
    std::string line, meaning;
  };
  const std::deque<FlagSpec>& list() const { return list_; }
  const std::vector<Example>& examples() const { return examples_; }
  const FlagSpec* find(std::string_view name) const;  // by any of its spellings

 private:
  FlagSpec& add(std::string_view names, std::string_view doc, Arity arity);

  std::deque<FlagSpec> list_;  // references stay valid while more are added
  std::vector<Example> examples_;
  std::string section_ = "Flags";
};

template <class T>
FlagSpec& Flags::option(std::string_view names, std::optional<T>& value, std::string_view doc) {
  // The value is described through a scratch of type T, which lives in the closure.
  Flags scratch;
  auto inner = std::make_shared<T>();
  FlagSpec described = scratch.option(names, *inner, doc);
  FlagSpec& spec = add(names, doc, Arity::one);
  spec.value_name = described.value_name;
  spec.accept = [&value, inner, read = described.accept](const FlagSpec& self,
                                                         std::string_view text) {
    std::string problem = read(self, text);
    if (problem.empty()) value = *inner;
    return problem;
  };
  return spec;
}

}  // namespace kvsim::cli
