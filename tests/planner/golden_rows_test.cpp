#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "config/csv.h"
#include "cost/cost_model.h"
#include "cost/roofline.h"
#include "cost/step_fill.h"
#include "kvformat/footprint.h"
#include "memory/pool.h"
#include "spec/catalog.h"
#include "spec/parameters.h"
#include "spec/weights.h"

// Figures with a source, each computed by our formulas from the catalog.
using namespace kvsim;

namespace {

const std::string golden_path = std::string(KVSIM_SOURCE_DIR) + "/../shared/data/golden/golden.csv";

const spec::Catalog& catalog() {
  static const spec::Catalog all;
  return all;
}
spec::ModelSpec model(const char* id) { return catalog().model(id); }
const kvformat::KvDtype& dtype(const char* name) { return *kvformat::find_kv_dtype(name); }
kvformat::Footprint footprint(const spec::ModelSpec& m, const char* kv = "bf16") {
  return kvformat::footprint(m, dtype(kv));
}
double per_token(const char* id, const char* kv = "bf16") {
  return footprint(model(id), kv).bytes_per_token;
}
double sequence(const spec::ModelSpec& m, std::int64_t tokens, const char* kv = "bf16") {
  return static_cast<double>(footprint(m, kv).sequence_bytes(Tokens(tokens)).value());
}
double in_gib(double bytes) { return bytes / static_cast<double>(gib); }
double parameters(const char* id) {
  return static_cast<double>(spec::count_parameters(model(id)).total());
}
double streams(std::int64_t tokens) {
  return std::floor(450e9 / sequence(model("llama-3-70b"), tokens));
}

spec::ModelSpec with_heads(const char* id, std::int64_t kv_heads, std::int64_t k = 0,
                           std::int64_t v = 0) {
  spec::ModelSpec m = model(id);
  for (auto& g : m.layer_groups) {
    g.attention = spec::AttentionKind::full;
    g.num_kv_heads = kv_heads;
    if (k > 0) g.head_dim = k, g.v_head_dim = v;
  }
  return m;
}

cost::roofline::Plan roofline(const spec::ModelSpec& m, const char* kv = "bf16") {
  cost::RooflineOptions o;
  o.kv_dtype = dtype(kv);
  return cost::roofline::plan_roofline(m, catalog().gpu("h100-sxm"), o);
}
const cost::roofline::Attention& attention(const cost::roofline::Plan& p) {
  return p.attention.front();
}

// Flops of attention and indexer for one query over a context, all layers, from the bill.
double attention_flops(const char* id, std::int64_t context) {
  cost::RooflineOptions o;
  o.kv_dtype = dtype("bf16");
  const auto m = model(id);
  double flops = 0;
  for (const auto& line : cost::make_roofline(m, catalog().gpu("h100-sxm"), o)
                              ->bill(cost::decode_shape(m, context - 1, 1))
                              .operators)
    if (line.name.rfind("attention", 0) == 0 || line.name == "indexer") flops += line.flops;
  return flops;
}
double token_flops(const char* id) {
  return 2e9 * model(id).active_params_b + attention_flops(id, 1000000);
}

double latent_bytes(const char* kv) {
  return kvformat::token_bytes(model("deepseek-v3").layer_groups[0], dtype(kv), 1).entry;
}
double up_projection_flops() {
  for (const auto& m :
       spec::attention_matrices(model("deepseek-v3"), model("deepseek-v3").layer_groups[0], {}))
    if (m.name == "kv_b_gemm") return 2 * static_cast<double>(m.elements());
  return 0;
}
double gemma_all_global(std::int64_t tokens) {
  spec::ModelSpec m = model("gemma-3-27b");
  for (auto& g : m.layer_groups) g.attention = spec::AttentionKind::full;
  return sequence(m, tokens);
}
double kv_owners(const char* id, bool growing) {
  const auto m = model(id);
  double layers = 0;
  for (std::size_t i = 0; i < m.layer_groups.size(); ++i)
    if (m.layer_groups[i].owns_kv && (!growing || m.layer_groups[i].compression))
      layers += static_cast<double>(m.layers_in(i));
  return layers;
}
// Tokens that the last block leaves empty, over one block of lengths.
double mean_waste(std::int64_t block) {
  memory::Options o;
  o.kv_dtype = dtype("bf16");
  o.block_tokens = block;
  const auto m = model("llama-3-70b");
  const auto layout = memory::make_layout(m, footprint(m), o);
  double waste = 0;
  for (std::int64_t n = 1; n <= block; ++n)
    waste += static_cast<double>(layout.blocks_for(n) * block - n);
  return waste / static_cast<double>(block);
}

using Formula = std::function<double()>;
const std::map<std::string, Formula>& formulas() {
  static const double index_t = 131072, top = 2048;
  static const std::map<std::string, Formula> table{
      {"SZ-004", [] { return sequence(model("llama-3-70b"), 128000) / 1e9; }},
      {"SZ-007", [] { return 32 * sequence(model("llama-3-70b"), 8192) / 2; }},
      {"SZ-008", [] { return in_gib(32 * sequence(model("llama-3-70b"), 8192)); }},
      {"SZ-009", [] { return in_gib(32 * sequence(model("llama-3-70b"), 2048)); }},
      {"SZ-010", [] { return in_gib(32 * sequence(model("llama-3-70b"), 32768)); }},
      {"SZ-013",
       [] { return 32 * sequence(model("llama-3-70b"), 8192) / (2 * parameters("llama-3-70b")); }},
      {"SZ-014", [] { return spec::weight_bytes(model("llama-3-70b"), {}, 0, 80).total() / 1e9; }},
      {"SZ-015", [] { return 10 * 32 * sequence(model("llama-3-70b"), 8192) / 1e9; }},
      {"SZ-016",
       [] {
         return footprint(with_heads("llama-3-70b", 64)).bytes_per_token / per_token("llama-3-70b");
       }},
      {"SZ-017",
       [] {
         return per_token("llama-2-7b") / footprint(with_heads("llama-2-7b", 1)).bytes_per_token;
       }},
      {"SZ-018",
       [] { return cost::prefill_shape(model("llama-2-7b"), 1000).context.prefill_pairs; }},
      {"SZ-019", [] { return per_token("llama-2-7b"); }},
      {"SZ-020", [] { return per_token("opt-13b"); }},
      {"SZ-021", [] { return per_token("qwen2.5-7b"); }},
      {"SZ-022", [] { return per_token("gpt-3-175b"); }},
      {"SZ-023", [] { return per_token("llama-3.1-405b"); }},
      {"SZ-025", [] { return per_token("command-r-v01"); }},
      {"SZ-026", [] { return per_token("qwen-72b"); }},
      {"SZ-027", [] { return per_token("opt-13b") / 1024; }},
      {"CC-028", [] { return streams(4000); }},
      {"CC-029", [] { return streams(4096); }},
      {"CC-031", [] { return streams(128000); }},
      {"CC-032", [] { return 1 - streams(128000) / streams(4000); }},
      {"CC-033",
       [] { return 640 - spec::weight_bytes(model("llama-3-70b"), {}, 0, 80).total() / 1e9; }},
      {"CC-034", [] { return mean_waste(16) / (498 + mean_waste(16)); }},
      {"CC-035", [] { return mean_waste(16) / 0.04 - mean_waste(16); }},
      {"MLA-038", [] { return latent_bytes("bf16") / 2; }},
      {"MLA-039", [] { return latent_bytes("bf16"); }},
      {"MLA-041",
       [] {
         return footprint(with_heads("deepseek-v3", 128, 128, 128)).bytes_per_token /
                per_token("deepseek-v3");
       }},
      {"MLA-042",
       [] {
         return footprint(with_heads("deepseek-v3", 128, 192, 128)).bytes_per_token /
                per_token("deepseek-v3");
       }},
      {"MLA-043",
       [] {
         return per_token("deepseek-v3") /
                footprint(with_heads("deepseek-v3", 1, 128, 128)).bytes_per_token;
       }},
      {"MLA-044", [] { return per_token("deepseek-v3"); }},
      {"MLA-046", [] { return in_gib(sequence(model("deepseek-v3"), 1048576)); }},
      {"MLA-048", [] { return per_token("deepseek-v2") / 2; }},
      {"MLA-049", [] { return 1 - per_token("deepseek-v2") / per_token("deepseek-67b"); }},
      {"MLA-054", [] { return attention(roofline(model("deepseek-v3"))).decode_flops; }},
      {"MLA-055", [] { return attention(roofline(model("deepseek-v3"))).prefill_flops; }},
      {"MLA-056", [] { return up_projection_flops(); }},
      {"MLA-057",
       [] {
         const auto p = roofline(model("deepseek-v3"));
         return (up_projection_flops() + attention(p).prefill_flops) / attention(p).decode_flops;
       }},
      {"MLA-058",
       [] {
         return attention(roofline(model("deepseek-v3"))).decode_flops / latent_bytes("bf16");
       }},
      {"MLA-059",
       [] {
         const auto gpu = catalog().gpu("h100-sxm");
         return gpu.matrix_rate(spec::DType::bfloat16).value() / gpu.memory_bandwidth.value();
       }},
      {"MLA-061",
       [] {
         const auto g = model("deepseek-v3").layer_groups[0];
         return static_cast<double>(2 * g.num_heads * g.qk_nope_head_dim *
                                    (g.q_lora_rank + g.kv_lora_rank));
       }},
      {"MLA-064", [] { return latent_bytes("fp8_ds_mla"); }},
      {"DSA-069", [] { return in_gib(sequence(model("deepseek-v3.2"), 1048576)); }},
      {"DSA-070", [] { return per_token("deepseek-v3.2", "fp8"); }},
      {"DSA-071", [] { return sequence(model("deepseek-v3.2"), 1000000, "fp8") / 1e9; }},
      {"DSA-073",
       [] {
         const auto p = roofline(model("deepseek-v3.2"));
         const auto& a = attention(p);
         return a.decode_flops * index_t / (a.index_flops * index_t + a.decode_flops * top);
       }},
      {"DSA-074",
       [] {
         const auto p = roofline(model("deepseek-v3.2"), "fp8");
         const auto& a = attention(p);
         return a.kv_bytes * index_t / (a.index_bytes * index_t + a.kv_bytes * top);
       }},
      {"V4-075", [] { return per_token("deepseek-v4-pro"); }},
      {"V4-077", [] { return in_gib(per_token("deepseek-v4-pro") * 131072); }},
      {"V4-078", [] { return per_token("deepseek-v4-flash"); }},
      {"V4-081",
       [] {
         return kvformat::token_bytes(model("deepseek-v4-pro").layer_groups.back(), dtype("fp8"), 1)
             .entry;
       }},
      {"V4-082",
       [] { return per_token("deepseek-v4-pro", "fp8") / per_token("deepseek-v3.2", "fp8"); }},
      {"V4-084", [] { return token_flops("deepseek-v4-pro") / token_flops("deepseek-v3.2"); }},
      {"V4-085", [] { return token_flops("deepseek-v4-flash") / token_flops("deepseek-v3.2"); }},
      {"V4-086",
       [] {
         // All 78 layers with an indexer of their own against the 21 that GLM-5.2 keeps.
         return (token_flops("glm-5.2") + attention_flops("glm-5.1", 1000000) -
                 attention_flops("glm-5.2", 1000000)) /
                token_flops("glm-5.2");
       }},
      {"V4-232", [] { return footprint(model("deepseek-v4-pro")).bytes_per_sequence_extra; }},
      {"MLA-240",
       [] {
         const auto p = roofline(model("deepseek-v3"));
         return up_projection_flops() / (attention(p).decode_flops - attention(p).prefill_flops);
       }},
      {"HY-087", [] { return in_gib(sequence(model("gemma-3-27b"), 131072)); }},
      {"HY-088", [] { return gemma_all_global(131072) / sequence(model("gemma-3-27b"), 131072); }},
      {"HY-090",
       [] {
         const auto m = model("qwen3-next-80b-a3b");
         return static_cast<double>(m.layers_in(0) * m.layer_groups[0].recurrent->state_elements *
                                    4);
       }},
      {"HY-091", [] { return per_token("qwen3-next-80b-a3b"); }},
      {"HY-093", [] { return footprint(model("nemotron-h-8b")).bytes_per_sequence; }},
      {"XL-097",
       [] {
         spec::ModelSpec m = model("llama-3-8b");
         spec::LayerGroup follower = m.layer_groups[0];
         follower.name = "follower", follower.owns_kv = false;
         m.layer_groups.push_back(follower);
         for (std::size_t i = 1; i < m.layer_group.size(); i += 2) m.layer_group[i] = 1;
         return 1 - footprint(m).bytes_per_token / per_token("llama-3-8b");
       }},
      {"XL-100", [] { return kv_owners("gemma-3n-e4b", false); }},
      {"XL-101", [] { return kv_owners("gemma-3n-e2b", false); }},
      {"XL-103",
       [] { return static_cast<double>(model("glm-5.2").layer_groups[0].indexer->layers); }},
      {"HW-218", [] { return catalog().gpu("b200-sxm").fp8_tflops; }},
      {"HW-219", [] { return catalog().gpu("b200-sxm").fp4_tflops; }},
      {"HW-221", [] { return catalog().link("nvlink-c2c").bandwidth.value() / 1e9; }},
      {"HW-222",
       [] {
         return catalog().link("pcie-5").bandwidth.value() * catalog().link("pcie-5").efficiency /
                1e9;
       }},
      {"HW-224",
       [] {
         return sequence(model("llama-3-70b"), 128000) /
                catalog().gpu("h100-sxm").memory_bandwidth.value() * 1e3;
       }},
      {"QT-107", [] { return dtype("kivi4").bits_per_element(); }},
      {"QT-108",
       [] {
         return sequence(model("llama-2-7b"), 498, "f16") /
                sequence(model("llama-2-7b"), 498, "kivi2");
       }},
      {"QT-109", [] { return 1.6 * 13.48e9 / (1 - 2.6 * dtype("kivi2").bits_per_element() / 16); }},
      {"QT-134", [] { return dtype("nvfp4").bits_per_element(); }},
      {"QT-135", [] { return dtype("mxfp4").bits_per_element(); }},
      {"QT-136",
       [] { return per_token("llama-3-70b", "nvfp4") / per_token("llama-3-70b", "fp8"); }},
      {"QT-142",
       [] {
         const auto m = model("llama-3-70b");
         return static_cast<double>(m.hidden_size) /
                static_cast<double>(2 * m.layer_groups[0].num_kv_heads *
                                    m.layer_groups[0].head_dim);
       }},
      {"QT-143",
       [] {
         const auto m = model("llama-2-7b");
         return static_cast<double>(2 * m.hidden_size * 2 * m.layer_groups[0].num_kv_heads *
                                    m.layer_groups[0].head_dim);
       }},
      {"QT-144",
       [] {
         const auto m = model("llama-2-7b");
         const auto gpu = catalog().gpu("h100-sxm");
         const double width =
             static_cast<double>(2 * m.layer_groups[0].num_kv_heads * m.layer_groups[0].head_dim);
         return 2 * static_cast<double>(m.hidden_size) * width /
                gpu.matrix_rate(spec::DType::bfloat16).value() /
                (2 * width / gpu.memory_bandwidth.value());
       }},
  };
  return table;
}

// In these areas, but about something this room does not compute: a paper's own table, formats that
// exist only as numeric experiments, a model outside the catalog.
const std::set<std::string> elsewhere{"MLA-053", "XL-102", "QT-120", "QT-121", "QT-122", "QT-124",
                                      "QT-125",  "QT-126", "QT-128", "QT-129", "QT-130", "QT-131",
                                      "QT-132",  "QT-133", "QT-138", "QT-139", "QT-141"};

double tolerance(const std::string& text, double expected) {
  const double size = std::stod(text.substr(4));
  return text.compare(0, 4, "abs:") == 0 ? size : size * std::abs(expected);
}

}  // namespace

