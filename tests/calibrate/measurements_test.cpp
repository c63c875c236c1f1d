#include <doctest/doctest.h>
#include <fmt/format.h>

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

namespace {

std::vector<Measurement> bench_rows(const std::string& results,
                                    const char* device = "NVIDIA H200") {
  std::vector<Measurement> out;
  for (BenchRow& row : read_kvbench(config::Document::parse(
           R"({"schema": "kvsim.kvbench/1", "git": "0123456789abcdef", "device": {"name": ")" +
               std::string(device) + R"("}, "results": [)" + results + "]}",
           "b.json"))) {
    CHECK(row.place.starts_with("b.json:"));
    out.push_back(std::move(row.measurement));
  }
  return out;
}

// A decode case of 8 sequences; `more` are further members of its shape.
std::string decode_case(const char* variant, const char* rest, const char* more = "") {
  return fmt::format(
      R"({{"kernel": "decode_paged", "variant": "{}", "dtype": {{"q": "bf16", "kv": "fp8"}},
      "shape": {{"B": 8, "L": 4096, "Hq": 32, "Hkv": 8, "D": 128, "page": 16{}}},
      "bytes": 1000, "flops": 0, {}}})",
      variant, more, rest);
}
constexpr const char* slow = R"("status": "ok", "time_us": {"median": 50})";
constexpr const char* fast = R"("status": "ok", "time_us": {"median": 40.5}, "rotating_sets": 4)";

}  // namespace

TEST_CASE("a decode case of kvbench is a row of decode attention") {
  const Measurement m = bench_rows(decode_case("mma", fast)).at(0);
  CHECK(m.gpu == "NVIDIA H200");
  CHECK(m.version == "0123456789ab");
  CHECK(m.dtype == "bf16");
  CHECK(m.kv_dtype == "fp8");
  CHECK(m.buffers == cost::Buffers::cold);
  CHECK(m.figures.at(0).kernel == "decode_attn");
  CHECK(m.figures.at(0).value == doctest::Approx(40.5e-6));
  CHECK(std::get<DecodeAttention>(m.shape).n_kv_heads == 8);
}

TEST_CASE("MLA and prefill and products of kvbench are rows of those operators") {
  const auto all = bench_rows(
      R"({"kernel": "mla_decode", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"}, "shape": {"B": 1, "L": 300, "Hq": 16, "page": 64},
     "status": "ok", "time_us": {"median": 9}, "bytes": 1, "flops": 2, "rotating_sets": 1},
    {"kernel": "prefill", "variant": "mma", "dtype": {"q": "bf16", "kv": "bf16"}, "shape": {"B": 1, "Lq": 64, "Lk": 300, "Hq": 16, "Hkv": 4, "D": 64},
     "status": "ok", "time_us": {"median": 9}, "bytes": 1, "flops": 2},
    {"kernel": "gemm", "variant": "mma", "dtype": {"q": "e4m3", "kv": "e4m3"}, "shape": {"M": 1, "N": 2, "K": 3},
     "status": "ok", "time_us": {"median": 9}, "bytes": 1, "flops": 2})");
  CHECK(all.at(0).buffers == cost::Buffers::replayed);
  CHECK(std::get<Mla>(all.at(0).shape).kv_len == 300);
  CHECK(std::get<PrefillAttention>(all.at(1).shape).q_len == 64);
  CHECK(std::get<Gemm>(all.at(2).shape).k == 3);
  CHECK(cost::find_format(all.at(2).dtype));
}

TEST_CASE("the fastest variant of a problem is its operator and the others state their bytes") {
  const auto all = bench_rows(decode_case("a", slow) + "," + decode_case("b", fast) + "," +
                              decode_case("c", slow, R"(, "window": 128)"));
  CHECK(std::holds_alternative<BenchCase>(all.at(0).shape));
  CHECK(all[0].backend == "a");
  CHECK(all[0].regime == "decode_paged");
  CHECK(std::holds_alternative<DecodeAttention>(all.at(1).shape));
  CHECK(all[1].backend == "fastest");
  CHECK(std::get<DecodeAttention>(all.at(2).shape).window == 128);
}

TEST_CASE("figures of kvbench that nobody can have measured are refused") {
  const auto bad = [](const std::string& results) {
    return failure([&] { bench_rows(results); }).pointer;
  };
  const auto timed = [](const char* median) {
    return decode_case(
        "mma", fmt::format(R"("status": "ok", "time_us": {{"median": {}}})", median).c_str());
  };
  for (const char* median : {"0", "5e-324", "1e308", "-1"})
    CHECK(bad(timed(median)) == "/results/0/time_us/median");
  CHECK(
      bad(decode_case("mma", R"("status": "ok", "time_us": {"median": 1}, "baseline": "true")")) ==
      "/results/0/baseline");
  CHECK(bad(decode_case("mma",
                        R"("status": "ok", "time_us": {"median": 1}, "rotating_sets": "x")")) ==
        "/results/0/rotating_sets");
  CHECK(bad(decode_case("mma", slow, R"(, "lens": 5)")) == "/results/0/shape/lens");
  CHECK(bad(decode_case("mma", slow, R"(, "window": 9007199254740992)")) ==
        "/results/0/shape/window");
}

TEST_CASE("a commit that is no hexadecimal number is no version") {
  const auto rows = read_kvbench(config::Document::parse(
      R"({"schema": "kvsim.kvbench/1", "git": "aaaaaaaaaaa\u00e9", "device": {"name": "x"}, "results": [)" +
          decode_case("mma", fast) + "]}",
      "b.json"));
  CHECK(rows.at(0).measurement.version == "aaaaaaaaaaa");
}

TEST_CASE("cases of kvbench without a time that counts say why") {
  const auto all = bench_rows(
      R"({"kernel": "copy", "status": "ok", "time_us": null, "bytes": 1000, "flops": 0},
         {"kernel": "prefill", "status": "failed", "time_us": null, "shape": {"Lq": "0..130"}, "bytes": 1, "flops": 2},)" +
      decode_case("mma", slow, R"(, "lens": "skewed")") + "," +
      decode_case("naive", R"("status": "ok", "time_us": {"median": 1}, "baseline": true)"));
  CHECK(all.at(0).unmeasured == "no time was taken");
  CHECK(all.at(1).unmeasured == "status failed");
  CHECK(all.at(2).unmeasured == "sequences of several lengths (skewed)");
  CHECK(all.at(3).unmeasured == "a naive version, there to be compared with");
  CHECK(bench_rows(decode_case("mma", fast), "cpu-simt").at(0).unmeasured ==
        "a CPU's time says nothing of a GPU");
}

TEST_CASE("a kvbench case of a known operator must say its shape") {
  const Diagnostic d = failure([] {
    read_kvbench(config::Document::parse(
        R"({"schema": "kvsim.kvbench/1", "device": {"name": "x"}, "results": [{"kernel": "decode_paged", "shape": {"B": 1, "L": 1, "Hq": 1.5, "Hkv": 1, "D": 1}, "status": "ok", "time_us": {"median": 1}, "bytes": 1, "flops": 1}]})",
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
