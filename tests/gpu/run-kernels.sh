# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The stages `tests` and `sanitizers` of run-gpu.sh, which sources this file. They use these variables of
# run-gpu.sh: bundle, work, log_folder, log, operations, variants, tools and cards.
# shellcheck disable=SC2154

# kernel_tests VARIANT: prints OPERATION/PROGRAM for each program to run.
kernel_tests() {
  (cd "$bundle/kernels/$1" && find "${operations[@]}" -mindepth 1 -type f -perm -u+x | sort)
}

# Each run of run-gpu.sh begins with an empty cache, so that the driver compiles all PTX again.
fresh_cache() { export CUDA_CACHE_PATH=$work/cache.$1; }

# hash_cases VARIANT: computes the hashes of the seeded cases.
hash_cases() {
  fresh_cache "$1"
  in_runtime timeout "${TEST_TIMEOUT:-240}" "$bundle/kernels/$1/proof_hashes" --backend=cuda "${operations[@]/#/--operation=}" \
    >"$work/hashing.$1" 2>"$log_folder/proof_hashes.$1.log" </dev/null && mv "$work/hashing.$1" "$work/hashes.$1"
  verdict "$1 proof_hashes" "$1 proof_hashes runs" \
    "$([[ -s $work/hashes.$1 ]] || tail -n 1 "$log_folder/proof_hashes.$1.log" | grep . || echo "it ended without hashes")"
}

# compare_hashes VARIANT OPERATION...: records for each operation whether PTX gives the same hashes as machine
# code.
compare_hashes() {
  local found operation line
  found=$(python3 "$bundle/proof.py" hashes "$work/hashes.native" "$work/hashes.$1" "${@:2}" 2>&1)
  for operation in "${@:2}"; do
    line=$(grep -E "^(ok|not ok|SKIP): $operation/hashes" <<<"$found") || line="not ok: $operation/hashes: they cannot be compared"
    record "$1 $operation/hashes" 0 <<<"$line" >/dev/null
  done
  echo "$found" | tee "$log_folder/hashes.$1.log"
}

# shards_of VARIANT PROGRAM MAX TESTS: prints the number of shards of a program: one for each TESTS tests, at
# most MAX. Fails if the program cannot list its tests.
shards_of() {
  local tests
  # There must not be more shards than tests, because compute-sanitizer prints no summary for a program that
  # runs no test.
  tests=$(in_runtime "$bundle/kernels/$1/$2" --gtest_list_tests 2>/dev/null </dev/null) || return
  tests=$((($(grep -c '^  ' <<<"$tests") + $4 - 1) / $4))
  echo $((tests < $3 ? tests : $3))
}

# kernel_shards VARIANT: prints PROGRAM SHARD SHARDS for each process that runs kernel tests. GoogleTest
# distributes a program's tests to its shards.
kernel_shards() {
  local program shard shards
  while read -r program; do
    shards=$(shards_of "$1" "$program" 16 24) || shards=1
    for ((shard = 0; shard < shards; ++shard)); do echo "$program $shard $shards"; done
  done < <(kernel_tests "$1")
}

# kernel_variant VARIANT CASES SHARD...: runs shards of a variant's tests. A SHARD is a line of kernel_shards.
kernel_variant() {
  local variant=$1 shard program shards
  export CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_CASES=$2
  # The tests of the CPU backend are the same in all variants, so only native runs them.
  [[ $variant == native ]] || export GTEST_FILTER=${GTEST_FILTER:--*CpuEqualsDefinition*}
  fresh_cache "$variant"
  for shard in "${@:3}"; do
    read -r program shard shards <<<"$shard"
    await_turn "${#variants[@]}" # the variants run at the same time
    GTEST_SHARD_INDEX=$shard GTEST_TOTAL_SHARDS=$shards \
      run "$(in_shards "$variant $program" "$shard" "$shards")" "${TEST_TIMEOUT:-240}" "$bundle/kernels/$variant/$program" &
  done
  wait
}

