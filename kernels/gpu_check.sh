#!/usr/bin/env bash
# kernels/gpu_check.sh [OUTDIR]: checks and times the kernels on this machine's GPU, in under four minutes.
# Uses $KVBENCH or build/release/kvbench where it starts, else builds kvbench alone, which needs a C++
# compiler, cmake and nvcc. $KVBENCH_FLAGS are further flags for it. Nothing of the card's settings is changed.
# OUTDIR (kvbench-out) gets kvbench.json, check.log, sanitizer.log and environment.txt.
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
read -ra flags <<<"${KVBENCH_FLAGS:-}"

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
timeout -s INT -k 15 180 "$kvbench" --backend gpu --budget-s 150 -o "$out/kvbench.json" "${flags[@]}" 2>&1 | tee "$out/check.log"
result=${PIPESTATUS[0]}

# It has said why, and nothing was measured.
[ "$result" = 2 ] || [ "$result" = 4 ] && exit 1

if [ "$result" = 77 ]; then
  echo "skipped: no GPU, and compute-sanitizer needs one" >"$out/sanitizer.log"
  say "no GPU: the executor checks the kernels instead"
  "$kvbench" --backend cpu --quick -o "$out/kvbench.json" "${flags[@]}" 2>&1 | tee -a "$out/check.log"
  [ "${PIPESTATUS[0]}" = 0 ] && exit 77
  exit 1
fi

# sanitize TOOL: 0 silent, or the tool does not run here; 1 it found something.
sanitize() {
  local tool=$1 log=$out/sanitizer.$1 status
  timeout 25 compute-sanitizer --tool "$tool" --error-exitcode 9 \
    "$kvbench" --backend gpu --quick --check-only --budget-s 12 "${flags[@]}" >"$log" 2>&1
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
  case $status in
    0) echo "$tool: silent" ;;
    124) echo "$tool: out of time, $errors reports until then" ;;
    *) echo "$tool: exit $status, $errors reports: see sanitizer.log" ;;
  esac
  [ "$errors" = 0 ]
}

say "compute-sanitizer"
: >"$out/sanitizer.log"
if command -v compute-sanitizer >/dev/null; then
  for tool in memcheck racecheck; do
    sanitize "$tool" || result=1
  done
else
  echo "skipped: compute-sanitizer is not installed" | tee "$out/sanitizer.log"
fi

say "done"
ls -l "$out"
tail -n 2 "$out/check.log"
[ -s "$out/kvbench.json" ] && echo "then: kvsim validate $out/kvbench.json"
[ "$result" = 0 ] || exit 1  # the time limit's 124 too
