# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The stages of run-gpu.sh that need two GPUs. They use these variables of run-gpu.sh: the folders bundle, results and
# work, the stage, the log of the last program, the number of cards and the options of benchmarks.
# shellcheck disable=SC2034,SC2154

# The element tests that need two GPUs, and the number of processes that share each program's tests.
two_gpu_filter='_gpus?$'
declare -A two_gpu_shards=([check_cuda]=7 [check_stereo_memory]=3)

# two_gpu_test WAY SECONDS PROGRAM SHARD [COMMAND...]: runs one shard of a program's tests for two GPUs, under COMMAND.
two_gpu_test() {
  local way=$1 program=$3 name
  name="$way $(in_shards "$program" "$4" "${two_gpu_shards[$program]}")"
  CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_FILTER=$two_gpu_filter CUDAVISION_TEST_SHARD=$4 \
    CUDAVISION_TEST_SHARDS=${two_gpu_shards[$program]} CK_FORK=no G_DEBUG=fatal-criticals \
    run "$name" "$2" "${@:5}" "$bundle/check/$program"
  [[ $way != memcheck ]] || verdict "$name verdict" "$name found nothing" \
    "$(grep -q 'ERROR SUMMARY: 0 errors' "$log" || { grep 'ERROR SUMMARY' "$log" || echo 'no summary'; } | tail -n 1)"
}

# two_gpu_tests WAY SECONDS [COMMAND...]: runs all two-GPU tests in parallel. The names of their results begin with WAY.
two_gpu_tests() {
  local program shard
  for program in "${!two_gpu_shards[@]}"; do
    for ((shard = 0; shard < two_gpu_shards[$program]; ++shard)); do
      two_gpu_test "$1" "$2" "$program" "$shard" "${@:3}" &
    done
  done
  wait
}

# figures NAME: adds the output of the last program to bench.txt.
figures() { { echo "# $1"; cat "$log"; echo; } >>"$results/bench.txt"; }

# has_two_gpus: succeeds, or records that the stage is skipped.
has_two_gpus() {
  [[ $cards -ge 2 ]] || { skip "$stage" "this host has fewer than two GPUs"; return 1; }
}

hide_peers=(env "LD_PRELOAD=$bundle/libhidepeers.so")

stage_cards() {
  has_two_gpus || return 0
  local way program shard planned=() sanitizer
  sanitizer=$(PATH=$PATH:$(printf '%s:' /usr/local/cuda*/bin) command -v compute-sanitizer)
  for way in peers 'no peers' memcheck; do
    for program in "${!two_gpu_shards[@]}"; do
      for ((shard = 0; shard < two_gpu_shards[$program]; ++shard)); do
        planned+=("$way $(in_shards "$program" "$shard" "${two_gpu_shards[$program]}")")
        [[ $way != memcheck ]] || planned+=("${planned[-1]} verdict")
      done
    done
  done
  plan "${planned[@]}"
  two_gpu_tests peers 60
  two_gpu_tests 'no peers' 60 "${hide_peers[@]}"
  two_gpu_tests memcheck 90 "${sanitizer:-compute-sanitizer}" --tool memcheck --error-exitcode 99 --report-api-errors no
}

stage_card-figures() {
  has_two_gpus || return 0
  plan bench_pipelines{,' on the GPU',' without peer access'} archive
  { nvidia-smi topo -m; nvidia-smi topo -p2p r; } 2>&1 | tee "$results/bench.txt"
  bench_options=(--filter '^copy|cuda-device-id' --seconds 0.5)
  BENCH_TIMEOUT=150 bench bench_pipelines "$bundle/bench/bench_pipelines"
  run 'bench_pipelines without peer access' 40 "${hide_peers[@]}" "$bundle/bench/bench_pipelines" \
    --filter 'id=0 ! .*id=1' --seconds 0.5
  figures 'bench_pipelines without peer access'

  # Ray's programs and the host's Python use the bundle's libraries only if the host lacks them.
  run archive 150 env "LD_LIBRARY_PATH=/usr/lib/$(uname -m)-linux-gnu:$bundle/runtime/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
    "PYTHONPATH=$bundle/python" "GI_TYPELIB_PATH=$bundle/python/typelibs" RAY_AUTH_MODE=disabled \
    python3 "$bundle/archive_on_gpus.py" "$bundle/pipelines/archive.py" "$bundle/video/street.mkv" "$work/archive"
  figures archive
  cat "$results/bench.txt"
}
