#include <doctest/doctest.h>

#include <functional>

#include "calibrate/measurements/kinds.h"
#include "calibrate/measurements/kvbench.h"

using namespace kvsim;
using namespace kvsim::calibrate;

namespace {

std::string joined(std::span<const std::string_view> columns) {
  std::string out;
  for (const auto c : columns) out += (out.empty() ? "" : ",") + std::string(c);
  return out;
}
Diagnostic failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const InputError& error) {
    return error.diagnostics().front();
  }
  return {};
}
Measurement first_row(const std::string& text) {
  config::CsvReader csv = config::CsvReader::from_text(text, "t.csv");
  const Kind& kind = recognise(csv);
  REQUIRE(csv.next());
  return kind.read(Row(csv));
}

constexpr const char* attention =
    "gpu,framework,version,backend,dtype,kv_dtype,batch,q_len,kv_len,n_heads,n_kv_heads,head_dim,"
    "window,latency_us\n";

}  // namespace

TEST_CASE("every kind of measurement file is recognised by its columns in any order") {
  for (const Kind& kind : kinds()) {
    CAPTURE(kind.name);
    const auto csv = config::CsvReader::from_text(joined(kind.columns) + "\n", "t.csv");
    CHECK(&recognise(csv) == &kind);
    std::vector<std::string_view> reversed(kind.columns.rbegin(), kind.columns.rend());
    CHECK(&recognise(config::CsvReader::from_text(joined(reversed) + "\n", "t.csv")) == &kind);
  }
}

TEST_CASE("unknown columns are refused with the nearest kind and what differs") {
  const Diagnostic d = failure([] {
    recognise(config::CsvReader::from_text(
        "gpu,framework,version,backend,dtype,m,n,latency_us,color\n", "t.csv"));
  });
  CHECK(d.code == "measurement-kind");
  CHECK(d.file == "t.csv");
  CHECK(d.line == 1);
  CHECK(d.message.find("\"gemm\"") != std::string::npos);
  CHECK(d.hint == "it also has k; it does not have color");
}

TEST_CASE("one query over several keys is decode and anything else is prefill") {
  const auto decode = first_row(std::string(attention) +
                                "h100_sxm,vllm,0.24.0,fa3,bf16,fp8,8,1,4096,32,8,128,0,20.5\n");
  CHECK(decode.figures.at(0).kernel == "decode_attn");
  CHECK(decode.figures.at(0).value == doctest::Approx(20.5e-6));
  CHECK(decode.dtype == "bf16");
  CHECK(decode.kv_dtype == "fp8");
  const auto& shape = std::get<DecodeAttention>(decode.shape);
  CHECK(shape.kv_len == 4096);
  CHECK(shape.n_kv_heads == 8);
  CHECK(first_row(std::string(attention) + "h100_sxm,vllm,1,x,bf16,bf16,8,1,1,32,8,128,0,20\n")
            .figures.at(0)
            .kernel == "prefill_attn");
  CHECK(first_row(std::string(attention) + "h100_sxm,vllm,1,x,bf16,bf16,8,64,64,32,8,128,0,20\n")
            .figures.at(0)
            .kernel == "prefill_attn");
}

TEST_CASE("a bad cell of a measurement is refused with its column") {
  const auto bad = [](const char* cells) {
    return failure([&] { first_row(std::string(attention) + cells + "\n"); });
  };
  const Diagnostic d = bad("h100_sxm,vllm,1,x,bf16,bf16,8,1,4096,32,8,128,0,fast");
  CHECK(d.message == "latency_us: expected a number, found \"fast\"");
  CHECK(d.line == 2);
  CHECK(d.column == 49);
  CHECK(bad("h100_sxm,vllm,1,x,bf16,bf16,8,1,4096,32,8,128,0,0").message ==
        "latency_us: expected a number above 0, found \"0\"");
  CHECK(
      bad("h100_sxm,vllm,1,x,bf16,bf16,8,1,4096,32,8,128,0,-1").message.starts_with("latency_us"));
  CHECK(
      bad("h100_sxm,vllm,1,x,bf16,bf16,8,1,4096,32,8,128,0,nan").message.starts_with("latency_us"));
  CHECK(bad("h100_sxm,vllm,1,x,bf16,bf16,0,1,4096,32,8,128,0,5")
            .message.starts_with("batch: expected a whole number from 1"));
  CHECK(bad("h100_sxm,vllm,1,x,bf16,bf16,1.5,1,4096,32,8,128,0,5").message.starts_with("batch"));
  CHECK(bad("h100_sxm,vllm,1,x,bf16,bf16,9223372036854775807,1,4096,32,8,128,0,5")
            .message.starts_with("batch"));
  CHECK(
      bad(",vllm,1,x,bf16,bf16,8,1,4096,32,8,128,0,5").message.starts_with("gpu: expected a word"));
}

TEST_CASE("serving rows that no model represents carry their reason") {
  std::string header = joined(trtllm_columns) + "\n";
  const auto m =
      first_row(header +
                "docs,v1,abc,Llama 3.3 "
                "70B,h100_sxm,fp8,DEP8,0,1,8,8,,128,2048,offline,1000,125,,,llama-70b\n");
  const auto& run = std::get<Serving>(m.shape);
  CHECK(run.attn_dp == 8);
  CHECK(run.concurrency == 0);
  CHECK(m.figures.at(0).value == 125);
  const auto unmeasured =
      first_row(header +
                "docs,v1,abc,Llama 3.3 "
                "70B,h100_sxm,fp8,TP8,8,1,0,8,,128,2048,offline,1000,,900,,llama-70b\n");
  CHECK(unmeasured.figures.empty());
  CHECK(!unmeasured.unmeasured.empty());
}

