#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cli/commands/makers.h"
#include "cli/commands/plan_flags.h"
#include "cli/commands/plan_questions.h"
#include "cli/commands/plan_scenario.h"
#include "cli/commands/plan_sources.h"
#include "cli/result_style.h"
#include "config/document.h"
#include "planner/answers.h"
#include "planner/search.h"
#include "report/plan_json.h"
#include "spec/catalog.h"

namespace kvsim::cli {
namespace {

class PlanCommand final : public Command {
 public:
  void describe(Flags& flags) override {
    flags.example("kvsim plan llama-3.1-70b --gpu h100-sxm --tensor-parallel-size 4",
                  "does it fit, and for how many requests");
    flags.example("kvsim plan llama-3.1-8b --gpu l40s --context 8192 --batch 32",
                  "prefill and decode time at one point");
    flags.example("kvsim plan deepseek-v3 --gpu h200-sxm --search --gpus 8",
                  "rank the ways to use eight GPUs");
    flags.example("kvsim plan llama-3.1-8b --gpu l40s --room 16:8192 --lengths 1000:200",
                  "what to set for sixteen long requests, and how many short ones fit");
    flags.example("kvsim plan gemma-3-27b --gpu h100-sxm --against '--engine-version 0.20'",
                  "what another version, format or GPU changes, term by term");
    flags.example("kvsim plan --from-command serve.sh --gpu h100-sxm",
                  "the same for the command that starts the engine");
    flags.example("kvsim plan --from-log start.log --gpu h100-sxm",
                  "why the engine got as many KV tokens as it says");
    deployment_.describe(flags);
    flags.section("Other forms");
    flags
        .option("--from-command", from_command_,
                "take the deployment from a command that starts an engine, such as vllm serve ...; "
                "flags given here win")
        .value("FILE")
        .completes(Complete::file);
    flags
        .option("--from-log", from_log_,
                "take the deployment from an engine's start-up log, and hold the figures that it "
                "prints against the prediction")
        .value("FILE")
        .completes(Complete::file);
    flags
        .option("--write-scenario", scenario_,
                "write the deployment as a scenario for kvsim run, with a small workload")
        .value("FILE")
        .completes(Complete::file);
    questions_.describe(flags);
    flags.section("Search");
    flags.flag("--search", search_,
               "rank tensor, pipeline and data parallel splits and KV formats");
    flags.option("--gpus", gpus_, "GPUs to search over; default 8").value("N").range({1, 1024});
  }

  Exit run(Context& context) override {
    if (gpus_ && !search_) throw UsageError("--gpus is for --search", "add --search");
    refuse_meaningless(context.globals());
    if (from_command_ && from_log_)
      throw UsageError("--from-command and --from-log each describe a deployment", "keep one");
    const spec::Catalog catalog(context.catalog_folders());
    std::vector<std::string> warnings;
    std::optional<launch::Command> command;
    if (from_command_) command = fill_from_command(deployment_, *from_command_, catalog, warnings);
    std::optional<launch::EngineLog> log;
    if (from_log_) log = fill_from_log(deployment_, *from_log_, catalog, warnings);
    const planner::Request request = deployment_.request(catalog);
    planner::Questions questions = questions_.read();
    for (const std::string& id : catalog.gpu_ids()) questions.gpus.push_back(catalog.gpu(id));
    planner::Plan plan = planner::answer(request, questions);
    plan.given = deployment_.given();
    plan.from_command = std::move(command);
    if (log) plan.log_attribution = planner::attribute(request, *log);
    plan.from_log = std::move(log);
    plan.warnings.insert(plan.warnings.end(), warnings.begin(), warnings.end());
    if (const auto other = questions_.against(deployment_))
      plan.against = planner::compare_plans(plan, planner::answer(other->request(catalog)),
                                            questions_.against_words());
    std::vector<planner::Candidate> candidates;
    if (search_) candidates = planner::search_deployments(request, gpus_.value_or(8));
    const launch::Translation* const pasted = plan.from_command ? &plan.from_command->flags
                                              : plan.from_log   ? &plan.from_log->flags
                                                                : nullptr;
    std::vector<launch::Leftover> fields;
    if (pasted) fields = scenario_fields(*pasted);
    if (scenario_) fields = write_scenario(context, request, plan, fields, catalog);
    for (const launch::Leftover& l : fields)
      plan.warnings.push_back(left_out(l, plan.from_command ? "command" : "log"));
    context.print(context.json() ? report::plan_json(plan, candidates)
                                 : report::plan_text(plan, candidates, result_style({}).glyphs));
    const bool fits =
        search_ ? std::ranges::any_of(candidates, &planner::Candidate::fits) : plan.fits;
    return fits ? Exit::ok : Exit::no;
  }

