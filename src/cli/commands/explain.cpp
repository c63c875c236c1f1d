#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/makers.h"
#include "cli/explain/pages.h"
#include "cli/explain/profile_text.h"
#include "cli/explain/request_story.h"
#include "cli/explain/topic.h"
#include "config/document.h"
#include "diag/suggest.h"
#include "engine/registry.h"
#include "report/table.h"

namespace kvsim::cli {
namespace {

class Explain final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim explain goodput", "what a word of kvsim means");
    flags.example("kvsim explain wrong-type", "what an error code means and what to do");
    flags.example("kvsim explain requests.jsonl --request r7 --steps steps.jsonl",
                  "the life of one request");
    flags
        .positional("TOPIC", topic_,
                    "a metric, field, flag, policy, dtype or error code (default: list them)")
        .completes(Complete::topic);
    flags.example("kvsim explain profile vllm-v1", "the rules that an engine profile follows");
    flags.positional("NAME", name_, "after \"profile\": the engine profile (default: list them)");
    flags
        .option("--request", request_,
                "tell the life of the request of that id; TOPIC is a RESULT with requests")
        .value("ID");
    flags
        .option("--steps", steps_,
                "with --request: what run --steps wrote, for every step that counts")
        .value("FILE")
        .completes(Complete::file);
    flags
        .option("--write-pages", folder_,
                "write the generated pages below DIR, which is docs/ of a checkout")
        .value("DIR")
        .hide();
  }

  Exit run(Context& context) override {
    if (!folder_.empty()) return write_pages(context);
    if (!request_.empty()) return tell_request(context);
    if (!steps_.empty()) throw UsageError("--steps goes with --request ID", {}, "usage-missing");
    if (topic_ == "profile") return print_profile(context);
    if (!name_.empty())
      throw UsageError(fmt::format("{} is one word too many", config::json_string(name_)),
                       "two words are taken for a profile: kvsim explain profile vllm-v1",
                       "usage-extra-word");
    const std::vector<Topic> all = all_topics();
    const std::vector<Topic> found = topic_.empty() ? all : find_topics(all, topic_);
    if (found.empty()) unknown(all);
    if (context.json())
      print_json(found, context);
    else if (topic_.empty())
      print_list(found, context);
    else
      print_text(found, context);
    return Exit::ok;
  }

 private:
  Exit tell_request(Context& context) const {
    if (topic_.empty())
      throw UsageError("--request needs the file of run --requests-out",
                       "kvsim explain requests.jsonl --request " + request_, "usage-missing");
    if (context.json())
      throw UsageError("--request is text for people; its file is JSON already", {},
                       "usage-extra-word");
    context.print(request_story(topic_, steps_, request_));
    return Exit::ok;
  }

  Exit print_profile(Context& context) const {
    std::vector<std::string> names;
    for (const engine::ProfileEntry& entry : engine::profiles()) names.emplace_back(entry.name);
    if (name_.empty()) {
      report::Table table({{"profile"}, {"rules"}, {"summary"}});
      for (const engine::ProfileEntry& entry : engine::profiles())
        table.row({std::string(entry.name), fmt::format("{}", entry.rules.size()),
                   std::string(entry.summary)});
      context.print(table.text());
      return Exit::ok;
    }
    const engine::ProfileEntry* profile = engine::find_profile(name_);
    if (!profile)
      throw UsageError(fmt::format("there is no engine profile {}", config::json_string(name_)),
                       suggestion(name_, names), "usage-unknown-topic");
    context.print(context.json() ? profile_json(*profile) : profile_text(*profile, context));
    return Exit::ok;
  }

  Exit write_pages(Context& context) const {
    for (const Page& page : pages()) {
      const std::filesystem::path path = std::filesystem::path(folder_) / page.path;
      std::error_code error;
      std::filesystem::create_directories(path.parent_path(), error);
      if (error) throw IoError(path.parent_path().string(), "cannot be made: " + error.message());
      config::write_file(path.string(), page.text);
      context.detail("wrote " + path.string());
    }
    return Exit::ok;
  }

  [[noreturn]] void unknown(const std::vector<Topic>& all) const {
    std::vector<std::string> names;
    for (const Topic& topic : all) {
      names.push_back(topic.name);
      if (const auto dot = topic.name.rfind('.'); dot != std::string::npos)
        names.push_back(topic.name.substr(dot + 1));
    }
    const auto near = nearest(topic_, names);
    throw UsageError(
        fmt::format("there is nothing to explain about {}", config::json_string(topic_)),
        near ? fmt::format("did you mean {}?", *near) : "kvsim explain lists the topics",
        "usage-unknown-topic");
  }

  static void print_text(const std::vector<Topic>& found, Context& context) {
    bool first = true;
    for (const Topic& topic : found) {
      if (!std::exchange(first, false)) context.print("\n");
      context.print(fmt::format("{} ({})\n  {}\n", context.paint(topic.name, Ink::bold), topic.kind,
                                topic.summary));
      std::string_view rest = topic.text;
      while (!rest.empty()) {
        const auto end = rest.find('\n');
        context.print(fmt::format("  {}\n", rest.substr(0, end)));
        rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      }
    }
  }

  // Names only, kind by kind.
  static void print_list(const std::vector<Topic>& all, Context& context) {
    std::vector<std::string> kinds;
    for (const Topic& topic : all)
      if (std::ranges::count(kinds, topic.kind) == 0) kinds.push_back(topic.kind);
    report::Table table({{"kind"}, {"topics"}});
    for (const std::string& kind : kinds) {
      std::vector<std::string> names;
      for (const Topic& topic : all)
        if (topic.kind == kind && std::ranges::count(names, topic.name) == 0)
          names.push_back(topic.name);
      const bool is_field = kind.ends_with(" field");
      table.row({kind, is_field ? fmt::format("{} fields; kvsim explain FIELD", names.size())
                                : fmt::format("{}", fmt::join(names, " "))});
    }
    context.print(table.text());
  }

  static void print_json(const std::vector<Topic>& found, Context& context) {
    std::string list;
    for (const Topic& t : found)
      list += fmt::format("{}\n  {{\"kind\": {}, \"name\": {}, \"summary\": {}, \"text\": {}}}",
                          list.empty() ? "" : ",", config::json_string(t.kind),
                          config::json_string(t.name), config::json_string(t.summary),
                          config::json_string(t.text));
    context.print(fmt::format("{{\"schema\": \"kvsim.topics/1\", \"topics\": [{}\n]}}\n", list));
  }

  std::string topic_, name_, request_, steps_, folder_;
};

}  // namespace

std::unique_ptr<Command> make_explain() { return std::make_unique<Explain>(); }

}  // namespace kvsim::cli
