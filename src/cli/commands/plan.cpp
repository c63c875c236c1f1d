#include <optional>

#include "cli/commands/makers.h"
#include "cli/commands/plan_flags.h"
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
    deployment_.describe(flags);
    flags.section("Search");
    flags.flag("--search", search_,
               "rank tensor, pipeline and data parallel splits and KV formats");
    flags.option("--gpus", gpus_, "GPUs to search over; default 8").value("N").range({1, 1024});
  }

  Exit run(Context& context) override {
    if (gpus_ && !search_) throw UsageError("--gpus is for --search", "add --search");
    const spec::Catalog catalog(context.catalog_folders());
    const planner::Request request = deployment_.request(catalog);
    planner::Plan plan = planner::answer(request);
    plan.given = deployment_.given();
    std::vector<planner::Candidate> candidates;
    if (search_) candidates = planner::search_deployments(request, gpus_.value_or(8));
    context.print(context.json() ? report::plan_json(plan, candidates)
                                 : report::plan_text(plan, candidates));
    return plan.fits ? Exit::ok : Exit::no;
  }

 private:
  PlanFlags deployment_;
  std::optional<int> gpus_;
  bool search_ = false;
};

}  // namespace

std::unique_ptr<Command> make_plan() { return std::make_unique<PlanCommand>(); }

}  // namespace kvsim::cli
