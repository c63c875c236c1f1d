#include <doctest/doctest.h>

#include "cli/harness.h"

using kvsim::test::Kvsim;

TEST_CASE("model list shows every model or those that hold a word") {
  Kvsim({"model", "list"})
      .exits(0)
      .err_is("")
      .out_has("llama-3.1-70b")
      .out_has("327,680")
      .out_has(" models; KV of the whole model");
  Kvsim({"model", "list", "qwen3-next-80b-a3b-fp8"})
      .exits(0)
      .out_has("qwen3-next-80b-a3b-fp8")
      .out_has("1 model;")
      .out_lacks("llama");
  Kvsim({"model", "list", "--json"})
      .exits(0)
      .err_is("")
      .out_is_json()
      .out_has("\"kvsim.model_list/1\"");
}

TEST_CASE("model show gives dimensions and KV bytes by layer group with sources") {
  Kvsim({"model", "show", "gemma-3-27b"})
      .exits(0)
      .err_is("")
      .out_has("436,207,616")
      .out_has("81,920")
      .out_has("window 1024")
      .out_has("sources");
  Kvsim({"model", "show", "meta-llama/Llama-3.1-70B", "--json"})
      .exits(0)
      .out_is_json()
      .out_has("\"kv_bytes_per_token\": 327680");
  Kvsim({"model", "show", "llama-3-70b", "--kv-cache-dtype", "fp8"}).exits(0).out_has("163,840");
}

TEST_CASE("model show names an unknown model and the nearest ones") {
  Kvsim({"model", "show", "llama-3.1-7b"})
      .exits(3)
      .out_is("")
      .err_has("llama-3.1-7b")
      .err_has("llama-3.1-8b");
  Kvsim({"model", "show", "./nowhere.json"}).exits(4).out_is("").err_has("nowhere.json");
}

TEST_CASE("model import writes a file that other commands take") {
  const char* config =
      R"({"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16", "tie_word_embeddings": false})";
  Kvsim import({"model", "import", "./config.json", "--id", "mine"});
  import.file("config.json", config)
      .exits(0)
      .err_is("")
      .out_is_json()
      .out_has("\"kvsim.model/1\"")
      .out_has("\"id\": \"mine\"");
  Kvsim({"model", "diff", "./mine.json", "llama-3.1-8b"})
      .file("mine.json", import.out())
      .exits(0)
      .err_is("")
      .out_has("total_params_b")
      .out_has("2 fields differ");
  Kvsim({"model", "import", "./config.json", "--id", "Not An Id"})
      .file("config.json", config)
      .exits(3)
      .out_is("")
      .err_has("lower-case");
  Kvsim({"model", "import", "./config.json"})
      .file("config.json", "{\"model_type\": \"llama\", \"hidden_size\": \"wide\"}")
      .exits(3)
      .out_is("")
      .err_has("config.json:1:")
      .err_has("num_hidden_layers");
}

TEST_CASE("model diff lists the fields that differ") {
  Kvsim({"model", "diff", "llama-3-70b", "llama-3.1-70b"})
      .exits(0)
      .err_is("")
      .out_has("max_position_embeddings  8192         131072")
      .out_has("1 field differs");
  Kvsim({"model", "diff", "deepseek-v3", "deepseek-r1"}).exits(0).out_has("are the same");
  Kvsim({"model", "diff", "qwen3-8b", "qwen3-32b", "--json"})
      .exits(0)
      .out_is_json()
      .out_has("\"field\": \"hidden_size\"");
}

TEST_CASE("gpu list and gpu show give figures with their sources") {
  Kvsim({"gpu", "list"}).exits(0).err_is("").out_has("h100-sxm").out_has("dense peaks");
  Kvsim({"gpu", "list", "mi3", "--json"})
      .exits(0)
      .out_is_json()
      .out_has("mi300x")
      .out_lacks("h100");
  Kvsim({"gpu", "show", "a100_sxm"})
      .exits(0)
      .err_is("")
      .out_has("a100-sxm-80g")
      .out_has("79.25 GiB")
      .out_has("sources");
  Kvsim({"gpu", "show", "h200-sxm", "--json"})
      .exits(0)
      .out_is_json()
      .out_has("\"memory_reported\": 150109106995");
  Kvsim({"gpu", "show", "h100-sxn"}).exits(3).out_is("").err_has("h100-sxm");
}
