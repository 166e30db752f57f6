#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the programs that bundle.sh collected, on a GPU host. This script is part of the bundle.
set -uo pipefail

usage() {
  cat <<'END'
usage: bash run-gpu.sh [--results FOLDER] [--operations LIST] [--variants LIST] [--tools LIST] STAGE...

  tests        the kernel tests as machine code, as PTX of compute_75 and as PTX of compute_80, and the
               hashes of the seeded cases
  sanitizers   the kernel tests under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
  check        the element tests with backend=cuda
  transfers    the copies between host and GPU, counted while video goes from nvh264dec through each
               element to cudadownload
  bench        the benchmarks
  all          all of these stages

  --operations LIST   the operations that tests and sanitizers run, separated by commas: folders of
                      kernels/native, such as sgm,integral (default: all). proof.json keeps its records
                      of the others.
  --variants LIST     what the tests run, of native, ptx75 and ptx80 (default: all)
  --tools LIST        what the sanitizers run, of memcheck, racecheck, initcheck and synccheck (default:
                      all). The records of other variants and tools remain, if the sources have not
                      changed, so that the proof can be made in several short runs.
  --results FOLDER    the folder for the results (default: results/ in the folder of this script)

The script continues after a failure and then exits with 1. The results are proof.json, which covers all
stages that have run with this FOLDER so far, results.json with all counts, the logs, and bench.txt. A
stage that runs again replaces its earlier results.

Environment:
  GTEST_FILTER           the kernel tests to run
  CUDAVISION_TEST_CASES  the number of random cases of each kernel test (default 3000; a tenth as PTX)
  SANITIZER_CASES        the same under the sanitizers (default 8, but at least one of each layout)
  SANITIZER_PIXELS       the largest frame under the sanitizers (default 20000; a fifth of it under
                         racecheck, which is much slower)
  TEST_TIMEOUT, SANITIZER_TIMEOUT, BENCH_TIMEOUT
                         the seconds for one program (default 240, 900, 240)
END
}

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$bundle/results
operations=()
variants=(native ptx75 ptx80)
tools=(racecheck memcheck initcheck synccheck) # the slowest first
stages=()

# choose NAME LIST: sets the array NAME to those of its entries that the comma-separated list names.
choose() {
  local -n all=$1
  local entry chosen=() wanted
  IFS=, read -ra wanted <<<"$2"
  for entry in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $entry "* ]] || {
      echo "run-gpu.sh: \"$entry\" is none of $1: ${all[*]}" >&2
      exit 2
    }
  done
  for entry in "${all[@]}"; do
    [[ ",$2," != *",$entry,"* ]] || chosen+=("$entry")
  done
  all=("${chosen[@]}")
}
while [[ $# -gt 0 ]]; do
  case $1 in
    --results)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      results=$2
      shift
      ;;
    --operations)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      IFS=, read -ra operations <<<"$2"
      for operation in "${operations[@]}"; do
        [[ -n $operation && -d $bundle/kernels/native/$operation ]] || {
          echo "run-gpu.sh: there is no operation \"$operation\"; the operations are $(cd "$bundle/kernels/native" && echo */ | tr -d /)" >&2
          exit 2
        }
      done
      shift
      ;;
    --variants | --tools)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      choose "${1#--}" "$2"
      shift
      ;;
    tests | sanitizers | check | transfers | bench) stages+=("$1") ;;
    all) stages+=(tests sanitizers check transfers bench) ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done
