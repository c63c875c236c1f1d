#!/usr/bin/env bash
# kernels/gpu_check.sh [OUTDIR]: checks and times the kernels on this machine's GPU, in under four minutes in
# all: what a build took is taken from the times, and then from compute-sanitizer. Times get 60 s at least, so
# that after a build of more than 100 s the limit is passed, which is then said.
# Uses $KVBENCH or build/release/kvbench where it starts, else builds kvbench alone, which needs a C++
# compiler, cmake and nvcc. $KVBENCH_FLAGS are further flags for it. Nothing of the card's settings is changed.
# OUTDIR (kvbench-out) gets kvbench.json, check.log, sanitizer.log and environment.txt.
# The inputs' seed is the clock's, recorded in kvbench.json; --seed in KVBENCH_FLAGS repeats one.
# Exit codes: 0 all is right, 1 something is wrong, 77 no GPU: then the executor has checked the same kernels.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
case ${1:-} in
  -h | --help) sed -n '2,/^set /s/^# //p' "$0" && exit 0 ;;
  -*) echo "unknown flag $1; see kernels/gpu_check.sh --help" >&2 && exit 2 ;;
esac
out=${1:-kvbench-out}
mkdir -p "$out" || exit 4
out=$(cd "$out" && pwd)
flags=(--seed "$(date +%s)")
read -ra given <<<"${KVBENCH_FLAGS:-}"
flags+=("${given[@]}")

# Seconds: of the whole, kept for compute-sanitizer, and for what is running when a budget ends.
limit=235 sanitizers_s=50 grace_s=10
left() { echo $((limit - SECONDS)); }
clamp() { echo $(($1 < $2 ? $2 : $1 > $3 ? $3 : $1)); }

say() { printf '\n== %s (%d s)\n' "$1" "$SECONDS"; }
has_gpu() { command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU'; }

# What an earlier run left would pass for this one's.
(cd "$out" && rm -f kvbench.json check.log sanitizer.log sanitizer.memcheck sanitizer.racecheck environment.txt build.log)

# Starts, and has GPU kernels where there is a GPU.
usable() {
  local version
  version=$("$1" --version 2>/dev/null) || return 1
  ! has_gpu || ! grep -q '^nvcc none' <<<"$version"
}

build() {
  say "building kvbench"
  local build=$root/build/kvbench arch options=()
  PATH=$PATH:/usr/local/cuda/bin
  # One architecture, the card's own, is a third of the work. 9.0 needs its 'a' for bulk copies.
  arch=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | head -n 1 | tr -dc '0-9')
  [ "$arch" = 90 ] && arch=90a
  [ -n "$arch" ] && options+=("-DCMAKE_CUDA_ARCHITECTURES=$arch-real")
  command -v ninja >/dev/null && options+=(-G Ninja)
  { cmake -S "$root/kernels/standalone" -B "$build" "${options[@]}" &&
    cmake --build "$build" --target kvbench -j "$(nproc)"; } >"$out/build.log" 2>&1 || {
    tail -n 20 "$out/build.log"
    echo "kvbench cannot be built: see $out/build.log"
    exit 1
  }
  kvbench=$build/kvbench
}

kvbench=${KVBENCH:-$root/build/release/kvbench}
usable "$kvbench" || build
built_s=$SECONDS

{
  date -u +%Y-%m-%dT%H:%M:%SZ
  uname -srm
  "$kvbench" --version
  nvcc --version 2>&1 | tail -n 2
  nvidia-smi 2>&1
  nvidia-smi -q -d CLOCK,POWER,PERFORMANCE,ECC 2>&1
} >"$out/environment.txt"

say "ceilings, checks and times"
# An interrupt lets it finish its case and write; what hangs after that is ended.
budget_s=$(clamp $(($(left) - sanitizers_s - 2 * grace_s)) 60 150)
timeout -s INT -k "$grace_s" $((budget_s + grace_s)) "$kvbench" --backend gpu --budget-s "$budget_s" -o "$out/kvbench.json" "${flags[@]}" 2>&1 | tee "$out/check.log"
result=${PIPESTATUS[0]}

# It has said why, and nothing was measured.
[ "$result" = 2 ] || [ "$result" = 4 ] && exit 1

if [ "$result" = 77 ]; then
  echo "skipped: no GPU, and compute-sanitizer needs one" >"$out/sanitizer.log"
  say "no GPU: the executor checks the kernels instead"
  budget_s=$(clamp $(($(left) - 2 * grace_s)) 60 200)
  timeout -s INT -k "$grace_s" $((budget_s + grace_s)) "$kvbench" --backend cpu --quick --budget-s "$budget_s" -o "$out/kvbench.json" "${flags[@]}" 2>&1 | tee -a "$out/check.log"
  [ "${PIPESTATUS[0]}" = 0 ] && exit 77
  exit 1
fi

# sanitize TOOL SECONDS: 0 silent until it ended or ran out of time, or it does not run here; else 1.
sanitize() {
  local tool=$1 seconds=$2 log=$out/sanitizer.$1 status
  timeout -k 5 "$seconds" compute-sanitizer --tool "$tool" --error-exitcode 9 \
    "$kvbench" --backend gpu --quick --check-only --budget-s $((seconds / 2)) "${flags[@]}" >"$log" 2>&1
  status=$?
  { echo "== $tool, exit $status"; cat "$log"; } >>"$out/sanitizer.log"
  local errors unable
  errors=$(grep -cE '^========= (Invalid|Misaligned|Error: )|SUMMARY: [1-9]' "$log")
  unable=$(grep -ciE 'device not supported|unable to find injection' "$log")
  rm -f "$log"
  if [ "$unable" != 0 ]; then
    echo "$tool: skipped, it does not run on this machine"
    return 0
  fi
  case $status.$errors in
    0.0) echo "$tool: silent" ;;
    124.0) echo "$tool: out of time, silent until then" ;;
    *)
      echo "$tool: failed, exit $status, $errors reports: see sanitizer.log"
      return 1
      ;;
  esac
}

say "compute-sanitizer"
: >"$out/sanitizer.log"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    seconds=$(clamp $(($(left) - 5)) 0 $((sanitizers_s / 2)))
    if [ "$seconds" -lt 10 ]; then
      echo "$tool: skipped, no time is left" | tee -a "$out/sanitizer.log"
    else
      sanitize "$tool" "$seconds" || result=1
    fi
  done
else
  echo "skipped: compute-sanitizer is not installed" | tee "$out/sanitizer.log"
fi

say "done"
if [ "$SECONDS" -ge 240 ]; then
  [ "$built_s" -gt 100 ] && echo "four minutes were passed because the build took $built_s s" ||
    echo "four minutes were passed"
fi
ls -l "$out"
tail -n 2 "$out/check.log"
[ -s "$out/kvbench.json" ] && echo "then: kvsim validate $out/kvbench.json"
[ "$result" = 0 ] || exit 1  # the time limit's 124 too
