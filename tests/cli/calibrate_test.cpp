#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

std::string rows(const std::string& labels) {
  std::string out;
  for (int m = 1; m <= 512; m *= 2)
    for (int k = 1024; k <= 8192; k *= 2)
      out += fmt::format("{},b,fp8,{},{},{:.4f}\n", labels, m, k,
                         2 + 3.0 * static_cast<double>(m) * k / 2.5e6);
  return out;
}

const std::string head = "gpu,framework,version,op,backend,dtype,m,k,latency_us\n";
const std::string one = head + rows("h100_sxm,mine,1,scale_matrix");
const std::string two = one + rows("l40s,mine,1,scale_matrix");

}  // namespace

TEST_CASE("calibrate reports on stdout and writes the cost file that -o names") {
  Kvsim run({"calibrate", "rows.csv", "-o", "fit.json", "--source", "a test"});
  run.file("rows.csv", one).exits(0).err_is("").out_has("held out").out_has("Next: ");
  const std::string fit = run.folder().read("fit.json");
  CHECK(fit.find("\"kvsim.cost/1\"") != std::string::npos);
  CHECK(fit.find("[\"a test\",\"rows of rows.csv\"]") != std::string::npos);
  Kvsim({"check", "fit.json"}).file("fit.json", fit).exits(0).out_has("h100-sxm.mine-1 is well");
  Kvsim({"validate", "rows.csv", "--cost", "fit.json", "--json", "--max-error", "0.1"})
      .file("fit.json", fit)
      .file("rows.csv", one)
      .exits(0)
      .out_has("\"source\": \"fitted\"");
  // Equal input, equal bytes.
  Kvsim again({"calibrate", "rows.csv", "-o", "fit.json", "--source", "a test", "--json"});
  again.file("rows.csv", one).exits(0).out_is_json().out_has("kvsim.calibration/1");
  CHECK(again.folder().read("fit.json") == fit);
  Kvsim({"calibrate", "rows.csv", "-o", "-", "--source", "a test"})
      .file("rows.csv", one)
      .exits(0)
      .out_is(fit);
}

TEST_CASE("several profiles need a folder and become models of it") {
  Kvsim({"calibrate", "rows.csv", "-o", "fit.json"})
      .file("rows.csv", two)
      .exits(2)
      .err_has("h100-sxm.mine-1, l40s.mine-1")
      .leaves_nothing();
  Kvsim run({"calibrate", "rows.csv", "-o", "fits/"});
  run.file("rows.csv", two).exits(0);
  CHECK(run.folder().files() ==
        std::vector<std::string>{"fits/h100-sxm.mine-1.json", "fits/l40s.mine-1.json", "rows.csv"});
  Kvsim({"validate", "rows.csv", "--models-dir", "fits", "--json"})
      .file("fits/a.json", run.folder().read("fits/l40s.mine-1.json"))
      .file("rows.csv", two)
      .exits(0)
      .out_has("\"source\": \"fitted\"")
      .out_has("\"source\": \"datasheet\"");
  Kvsim({"calibrate", "rows.csv", "--gpu", "l40s", "-o", "fit.json"})
      .file("rows.csv", two)
      .exits(0)
      .out_has("not of GPU \"l40s\"");
}

TEST_CASE("calibrate says no when no row can be fitted and refuses bad rows with their places") {
  Kvsim({"calibrate", "rows.csv", "-o", "fit.json"})
      .file("rows.csv", head + "abacus,x,1,scale_matrix,b,fp8,1,1024,5\n")
      .exits(1)
      .out_has("is not in the catalog")
      .err_has("no row could be fitted")
      .leaves_nothing();
  Kvsim({"calibrate", "rows.csv"})
      .file("rows.csv", head + "h100_sxm,x,1,scale_matrix,b,fp8,1,1024,soon\n")
      .exits(3)
      .err_has("rows.csv:2:");
  Kvsim({"calibrate", "rows.csv", "--holdout", "1"}).file("rows.csv", one).exits(2);
  Kvsim({"calibrate", "rows.csv", "--gpu", "h1oo-sxm"})
      .file("rows.csv", one)
      .exits(3)
      .err_has("h100-sxm");
  Kvsim({"calibrate", "none.csv"}).exits(4);
}

TEST_CASE("a bad cost file is an input error with the pointer of the operator") {
  Kvsim run({"calibrate", "rows.csv", "-o", "fit.json"});
  std::string fit = run.file("rows.csv", one).exits(0).folder().read("fit.json");
  const auto at = fit.find("\"parameters\": [");
  REQUIRE(at != std::string::npos);
  fit.insert(at + 15, "-1,");
  for (const char* command : {"check", "validate"}) {
    std::vector<std::string> words{command};
    if (words[0] == "check")
      words.emplace_back("fit.json");
    else
      words.insert(words.end(), {"rows.csv", "--cost", "fit.json"});
    Kvsim(words)
        .file("fit.json", fit)
        .file("rows.csv", one)
        .exits(3)
        .out_is("")
        .err_has("fit.json:")
        .err_has("/operators/0");
  }
  Kvsim({"validate", "rows.csv", "--cost", "none.json"}).file("rows.csv", one).exits(4);
}

TEST_CASE("host constants of serving runs go to stdout or to the file that -o names") {
  std::string runs =
      "source,measured,framework,version,image,model,gpu,precision,gemm_quant,moe_quant,mode,"
      "spec_decode,tpot_vs_slowest_twin,parallel_fixed,isl,osl,concurrency,batch_size,total_gpus,"
      "tp,"
      "pp,attn_dp,moe_tp,moe_ep,p_workers,p_batch,p_tp,p_pp,p_attn_dp,p_moe_tp,p_moe_ep,d_workers,"
      "d_batch,d_tp,d_pp,d_attn_dp,d_moe_tp,d_moe_ep,ttft_ms,tpot_ms,family\n";
  for (const int c : {1, 4, 16, 64})
    runs += fmt::format(
        "mine,2026-01-01,vllm,1,,llama-3.1-8b,h100_sxm,bf16,bf16,,agg,none,,0,1024,1024,{0},{0},1,"
        "1,"
        "1,1,,,,,,,,,,,,,,,,,{1},{2},llama\n",
        c, 60 + 3 * c, 8 + 0.08 * c);
  Kvsim print({"calibrate", "runs.csv", "--host"});
  print.file("runs.csv", runs).exits(0).out_is_json().out_has("\"framework\":\"vllm\"");
  Kvsim file({"calibrate", "runs.csv", "--host", "-o", "hosts.json"});
  file.file("runs.csv", runs).exits(0).out_is("");
  CHECK(file.folder().read("hosts.json") == print.out());
  Kvsim({"check", "hosts.json"})
      .file("hosts.json", print.out())
      .exits(0)
      .out_is("hosts.json: kvsim.host/1 hosts is well\n");
}