[[ ${#stages[@]} -gt 0 ]] || { usage >&2; exit 2; }
mkdir -p "$results"
results=$(cd "$results" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[[ ! -d $bundle/pairs ]] || export CUDAVISION_STEREO_PAIRS=$bundle/pairs

smi() { nvidia-smi --query-gpu="$1" --format=csv,noheader | head -n 1; }
card=$(smi name 2>&1)
driver=$(smi driver_version 2>/dev/null)
cards=$(nvidia-smi --list-gpus 2>/dev/null | grep -c '^GPU')
[[ -n $driver ]] || {
  echo "nvidia-smi finds no GPU; check the driver: $card" >&2
  exit 1
}
echo "$card, driver $driver"

# Runs a program with the bundle's GStreamer. Only programs of the bundle can use its libraries; the host's
# programs need the host's.
in_runtime() { (
  # shellcheck disable=SC1091
  . "$bundle/runtime/env.sh"
  export GST_PLUGIN_PATH=$bundle/plugin GST_REGISTRY_1_0=$work/registry.bin
  exec "$@"
); }

stage=''
log_folder=''
begin() {
  stage=$1
  log_folder=$work/logs/$stage
  mkdir -p "$log_folder"
  : >"$work/$stage.jsonl"
  : >"$work/$stage.planned"
  printf '\n== %s\n' "$stage"
}

# plan: reads the names of programs that the stage will run. If the script is stopped before all of
# them have results, the others count as failed, because a proof must not rest on a part of them.
plan() { cat >>"$work/$stage.planned"; }

fail_unfinished() {
  python3 - "$work" <<'END'
import json, pathlib, sys
for planned in pathlib.Path(sys.argv[1]).glob("*.planned"):
    results = planned.with_suffix(".jsonl")
    ended = {json.loads(line)["name"] for line in results.read_text().splitlines()}
    with results.open("a") as lines:
        for name in planned.read_text().splitlines():
            if name not in ended:
                lines.write(json.dumps({"name": name, "passed": 0, "failed": ["stopped before it ended"], "skipped": []}) + "\n")
END
}

# never_on_card LOG: succeeds if a program under a sanitizer never used the GPU, because all of its tests
# were skipped or passed without it. The sanitizer reports this as an error.
never_on_card() {
  grep -q 'terminated before first instrumented API call' "$1" && grep -q '^\[  PASSED  \]' "$1" &&
    ! grep -q '^\[  FAILED  \]' "$1"
}

# run NAME SECONDS PROGRAM...: runs a program, keeps its output as a log and counts its results.
run() {
  local name=$1 seconds=$2 status=0 began=$SECONDS
  log=$log_folder/${name//[^A-Za-z0-9._-]/-}.log
  shift 2
  in_runtime timeout --kill-after=10 "$seconds" "$@" </dev/null >"$log" 2>&1 || status=$?
  ! never_on_card "$log" || status=0
  python3 "$bundle/tally.py" collect "$name" "$log" "$status" | tee -a "$work/$stage.jsonl" |
    python3 -c 'import json, sys
r = json.loads(sys.stdin.read())
print("%-48s %5d passed %3d failed %3d skipped %4d s" % (r["name"], r["passed"], len(r["failed"]), len(r["skipped"]), int(sys.argv[1])))' \
      $((SECONDS - began))
  [[ $status -eq 0 ]] || grep -vE '^\[ +(OK|RUN) ' "$log" | tail -n 15
  return $status
}

# verdict WHAT WHY-NOT [NAME]: counts one more result under the name; an empty reason means success.
verdict() {
  local file=$log_folder/verdict.$BASHPID
  if [[ -z $2 ]]; then echo "ok: $1" >"$file"; else echo "not ok: $1: $2" >"$file"; fi
  cat "$file"
  python3 "$bundle/tally.py" collect "${3:-$stage}" "$file" 0 >>"$work/$stage.jsonl"
  rm "$file"
}

# await_turn THREADS: waits until one more program with so many threads may start. Tests spend most of their
# time on the host, so as many run at the same time as its processors allow.
await_turn() {
  local threads=$1
  while [[ $(jobs -rp | wc -l) -ge $(( ($(nproc) + threads - 1) / threads )) ]]; do wait -n; done
}

# kernel_tests VARIANT: prints OPERATION/PROGRAM for each program to run.
kernel_tests() {
  (cd "$bundle/kernels/$1" && find "${operations[@]:-.}" -mindepth 1 -type f -perm -u+x ! -name proof_hashes) |
    sed 's|^\./||' | sort
}

# An empty cache makes the driver compile all PTX again.
fresh_cache() { export CUDA_CACHE_PATH=$work/cache.$1; }

# hash_cases VARIANT: computes the hashes of the seeded cases.
hash_cases() {
  fresh_cache "$1"
  in_runtime timeout "${TEST_TIMEOUT:-240}" "$bundle/kernels/$1/proof_hashes" --backend=cuda "${operations[@]/#/--operation=}" \
    >"$work/hashes.$1" 2>"$log_folder/proof_hashes.$1.log" </dev/null
  verdict "$1 proof_hashes runs" \
    "$([[ $? -eq 0 && -s $work/hashes.$1 ]] || tail -n 1 "$log_folder/proof_hashes.$1.log")"
}

# compare_hashes VARIANT: counts, for each operation, whether PTX gives the same hashes as machine code.
compare_hashes() {
  python3 "$bundle/proof.py" hashes "$work/hashes.native" "$work/hashes.$1" >"$log_folder/hashes.$1.log" 2>&1
  grep -E '^(not )?ok: ' "$log_folder/hashes.$1.log" | while read -r line; do
    echo "$line" >"$log_folder/verdict.hashes"
    name=${line#*ok: }
    python3 "$bundle/tally.py" collect "$1 ${name%%:*}" "$log_folder/verdict.hashes" 0 >>"$work/$stage.jsonl"
  done
  cat "$log_folder/hashes.$1.log"
}

# kernel_variant VARIANT CASES: runs the kernel tests of a variant.
kernel_variant() {
  local program
  export CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_CASES=$2
  fresh_cache "$1"
  while read -r program; do
    await_turn 6 # the variants run at the same time, and each program has several threads
    run "$1 $program" "${TEST_TIMEOUT:-240}" "$bundle/kernels/$1/$program" &
  done < <(kernel_tests "$1")
  wait
}

stage_tests() {
  local cases=${CUDAVISION_TEST_CASES:-3000} variant compared=()
  for variant in "${variants[@]}"; do
    kernel_tests "$variant" | sed "s|^|$variant |" | plan
    [[ $variant == native ]] || compared+=("$variant")
  done
  # The hashes come first, because a proof cannot do without them.
  for variant in native "${compared[@]}"; do hash_cases "$variant" & done
  wait
  [[ ! -s $work/hashes.native ]] || cp "$work/hashes.native" "$results/hashes.json"
  for variant in "${compared[@]}"; do compare_hashes "$variant"; done
  for variant in "${variants[@]}"; do
    kernel_variant "$variant" "$([[ $variant == native ]] && echo "$cases" || echo $((cases / 10 + 1)))" &
  done
  wait
}

# sanitize_shard SANITIZER TOOL PROGRAM SHARD: runs one share of a program's tests.
sanitize_shard() {
  local sanitizer=$1 tool=$2 program=$3 options=() name clean
  # One test requests more memory than exists and expects the call to fail.
  [[ $tool != memcheck ]] || options=(--leak-check full --report-api-errors no)
  name="$tool $program $(($4 + 1)) of $shards"
  export GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$4
  # Most of the time is spent on the GPU. If there are several GPUs, each gets some of the shards.
  export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-$(($4 % cards))}
  run "$name" "${SANITIZER_TIMEOUT:-900}" "$sanitizer" --tool "$tool" --error-exitcode 99 "${options[@]}" "$bundle/kernels/native/$program"
  never_on_card "$log" && return
  # Without the tool's summary, nothing was checked.
  clean=$(grep -cE '(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$log")
  verdict "$name found nothing" \
    "$([[ $clean -gt 0 ]] || { grep -E 'SUMMARY|Error|not supported' "$log" || echo 'no summary'; } | tail -n 1)" "$name verdict"
}

# plan_shards TOOL SHARDS: plans all programs of the kernel tests under a tool, and prints a line for each
# share of their tests.
plan_shards() {
  local program tests shard shards
  while read -r program; do
    # There must not be more shards than tests, because the tool prints no summary for a program that runs
    # none.
    tests=$(in_runtime "$bundle/kernels/native/$program" --gtest_list_tests 2>/dev/null </dev/null | grep -c '^  ')
    shards=$((tests < $2 ? tests : $2))
    for ((shard = 0; shard < shards; ++shard)); do
      echo "$1 $program $((shard + 1)) of $shards" | plan
      echo "$1 $program $shard $shards"
    done
  done < <(kernel_tests native)
}

stage_sanitizers() {
  local sanitizer tool program shard shards waiting
  sanitizer=$(PATH=$PATH:$(printf '%s:' /usr/local/cuda*/bin) command -v compute-sanitizer)
  if [[ -z $sanitizer ]]; then
    verdict "compute-sanitizer" "it is neither on PATH nor in /usr/local/cuda*/bin; install it from the CUDA toolkit"
    return
  fi
  export CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_CASES=${SANITIZER_CASES:-8}
  local pixels=${SANITIZER_PIXELS:-20000}
  # compute-sanitizer cannot check the CPU half. Tests that count allocations, those that see whether the
  # host waits and those that change parameters launch what other tests launch, but dozens of times or on
  # large frames: minutes under racecheck.
  export GTEST_FILTER=${GTEST_FILTER:-*Cuda*:*OnCard.Small*-*NothingIsAllocated*:*AllocateNothing*:*RunOnlyEnqueues*:*ParametersChange*}
  # racecheck takes longest, so its shards are smaller.
  mapfile -t waiting < <(for tool in "${tools[@]}"; do plan_shards "$tool" "$([[ $tool == racecheck ]] && echo 8 || echo 4)"; done)
  for shard in "${waiting[@]}"; do
    read -r tool program shard shards <<<"$shard"
    await_turn 1
    export CUDAVISION_TEST_MAX_PIXELS=$pixels
    [[ $tool != racecheck ]] || CUDAVISION_TEST_MAX_PIXELS=$((pixels / 5))
    sanitize_shard "$sanitizer" "$tool" "$program" "$shard" &
  done
  wait
  unset CUDAVISION_TEST_BACKEND CUDAVISION_TEST_CASES CUDAVISION_TEST_MAX_PIXELS GTEST_FILTER
}

check() { # PROGRAM
  CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_PICTURES=$bundle/pictures CK_FORK=no \
    CK_DEFAULT_TIMEOUT=${TEST_TIMEOUT:-240} G_DEBUG=fatal-criticals \
    run "$(basename "$1")" "${TEST_TIMEOUT:-240}" "$1"
}

stage_check() {
  local program
  find "$bundle/check" -type f -perm -u+x -printf '%f\n' | plan
  while read -r program; do
    await_turn 2
    check "$program" &
  done < <(find "$bundle/check" -type f -perm -u+x ! -name check_leaks ! -name check_states | sort)
  wait
  # These run alone, because they check how much of the GPU's memory is in use.
  check "$bundle/check/check_states"
  check "$bundle/check/check_leaks"
}

stage_transfers() {
  if [[ ! -f $bundle/transfers/libcounttransfers.so ]]; then
    echo "SKIP: transfers: the bundle was made without CUPTI" >"$log_folder/skipped.log"
    python3 "$bundle/tally.py" collect transfers "$log_folder/skipped.log" 77 >>"$work/transfers.jsonl"
    return
  fi
  # Fill the registry now, so that the counts do not include a plug-in scanner.
  in_runtime gst-inspect-1.0 nvh264dec >"$log_folder/nvh264dec.log" 2>&1
  local elements=(cudahistequalize cudagaussblur cudaintegral cudasgmstereo) element properties format down
  # These settings need so little work that the CPU backend finishes in time.
  local -A setting=([cudaintegral]='output=denoise search-size=5 patch-size=3'
    [cudasgmstereo]='frame-packing=side-by-side num-disparities=64 diagnostics-interval=0')
  # The input is NV12, and so is the output except for the elements in leaves, whose formats cudadownload
  # does not support. bits gives the bits of their output for each decoded pixel.
  local -A leaves=([cudasgmstereo]=GRAY16_LE) bits=([cudasgmstereo]=8)
  local decode=(filesrc "location=$bundle/video/street.mkv" ! matroskademux ! h264parse ! nvh264dec)
  local on_card='video/x-raw(memory:CUDAMemory),format='

  counted() { # NAME ELEMENT...
    local name=$1
    shift
    run "pipeline: $name" 90 env CUDA_INJECTION64_PATH="$bundle/transfers/libcounttransfers.so" \
      CUDAVISION_TRANSFERS="$work/transfers.$name.json" gst-launch-1.0 -q "${decode[@]}" "$@"
  }
  counted decode ! "${on_card}NV12" ! fakesink
  for element in "${elements[@]}"; do
    read -ra properties <<<"${setting[$element]:-}"
    format=${leaves[$element]:-NV12}
    down=(! "$on_card$format" ! cudadownload)
    [[ -z ${leaves[$element]:-} ]] || down=()
    counted "$element" ! "${on_card}NV12" ! "$element" backend=cuda "${properties[@]}" ! "$on_card$format" ! fakesink
    counted "$element-download" ! "${on_card}NV12" ! "$element" backend=cuda "${properties[@]}" "${down[@]}" \
      ! "video/x-raw,format=$format" ! filesink location="$work/gpu.frames"
    run "pipeline: $element on the CPU" 90 gst-launch-1.0 -q "${decode[@]}" ! "${on_card}NV12" ! cudadownload \
      ! video/x-raw,format=NV12 ! "$element" backend=cpu "${properties[@]}" ! "video/x-raw,format=$format" \
      ! filesink location="$work/cpu.frames"
    verdict "$element, NV12 from nvh264dec: CUDA and CPU give the same pixels" \
      "$([[ -s $work/gpu.frames ]] && cmp "$work/gpu.frames" "$work/cpu.frames" 2>&1 || echo "the files are missing or differ")"
    rm -f "$work"/{gpu,cpu}.frames
  done

  for element in "${!elements[@]}"; do elements[element]+=":${bits[${elements[element]}]:-12}"; done
  python3 "$bundle/proof.py" transfers "$bundle/video/street.json" "$work" "${elements[@]}" \
    >"$log_folder/transfers.log" 2>&1
  python3 "$bundle/tally.py" collect transfers "$log_folder/transfers.log" $? >>"$work/transfers.jsonl"
  cat "$log_folder/transfers.log"
}

stage_bench() {
  local program environment counter=$bundle/transfers/libcounttransfers.so
  : >"$results/bench.txt"
  while read -r program; do
    environment=()
    # With this library, the program counts the copies, launches and allocations of each frame.
    [[ $program != */bench_pipelines || ! -f $counter ]] || environment=(CUDA_INJECTION64_PATH="$counter")
    run "$(basename "$program")" "${BENCH_TIMEOUT:-240}" env "${environment[@]}" "$program" --json "$log_folder/$(basename "$program").json"
    # A benchmark continues without a GPU; here that counts as a failure.
    verdict "$(basename "$program") measured on the GPU" "$(grep -m 1 -iE 'not run|not measured' "$log")"
    { echo "# $(basename "$program"), $card, driver $driver"; cat "$log"; echo; } >>"$results/bench.txt"
  done < <(find "$bundle/bench" -type f -perm -u+x | sort)
  cat "$results/bench.txt"
}

# Writes the results so far: after each stage, and when a signal stops the script.
write_results() {
  tar -C "$work" -czf "$results/logs-$(IFS=- && echo "${stages[*]}").tar.gz" logs
  python3 "$bundle/proof.py" write "$bundle" "$results" "$work" "$card" "$driver"
}
# timeout puts each program into a process group of its own, so a signal to the script's group does not
# reach them.
trap 'pkill -f "^[^ ]*timeout .*$bundle/(kernels|check|bench)/"; pkill -f "^$bundle/(kernels|check|bench)/"; fail_unfinished; write_results; exit 143' TERM INT

for stage in "${stages[@]}"; do
  begin "$stage"
  "stage_$stage"
  write_results >/dev/null
done

printf '\n== summary\n'
write_results
cat "$work"/*.jsonl | python3 "$bundle/tally.py" sum --brief
