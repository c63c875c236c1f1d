#include "launch/log_scan.h"

#include <algorithm>
#include <cctype>

#include "launch/values.h"
#include "units/parse.h"

namespace kvsim::launch {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// Without ANSI escapes (ESC [ ... letter), and of a line that was drawn over only the last text.
std::string cleaned(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (const auto back = line.rfind('\r'); back != std::string_view::npos)
    line.remove_prefix(back + 1);
  std::string out;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\x1b') {
      out += line[i];
      continue;
    }
    if (i + 1 >= line.size() || line[i + 1] != '[') continue;
    for (i += 2; i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]));) ++i;
  }
  return out;
}

std::string inside_brackets(std::string_view line, std::string_view open, char close) {
  const auto at = line.find(open);
  if (at == std::string_view::npos) return "";
  const auto end = line.find(close, at);
  if (end == std::string_view::npos) return "";
  return std::string(line.substr(at + 1, end - at - 1));
}

// vLLM: "(Worker_TP0 pid=1)", "(VllmWorkerProcess pid=17)", "(EngineCore_DP1 pid=2)".
std::string vllm_worker(std::string_view line) {
  for (const char* open : {"(Worker", "(VllmWorker", "(RayWorker"}) {
    const std::string found = inside_brackets(line, open, ')');
    if (found.empty()) continue;
    const std::string first = found.substr(0, found.find(' '));
    return first.find('_') == std::string::npos ? found : first;
  }
  const std::string core = inside_brackets(line, "(EngineCore_DP", ')');
  return core.substr(0, core.find(' '));
}

// SGLang: "[2025-11-04 05:27:13 DP0 TP0 EP0]" and "[TP0]".
std::string sglang_worker(std::string_view line) {
  const std::string bracket = inside_brackets(line, "[", ']');
  for (const char* kind : {"DP", "TP", "PP"}) {
    const auto at = bracket.find(kind);
    if (at == std::string::npos || at + 2 >= bracket.size() || !is_digit(bracket[at + 2])) continue;
    if (at > 0 && bracket[at - 1] != ' ') continue;
    return bracket.substr(at);
  }
  return "";
}

// A number at `at`, with commas between its digits; moves behind it.
std::optional<double> take_number(std::string_view line, std::size_t& at) {
  std::string digits;
  std::size_t i = at;
  if (i < line.size() && line[i] == '-') digits += line[i++];
  for (; i < line.size(); ++i) {
    const bool more = i + 1 < line.size() && is_digit(line[i + 1]);
    if (is_digit(line[i]) || (line[i] == '.' && more))
      digits += line[i];
    else if (line[i] != ',' || !more || digits.empty())
      break;
  }
  const auto value = parse_number(digits);
  if (value) at = i;
  return value;
}

void skip_blanks(std::string_view line, std::size_t& at) {
  while (at < line.size() && line[at] == ' ') ++at;
}

// Whether the pattern fits at `at`.
bool fits(std::string_view line, std::size_t at, std::string_view pattern,
          std::vector<double>& numbers) {
  while (!pattern.empty()) {
    if (pattern.starts_with("{}")) {
      pattern.remove_prefix(2);
      const auto value = take_number(line, at);
      if (!value) return false;
      numbers.push_back(*value);
    } else if (pattern.starts_with("{*}")) {
      pattern.remove_prefix(3);
      // Up to the next piece of text that the pattern has.
      const std::string_view piece = pattern.substr(0, pattern.find('{'));
      constexpr std::size_t farthest = 200;
      const auto next = line.substr(at, farthest + piece.size()).find(piece);
      if (next == std::string_view::npos) return false;
      at += next;
    } else if (pattern.front() == ' ') {
      pattern.remove_prefix(1);
      skip_blanks(line, at);
    } else {
      if (at >= line.size() || line[at] != pattern.front()) return false;
      pattern.remove_prefix(1), ++at;
    }
  }
  return true;
}

bool is_translated(Take take) {
  switch (take) {
    case Take::neutral:
    case Take::neutral_flag:
    case Take::neutral_list:
    case Take::unmodelled:
    case Take::unmodelled_flag:
    case Take::unmodelled_list:
    case Take::field_on:
    case Take::field_off:
    case Take::field_integer:
    case Take::field_number:
    case Take::field_word:
      return false;
    default:
      return true;
  }
}

bool is_toggle(Take take) {
  return take == Take::toggle || take == Take::on || take == Take::off ||
         take == Take::special_flag || take == Take::neutral_flag ||
         take == Take::unmodelled_flag || take == Take::field_on || take == Take::field_off;
}

}  // namespace

std::vector<LogLine> log_lines(std::string_view text) {
  std::vector<LogLine> lines;
  int number = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    LogLine out{cleaned(line), ++number, ""};
    out.worker = vllm_worker(out.text);
    if (out.worker.empty()) out.worker = sglang_worker(out.text);
    lines.push_back(std::move(out));
  }
  return lines;
}

std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern) {
  // The pattern's first literal finds the places worth a try.
  const std::string_view literal = pattern.substr(0, pattern.find_first_of("{ "));
  for (std::size_t at = line.find(literal); at != std::string_view::npos;
       at = line.find(literal, at + 1)) {
    std::vector<double> numbers;
    if (fits(line, at, pattern, numbers)) return numbers;
  }
  return std::nullopt;
}

std::string word_after(std::string_view line, std::string_view marker) {
  const auto at = line.find(marker);
  if (at == std::string_view::npos) return "";
  const std::string_view rest = line.substr(at + marker.size());
  return std::string(rest.substr(0, rest.find_first_of(" ,'\")]}")));
}

void add_figure(EngineLog& log, const LogLine& line, Term term, double value) {
  log.figures.push_back({term, value, line.worker, line.number, line.text});
}

bool take_forms(EngineLog& log, const LogLine& line, const std::vector<LineForm>& forms) {
  bool found = false;
  for (const LineForm& form : forms) {
    const auto numbers = numbers_in(line.text, form.pattern);
    if (!numbers) continue;
    found = true;
    for (std::size_t i = 0; i < form.terms.size() && i < numbers->size(); ++i) {
      if (!form.terms[i]) continue;
      const Term term = *form.terms[i];
      const bool is_size = term <= Term::state_memory || term == Term::kv_needed;
      add_figure(log, line, term, (*numbers)[i] * (is_size ? form.unit : 1));
    }
  }
  return found;
}

void take_pairs(std::vector<Argument>& out, const EngineFlags& flags, std::string_view pairs,
                int line, Printed printed) {
  for (const PythonPair& pair : python_pairs(pairs)) {
    if (pair.value == "None" || pair.value.empty()) continue;
    Argument a;
    a.name = "--" + pair.key;
    std::replace(a.name.begin(), a.name.end(), '_', '-');
    a.row = find_row(flags, a.name);
    if (printed == Printed::everything && (!a.row || !is_translated(a.row->take))) continue;
    const bool compound = pair.value.find_first_of("{(") != std::string::npos;
    a.values = {compound ? python_json(pair.value) : pair.value};
    a.from = pair.key + "=" + pair.value;
    a.line = line;
    // A toggle prints True or False; anything else there is no such flag of ours.
    if (a.row && is_toggle(a.row->take) && !truth(a.values.front())) continue;
    // model and model_tag are one thing.
    if (a.row) std::erase_if(out, [&](const Argument& other) { return other.row == a.row; });
    out.push_back(std::move(a));
  }
}

}  // namespace kvsim::launch
