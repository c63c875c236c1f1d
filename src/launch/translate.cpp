#include "launch/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "config/document.h"
#include "diag/diagnostic.h"
#include "launch/secrets.h"
#include "launch/values.h"
#include "units/parse.h"

namespace kvsim::launch {
namespace {

std::string hyphens(std::string_view name) {
  std::string out(name);
  const std::size_t first = std::min(out.find_first_not_of('-'), out.size());
  std::replace(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(), '_', '-');
  return out;
}

template <class F>
void each_name(std::string_view names, F visit) {
  while (true) {
    const std::string_view one = names.substr(0, names.find(','));
    visit(one);
    if (one.size() == names.size()) return;
    names.remove_prefix(one.size() + 1);
  }
}

// Whether a flag without value is on; a log gives it a value.
bool is_on(const Argument& a, const std::string& name) {
  if (a.values.empty()) return !a.negated;
  const auto on = truth(a.values.front());
  if (!on) refuse_value(a, name, "true or false");
  return *on != a.negated;
}

// The JSON value of a scenario's field.
std::string field_value(const Argument& a, const std::string& name) {
  if (a.row->take == Take::field_on) return is_on(a, name) ? "true" : "false";
  if (a.row->take == Take::field_off) return is_on(a, name) ? "false" : "true";
  if (a.row->take == Take::field_integer) return integer_value(a, name);
  if (a.row->take == Take::field_word) return config::json_string(a.values.front());
  const auto number = parse_number(a.values.front());
  if (!number) refuse_value(a, name, "a number");
  return fmt::format("{}", *number);
}

void take(Translation& out, const Argument& a, const std::string& name) {
  const FlagRow& row = *a.row;
  const std::string plan(row.plan);
  switch (row.take) {
    case Take::integer:
      return out.set(plan, integer_value(a, name), a);
    case Take::number:
      if (!parse_number(a.values.front())) refuse_value(a, name, "a number");
      return out.set(plan, a.values.front(), a);
    case Take::word:
      return out.set(plan, a.values.front(), a);
    case Take::bytes:
      return out.set(plan, integer_value(a, name), a);
    case Take::gibibytes:
      if (!parse_number(a.values.front())) refuse_value(a, name, "a number of GiB");
      return out.set(plan, a.values.front() + "GiB", a);
    case Take::on:
      if (is_on(a, name)) out.set(plan, "", a);
      return;
    case Take::off:
      if (is_on(a, name)) out.set("--no-" + plan.substr(2), "", a);
      return;
    case Take::toggle:
      return out.set(is_on(a, name) ? plan : "--no-" + plan.substr(2), "", a);
    case Take::model:
      out.model = a.values.front(), out.model_line = a.line;
      return;
    case Take::neutral_flag:
    case Take::neutral:
    case Take::neutral_list:
      out.neutral.push_back(a.from);
      return;
    case Take::unmodelled_flag:
      if (!is_on(a, name)) {
        out.neutral.push_back(a.from);
        return;
      }
      return out.leave(a, plan);
    case Take::unmodelled:
    case Take::unmodelled_list:
      return out.leave(a, plan);
    case Take::field_on:
    case Take::field_off:
    case Take::field_integer:
    case Take::field_number:
    case Take::field_word:
      return out.leave_field(a, plan, std::string(row.field), field_value(a, name));
    case Take::special:
    case Take::special_flag:
      return;
  }
}

bool wants_value(Take take) {
  return take == Take::integer || take == Take::number || take == Take::word ||
         take == Take::bytes || take == Take::gibibytes || take == Take::model ||
         take == Take::special || take == Take::neutral || take == Take::unmodelled ||
         take == Take::field_integer || take == Take::field_number || take == Take::field_word;
}

// A text with more unknown flags than this is no command; comparing each with every known one would
// take minutes.
constexpr std::size_t most_suggestions = 200;

// Whether its values are secret is not known either.
Leftover unread(const Argument& a) {
  return {a.values.empty() ? a.name : a.name + " ...", "", a.line};
}

Leftover unknown(const EngineFlags& flags, const Argument& a) {
  const std::string near = nearest_flag(flags, a.name);
  return {a.from, near.empty() ? "" : fmt::format("did you mean {}?", near), a.line};
}

}  // namespace

void Translation::set(std::string flag, std::string value, const Argument& source) {
  settings.push_back({std::move(flag), std::move(value), source.from, source.line});
}

void Translation::leave(const Argument& source, std::string why) {
  unmodelled.push_back({source.from, std::move(why), source.line});
}

void Translation::leave_field(const Argument& source, std::string why, std::string field,
                              std::string value) {
  unmodelled.push_back(
      {source.from, std::move(why), source.line, std::move(field), std::move(value)});
}

const FlagRow* find_row(const EngineFlags& flags, std::string_view name) {
  const std::string wanted = hyphens(name);
  for (const FlagRow& row : flags.rows) {
    bool found = false;
    each_name(row.names, [&](std::string_view one) { found |= one == wanted; });
    if (found) return &row;
  }
  return nullptr;
}

std::string_view first_name(const FlagRow& row) { return row.names.substr(0, row.names.find(',')); }

const Argument* find_argument(std::span<const Argument> list, std::string_view wanted) {
  for (const Argument& a : list)
    if (first_name(*a.row) == wanted) return &a;
  return nullptr;
}

void refuse_value(const Argument& a, const std::string& name, std::string_view expected) {
  const std::string found = a.values.empty() ? "" : a.values.front();
  throw InputError(Diagnostic{.code = "command-value",
                              .message = fmt::format("{}: expected {}, found \"{}\"", a.name,
                                                     expected, holds_secret(found) ? "..." : found),
                              .file = name,
                              .line = a.line,
                              .column = 1});
}

std::string integer_value(const Argument& a, const std::string& name) {
  const auto number = human_integer(a.values.front());
  if (!number) refuse_value(a, name, "a whole number such as 32768, 32k (32,000) or 32K (32,768)");
  return std::to_string(*number);
}

std::string weight_format(std::string_view word) {
  const std::string w = lower(word);
  if (w.empty() || w == "none" || w == "null" || w == "auto" || w == "compressed-tensors" ||
      w == "modelopt-mixed")
    return "";
  if (w == "awq" || w == "awq_marlin") return "awq";
  if (w == "gptq" || w == "gptq_marlin" || w == "auto-round" || w == "inc") return "gptq";
  if (w == "fp8" || w == "fbgemm_fp8" || w == "w8a8_fp8" || w == "modelopt" ||
      w == "modelopt_fp8" || w == "ptpc_fp8")
    return "fp8";
  if (w == "modelopt_fp4" || w == "nvfp4" || w == "petit_nvfp4") return "nvfp4";
  if (w == "w8a8_int8" || w == "int8") return "int8";
  if (w == "mxfp4" || w.starts_with("gguf") || w == "bitsandbytes" || w == "fp8_block") return w;
  return "?";
}

Translation translate(const EngineFlags& flags, const std::vector<Argument>& arguments,
                      const std::string& name) {
  Translation out;
  std::vector<Argument> special;
  std::map<const FlagRow*, std::size_t> last_of;
  for (std::size_t i = 0; i < arguments.size(); ++i) last_of[arguments[i].row] = i;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].row && out.unknown.size() >= most_suggestions) {
      out.unknown.push_back(unread(arguments[i]));
      continue;
    }
    const Argument a = concealed(flags, arguments[i]);
    if (!a.row) {
      out.unknown.push_back(unknown(flags, a));
      continue;
    }
    if (wants_value(a.row->take) && a.values.empty())
      throw InputError(Diagnostic{.code = "command-missing-value",
                                  .message = fmt::format("{} stands without its value", a.name),
                                  .file = name,
                                  .line = a.line,
                                  .column = 1,
                                  .hint = "is the command complete?"});
    if (last_of.at(a.row) != i)
      out.unmodelled.push_back({a.from, "given again later: the last one counts", a.line});
    else if (a.row->take == Take::special || a.row->take == Take::special_flag)
      special.push_back(a);
    else
      take(out, a, name);
  }
  flags.special(out, special, name);
  return out;
}

}  // namespace kvsim::launch
