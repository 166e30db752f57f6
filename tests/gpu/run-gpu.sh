#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Runs the programs that bundle.sh or bundle-cards.sh collected, on a GPU host. This script is part of the bundle.
set -uo pipefail

usage() {
  cat <<'END'
usage: bash run-gpu.sh [--results FOLDER] [--operations LIST] [--variants LIST] [--tools LIST]
                       [--group NAME] [--filter REGEX] STAGE...

  tests        the kernel tests as machine code, as PTX of compute_75 and as PTX of compute_80, and the
               hashes of the seeded cases
  sanitizers   the kernel tests under compute-sanitizer: memcheck, racecheck, initcheck, synccheck
  check        the element tests with backend=cuda
  check13      the element tests with the GStreamer of Debian 13, if the bundle was made with --debian13
  transfers    the copies between host and GPU, counted while video goes from nvh264dec through each
               element to cudadownload
  bench        the benchmarks
  all          all of these stages
  cards        the element tests that need two GPUs, with and without peer access, and under memcheck
  card-figures pipelines on one GPU and on two, and archive.py, for bundles of bundle-cards.sh

  --operations LIST   the operations that tests and sanitizers run, separated by commas: folders of
                      kernels/native, such as sgm,integral (default: all). proof.json keeps its records
                      of other operations.
  --variants LIST     the variants that tests run: native, ptx75, ptx80 (default: all)
  --tools LIST        the tools that sanitizers run: memcheck, racecheck, initcheck, synccheck (default:
                      all). If the sources are unchanged, the records of other tools remain.
  --group NAME        the benchmarks that bench runs: one group of rows, such as blur
  --filter REGEX      the benchmarks that bench runs: rows whose names contain a match
  --results FOLDER    the folder for the results (default: results/ in the folder of this script)

The script continues after a failure and then exits with 1. The results are proof.json, which covers all
stages that have run with this FOLDER so far, results.json with all counts, bench.txt and bench_*.json with
the figures, and the logs, in logs/STAGE until the stage ends and then in logs-STAGE.tar.gz. A stage that
runs again replaces its earlier results. Results are written as each program ends. If a stage is stopped,
its unfinished results count as failed.

Environment:
  GTEST_FILTER           the kernel tests to run
  CUDAVISION_TEST_CASES  the number of random cases of each kernel test (default 3000; a tenth as PTX)
  SANITIZER_CASES        the number of cases under the sanitizers (default 8, but at least one of each layout)
  SANITIZER_PIXELS       the largest frame under the sanitizers (default 20000; a fifth of it under
                         racecheck, which is much slower)
  TEST_TIMEOUT, SANITIZER_TIMEOUT, BENCH_TIMEOUT
                         the seconds for one program, or one of the processes that share its tests
                         (default 240, 900, 900)
END
}

bundle=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
results=$bundle/results
operations=()
variants=(native ptx75 ptx80)
tools=(racecheck memcheck initcheck synccheck) # the slowest first
bench_options=()
stages=()

