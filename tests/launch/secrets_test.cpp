#include "launch/secrets.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "diag/diagnostic.h"
#include "launch/command_line.h"
#include "launch/engine_log.h"

using namespace kvsim;
using namespace kvsim::launch;

namespace {

// All words that reports print of a translation.
std::string printed(const Translation& t) {
  std::string out;
  for (const Setting& s : t.settings) out += s.from + "\n";
  for (const std::string& n : t.neutral) out += n + "\n";
  for (const auto* list : {&t.unmodelled, &t.unknown})
    for (const Leftover& l : *list) out += l.words + " " + l.why + "\n";
  return out;
}

std::string printed(std::string_view text) { return printed(read_command(text, "cmd").flags); }

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a secret in the environment of a command keeps its name only") {
  CHECK(printed("VLLM_API_KEY=hush vllm serve m") == "VLLM_API_KEY=...\n");
  CHECK(printed("docker run -e VLLM_API_KEY=hush vllm/vllm-openai:latest --model m") ==
        "VLLM_API_KEY=...\n");
  CHECK(printed("SGLANG_PASSWORD=hush sglang serve --model m") == "SGLANG_PASSWORD=...\n");
  CHECK(printed("CUDA_VISIBLE_DEVICES=0 vllm serve m") == "CUDA_VISIBLE_DEVICES=0\n");
}

TEST_CASE("a secret of a known flag keeps the name only") {
  CHECK(printed("vllm serve m --api-key hush hush2") == "--api-key ...\n");
  CHECK(printed("sglang serve --model m --admin-api-key hush") == "--admin-api-key ...\n");
  CHECK(printed("sglang serve --model m --ssl-keyfile-password=hush") ==
        "--ssl-keyfile-password ...\n");
  for (const char* flag : {"--hf-token hush", "--hf-token=hush", "-hft hush"})
    CHECK(!has(printed(std::string("llama-server -m x ") + flag), "hush"));
}

TEST_CASE("a secret of an overridden flag keeps the name only") {
  CHECK(printed("vllm serve m --api_key hush --api-key hush2") ==
        "--api-key ...\n--api_key ... given again later: the last one counts\n");
}

TEST_CASE("a secret of an unknown flag keeps the name only") {
  for (const char* flag : {"--apikey", "--api-kye", "--client-secret", "--redis-password",
                           "--auth.token", "--HF-TOKEN2"})
    for (const char* between : {" ", "="}) {
      CAPTURE(flag);
      const std::string text = printed(std::string("vllm serve m ") + flag + between + "hush");
      CHECK(!has(text, "hush"));
      CHECK(has(text, " ..."));
    }
  CHECK(!has(printed("trtllm-serve m --api-key hush"), "hush"));
}

TEST_CASE("a flag of any engine that only sounds secret is printed") {
  CHECK(printed("vllm serve m --max-num-batched-tokens 4096 --tokenizer t") ==
        "--max-num-batched-tokens 4096\n--tokenizer t\n");
  CHECK(has(printed("sglang serve --model m --max-num-batched-tokens 4096"),
            "--max-num-batched-tokens 4096"));
}

TEST_CASE("a secret inside an object hides the object") {
  CHECK(holds_secret("{\"a\": {\"auth_token\" : \"x\"}}"));
  CHECK(holds_secret("{'api_key': 'x'}"));
  CHECK_FALSE(holds_secret("{\"num_speculative_tokens\":1}"));
  CHECK_FALSE(holds_secret("{\"role\":\"key\"}"));
  CHECK(printed("vllm serve m --model-loader-extra-config '{\"s3_secret\":\"hush\"}'") ==
        "--model-loader-extra-config ...\n");
  CHECK(printed("vllm serve m --additional-config.auth.token hush") == "--additional-config ...\n");
  try {
    read_command("vllm serve m --kv-transfer-config '{\"api_key\":\"hush\"'", "cmd");
    FAIL("a broken object is read");
  } catch (const InputError& error) {
    CHECK(!has(error.diagnostics().front().message, "hush"));
  }
}

TEST_CASE("a secret in the arguments of a log is not printed again") {
  const EngineLog log = read_engine_log(
      "INFO non-default args: {'model': 'm', 'api_key': ['hush'], 'admin_password': 'hush'}\n"
      "INFO GPU KV cache size: 1,024 tokens\n",
      "log");
  CHECK(has(printed(log.flags), "..."));
  CHECK(!has(printed(log.flags), "hush"));
}
