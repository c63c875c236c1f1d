#include <doctest/doctest.h>

#include "diag/diagnostic.h"
#include "launch/command_line.h"
#include "launch/engine_log.h"
#include "property/pinned.h"

using namespace kvsim;
using namespace kvsim::launch;

namespace {

// Pieces of commands and logs, and anything between them.
std::string pieces(const std::vector<std::string>& known) {
  std::string out;
  const int count = *rc::gen::inRange(0, 12);
  for (int i = 0; i < count; ++i) {
    if (*rc::gen::inRange(0, 4) == 0)
      out += *rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127));
    else
      out += *rc::gen::elementOf(known);
    out += *rc::gen::elementOf(std::vector<std::string>{" ", "", "\n", " \\\n", "="});
  }
  return out;
}

template <class Read>
bool reads_or_refuses(Read read) {
  try {
    read();
  } catch (const InputError& error) {
    return !error.diagnostics().empty() && !error.diagnostics().front().code.empty();
  }
  return true;
}

}  // namespace

TEST_CASE("any text is read as a command or refused with a code") {
  const std::vector<std::string> known{"vllm serve",
                                       "m",
                                       "-tp",
                                       "8",
                                       "--max-model-len",
                                       "32k",
                                       "--no-",
                                       "'",
                                       "\"",
                                       "{\"image\":2}",
                                       "--limit-mm-per-prompt",
                                       "image=2",
                                       "--speculative-config",
                                       "{\"method\":\"mtp\"}",
                                       "docker run",
                                       "vllm/vllm-openai:v0.10.1",
                                       "python -m sglang.launch_server",
                                       "--tp",
                                       "--dp",
                                       "--enable-dp-attention",
                                       "llama-server",
                                       "-c",
                                       "-np",
                                       "0",
                                       "-1",
                                       "trtllm-serve",
                                       "-O3",
                                       "--compilation-config.a.b",
                                       "$ "};
  KVSIM_PROPERTY("no text is a crash", [&] {
    const std::string text = pieces(known);
    RC_ASSERT(reads_or_refuses([&] { read_command(text, "input"); }));
    RC_ASSERT(reads_or_refuses([&] { read_command("vllm serve " + text, "input"); }));
  });
}

TEST_CASE("any text is read as a log or refused with a code") {
  const std::vector<std::string> known{"GPU KV cache size: ",
                                       "1,024",
                                       " tokens",
                                       "(Worker_TP0 pid=1) ",
                                       "non-default args: {",
                                       "'model': 'a'",
                                       ", ",
                                       "}",
                                       "Model loading took ",
                                       "3.5",
                                       " GiB",
                                       "[TP0] ",
                                       "KV Cache is allocated. #tokens: ",
                                       "K size: 1 GB, V size: 1 GB",
                                       "server_args=ServerArgs(",
                                       "tp_size=2",
                                       "LLM engine (v0.6.4) with config: ",
                                       "llama_kv_cache: size = 3 MiB ( 4 cells",
                                       " CUDA0 model buffer size = 1 MiB",
                                       "Free memory on device",
                                       "(",
                                       ")",
                                       "\x1b[",
                                       "\r"};
  KVSIM_PROPERTY("no text is a crash", [&] {
    const std::string text = pieces(known);
    RC_ASSERT(reads_or_refuses([&] { read_engine_log(text, "input"); }));
  });
}