# choose NAME LIST: reduces the array NAME to the entries in the comma-separated list.
choose() {
  local -n all=$1
  local entry chosen=() wanted
  IFS=, read -ra wanted <<<"$2"
  for entry in "${wanted[@]}"; do
    [[ " ${all[*]} " == *" $entry "* ]] || {
      echo "run-gpu.sh: \"$entry\" is not one of the $1: ${all[*]}" >&2
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
    --group | --filter)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      bench_options+=("$1" "$2")
      shift
      ;;
    tests | sanitizers | check | check13 | transfers | bench | cards | card-figures) stages+=("$1") ;;
    all) stages+=(tests sanitizers check check13 transfers bench) ;;
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
[[ ${#operations[@]} -gt 0 || ! -d $bundle/kernels ]] || mapfile -t operations < <(cd "$bundle/kernels/native" && find . -mindepth 1 -type d -printf '%P\n' | sort)
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

# edition: the folder of the GStreamer in use, with the plug-in and the programs built for it. start: the
# command that starts these programs if the runtime has its own glibc.
edition=$bundle
start=()
with_gstreamer() { # EDITION COMMAND...: runs a function with the GStreamer in the folder EDITION
  local edition=$1 start=("$1/runtime/bin/run")
  "${@:2}"
}

# Runs a command in the environment of the GStreamer in use.
in_runtime() { (
  # shellcheck disable=SC1091
  . "$edition/runtime/env.sh"
  export GST_PLUGIN_PATH=$edition/plugin GST_REGISTRY_1_0=$work/registry.${edition##*/}.bin
  exec "$@"
); }

# shellcheck source=tests/gpu/run-records.sh
. "$bundle/run-records.sh"
# shellcheck source=tests/gpu/run-kernels.sh
. "$bundle/run-kernels.sh"
# shellcheck source=tests/gpu/run-cards.sh
. "$bundle/run-cards.sh"

# await_turn THREADS: waits until another program with this number of threads may start. Tests spend most of
# their time on the host, so its processors limit how many programs run at the same time.
await_turn() {
  local threads=$1
  while [[ $(jobs -rp | wc -l) -ge $(( ($(nproc) + threads - 1) / threads )) ]]; do wait -n; done
}

# in_shards NAME [SHARD SHARDS]: prints the name of a program's result, or of one shard's result if several
# processes share the program's tests.
in_shards() {
  if [[ ${3:-1} -gt 1 ]]; then echo "$1 $(($2 + 1)) of $3"; else echo "$1"; fi
}

check() { # PROGRAM [SHARD SHARDS]
  CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_PICTURES=$bundle/pictures \
    CUDAVISION_TEST_STREET=$bundle/video/street.mkv CUDAVISION_TEST_SHARD=${2:-0} CUDAVISION_TEST_SHARDS=${3:-1} \
    CK_FORK=no G_DEBUG=fatal-criticals \
    run "$(in_shards "$(basename "$1")" "${@:2}")" "${TEST_TIMEOUT:-240}" "${start[@]}" "$1"
}

# Slow programs, and the number of processes that share each program's tests.
declare -A check_shards=([check_cuda]=8 [check_faults]=8 [check_overlap_pools]=8 [check_stereo_mount_streams]=6)

stage_check() {
  local program programs planned=() alone=(check_states check_leaks) # these measure how much GPU memory is in use
  local shard shards waiting=()
  mapfile -t programs < <(find "$edition/check" -type f -perm -u+x ! -name check_leaks ! -name check_states -printf '%f\n' | sort)
  for program in "${programs[@]}"; do
    shards=${check_shards[$program]:-1}
    for ((shard = 0; shard < shards; ++shard)); do
      waiting+=("$program $shard $shards")
      planned+=("$(in_shards "$program" "$shard" "$shards")")
    done
  done
  plan "${planned[@]}" "${alone[@]}"
  for shard in "${waiting[@]}"; do
    read -r program shard shards <<<"$shard"
    await_turn 2
    check "$edition/check/$program" "$shard" "$shards" &
  done
  wait
  for program in "${alone[@]}"; do check "$edition/check/$program"; done
}

stage_check13() {
  if [[ -d $bundle/debian13 ]]; then
    with_gstreamer "$bundle/debian13" stage_check
  else
    skip "$stage" "the bundle was made without --debian13"
  fi
}

stage_transfers() {
  if [[ ! -f $bundle/transfers/libcounttransfers.so ]]; then
    skip "$stage" "the bundle was made without CUPTI"
    return
  fi
  local elements element properties format down found
  mapfile -t elements < <(in_runtime timeout 60 gst-inspect-1.0 cudavision 2>/dev/null | sed -n 's/^  \(cuda[a-z0-9]*\): .*/\1/p')
  if [[ ${#elements[@]} -eq 0 ]]; then
    plan transfers
    verdict transfers "the elements are found" "gst-inspect-1.0 cudavision shows none"
    return
  fi
  # These settings need so little work that the CPU backend finishes in time.
  local -A setting=([cudadenoise]='search-size=5 patch-size=3' [cudaintegral]='output=mean'
    [cudasgmstereo]='frame-packing=side-by-side num-disparities=64 diagnostics-interval=0')
  # Input and output are NV12, except for the elements in leaves, whose output formats cudadownload does not
  # support. bits has the bits that these elements output for each decoded pixel.
  local -A leaves=([cudaintegral]=GRAY8 [cudasgmstereo]=GRAY16_LE [cudathreshold]=GRAY8)
  local -A bits=([cudaintegral]=8 [cudasgmstereo]=8 [cudathreshold]=8)
  local decode=(filesrc "location=$bundle/video/street.mkv" ! matroskademux ! h264parse ! nvh264dec)
  local on_card='video/x-raw(memory:CUDAMemory),format='

  counted() { # NAME ELEMENT...
    local name=$1
    shift
    run "pipeline: $name" 90 env CUDA_INJECTION64_PATH="$bundle/transfers/libcounttransfers.so" \
      CUDAVISION_TRANSFERS="$work/counted.json" gst-launch-1.0 -q "${decode[@]}" "$@" &&
      mv "$work/counted.json" "$work/transfers.$name.json"
  }
  local planned=('pipeline: decode' transfers)
  for element in "${elements[@]}"; do
    planned+=("pipeline: $element"{,-download,' on the CPU'} "$element pixels")
  done
  plan "${planned[@]}"
  # Fill the registry now, so that the counts do not include a plug-in scanner.
  in_runtime gst-inspect-1.0 nvh264dec >"$log_folder/nvh264dec.log" 2>&1
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
    verdict "$element pixels" "$element, NV12 from nvh264dec: CUDA and CPU give the same pixels" \
      "$([[ -s $work/gpu.frames ]] && cmp "$work/gpu.frames" "$work/cpu.frames" 2>&1 || echo "the files are missing or differ")"
    rm -f "$work"/{gpu,cpu}.frames
  done

  for element in "${!elements[@]}"; do elements[element]+=":${bits[${elements[element]}]:-12}"; done
  found=$(python3 "$bundle/proof.py" transfers "$bundle/video/street.json" "$work" "${elements[@]}" 2>&1)
  record transfers $? <<<"$found" >/dev/null
  echo "$found" | tee "$log_folder/transfers.log"
}

bench() { # NAME PROGRAM
  local environment=() counter=$bundle/transfers/libcounttransfers.so why_not
  # With this library, bench_pipelines counts the copies, launches and allocations of each frame.
  [[ $2 != "$bundle"/bench/bench_pipelines || ! -f $counter ]] || environment=(env CUDA_INJECTION64_PATH="$counter")
  if run "$1" "${BENCH_TIMEOUT:-900}" "${environment[@]}" "${start[@]}" "$2" "${bench_options[@]}" --json "$results/${1// /-}.json"; then
    # Benchmarks also succeed without a GPU, but here that is a failure.
    why_not=$(grep -m 1 -iE 'not run|not measured' "$log")
  else
    why_not='it failed'
  fi
  verdict "$1 on the GPU" "$1 measured on the GPU" "$why_not"
  { echo "# $1, $card, driver $driver"; cat "$log"; echo; } >>"$results/bench.txt"
}

# has_rows PROGRAM: succeeds if the options select rows of the program.
has_rows() {
  [[ ${#bench_options[@]} -gt 0 ]] || return 0
  local found
  found=$(in_runtime "${start[@]}" "$1" "${bench_options[@]}" --list 2>&1 </dev/null) || {
    echo "${1##*/} is skipped: $(head -n 1 <<<"$found")"
    return 1
  }
}

stage_bench() {
  local program names=() chosen=()
  while read -r program; do
    has_rows "$program" || continue
    names+=("${program##*/}")
    chosen+=("$program")
  done < <(find "$bundle/bench" -type f -perm -u+x | sort)
  program=$bundle/debian13/bench/bench_pipelines
  if [[ -f $program ]] && with_gstreamer "$bundle/debian13" has_rows "$program"; then
    names+=('bench_pipelines with GStreamer 1.26')
    chosen+=("$program")
  fi
  if [[ ${#names[@]} -eq 0 ]]; then
    verdict bench "there are rows to measure" "no benchmark has a row for ${bench_options[*]}"
    return
  fi

  plan "${names[@]}" "${names[@]/%/ on the GPU}"
  : >"$results/bench.txt"
  for program in "${!chosen[@]}"; do
    if [[ ${chosen[program]} == "$bundle"/debian13/* ]]; then
      with_gstreamer "$bundle/debian13" bench "${names[program]}" "${chosen[program]}"
    else
      bench "${names[program]}" "${chosen[program]}"
    fi
  done
  cat "$results/bench.txt"
}

for stage in "${stages[@]}"; do
  begin "$stage"
  trap stopped TERM INT HUP
  "stage_$stage"
  write_results >/dev/null || no_space
  end_stage
done

printf '\n== summary\n'
write_results || no_space
python3 "$bundle/proof.py" results "$work" | python3 "$bundle/tally.py" sum --brief
