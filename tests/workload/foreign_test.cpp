#include <doctest/doctest.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "workload/shared_data.h"
#include "workload/text.h"
#include "workload/trace/formats.h"

using namespace kvsim;
using namespace kvsim::workload;

namespace {

std::string times(const std::string& text, std::string_view format) {
  std::string out;
  for (const auto& r : requests_of(text, format))
    out += r.id + "@" + std::to_string(r.arrival.nanoseconds()) + " " +
           std::to_string(r.prompt_tokens) + "+" + std::to_string(r.output_tokens) + " ";
  return out;
}

const std::string azure =
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.6805900,374,44\r\n2023-11-17 "
    "00:00:00.9951690,396,109\n";
const std::string mooncake =
    R"({"timestamp": 0, "input_length": 1030, "output_length": 5, "hash_ids": [7, 8, 9]}
{"timestamp": 1500, "input_length": 1024, "output_length": 1, "hash_ids": [7, 3]}
)";

std::string gzip(const std::string& text) {
  std::string out(text.size() + 1000, '\0');
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string in = text;
  z.next_in = reinterpret_cast<Bytef*>(in.data()), z.avail_in = static_cast<uInt>(in.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data()), z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

}  // namespace

TEST_SUITE("workload/foreign") {
  TEST_CASE("a Mooncake hash id is a span of one block and the last may be partial") {
    const auto r = requests_of(mooncake, "mooncake");
    REQUIRE(r.size() == 2);
    CHECK(r[0].prompt == std::vector<Span>{{mooncake_content(7), 0, 512},
                                           {mooncake_content(8), 0, 512},
                                           {mooncake_content(9), 0, 6}});
    CHECK(r[1].arrival == Time(1'500'000'000));
    CHECK(common_prefix(r[0].prompt, r[1].prompt) == 512);
  }

  TEST_CASE("Mooncake rows that contradict themselves are errors at their place") {
    const auto row = [](const std::string& members) { return mooncake + "{" + members + "}\n"; };
    CHECK(problem_of(
              row(R"("timestamp":2000,"input_length":1025,"output_length":1,"hash_ids":[1,2])"),
              "mooncake") == "trace-blocks 3:68 /hash_ids");
    CHECK(problem_of(row(R"("timestamp":1499,"input_length":10,"output_length":1,"hash_ids":[1])"),
                     "mooncake") == "trace-time-order 3:1 ");
    CHECK(problem_of(row(R"("timestamp":2000,"input_length":0,"output_length":1,"hash_ids":[])"),
                     "mooncake") == "out-of-range 3:34 /input_length");
    CHECK(problem_of(row(R"("timestamp":2000,"input_length":5,"output_length":1,"hash_ids":[-1])"),
                     "mooncake") == "wrong-type 3:66 /hash_ids/0");
    CHECK(problem_of(row(R"("timestamp":2000,"input_length":5,"output_length":1)"), "mooncake") ==
          "missing-field 3:1 ");
    CHECK(
        problem_of(
            row(R"("timestamp":2000,"input_length":5,"output_length":1,"hash_ids":[1],"delay":3)"),
            "mooncake") == "unknown-key 3:69 /delay");
    CHECK(problem_of(mooncake + mooncake.substr(0, 40), "mooncake").starts_with("json-syntax 3:"));
  }

  TEST_CASE("the block size of a Mooncake trace can be given") {
    TraceOptions options;
    options.block_tokens = 600;
    CHECK_THROWS_AS(load_trace_text(mooncake, options, "t"), InputError);
  }

  TEST_CASE("Azure dates become seconds from the first row") {
    CHECK(times(azure, "azure") == "r0@0 374+44 r1@1314579000 396+109 ");
    CHECK(times("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-12 "
                "00:00:00.001126+00:00,2162,5\n2024-05-12 01:00:01+01:00,1,1\n",
                "azure") == "r0@0 2162+5 r1@998874000 1+1 ");
    CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-12 "
                     "00:00:00.001126+00:00,2162,5\n2024-05-12 01:00:00+01:00,1,1\n",
                     "azure") == "trace-time-order 3:1 ");
  }

  TEST_CASE("BurstGPT counts failed requests and keeps sessions") {
    const std::string text =
        "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log "
        "Type\n5,s1,1,ChatGPT,472,18,490,Conversation log\n45,,1,GPT-4,9,0,9,API "
        "log\n118,,1,\"GPT-4\",1087,230,1317,Conversation log\n";
    auto source = open_trace_text(text, "burstgpt", "t");
    const auto r = everything(*source);
    REQUIRE(r.size() == 2);
    CHECK(r[0].session == "s1");
    CHECK(r[1].arrival == Time(118'000'000'000));
    REQUIRE(source->notes().size() == 2);
    CHECK(source->notes()[0].starts_with("1 rows without response tokens"));
    CHECK(problem_of(
              "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,m,1,2,4,x\n",
              "burstgpt") == "trace-total 2:9 ");
  }

  TEST_CASE("Vidur and Splitwise columns are read by name") {
    CHECK(
        times(
            "num_prefill_tokens,num_decode_tokens,num_total_tokens,pd_ratio\n3772,54,3826,69.85\n",
            "vidur") == "r0@0 3772+54 ");
    CHECK(times("arrived_at,num_decode_tokens,num_prefill_tokens\n0.5,54,3772\n", "vidur") ==
          "r0@500000000 3772+54 ");
    CHECK(times("request_id,request_type,application_id,arrival_timestamp,batch_size,prompt_size,"
                "token_size\n0,2,0,0.25,1,10,20\n",
                "splitwise") == "r0@250000000 10+20 ");
    CHECK(problem_of("arrival_timestamp,batch_size,prompt_size,token_size\n0,2,10,20\n",
                     "splitwise") == "trace-batch 2:3 ");
  }

  TEST_CASE("CSV mistakes are errors at their place") {
    const std::string header = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
    const std::string t = "2023-11-16 18:15:46.6805900,";
    CHECK(problem_of(header + t + "374\n", "azure") == "csv-cells 2:1 ");
    CHECK(problem_of(header + t + "many,44\n", "azure") == "wrong-type 2:29 ");
    CHECK(problem_of(header + t + "374,0\n", "azure") == "out-of-range 2:33 ");
    CHECK(problem_of(header + t + "-5,44\n", "azure") == "out-of-range 2:29 ");
    CHECK(problem_of(header + "yesterday,3,4\n", "azure") == "trace-time 2:1 ");
    CHECK(problem_of(header + "2023-02-30 00:00:00,3,4\n", "azure") == "trace-time 2:1 ");
    CHECK(problem_of("TIMESTAMP,ContextTokens\n", "azure") == "csv-missing-column 1:1 ");
    CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens,Price\n", "azure") ==
          "csv-unknown-column 1:41 ");
    CHECK(problem_of("TIMESTAMP,ContextTokens,GeneratedTokens,TIMESTAMP\n", "azure") ==
          "csv-header 1:41 ");
    CHECK(problem_of(header + "\"abc\"d,3,4\n", "azure").starts_with("csv-syntax 2:"));
    CHECK(problem_of(header + "\"abc,3,4\n", "azure").starts_with("csv-syntax "));
    CHECK(problems_of(header, "azure").at(0).code == "trace-empty");
    CHECK(problem_of(header + t + "3,4\n" + t + "x,4\n" + t + "y,4\n", "azure") == "2 problems");
  }

  TEST_CASE("length lists come as pairs or objects in a list or line by line") {
    for (const char* text : {"[[10,20],[30,40]]", "[10,20]\n[30,40]\n",
                             " [\n [10,\n20] ,\n{\"prompt_len\":30,\"output_len\":40}\n]\n",
                             "{\"input_tokens\":10,\"output_tokens\":20}\n{\"prompt_tokens\":30,"
                             "\"completion_tokens\":40}"}) {
      CHECK(times(text, "lengths") == "r0@0 10+20 r1@0 30+40 ");
      CHECK(load_trace_text(text, {}, "t").format == "lengths");
      CHECK_FALSE(load_trace_text(text, {}, "t").has_times);
    }
    CHECK(problem_of("[[10,20],[30]]", "lengths") == "wrong-type 1:1 ");
    CHECK(problem_of("[[10,20],\n[30,-4]]", "lengths") == "out-of-range 2:5 /1");
    CHECK(problem_of("[[10,20]", "lengths").starts_with("json-syntax 1:"));
    CHECK(problem_of("[[10,20] [3,4]]", "lengths").starts_with("json-syntax 1:"));
    CHECK(problem_of("[[10,20]] x", "lengths").starts_with("json-syntax 1:"));
    CHECK(problem_of("{\"input_len\":10,\"output_len\":20,\"x\":1}", "lengths") ==
          "unknown-key 1:33 /x");
    CHECK(problem_of("{\"input_len\":10}", "lengths") == "missing-field 1:1 ");
    CHECK(problems_of("[]", "lengths").at(0).code == "trace-empty");
  }

  TEST_CASE("a detailed result of vllm bench is replayed from its start times") {
    CHECK(
        times(
            R"({"completed":2,"input_lens":[10,11,12],"output_lens":[5,0,7],"start_times":[100.5,100.25,100.0],"errors":["","x",""]})",
            "auto") == "r0@0 12+7 r1@500000000 10+5 ");
    CHECK(problem_of(R"({"completed":2,"input_lens":[10]})", "vllm-bench") == "2 problems");
    CHECK(problem_of(R"({"input_lens":[10],"output_lens":[5,6],"start_times":[1]})",
                     "vllm-bench") == "trace-arrays 1:1 ");
    CHECK(problem_of(R"({"input_lens":[10],"output_lens":["a"],"start_times":[1]})",
                     "vllm-bench") == "out-of-range 1:35 /output_lens/0");
  }

  TEST_CASE("every format is recognised by its first record") {
    const auto format = [](const std::string& text) {
      return load_trace_text(text, {}, "t").format;
    };
    CHECK(format(mooncake) == "mooncake");
    CHECK(format(azure) == "azure");
    CHECK(format("Timestamp,Model,Request tokens,Response tokens,Total tokens,Log "
                 "Type\n5,m,1,2,3,x\n") == "burstgpt");
    CHECK(format("num_prefill_tokens,num_decode_tokens\n1,2\n") == "vidur");
    CHECK(format("arrival_timestamp,batch_size,prompt_size,token_size\n0,1,10,20\n") ==
          "splitwise");
  }

  TEST_CASE("gzip and zstd are unpacked and damage is named") {
    CHECK(times(gzip(azure), "auto") == times(azure, "azure"));
    CHECK(times(gzip(azure.substr(0, 60)) + gzip(azure.substr(60)), "auto") ==
          times(azure, "azure"));
    CHECK(times(zstd(azure), "auto") == times(azure, "azure"));
    CHECK(problems_of(gzip(azure).substr(0, 60), "azure").at(0).code == "trace-compressed");
    CHECK(problems_of(zstd(azure).substr(0, 40), "azure").at(0).code == "trace-compressed");
    std::string bad = gzip(azure);
    bad[30] = static_cast<char>(bad[30] ^ 0x55);
    CHECK(problems_of(bad, "azure").at(0).code == "trace-compressed");
  }

  TEST_CASE("a missing file and a folder are named") {
    TraceOptions options;
    options.file = "no-such-trace.jsonl";
    CHECK_THROWS_WITH_AS(
        open_trace(options, "some/folder"),
        "some/folder/no-such-trace.jsonl: cannot be opened: No such file or directory", IoError);
    options.file = ".";
    CHECK_THROWS_AS(open_trace(options), IoError);
  }

  TEST_CASE("the shared traces are read whole") {
    const auto count = [](const std::string& file, const char* format) -> std::size_t {
      const std::string path = shared_data("traces/" + file);
      if (path.empty()) return 0;
      TraceOptions options;
      options.file = path;
      const Trace trace = load_trace(options);
      CHECK(trace.format == format);
      return everything(*trace.source).size();
    };
    for (const auto& [file, format, rows] :
         {std::tuple{"mooncake_conversation_trace.jsonl.gz", "mooncake", 12031u},
          {"mooncake_synthetic_trace.jsonl.gz", "mooncake", 3993u},
          {"azure_llm_2023_conv.csv.gz", "azure", 19366u},
          {"vidur_arxiv_summarization_lengths.csv.gz", "vidur", 28257u}}) {
      const std::size_t read = count(file, format);
      if (read > 0) CHECK(read == rows);
    }
  }
}
