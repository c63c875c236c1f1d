#include "cli/explain/codes.h"

#include "cli/explain/topic.h"

namespace kvsim::cli {
namespace {

constexpr CodeText codes[] = {
    // The command line (exit 2)
    {"usage", "the command line cannot be understood",
     "kvsim help COMMAND shows what a command takes."},
    {"usage-unknown-command", "there is no command of that name",
     "kvsim --help lists the commands."},
    {"usage-unknown-flag", "the command has no flag of that name",
     "Flags of vLLM keep their names; kvsim help COMMAND lists them. After -- words are never "
     "flags."},
    {"usage-unknown-topic", "kvsim explain has no text of that name",
     "kvsim explain lists all topics."},
    {"usage-value", "a flag's value cannot be read, or is none of its words or out of its range",
     "Sizes take KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (powers of 1000); times ns "
     "to h; a bare\n"
     "number is in bytes or seconds."},
    {"usage-missing-value", "a flag that takes a value stands without one",
     "Write --flag VALUE or --flag=VALUE."},
    {"usage-missing", "a required word or flag is missing",
     "kvsim help COMMAND shows the usage line."},
    {"usage-extra-word", "the command takes fewer words than were given",
     "Quote a value that holds blanks."},
    {"usage-require", "a --require is no demand on a figure of the result",
     "Write FIELD OP VALUE, such as 'p99_ttft_ms<=500'; kvsim explain lists the metrics."},
    {"usage-tolerance", "a --tolerance cannot be read",
     "Write NAME=LIMIT with a share, such as p99_ttft_ms=2%; default=0.5% is for all others."},
    {"usage-figure", "a flag of compare names a figure that neither result has", ""},
    {"arrival-range", "a request would arrive beyond the simulated time",
     "Simulated time ends after a hundred years: raise the arrival rate or rate_scale."},
    {"usage-input", "an output file is the scenario itself",
     "Name another file: the scenario would be overwritten."},
    {"usage-stdout", "two outputs would share stdout",
     "Stdout carries one document. Give the result a file with -o, or name a file for the other "
     "output."},
    {"usage-vary", "a --vary of a sweep cannot be read",
     "Write --vary path=v1,v2 or path=low:high:step."},
    {"usage-intervals", "--seeds is given with --intervals off",
     "Seeds widen the intervals; without intervals there is nothing to widen."},
    {"usage-shard", "a --shard is not i/n", "Write 0/4 to 3/4."},
    {"usage-twice", "a flag that may be given once is given more often",
     "Only --set, --models-dir and their like repeat."},

    // The program (exits 4, 70, 130)
    {"io", "a file cannot be opened, read or written",
     "The message says which and why. Nothing else was written."},
    {"interrupted", "SIGINT or SIGTERM ended the command",
     "Files are written whole or not at all."},
    {"internal", "a check inside kvsim failed: a bug, not your input",
     "Please report it with the message, which says where the simulation stood, and the scenario."},
    {"out-of-memory", "there is not enough memory",
     "Foreign traces stream in bounded memory; the kvsim format does not."},
    {"more-diagnostics", "only the first twenty diagnostics of an input are shown",
     "Mend those first."},
    {"note", "a remark; nothing is wrong", "--quiet hides remarks and warnings."},

    // JSON files (exit 3)
    {"json-syntax", "the text is not JSON",
     "Comments (// and /* */) are allowed in files that people write; trailing commas are not."},
    {"json-empty", "the file holds nothing but blanks", ""},
    {"json-duplicate-key", "an object has the same key twice",
     "Which of the two is meant cannot be known; remove one."},
    {"json-depth", "the document is nested too deeply", ""},
    {"json-size", "the document is too large to be one of kvsim's", ""},
    {"wrong-type", "a value has another type than the field",
     "The message says what was expected and what was found."},
    {"out-of-range", "a number is outside what the field allows", "The message gives the range."},
    {"unknown-key", "the object has no such field",
     "Misspelt fields are errors, never ignored; the nearest field is named."},
    {"unknown-word", "the field takes one of a closed list of words", ""},
    {"missing-field", "a required field is missing", ""},
    {"two-names", "a field is given under two of its names",
     "A field and its aliases are the same; keep one."},
    {"schema-missing", "the file does not say what it is",
     "Its first field must be \"schema\": \"kvsim.<kind>/<version>\"."},
    {"schema-wrong", "the file is of another kind than the command wants", ""},
    {"schema-version", "the file is of a version that this kvsim does not read", ""},
    {"schema-unknown", "there is no such kind of file", "kvsim version lists the kinds."},
    {"set-path", "a --set path leads nowhere",
     "Paths are dotted with array indices: cluster.pools.0.engine.max_num_seqs; /cluster/pools/0 "
     "is the same."},

    // Results (exit 3)
    {"result-incomplete", "a result document lacks a section", "Write it with run --json -o FILE."},
    {"result-unknown", "the file is no result of kvsim and none of vllm bench serve", ""},
    {"result-without-requests", "the result holds no requests, only figures over all of them",
     "run --detailed keeps them in the document, --requests-out FILE in a file of their own."},

    // Pasted engine commands and logs (exit 3)
    {"command-unknown", "no command that starts an engine is in the text",
     "The message lists the programs looked for."},
    {"command-syntax", "a quote in a pasted command is not closed", "Paste the command whole."},
    {"command-value", "a flag of a pasted command has a value that its engine would refuse", ""},
    {"command-missing-value", "a flag of a pasted command stands without its value", ""},
    {"command-word", "a word of a pasted command belongs to no flag",
     "Quote a value that holds blanks."},
    {"log-unknown", "no line of a pasted log says how an engine spent its memory",
     "The message lists the lines looked for. Paste the start of the log, up to the first "
     "request."},
    {"command-model", "a pasted command or log names no model", "Give MODEL on the line."},
    {"plan-scenario", "a planned deployment is not, or not wholly, a scenario",
     "Scenarios have the fields of docs/reference/scenario.md."},

    // CSV files (exit 3)
    {"csv-empty", "the file has no header line", ""},
    {"csv-missing-column", "a column that the file's kind needs is missing", ""},
    {"csv-header", "a column has no name, or two have the same", ""},
    {"csv-cells", "a record has more or fewer cells than the header", ""},
    {"csv-unknown-column", "a column that the file's kind does not have",
     "Unknown columns are errors: they may change what the others mean."},
    {"csv-cell", "a cell holds something else than its column takes",
     "The message gives the column, what was expected and what was found."},
    {"csv-syntax", "quotes or line ends are not those of RFC 4180", ""},
    {"csv-utf8", "the text is not UTF-8", ""},
    {"csv-record", "a record is over 1 MiB long", "A closing quote is probably missing."},

    // Measurements (exit 3; 1 for the gate)
    {"measurement-kind", "the columns of a CSV file are those of no known measurement file",
     "The nearest kind is named, with the columns that it has and the file lacks."},
    {"calibrate-nothing", "none of the rows could be fitted",
     "The table of rows that were not fitted says why."},
    {"cost-fit", "a fitted operator does not match its closed form",
     "A cost file is written by `kvsim calibrate`: the form must be one of its kernel's, the "
     "parameters those of the\n"
     "form, tables, ranges and quantiles of its size. `kvsim explain FORM` lists a form's "
     "parameters. Fits of an older\n"
     "kvsim are made anew from the measurements."},
    {"validate-nothing", "none of the rows could be predicted",
     "The table of rows that were not predicted says why."},
    {"validate-error", "the mean error is above --max-error", ""},

    // Recorded engine traces (exit 3)
    {"conform-case", "a line is no recorded case, or its parts contradict each other",
     "docs/howto/check-an-engine-trace.md has the formats."},
    {"conform-empty", "a file of recorded cases holds none", ""},
    {"conform-only", "no case has the id given to --only", "An id may be cut off at its end."},
    {"conform-order", "a recorded operation makes no sense after those before it",
     "Such as giving back what nobody holds: the record is incomplete."},
    {"conform-step-log", "a step log of run --steps was given where recorded cases belong",
     "kvsim conform replays what an engine decided; a step log says what kvsim decided. Two step "
     "logs are\n"
     "compared with diff. docs/howto/check-an-engine-trace.md says how to record an engine."},
    {"conform-unsupported", "a recorded case asks for what kvsim does not model",
     "The case counts as different; the others are replayed."},

    // Models, GPUs, links (exit 3)
    {"unknown-model", "the catalog has no model of that id or alias",
     "kvsim model list shows all. A path starts with ./ ../ or / or ends in .json; --models-dir "
     "adds a folder."},
    {"unknown-gpu", "the catalog has no GPU of that id or alias", "kvsim gpu list shows all."},
    {"unknown-link", "the catalog has no link of that id or alias",
     "models/link/ has those of the catalog."},
    {"catalog-file", "a file in a --models-dir folder is no model, GPU, link or cost file", ""},
    {"model-inconsistent",
     "fields of a model contradict each other or lack one that the attention kind needs", ""},
    {"hf-unknown-family", "no importer knows the model_type of a config.json",
     "The nearest known family and the fields it needs are named; or write a kvsim.model file."},
    {"hf-unsupported", "a config.json describes layers that a model file cannot describe", ""},
    {"hf-quantization", "a checkpoint's quantization is unknown or cannot be described", ""},
    {"gpu-without-link", "several GPUs were asked for, but the GPU names no link between them", ""},
    {"parallel-plan", "a parallel size does not divide the model",
     "Tensor parallel sizes divide the attention heads, and divide or are a multiple of the KV "
     "heads; a pipeline has\n"
     "at most as many stages as layers."},
    {"too-large", "sizes so large that their bytes cannot be counted", ""},
    {"engine-unknown", "there is no engine of that name",
     "vllm-v1, sglang, trtllm, static and llamacpp are known."},
    {"engine-version", "an engine version cannot be read, or is older than the rules kvsim knows",
     "A version (0.21.0, v0.9.2, b4500) or a date (2026-08-17) falls into a range of rules; the "
     "message lists them.\n"
     "Without one, the version of the recorded traces is meant."},
    {"kv-dtype-unknown", "there is no KV cache dtype of that name", "kvsim explain lists them."},
    {"lengths-too-long", "no request given to plan --lengths is as short as max_model_len",
     "The engine refuses such requests: raise --max-model-len."},

    // Request lists and traces (exit 3)
    {"request-unknown", "no request of that id is in the file",
     "The file is what run --requests-out wrote."},
    {"trace-empty", "the trace has no requests, or none in the window asked for", ""},
    {"trace-unrecognised", "the first record is of no trace format",
     "Name the format (\"format\" in a scenario, --format); kvsim explain lists them."},
    {"trace-format", "there is no trace format of that name", "kvsim explain lists them."},
    {"trace-window", "the window of a trace ends before it starts", ""},
    {"trace-time-order", "arrivals go back in time",
     "Lines with \"after\" may; all others are in order of arrival_s."},
    {"trace-duplicate-id", "two requests have the same id", ""},
    {"trace-time", "a time stamp cannot be read", ""},
    {"trace-total", "a record's total is not the sum of its parts", ""},
    {"trace-batch", "a record stands for a batch of several requests", ""},
    {"trace-think", "a request has think_s and follows nobody",
     "think_s is the pause after \"after\"."},
    {"trace-blocks", "a Mooncake record has too few or too many hash ids for its length",
     "One hash id stands for 512 tokens; \"block_tokens\" says otherwise."},
    {"trace-arrays", "arrays of a benchmark result differ in length", ""},
    {"trace-line-length", "a line is longer than 64 MiB", ""},
    {"trace-compressed", "compressed data is damaged or cut off",
     "gzip -t or zstd -t says the same."},
    {"trace-no-times", "the trace has lengths but no arrival times",
     "Say when its requests arrive: \"arrival\": {\"process\": \"poisson\", \"rate\": 2}."},
    {"trace-lossy", "the format cannot hold all of the workload",
     "The kvsim format can; or accept the loss that the message names."},

    // Workloads (exit 3)
    {"workload-source", "a workload needs exactly one of trace and generate", ""},
    {"workload-arrival", "an arrival process lacks a field or has one without use", ""},
    {"workload-distribution", "a distribution lacks a field or has one without use", ""},
    {"workload-generate", "a generator's fields contradict each other", ""},

    // Scenarios and engines (exit 3)
    {"no-pools", "a cluster needs at least one pool", ""},
    {"does-not-fit", "the model leaves no room for KV on that many of these GPUs",
     "kvsim plan shows the memory line by line and what would fit."},
    {"pool-too-small", "the KV pool does not hold one request of max_model_len",
     "Lower max_model_len, enlarge the pool, or set allow_small_pool for recorded traces."},
    {"kv-groups", "the KV cache groups of an engine contradict each other or the block size",
     "A sliding_window group needs its window, a chunked_local group its chunk; states that are "
     "kept at block boundaries need chunked prefill and blocks of block_size tokens."},
    {"retention-range", "a range of prompt positions ends before it begins",
     "token_start is the first position, token_end the one after the last."},
    {"not-modelled", "the field asks for something this version does not model", ""},
    {"field-without-use", "a field has no meaning beside the others", ""},
    {"scenario-note", "a remark on how a scenario was resolved", ""},
    {"run-note", "a remark on a run: what its figures do not contain", ""},
    {"request-unservable", "a request can never be served: it does not fit alone",
     "Change the engine, or set workload.on_unservable to \"reject\" to count such requests."},
    {"sweep-refused", "no point of a sweep can be simulated",
     "The message says what the first one lacks."},
    {"engine-livelock", "an engine makes no progress for many steps",
     "The engine itself would wait or preempt forever: a request alone fits the pool or a step, "
     "but not "
     "after it was preempted and has grown, or not beside the full-input gate. Turn chunked "
     "prefill "
     "on, raise the token budget of a step, or take a larger pool."},
    {"engine-out-of-memory", "the engine would stop here for want of KV slots",
     "SGLang admits by an estimate of the outputs; where it was too low and nobody can be "
     "retracted, it raises an error. Raise schedule_conservativeness or the pool."},
};

}  // namespace

std::span<const CodeText> code_texts() { return codes; }

void add_code_topics(std::vector<Topic>& out) {
  for (const CodeText& c : codes) out.push_back({"error code", c.code, c.meaning, c.remedy});
}

}  // namespace kvsim::cli
