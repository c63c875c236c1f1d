#include "cli/commands/plan_sources.h"

#include <fmt/format.h>

#include <filesystem>

#include "cli/usage.h"
#include "config/document.h"
#include "diag/diagnostic.h"

namespace kvsim::cli {
namespace {

namespace fs = std::filesystem;

// A config.json that stands where the name says, as the engines look first; "" when none does.
std::string local_config(const std::string& name) {
  std::error_code error;
  const fs::path path(name);
  if (path.extension() == ".json" && fs::is_regular_file(path, error)) return name;
  const fs::path config = path / "config.json";
  if (!fs::is_regular_file(config, error)) return "";
  return path.is_absolute() || name.starts_with('.') ? config.string() : "./" + config.string();
}

// The error of an unknown model, at its place in the text, with what to do.
InputError unknown_model(const InputError& error, const PastedText& pasted, int line) {
  Diagnostic d = error.diagnostics().front();
  d.file = pasted.file, d.line = line, d.column = 1;
  d.hint = fmt::format("{}{}Give its config.json: kvsim plan ./config.json --from-{} {}", d.hint,
                       d.hint.empty()          ? ""
                       : d.hint.ends_with('?') ? " "
                                               : ". ",
                       pasted.kind, pasted.file == "stdin" ? "-" : pasted.file);
  return InputError(std::move(d));
}

struct Named {
  std::string reference;  // for Catalog::resolve_model
  std::string format;     // weights, by the name's ending
};

Named find_model(const std::string& name, int line, const PastedText& pasted,
                 const spec::Catalog& catalog, std::vector<std::string>& warnings) {
  if (const std::string config = local_config(name); !config.empty()) return {config, ""};
  const auto spelling = catalog.find_spelling(name);
  if (!spelling) {
    try {
      catalog.model(name);
    } catch (const InputError& error) {
      throw unknown_model(error, pasted, line);
    }
  }
  if (!spelling->format.empty())
    warnings.push_back(fmt::format("{} is taken as {} with {} weights, by its name", name,
                                   spelling->id, spelling->format));
  return {spelling->id, spelling->format};
}

// "--quantization fp8" of a checkpoint that has FP8 weights names those, not plan's preset.
void keep_own_weights(launch::Translation& t, const spec::ModelSpec& model) {
  const std::string& own = model.quantization.method;
  std::erase_if(t.settings, [&](const launch::Setting& s) {
    const bool is_own = s.flag == "--quantization" && own != "none" && own.starts_with(s.value);
    if (is_own) t.neutral.push_back(s.from + " (the checkpoint's own)");
    return is_own;
  });
}

// The model's own layers draft only where it has some.
void check_drafter(const launch::Setting& s, const spec::ModelSpec& model,
                   const PastedText& pasted) {
  if (s.flag != "--speculative-method" || s.value != "mtp" || model.num_mtp_layers > 0) return;
  throw InputError(Diagnostic{
      .code = "drafter",
      .message = fmt::format("\"{}\": {} has no multi-token prediction layers", s.from, model.id),
      .file = pasted.file,
      .line = s.line,
      .column = 1,
      .hint = "use eagle3, draft_model or ngram, or give --speculative-method yourself: it is then "
              "taken instead"});
}

// Parses one setting alone, so that an error names the words it came from.
void check_setting(const launch::Setting& s, const PastedText& pasted) {
  try {
    std::vector<std::string> words{s.flag};
    if (!s.value.empty()) words.push_back(s.value);
    PlanFlags::from_words(words);
  } catch (const UsageError& error) {
    Diagnostic d = error.diagnostic();
    d.code = "command-value", d.file = pasted.file, d.line = s.line, d.column = 1;
    d.message = fmt::format("\"{}\": {}", s.from, d.message);
    const std::string instead =
        fmt::format("or give {} yourself: it is then taken instead", s.flag);
    d.hint = d.hint.empty() ? instead : d.hint + "; " + instead;
    throw InputError(std::move(d));
  }
}

void warn_of(const std::vector<launch::Leftover>& list, const char* text, const PastedText& pasted,
             std::vector<std::string>& warnings) {
  for (const launch::Leftover& l : list)
    if (l.field.empty())
      warnings.push_back(fmt::format("{} of the {} {}{}", l.words, pasted.kind, text,
                                     l.why.empty() ? "" : " (" + l.why + ")"));
}

}  // namespace

std::vector<launch::Leftover> scenario_fields(const launch::Translation& t) {
  std::vector<launch::Leftover> list;
  for (const launch::Leftover& l : t.unmodelled)
    if (!l.field.empty()) list.push_back(l);
  return list;
}

std::string left_out(const launch::Leftover& l, std::string_view kind) {
  return fmt::format("{} of the {} is left out ({})", l.words, kind, l.why);
}

void fill_from_translation(PlanFlags& flags, launch::Translation& t, const PastedText& pasted,
                           const spec::Catalog& catalog, std::vector<std::string>& warnings) {
  std::string format;
  PlanFlags theirs;
  if (flags.model().empty()) {
    if (t.model.empty())
      throw InputError(Diagnostic{.code = "command-model",
                                  .message = fmt::format("the {} names no model", pasted.kind),
                                  .file = pasted.file,
                                  .hint = "give MODEL: a catalog id or a config.json"});
    const Named named = find_model(t.model, t.model_line, pasted, catalog, warnings);
    format = named.format;
    theirs.set_model(named.reference);
  }
  const spec::ModelSpec model =
      catalog.resolve_model(flags.model().empty() ? theirs.model() : flags.model());
  keep_own_weights(t, model);
  std::vector<std::string> words;
  bool has_format = flags.has("--quantization");
  for (launch::Setting& s : t.settings) {
    s.overridden = flags.has(s.flag);
    if (s.overridden) continue;
    if (s.flag == "--draft-model") {
      s.value = find_model(s.value, s.line, pasted, catalog, warnings).reference;
    }
    // The engine's word for all GGUF types is one; the file's name says which.
    if (s.flag == "--quantization" && s.value == "gguf" && format.starts_with("gguf_"))
      s.value = format;
    check_setting(s, pasted);
    check_drafter(s, model, pasted);
    has_format |= s.flag == "--quantization";
    words.push_back(s.flag);
    if (!s.value.empty()) words.push_back(s.value);
  }
  if (!format.empty() && !has_format) {
    words.insert(words.end(), {"--quantization", format});
    t.settings.push_back({"--quantization", format, t.model, t.model_line, false});
  }
  PlanFlags read = PlanFlags::from_words(words);
  read.set_model(theirs.model());
  flags.fill(read);
  warn_of(t.unmodelled, "is left out", pasted, warnings);
  warn_of(t.unknown, "is not known and left out", pasted, warnings);
}

launch::Command fill_from_command(PlanFlags& flags, const std::string& path,
                                  const spec::Catalog& catalog,
                                  std::vector<std::string>& warnings) {
  const PastedText pasted{path == "-" ? "stdin" : path, "command"};
  launch::Command command = launch::read_command(config::read_file(path), pasted.file);
  std::vector<launch::Setting> first{{"--engine", command.engine, command.program, 0, false}};
  if (!command.version.empty())
    first.push_back({"--engine-version", command.version, command.version_from, 0, false});
  command.flags.settings.insert(command.flags.settings.begin(), first.begin(), first.end());
  fill_from_translation(flags, command.flags, pasted, catalog, warnings);
  return command;
}

}  // namespace kvsim::cli
