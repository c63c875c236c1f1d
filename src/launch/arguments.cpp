#include <algorithm>

#include "config/document.h"
#include "launch/command_line.h"
#include "launch/values.h"
#include "units/parse.h"

// From words to flags with their values.
namespace kvsim::launch {
namespace {

bool is_number(std::string_view text) { return parse_number(text).has_value(); }

// -1 is a value, -tp is a flag.
bool is_flag(const Word& word) {
  return word.text.size() > 1 && word.text[0] == '-' && !is_number(word.text) &&
         !(word.quoted && word.text.find(' ') != std::string::npos);
}

// A value as one would type it again.
std::string typed(const std::string& value) {
  return value.find_first_of(" {}\"'") == std::string::npos && !value.empty() ? value
                                                                              : "'" + value + "'";
}

enum class Arity { none, one, many, guess };

Arity arity(const FlagRow* row) {
  if (!row) return Arity::guess;
  switch (row->take) {
    case Take::on:
    case Take::off:
    case Take::toggle:
    case Take::special_flag:
    case Take::neutral_flag:
    case Take::unmodelled_flag:
    case Take::field_on:
    case Take::field_off:
      return Arity::none;
    case Take::neutral_list:
    case Take::unmodelled_list:
      return Arity::many;
    default:
      return Arity::one;
  }
}

// {"a":{"b":value}} from "a.b".
std::string nested(std::string_view path, const std::string& value, int depth = 0) {
  const auto dot = path.find('.');
  const std::string key = config::json_string(path.substr(0, dot));
  constexpr int deepest = 20;
  if (dot != std::string_view::npos && depth < deepest)
    return "{" + key + ":" + nested(path.substr(dot + 1), value, depth + 1) + "}";
  const bool literal = is_number(value) || value == "true" || value == "false" || value == "null";
  return "{" + key + ":" + (literal || is_json_object(value) ? value : config::json_string(value)) +
         "}";
}

// Adds the members of a dotted flag to an earlier one of the same name. One level is all that the
// translations look at.
void merge(Argument& into, const Argument& more) {
  const std::string& a = into.values.front();
  const std::string& b = more.values.front();
  if (is_json_object(a) && is_json_object(b) && a.size() > 2)
    into.values.front() = a.substr(0, a.size() - 1) + "," + b.substr(1);
  into.from += " " + more.from;
}

struct Reader {
  const EngineFlags& flags;
  const std::vector<Word>& words;
  std::size_t at = 0;

  bool value_follows() const { return at + 1 < words.size() && !is_flag(words[at + 1]); }

  void take_value(Argument& a) {
    a.values.push_back(words[++at].text);
    a.from += " " + typed(a.values.back());
  }

  // -O3, -O.level=3
  bool optimization(Argument& a) const {
    if (a.name.size() < 3 || !a.name.starts_with("-O") || flags.engine != "vllm-v1") return false;
    return is_number(a.name.substr(2));
  }

  void split(Argument& a, std::string& path) {
    const std::string& text = words[at].text;
    const auto equals = text.find('=');
    a.name = text.substr(0, equals);
    a.line = words[at].line;
    a.from = a.name;
    if (equals != std::string::npos) {
      a.values.push_back(text.substr(equals + 1));
      a.from += "=" + typed(a.values.back());
    }
    if (const auto dot = a.name.find('.'); dot != std::string::npos && a.name.starts_with('-')) {
      path = a.name.substr(dot + 1);
      a.name.resize(dot);
    }
  }

  Argument next() {
    Argument a;
    std::string path;
    split(a, path);
    a.row = find_row(flags, a.name);
    if (!a.row && optimization(a)) {
      a.row = find_row(flags, "--optimization-level");
      a.values = {a.name.substr(2)};
      return a;
    }
    if (!a.row && a.name.starts_with("--no-")) {
      const FlagRow* positive = find_row(flags, "--" + a.name.substr(5));
      if (positive && arity(positive) == Arity::none) a.row = positive, a.negated = true;
    }
    Arity wanted = path.empty() ? arity(a.row) : Arity::one;
    if (a.row && first_name(*a.row) == "--flash-attn" && value_follows() &&
        (words[at + 1].text == "on" || words[at + 1].text == "off" || words[at + 1].text == "auto"))
      wanted = Arity::one;
    // Options of trtllm-serve that are on or off take a word as well.
    if (wanted == Arity::none && flags.engine == "trtllm" && value_follows() &&
        (lower(words[at + 1].text) == "true" || lower(words[at + 1].text) == "false"))
      wanted = Arity::one;
    if (a.values.empty()) {
      if (wanted == Arity::many)
        while (value_follows()) take_value(a);
      else if (wanted != Arity::none && value_follows())
        take_value(a);
    }
    a.dotted = !path.empty();
    if (a.dotted && !a.values.empty()) a.values.front() = nested(path, a.values.front());
    return a;
  }
};

}  // namespace

std::vector<Argument> collect_arguments(const EngineFlags& flags, const std::vector<Word>& words,
                                        std::vector<Word>& positionals) {
  std::vector<Argument> list;
  Reader reader{flags, words};
  for (; reader.at < words.size(); ++reader.at) {
    if (!is_flag(words[reader.at])) {
      positionals.push_back(words[reader.at]);
      continue;
    }
    Argument a = reader.next();
    // --config.a 1 --config.b 2 are one object.
    auto same = list.end();
    if (a.dotted && a.row && !a.values.empty())
      same = std::find_if(list.begin(), list.end(), [&](const Argument& other) {
        return other.row == a.row && !other.values.empty();
      });
    if (same != list.end())
      merge(*same, a);
    else
      list.push_back(std::move(a));
  }
  return list;
}

}  // namespace kvsim::launch