 private:
  void refuse_meaningless(const Globals& globals) const {
    if (!globals.sets.empty() || globals.seed)
      throw UsageError(fmt::format("{} is for commands that read a scenario: plan reads none",
                                   globals.seed ? "--seed" : "--set"),
                       "give plan's own flags");
    for (const auto& [flag, file] :
         {std::pair{"--from-command", &from_command_}, std::pair{"--from-log", &from_log_},
          std::pair{"--write-scenario", &scenario_}})
      if (*file && (*file)->empty())
        throw UsageError(fmt::format("{}: expected a file, found \"\"", flag), "- stands for stdin",
                         "usage-value");
  }

  // An error about a field that the command gave is at its place there.
  PlanScenario make_scenario(const planner::Request& request, const planner::Plan& plan,
                             const std::vector<launch::Leftover>& fields,
                             const spec::Catalog& catalog) const {
    try {
      return plan_scenario(deployment_, request, plan, fields, *scenario_, catalog);
    } catch (const InputError& error) {
      std::vector<Diagnostic> list = error.diagnostics();
      const std::string pasted = from_command_ ? *from_command_ : from_log_.value_or("");
      for (Diagnostic& d : list)
        for (const launch::Leftover& l : fields)
          if (d.pointer.ends_with("/engine/" + l.field)) {
            d.message = fmt::format("\"{}\": {}", l.words, d.message);
            d.file = pasted == "-" ? "stdin" : pasted, d.line = l.line, d.column = 1;
            d.pointer.clear();
          }
      throw InputError(std::move(list));
    }
  }

  // Answers those of `fields` that are in no scenario.
  std::vector<launch::Leftover> write_scenario(Context& context, const planner::Request& request,
                                               const planner::Plan& plan,
                                               const std::vector<launch::Leftover>& fields,
                                               const spec::Catalog& catalog) const {
    if (*scenario_ == "-")
      throw UsageError("--write-scenario and the plan both want stdout", "name a file",
                       "usage-stdout");
    if (!plan.fits) {
      context.warn("plan-scenario", "no scenario is written: the deployment does not fit",
                   plan.limit);
      return fields;
    }
    const PlanScenario made = make_scenario(request, plan, fields, catalog);
    config::write_file(*scenario_, made.text);
    context.note(*scenario_ + " has a workload to replace: " + made.workload);
    for (const std::string& flag : made.left_out)
      context.warn("plan-scenario", "scenarios have no field for " + flag + ": it is left out");
    if (made.own_blocks > 0)
      context.warn("plan-scenario",
                   fmt::format("num_gpu_blocks_override {} is written, as planned: by its other "
                               "fields the scenario's pool would have {} blocks",
                               made.blocks, made.own_blocks));
    if (made.blocks != plan.blocks)
      context.warn("plan-scenario",
                   fmt::format("the scenario's pool has {} blocks of KV, the plan's {}",
                               made.blocks, plan.blocks));
    return made.refused;
  }

  PlanFlags deployment_;
  std::optional<std::string> from_command_, from_log_, scenario_;
  PlanQuestions questions_;
  std::optional<int> gpus_;
  bool search_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan() { return std::make_unique<PlanCommand>(); }

}  // namespace kvsim::cli
