#include <doctest/doctest.h>

#include <string>

#include "cli/harness.h"

using kvsim::test::Kvsim;

namespace {

const std::string good =
    "gpu,framework,version,backend,dtype,m,n,k,latency_us\n"
    "h100_sxm,vllm,1,x,bf16,16,4096,4096,15\n"
    "h100_sxm,vllm,1,x,fp3,16,4096,4096,15\n";

}  // namespace

TEST_CASE("validate writes one document and the same bytes each time") {
  Kvsim first({"validate", "gemm.csv", "--json"});
  first.file("gemm.csv", good)
      .exits(0)
      .out_is_json()
      .out_has("\"kvsim.validation/1\"")
      .out_has("\"dtype\": \"bf16\"")
      .err_is("");
  Kvsim({"validate", "gemm.csv", "--json"})
      .file("gemm.csv", good)
      .exits(0)
      .out_is(first.out())
      .leaves_nothing();
}

TEST_CASE("validate names the rows it could not predict") {
  Kvsim({"validate", "gemm.csv"})
      .file("gemm.csv", good)
      .exits(0)
      .out_has("dtype \"fp3\" is not known")
      .out_has("gemm.csv:3");
}

TEST_CASE("validate refuses a word for a latency with its place") {
  Kvsim({"validate", "gemm.csv", "--json"})
      .file("gemm.csv", good + "h100_sxm,vllm,1,x,bf16,16,4096,4096,fast\n")
      .exits(3)
      .out_is("")
      .err_has("gemm.csv")
      .err_has("latency_us")
      .err_is_json_lines();
  Kvsim({"validate", "gemm.csv"})
      .file("gemm.csv", good + "h100_sxm,vllm,1,x,bf16,16,4096,4096,fast\n")
      .exits(3)
      .err_has("gemm.csv:4:37");
}

TEST_CASE("validate says which file is missing or of no known kind") {
  Kvsim({"validate", "none.csv", "--json"}).exits(4).out_is("").err_has("none.csv");
  Kvsim({"validate", "x.csv"})
      .file("x.csv", "gpu,framework,version,backend,dtype,m,n,latency_us\n")
      .exits(3)
      .err_has("gemm")
      .err_has("x.csv:1:1");
  Kvsim({"validate"}).exits(2).err_has("MEASUREMENTS");
}

TEST_CASE("validate exits 1 when the error is above the gate") {
  Kvsim({"validate", "gemm.csv", "--max-error", "0.001"})
      .file("gemm.csv", good)
      .exits(1)
      .err_has("--max-error");
  Kvsim({"validate", "gemm.csv", "--max-error", "0.99", "--roofline"})
      .file("gemm.csv", good)
      .exits(0);
  Kvsim({"validate", "gemm.csv", "--max-error", "0"}).file("gemm.csv", good).exits(2);
}

TEST_CASE("validate writes every point where it is asked to") {
  Kvsim run({"validate", "gemm.csv", "--scatter", "points.csv"});
  run.file("gemm.csv", good).exits(0);
  CHECK(run.folder()
            .read("points.csv")
            .starts_with("kernel,gpu,framework,dtype,kv_dtype,regime,row,measured,predicted,"
                         "ratio\ngemm,h100-sxm,vllm,bf16,,,gemm.csv:2,"));
}

TEST_CASE("validate draws a picture where the name says so") {
  Kvsim run({"validate", "gemm.csv", "--scatter", "points.svg"});
  run.file("gemm.csv", good).exits(0);
  const std::string picture = run.folder().read("points.svg");
  CHECK(picture.starts_with("<svg xmlns"));
  CHECK(picture.ends_with("</svg>\n"));
  CHECK(picture.size() < 20000);
}

TEST_CASE("validate names where each group comes from and takes one source at a time") {
  Kvsim({"validate", "gemm.csv", "--roofline", "--json"})
      .file("gemm.csv", good)
      .exits(0)
      .out_has("\"source\": \"datasheet\"");
  Kvsim({"validate", "gemm.csv", "--roofline", "--holdout", "0.3"})
      .file("gemm.csv", good)
      .exits(2)
      .err_has("--holdout");
}

TEST_CASE("validate says on which share of the rows it held fits or the datasheet") {
  std::string rows = "gpu,framework,version,backend,dtype,m,n,k,latency_us\n";
  for (int m = 1; m <= 4096; m *= 2)
    for (int n = 1024; n <= 8192; n *= 2)
      rows +=
          "h100_sxm,mine,1,x,bf16," + std::to_string(m) + "," + std::to_string(n) + ",4096,15\n";
  Kvsim({"validate", "gemm.csv", "--holdout", "0.4"})
      .file("gemm.csv", rows)
      .exits(0)
      .out_has("on 40.0% of the rows by fits to the others: 52 rows");
  Kvsim({"validate", "gemm.csv", "--roofline"})
      .file("gemm.csv", rows)
      .exits(0)
      .out_has("from the datasheet: 52 rows");
}