TEST_CASE("a kvbench document gives one measurement per case") {
  const char* text =
      R"({"schema": "kvsim.kvbench/1", "git": "0123456789abcdef", "device": {"name": "NVIDIA H200"}, "results": [
    {"kernel": "decode_paged", "variant": "mma", "dtype": {"q": "bf16", "kv": "fp8"},
     "shape": {"B": 8, "L": 4096, "Hq": 32, "Hkv": 8, "D": 128, "page": 16, "lens": "uniform"},
     "status": "ok", "time_us": {"median": 40.5}, "bytes": 1000, "flops": 0, "rotating_sets": 4},
    {"kernel": "copy", "variant": "naive", "dtype": {"q": "", "kv": ""}, "status": "ok", "time_us": null, "bytes": 1000, "flops": 0},
    {"kernel": "gemm", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"}, "shape": {"M": 1, "N": 2, "K": 3},
     "status": "skipped_budget", "time_us": null, "bytes": 1, "flops": 2},
    {"kernel": "mla_decode", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"}, "shape": {"B": 1, "L": 300, "Hq": 16, "page": 64},
     "status": "ok", "time_us": {"median": 9}, "bytes": 1, "flops": 2, "rotating_sets": 1},
    {"kernel": "prefill", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"}, "shape": {"B": 1, "Lq": 64, "Lk": 300, "Hq": 16, "Hkv": 4, "D": 64},
     "status": "ok", "time_us": {"median": 9}, "bytes": 1, "flops": 2},
    {"kernel": "decode_paged", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"},
     "shape": {"B": 8, "L": 4096, "Hq": 32, "Hkv": 8, "D": 128, "page": 16, "lens": "skewed"},
     "status": "ok", "time_us": {"median": 40.5}, "bytes": 1000, "flops": 0},
    {"kernel": "decode_paged", "variant": "simt_nosplit", "baseline": true, "dtype": {"q": "bf16", "kv": "bf16"},
     "shape": {"B": 8}, "status": "ok", "time_us": {"median": 400}, "bytes": 1000, "flops": 0}]})";
  std::vector<Measurement> all;
  for (BenchRow& row : read_kvbench(config::Document::parse(text, "b.json"))) {
    CHECK(row.place.starts_with("b.json:"));
    all.push_back(std::move(row.measurement));
  }
  REQUIRE(all.size() == 7);
  const Measurement& decode = all[0];
  CHECK(decode.gpu == "NVIDIA H200");
  CHECK(decode.version == "0123456789ab");
  CHECK(decode.backend == "mma");
  CHECK(decode.dtype == "bf16");
  CHECK(decode.kv_dtype == "fp8");
  CHECK(decode.buffers == cost::Buffers::cold);
  CHECK(decode.figures.at(0).kernel == "decode_attn");
  CHECK(decode.figures.at(0).value == doctest::Approx(40.5e-6));
  CHECK(std::get<DecodeAttention>(decode.shape).n_kv_heads == 8);
  CHECK(all[1].unmeasured == "no time was taken");
  CHECK(std::get<BenchCase>(all[1].shape).bytes == 1000);
  CHECK(all[1].regime == "copy");
  CHECK(all[2].unmeasured == "status skipped_budget");
  CHECK(std::get<Gemm>(all[2].shape).k == 3);
  CHECK(all[3].buffers == cost::Buffers::replayed);
  CHECK(std::get<Mla>(all[3].shape).kv_len == 300);
  CHECK(std::get<PrefillAttention>(all[4].shape).q_len == 64);
  CHECK(all[5].unmeasured == "sequences of several lengths (skewed)");
  // A naive version may not stand for an operator.
  CHECK(all[6].regime == "decode_paged");
  CHECK(std::holds_alternative<BenchCase>(all[6].shape));
}

TEST_CASE("a kvbench case of a known operator must say its shape") {
  const Diagnostic d = failure([] {
    read_kvbench(config::Document::parse(
        R"({"schema": "kvsim.kvbench/1", "device": {"name": "x"}, "results": [{"kernel": "decode_paged", "shape": {"B": 1, "L": 1, "Hq": 1.5, "Hkv": 1}, "status": "ok", "time_us": {"median": 1}, "bytes": 1, "flops": 1}]})",
        "b.json"));
  });
  CHECK(d.pointer == "/results/0/shape/Hq");
}

TEST_CASE("a kvbench document with holes is refused with positions") {
  const auto bad = [](const char* text) {
    return failure([&] { read_kvbench(config::Document::parse(text, "b.json")); });
  };
  CHECK(bad("[]").code == "wrong-type");
  CHECK(bad(R"({"schema": "kvsim.kvbench/2"})").code == "schema-version");
  CHECK(bad(R"({"schema": "kvsim.kvbench/1", "results": []})").message ==
        "required field \"device\" is missing");
  const Diagnostic d = bad(
      R"({"schema": "kvsim.kvbench/1", "device": {"name": "x"}, "results": [{"kernel": "g", "status": "ok", "time_us": {"median": "fast"}, "bytes": 1, "flops": 1}]})");
  CHECK(d.pointer == "/results/0/time_us/median");
  CHECK(
      bad(R"({"schema": "kvsim.kvbench/1", "device": {"name": "x"}, "results": [{"kernel": "g", "status": "ok", "time_us": {"median": 0}, "bytes": 1, "flops": 1}]})")
          .code == "out-of-range");
}
