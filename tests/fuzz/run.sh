#!/usr/bin/env bash
# tests/fuzz/run.sh [SECONDS]: builds the libFuzzer programs and runs each for so long (default 10).
# A finding is left in build/fuzz/findings/ and ends the run with an error.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:-10}

if ! printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }' |
  clang++ -x c++ -fsanitize=fuzzer -o /dev/null - 2>/dev/null; then
  echo "skipped: this clang++ has no libFuzzer (Debian package libclang-rt-14-dev)"
  [ -z "${CI:-}" ]  # on a CI machine a missing fuzzer is a failure
  exit
fi
[ -f build/fuzz/CMakeCache.txt ] || cmake --preset fuzz >/dev/null
targets=()
for folder in tests/fuzz/seeds/*/; do targets+=("fuzz_$(basename "$folder")"); done
cmake --build --preset fuzz --target "${targets[@]}"

mkdir -p build/fuzz/findings
for target in "${targets[@]}"; do
  corpus=build/fuzz/corpus/$target
  mkdir -p "$corpus"
  echo "$target"
  log=build/fuzz/findings/$target.log
  status=0
  "build/fuzz/tests/fuzz/$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4096 \
    -print_final_stats=1 -verbosity=0 -artifact_prefix=build/fuzz/findings/ \
    "$corpus" "tests/fuzz/seeds/${target#fuzz_}" >"$log" 2>&1 || status=$?
  grep -E 'number_of_executed_units|ERROR|SUMMARY|Test unit' "$log" || true
  [ "$status" -eq 0 ] || { echo "$target found something: $log"; exit 1; }
done