stage_tests() {
  local cases=${CUDAVISION_TEST_CASES:-3000} variant operation compared=() planned=(native\ proof_hashes) shard program programs
  local -A processes=()
  for variant in "${variants[@]}"; do
    processes[$variant]=$(kernel_shards "$variant")
    while read -r program shard; do
      # shellcheck disable=SC2086
      planned+=("$(in_shards "$variant $program" $shard)")
    done <<<"${processes[$variant]}"
    [[ $variant != native ]] || continue
    compared+=("$variant")
    planned+=("$variant proof_hashes")
    for operation in "${operations[@]}"; do planned+=("$variant $operation/hashes"); done
  done
  plan "${planned[@]}"
  # The hashes come first, because every proof needs them.
  for variant in native "${compared[@]}"; do hash_cases "$variant" & done
  wait
  for variant in "${compared[@]}"; do compare_hashes "$variant" "${operations[@]}"; done
  for variant in "${variants[@]}"; do
    mapfile -t programs <<<"${processes[$variant]}"
    kernel_variant "$variant" "$([[ $variant == native ]] && echo "$cases" || echo $((cases / 10 + 1)))" "${programs[@]}" &
  done
  wait
}

# sanitize_shard SANITIZER TOOL PROGRAM SHARD: runs one shard of a program's tests.
sanitize_shard() {
  local sanitizer=$1 tool=$2 program=$3 options=() name clean
  # API errors are not reported, because one test requests more memory than exists and expects the error.
  [[ $tool != memcheck ]] || options=(--leak-check full --report-api-errors no)
  name="$tool $program $(($4 + 1)) of $shards"
  export GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$4
  # Under a sanitizer, most of the time is spent on the GPU. If there are several GPUs, each gets some of the shards.
  export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-$(($4 % cards))}
  run "$name" "${SANITIZER_TIMEOUT:-900}" "$sanitizer" --tool "$tool" --error-exitcode 99 "${options[@]}" "$bundle/kernels/native/$program"
  if never_on_card "$log"; then
    skip "$name verdict" "its tests do not use the GPU"
    return
  fi
  # Without the tool's summary, nothing was checked.
  clean=$(grep -cE '(ERROR SUMMARY: 0 errors|RACECHECK SUMMARY: 0 hazards)' "$log")
  verdict "$name verdict" "$name found nothing" \
    "$([[ $clean -gt 0 ]] || { grep -E 'SUMMARY|Error|not supported' "$log" || echo 'no summary'; } | tail -n 1)"
}

stage_sanitizers() {
  local sanitizer tool program programs shard shards waiting=() planned=()
  sanitizer=$(PATH=$PATH:$(printf '%s:' /usr/local/cuda*/bin) command -v compute-sanitizer)
  if [[ -z $sanitizer ]]; then
    verdict compute-sanitizer "there is a compute-sanitizer" "it is neither on PATH nor in /usr/local/cuda*/bin; install it from the CUDA toolkit"
    return
  fi
  export CUDAVISION_TEST_BACKEND=cuda CUDAVISION_TEST_CASES=${SANITIZER_CASES:-8}
  local pixels=${SANITIZER_PIXELS:-20000}
  # compute-sanitizer cannot check the CPU backend. Tests that count allocations, detect waits of the host or
  # change parameters are also omitted, because they launch the kernels of other tests dozens of times or on large
  # frames, which takes minutes under racecheck.
  export GTEST_FILTER=${GTEST_FILTER:-*Cuda*:*OnCard.Small*-*NothingIsAllocated*:*AllocateNothing*:*RunOnlyEnqueues*:*ParametersChange*}
  mapfile -t programs < <(kernel_tests native)
  for tool in "${tools[@]}"; do
    for program in "${programs[@]}"; do
      # racecheck takes longest, so its shards are smaller.
      shards=$(shards_of native "$program" "$([[ $tool == racecheck ]] && echo 16 || echo 4)" 1) || planned+=("$tool $program")
      for ((shard = 0; shard < shards; ++shard)); do
        waiting+=("$tool $program $shard $shards")
        planned+=("$tool $program $((shard + 1)) of $shards"{,' verdict'})
      done
    done
  done
  plan "${planned[@]}"
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