TEST_CASE("golden figures follow from the catalog and our formulas") {
  if (!std::ifstream(golden_path)) {
    MESSAGE("skipped: ../shared/data/golden/golden.csv is not there");
    return;
  }
  const std::set<std::string> areas{"SZ", "CC", "MLA", "DSA", "V4", "HY", "XL", "HW", "QT"};
  const std::set<std::string> kinds{"exact", "derived", "claim_wrong"};
  auto csv = config::CsvReader::open(golden_path);
  const auto id = csv.required_column("id"), expected = csv.required_column("expected"),
             kind = csv.required_column("kind"), within = csv.required_column("tolerance");
  std::size_t compared = 0;
  while (csv.next()) {
    const std::string& name = csv.cell(id);
    if (areas.count(name.substr(0, name.find('-'))) == 0 || kinds.count(csv.cell(kind)) == 0 ||
        elsewhere.count(name) > 0)
      continue;
    CAPTURE(name);
    const auto formula = formulas().find(name);
    REQUIRE(formula != formulas().end());
    const double want = csv.number(expected), got = formula->second();
    CAPTURE(want);
    CAPTURE(got);
    CHECK(std::abs(got - want) <= tolerance(csv.cell(within), want) * (1 + 1e-12));
    ++compared;
  }
  CHECK(compared == formulas().size());
}
