#include "cost/step/step_cost.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "config/document.h"
#include "cost/library/cost_document.h"
#include "cost/library/transfer.h"
#include "cost/step/host_table.h"

namespace kvsim::cost {
namespace {

constexpr std::size_t relatives = 2;

// The GPU itself where it has fits, then its nearest relatives that have.
std::vector<std::string> sources_for(const spec::GpuSpec& gpu, const spec::Catalog& catalog,
                                     const std::vector<spec::Catalog::CostText>& texts) {
  struct Candidate {
    bool sister;  // of the same architecture
    double distance;
    std::string id;
  };
  std::vector<Candidate> others;
  std::vector<std::string> out;
  // Donors are NVIDIA parts; what they tell of an accelerator built otherwise is nothing.
  if (gpu.vendor != "nvidia" && gpu.vendor != "amd") return out;
  const Device device = device_of(gpu);
  const std::vector<std::string> parts = catalog.gpu_ids();
  for (const auto& text : texts) {
    const std::string id(text.gpu);
    // Test beds that are no part of the catalog have fits for `validate` alone.
    if (!std::ranges::binary_search(parts, id)) continue;
    if (id == gpu.id) {
      out = {id};
    } else if (std::ranges::find(others, id, &Candidate::id) == others.end()) {
      const spec::GpuSpec donor = catalog.gpu(id);
      others.push_back({donor.architecture == gpu.architecture,
                        transfer_distance(device_of(donor), device), id});
    }
  }
  std::ranges::sort(others, [](const Candidate& a, const Candidate& b) {
    return std::tuple(!a.sister, a.distance, a.id) < std::tuple(!b.sister, b.distance, b.id);
  });
  for (std::size_t i = 0; i < others.size(); ++i)
    if (i < relatives || others[i].sister) out.push_back(others[i].id);
  return out;
}

}  // namespace

const CostLibrary& CostBook::of(const spec::GpuSpec& gpu) const {
  const std::lock_guard lock(mutex_);
  auto& library = known_[gpu.id];
  if (library) return *library;
  const auto texts = catalog_.cost_texts();
  const std::vector<std::string> sources = sources_for(gpu, catalog_, texts);
  std::vector<CostFile> files;
  for (const std::string& id : sources)
    for (const auto& text : texts)
      if (text.gpu == id) {
        files.push_back(
            read_cost(config::Document::parse(std::string(text.text), std::string(text.name),
                                              config::Comments::allowed),
                      text.is_embedded ? Mismatched::left_out : Mismatched::refused));
        files.back().is_given = !text.is_embedded;
      }
  library = std::make_unique<const CostLibrary>(catalog_, std::move(files));
  return *library;
}

HostProfile host_of(const HostEntry& entry, double layers) {
  HostProfile host = entry.profile;
  // What a step with prefill costs the host is launches: as many as the model has layers.
  if (entry.model.empty() && entry.layers > 0) host.prefill_us *= layers / entry.layers;
  return host;
}

HostProfile known_host(const spec::ModelSpec& model, const spec::GpuSpec& gpu, Framework framework,
                       std::string_view version) {
  const HostEntry* entry =
      find_host(known_hosts(), {framework_names[static_cast<std::size_t>(framework)], version,
                                gpu.id, precision_of(model), model.id});
  return entry ? host_of(*entry, static_cast<double>(model.num_layers)) : HostProfile{};
}

std::unique_ptr<CostModel> make_step_cost(const spec::ModelSpec& model, const spec::GpuSpec& gpu,
                                          const FittedOptions& options,
                                          const CostLibrary* library) {
  // Parts that nothing connects are refused by the roofline, with what to add.
  const bool connected = options.deployment.plan.gpus() == 1 || gpu.link_bandwidth.value() > 0 ||
                         gpu.pcie_bandwidth.value() > 0 || options.deployment.link;
  // Forms count in SMs.
  if (library && connected && gpu.sm_count > 0)
    if (auto fitted = make_fitted(model, gpu, options, *library)) return fitted;
  return make_roofline(model, gpu, options.deployment);
}

}  // namespace kvsim::cost
