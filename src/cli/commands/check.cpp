#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/check/file_kinds.h"
#include "cli/commands/makers.h"
#include "report/table.h"

namespace kvsim::cli {
namespace {

// The value at an RFC 6901 pointer of the echoed document.
config::Value at(config::Value value, std::string_view pointer) {
  while (!pointer.empty() && value.exists()) {
    const auto end = pointer.find('/', 1);
    std::string step(pointer.substr(1, end == std::string_view::npos ? end : end - 1));
    pointer = end == std::string_view::npos ? std::string_view{} : pointer.substr(end);
    if (!value.is_array()) {
      value = value.find(step);
      continue;
    }
    const auto index = static_cast<std::size_t>(std::atoll(step.c_str()));
    value = index < value.size() ? value.at(index) : config::Value{};
  }
  return value;
}

std::string shortened(std::string text) {
  constexpr std::size_t most = 40;
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

class Check final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim check scenario.json",
                  "every mistake with its place, or one line that says it is well");
    flags.example("kvsim check --resolve scenario.json",
                  "what each field resolves to, and who said so");
    flags.positional("FILE", files_, "files of any kvsim kind; - is standard input")
        .require()
        .completes(Complete::file);
    flags.flag("--resolve", resolve_, "print every resolved value and where it came from");
  }

  Exit run(Context& context) override {
    std::vector<Diagnostic> problems;
    std::optional<IoError> unreadable;
    std::string documents;
    for (const std::string& path : files_) {
      try {
        const CheckedFile file = check_file(path, context);
        if (context.json())
          documents += (documents.empty() ? "" : ",") + json(path, file);
        else
          print(path, file, context);
      } catch (const InputError& error) {
        problems.insert(problems.end(), error.diagnostics().begin(), error.diagnostics().end());
      } catch (const IoError& error) {
        if (!unreadable) unreadable = error;
      }
    }
    if (unreadable && !problems.empty()) context.report(problems);
    if (unreadable) throw IoError(*unreadable);
    if (!problems.empty()) throw InputError(std::move(problems));
    if (context.json())
      context.print(
          fmt::format("{{\n\"schema\": \"kvsim.check/1\",\n\"files\": [{}]\n}}\n", documents));
    return Exit::ok;
  }

 private:
  void print(const std::string& path, const CheckedFile& file, Context& context) const {
    context.print(fmt::format("{}: {}{} is well\n", path, file.kind,
                              file.name.empty() ? "" : " " + file.name));
    if (!resolve_ || file.resolved.empty()) return;
    const config::Document values = config::Document::parse(file.resolved, path);
    if (file.origins.entries.empty()) return context.print(file.resolved + "\n");
    report::Table table({{"field"}, {"value"}, {"from"}});
    for (const auto& [pointer, origin] : file.origins.entries) {
      const config::Value value = at(values.root(), pointer);
      if (!value.exists() || (value.is_object() && value.size() > 0)) continue;
      if (value.is_array() && value.size() > 0 && value.at(0).is_object()) continue;
      table.row({pointer, shortened(value.json()), origin});
    }
    context.print(table.text(2));
  }

  std::string json(const std::string& path, const CheckedFile& file) const {
    std::string out = fmt::format("{{\"file\": {}, \"kind\": {}, \"name\": {}",
                                  config::json_string(path), config::json_string(file.kind),
                                  file.name.empty() ? "null" : config::json_string(file.name));
    if (resolve_ && !file.resolved.empty()) {
      out += ",\n\"resolved\": " + file.resolved + ",\n\"origins\": {";
      bool first = true;
      for (const auto& [pointer, origin] : file.origins.entries)
        out += fmt::format("{}\n  {}: {}", std::exchange(first, false) ? "" : ",",
                           config::json_string(pointer), config::json_string(origin));
      out += "}";
    }
    return out + "}";
  }

  std::vector<std::string> files_;
  bool resolve_ = false;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace kvsim::cli
