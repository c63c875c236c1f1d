#pragma once
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launch/engine_log.h"
#include "launch/python_text.h"

// What the readers of start-up logs share: lines without colours and prefixes, and patterns over
// them.
namespace kvsim::launch {

struct LogLine {
  std::string text;    // without ANSI colours; of carriage returns the last part
  int number = 0;      // from 1
  std::string worker;  // "Worker_TP0", "TP0", "EngineCore_DP1"; "" = the one process
};

std::vector<LogLine> log_lines(std::string_view text);

// The numbers in the first place of `line` that `pattern` fits: "{}" is a number with commas or a
// fraction, "{*}" up to 200 characters before the next piece, other text stands for itself; a blank
// fits any number of blanks, none included. Nothing when the pattern fits nowhere.
std::optional<std::vector<double>> numbers_in(std::string_view line, std::string_view pattern);

// The word (up to a blank, comma, quote or closing bracket) behind `marker`; "" when it is absent.
std::string word_after(std::string_view line, std::string_view marker);

// One form of line: a pattern and what its numbers are. Sizes are multiplied by `unit`.
struct LineForm {
  std::string_view pattern;
  std::vector<std::optional<Term>> terms;  // nothing = the number is of no use
  double unit = 1;                         // of the sizes among them
};

// Adds the figures of the line that the forms find; answers whether there was one.
bool take_forms(EngineLog& log, const LogLine& line, const std::vector<LineForm>& forms);
void add_figure(EngineLog& log, const LogLine& line, Term term, double value);

// Arguments of the engine's table from printed pairs. `only_translated` keeps those that set
// something, for lines that print every field with its default; None is left out.
enum class Printed { given, everything };
void take_pairs(std::vector<Argument>& out, const EngineFlags& flags, std::string_view pairs,
                int line, Printed printed);

// One reader per engine: what it finds goes into `log`; answers whether the line is one of its own.
struct LogReader {
  const EngineFlags& (*flags)();
  bool (*read)(EngineLog& log, std::vector<Argument>& arguments, const LogLine& line);
  std::string_view looked_for;  // its best known lines, for messages
};
const LogReader& vllm_log();
const LogReader& sglang_log();
const LogReader& trtllm_log();
const LogReader& llamacpp_log();

}  // namespace kvsim::launch
