#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

// What an engine's flag means to `kvsim plan`: one table per engine (vllm_flags.cpp, ...), each row
// a flag with its spellings.
namespace kvsim::launch {

enum class Take {
  integer,          // a number as vLLM's parser takes it (32k, 32K)
  number,           // a decimal fraction
  word,             // as it is
  bytes,            // a number of bytes, 20G allowed
  gibibytes,        // a number of GiB
  on,               // no value: turns plan's flag on
  off,              // no value: turns plan's flag off (--no-x)
  toggle,           // --x and --no-x
  model,            // the model's name
  special,          // several flags decide together: the engine's own function
  special_flag,     // the same, without a value
  neutral_flag,     // touches neither memory nor scheduling; no value
  neutral,          // ... one value
  neutral_list,     // ... any number of values
  unmodelled_flag,  // touches memory or scheduling, and plan has no flag for it; no value
  unmodelled,       // ... one value
  unmodelled_list,  // ... any number of values
  field_on,         // the same, but scenarios have a field for it; no value: true (--no-x: false)
  field_off,        // ... no value: false
  field_integer,    // ... a number as vLLM's parser takes it
  field_number,     // ... a decimal fraction
  field_word,       // ... as it is
};

struct FlagRow {
  std::string_view names;  // "--tensor-parallel-size,-tp"; underscores count as hyphens
  Take take = Take::neutral;
  std::string_view plan = {};   // plan's flag, or for an unmodelled one what it touches
  std::string_view field = {};  // of a field_ one: the key in a scenario's engine
};

// A flag as it stood in the command or the log, with its values. Dotted flags of vLLM
// (--compilation-config.level 3) are one argument whose value is a JSON object.
struct Argument {
  const FlagRow* row = nullptr;  // null: not known
  std::string name;              // as typed, without value
  std::vector<std::string> values;
  std::string from;  // the words as typed, or what the log printed
  int line = 0;
  bool negated = false;  // --no-x of a toggle
  bool dotted = false;
};

// One of plan's flags, and the words that it stands for.
struct Setting {
  std::string flag;   // "--tensor-parallel-size", "--no-enable-prefix-caching"
  std::string value;  // "" = the flag takes none
  std::string from;   // "-tp 8"
  int line = 0;
  bool overridden = false;  // by a flag of kvsim's own line; set by who merges the two
};

struct Leftover {
  std::string words, why;
  int line = 0;
  // What a scenario's engine says instead: key ("a/b" inside an object) and JSON value; "" = none.
  std::string field = {}, value = {};
};

struct Translation {
  std::string model;
  int model_line = 0;
  std::vector<Setting> settings;
  std::vector<std::string> neutral;  // known not to touch memory or scheduling
  std::vector<Leftover> unmodelled;  // touches them, but plan cannot say it
  std::vector<Leftover> unknown;     // with the nearest known flag, if one is near

  void set(std::string flag, std::string value, const Argument& source);
  void leave(const Argument& source, std::string why);
  // The same for what the field of a scenario's engine can say.
  void leave_field(const Argument& source, std::string why, std::string field, std::string value);
};

struct EngineFlags {
  std::string_view engine;  // kvsim's name
  std::span<const FlagRow> rows;
  // Gets every special argument at the end, the last of each row.
  void (*special)(Translation& out, std::span<const Argument> arguments, const std::string& name);
};

const EngineFlags& vllm_flags();
const EngineFlags& sglang_flags();
const EngineFlags& trtllm_flags();
const EngineFlags& llamacpp_flags();

// The row of a flag by any of its spellings, hyphens or underscores; null when there is none.
const FlagRow* find_row(const EngineFlags& flags, std::string_view name);
std::string_view first_name(const FlagRow& row);
// The special argument of that (first) name among `list`, or null.
const Argument* find_argument(std::span<const Argument> list, std::string_view first_name);

// plan's word for a weight format of vLLM or SGLang: "awq_marlin" is awq. "" when the checkpoint's
// own format is meant, "?" when plan has none.
std::string weight_format(std::string_view word);

}  // namespace kvsim::launch
