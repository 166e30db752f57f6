#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The test command. It installs missing packages, builds, and runs the tests that this machine can run.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/run.sh [--sanitize | --full | --suite SUITE...] [--changed] [-D MESON-OPTION]...

Builds in folders below build-tests/ and runs everything that this machine can run, with or without
a GPU:
  (no option)  the tests for every change: the plug-in, the kernel tests, the element tests, short
               fuzzing, the guards and the scripts
  --sanitize   the CPU code under AddressSanitizer and UndefinedBehaviorSanitizer, the protocols
               between threads under ThreadSanitizer; without the largest frames and the longest scenes
  --full       the tests before a change is finished: both sets above with more random cases, long
               fuzzing and soak tests, the plug-in without the CUDA toolkit, and the plug-in with link-time
               optimisation, which detects types that have two definitions; also builds the benchmarks
  --suite SUITE
               only this suite of the tests for every change: kernels, oracles, threads, check, fuzz,
               proof or guards (of the compilers' output). May be given several times; builds the plug-in
               and the programs of these suites
  --changed    run a test only if its program, the plug-in, a file that it reads, the compiler, an option or
               a library has changed since the test passed in build-tests/. Also run tests that failed,
               were interrupted or never ran
The last line is `N passed, N failed, N skipped`, and with --changed also `N unchanged since they passed`,
which counts programs, guards and scripts that were not run; the skipped tests are listed above it with the
reasons. Exits with 1 if anything failed.

  -D NAME=VALUE, -DNAME=VALUE
               pass an option to meson setup, for example -Dwerror=true or -Dcuda-archs=80
               (meson_options.txt lists the project's own options)
  -h, --help   print this text

Without an NVIDIA GPU, the CUDA kernels are compiled only with --full or -Dcuda=enabled, and for one
architecture (-Dcuda-archs=90) unless you pass another value.
Missing Debian packages are installed if this runs as root or if sudo needs no password; otherwise
the command to install them is printed. If everything is installed, no network is needed.
Ray, which one of the scripts needs, is installed from PyPI into build-tests/ray. Without it, the
tests of this script are skipped.

Environment: CUDA_HOME, a CUDA toolkit in addition to those on PATH and in /usr/local/cuda*;
CUDAVISION_TEST_CASES, the number of random cases of each kernel test.
END
}

mode=default
only=all
chosen=()
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --sanitize | --full) mode=${1#--} ;;
    --changed) only=changed ;;
    --suite)
      case ${2:-} in
        kernels | oracles | threads | check | fuzz | proof | guards) chosen+=("$2") ;;
        *)
          printf 'tests/run.sh: --suite needs kernels, oracles, threads, check, fuzz, proof or guards, not "%s"\n\n' "${2:-}" >&2
          usage >&2
          exit 2
          ;;
      esac
      shift
      ;;
    -D)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      options+=("-D$2")
      shift
      ;;
    -D?*) options+=("$1") ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      printf 'tests/run.sh: unknown argument "%s"\n\n' "$1" >&2
      usage >&2
      exit 2
      ;;
  esac
  shift
done

if [[ ${#chosen[@]} -gt 0 && $mode != default ]]; then
  printf 'tests/run.sh: --suite cannot be combined with --sanitize or --full\n\n' >&2
  usage >&2
  exit 2
fi

of_them=()
[[ $only == all ]] || of_them=(--changed)

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. scripts/setup.sh

install_missing "${packages_build[@]}" "${packages_run[@]}" "${packages_pictures[@]}" "${packages_test[@]}"
find_nvcc || true
if [[ -n $nvcc ]]; then
  say "Using $nvcc ($(nvcc_version "$nvcc"))"
else
  say "No CUDA toolkit: building for the CPU only"
fi

results=build-tests/results-$mode.jsonl
mkdir -p build-tests
: >"$results"

record_failure() { # NAME WHY
  python3 -c 'import json, sys
print(json.dumps({"name": sys.argv[1], "passed": 0, "failed": [sys.argv[2]], "skipped": []}))' "$1" "$2" >>"$results"
}

# ccache caches objects that use a precompiled header only with these settings.
export CCACHE_SLOPPINESS=${CCACHE_SLOPPINESS:-pch_defines,time_macros}

# run NAME PROGRAM...: runs a program outside of meson, keeps its output and counts its results.
run() {
  local name=$1 log=build-tests/${1//[^a-z0-9]/-}.log status=0
  shift
  "$@" </dev/null >"$log" 2>&1 || status=$?
  python3 tests/tally.py collect "$name" "$log" "$status" >>"$results"
  [[ $status -eq 0 || $status -eq 77 ]] || tail -n 40 "$log" >&2
}

# targets_of FOLDER SUITE...: prints the ninja targets of the programs that the tests in these suites run.
targets_of() {
  meson introspect --tests --targets "build-tests/$1" | python3 -c '
import json, os, sys
build, wanted = sys.argv[1], set(sys.argv[2:])
about = json.load(sys.stdin)
programs = {name for target in about["targets"] if target["type"] == "executable" for name in target["filename"]}
for test in about["tests"]:
    if wanted & {suite.split(":")[-1] for suite in test["suite"]}:
        for name in programs.intersection(test["cmd"]):
            print(os.path.relpath(name, build))' "$PWD/build-tests/$1" "${@:2}"
}

# build FOLDER [OPTION...]: builds the targets in the variable targets and the programs of the suites in the
# variable suites, or everything if both are empty. If the build fails, counts one failure and fails.
targets=() suites=()
build() {
  local name=$1 dir=build-tests/$1 wanted=("${targets[@]}")
  shift
  printf '\n== %s\n' "$dir $*"
  local started=$SECONDS
  if ! (configure "$dir" "$@" "${options[@]}"); then
    record_failure "$dir" "meson could not configure it"
    return 1
  fi
  [[ ${#suites[@]} -eq 0 ]] || mapfile -t -O "${#wanted[@]}" wanted < <(targets_of "$name" "${suites[@]}" | sort -u)
  if ! ninja -C "$dir" "${wanted[@]}" >"$dir/build.log" 2>&1 </dev/null; then
    grep -E '^FAILED|error|undefined reference' "$dir/build.log" | head -n 20 >&2
    complain "The complete output of the compilers is in $dir/build.log"
    record_failure "$dir" "it does not build"
    return 1
  fi
  printf '   built in %s s\n\n' $((SECONDS - started))
}

# tests FOLDER [--suite SUITE | --without SUITE | NAME]...: runs a build's tests with these suites or names, or all,
# counts their results and records which have passed. With --changed, only runs tests whose dependencies have changed.
tests() {
  local dir=build-tests/$1 base names started=$SECONDS timeout_factor=1
  shift
  [[ $mode != full ]] || timeout_factor=4
  base=testlog-$((++runs))
  rm -f "$dir/meson-logs/$base.json"
  if ! tests/changed.py select --"$only" --unchanged "$dir/$base.unchanged" "$dir" "$@" >"$dir/$base.names"; then
    record_failure "$dir" "tests/changed.py could not select the tests"
    return
  fi
  mapfile -t names <"$dir/$base.names"
  if [[ -s $dir/$base.unchanged ]]; then
    python3 tests/tally.py collect "$(basename "$dir")" "$dir/$base.unchanged" 0 >>"$results"
    [[ ${#names[@]} -gt 0 ]] || return 0
  fi
  meson test -C "$dir" --no-rebuild --logbase "$base" --timeout-multiplier "$timeout_factor" "${names[@]}" </dev/null >"$dir/$base.out" 2>&1
  local status=$?
  grep -E '^ *[0-9]+/[0-9]+ ' "$dir/$base.out"
  printf '   tested in %s s\n' $((SECONDS - started))
  if [[ -s $dir/meson-logs/$base.json ]]; then
    tests/changed.py record "$dir" "$dir/meson-logs/$base.json"
    python3 tests/tally.py meson "$(basename "$dir")" "$dir/meson-logs/$base.json" >"$dir/$base.jsonl"
    cat "$dir/$base.jsonl" >>"$results"
    if ! grep -q '"failed": \["' "$dir/$base.jsonl"; then
      [[ $status -eq 0 ]] || record_failure "$dir" "meson test ended with status $status"
    else
      say "The complete output of the failed tests is in $dir/meson-logs/$base.txt"
    fi
  else
    cat "$dir/$base.out" >&2
    record_failure "$dir" "no test ran"
  fi
}
runs=0

has_cuda() { grep -q "CUDA kernels *: *YES" "build-tests/$1/setup.log"; }

[[ $mode != full ]] || export CUDAVISION_TEST_FULL=1

# Debian has no package of Ray. If Ray cannot be installed, the tests that need it are skipped.
install_ray() {
  local folder=build-tests/ray
  [[ -z ${CUDAVISION_TEST_RAY:-} ]] || return 0
  "$folder/bin/python" -c 'import ray, tqdm' 2>/dev/null && return
  say "Installing Ray into $folder"
  { python3 -m venv "$folder" && "$folder/bin/pip" install --quiet --retries 1 ray tqdm; } </dev/null >"$folder.log" 2>&1 ||
    complain "Ray could not be installed; the reason is in $folder.log"
}

# Without a GPU, compiles the kernels only with --full or -Dcuda=….
choose_kernels() {
  nvidia_usable && return
  [[ $mode == full || "${options[*]}" == *-Dcuda=* ]] || options+=(-Dcuda=disabled)
  [[ "${options[*]}" == *-Dcuda-archs=* ]] || options+=(-Dcuda-archs=90)
}

run_default() {
  local benchmarks=disabled
  [[ $mode != full ]] || benchmarks=enabled
  choose_kernels
  targets=() suites=()
  build default -Dtests=enabled -Dbenchmarks=$benchmarks || return
  # The tests of the scripts mostly wait for pipelines that play in real time, so other tests run at the same time.
  install_ray
  run pipelines python3 tests/pipelines/run.py "${of_them[@]}" build-tests/default &
  # The reference definitions in the tests take most of the time, so only --full runs the usual number of cases.
  CUDAVISION_TEST_CASES=${CUDAVISION_TEST_CASES:-$([[ $mode == full ]] && echo 200 || echo 30)} tests default
  if nvidia_usable && has_cuda default; then
    printf '\n== the elements on the GPU\n'
    CUDAVISION_TEST_BACKEND=cuda CK_FORK=no tests default --suite check --suite fuzz
  fi
  run guards python3 tests/guards/run.py "${of_them[@]}" build-tests/default
  wait
}

# Runs only the chosen suites, and not a second time on the GPU as run_default does.
run_chosen() {
  choose_kernels
  local suite names=()
  for suite in "${chosen[@]}"; do names+=(--suite "$suite"); done
  targets=(gst/libgstcudavision.so) suites=("${chosen[@]}")
  build default -Dtests=enabled -Dbenchmarks=disabled || return
  CUDAVISION_TEST_CASES=${CUDAVISION_TEST_CASES:-30} tests default "${names[@]}"
}

# Without nvcc, the default build has no CUDA kernels, so this build would be the same. A plug-in without
# kernels differs only in the choice of the device, which these tests cover.
run_without_cuda() {
  [[ -n $nvcc ]] || return
  targets=(gst/libgstcudavision.so tests/check/check_{errors,properties,states}) suites=()
  if build cpu -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled; then
    tests cpu check_errors check_properties check_states
  fi
}

run_sanitizers() {
  local asan=detect_stack_use_after_return=1:allocator_may_return_null=1 long=()
  # The default run tests the largest frames and the longest scenes. With sanitizers, these would take longer than
  # all other tests together.
  if [[ $mode != full ]]; then
    export CUDAVISION_TEST_MAX_PIXELS=${CUDAVISION_TEST_MAX_PIXELS:-1048576}
    long=(--without long)
  fi
  # Each test program scans the plug-ins itself, because the scanner has no sanitizer runtime. GLib and the
  # plug-ins never free some of their memory, so only the kernel tests check for leaks. -g1 is enough for line
  # numbers in reports, and compiles in less than three quarters of the time of -g.
  targets=(gst/libgstcudavision.so) suites=(kernels check fuzz)
  if build sanitized -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dbuildtype=plain -Doptimization=1 \
    -Dcpp_args=-g1 -Db_sanitize=address,undefined -Db_lundef=false; then
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    # The sanitizers detect bad memory accesses rather than rare wrong results, so fewer cases are enough.
    ASAN_OPTIONS=detect_leaks=1:$asan CUDAVISION_TEST_CASES=${CUDAVISION_TEST_CASES:-$([[ $mode == full ]] && echo 60 || echo 22)} \
      tests sanitized --suite kernels
    ASAN_OPTIONS=detect_leaks=0:$asan GST_REGISTRY_FORK=no \
      tests sanitized --suite check --suite fuzz "${long[@]}"
    unset UBSAN_OPTIONS
  fi

  # Tests only code that synchronises threads itself, because ThreadSanitizer does not understand TBB's
  # synchronisation. Each test program scans the plug-in itself. It loads no plug-ins of the system, because
  # their libraries would cause reports, too. Deadlock detection is off, because a seek from downstream takes stream locks
  # in the opposite order, which is not a deadlock.
  targets=(gst/libgstcudavision.so) suites=(threads)
  if build threads -Dcuda=disabled -Dtests=enabled -Dbenchmarks=disabled -Dbuildtype=plain -Doptimization=1 \
    -Dcpp_args=-g1 -Db_sanitize=thread -Db_lundef=false; then
    TSAN_OPTIONS=halt_on_error=1:detect_deadlocks=0 GST_REGISTRY_FORK=no GST_PLUGIN_SYSTEM_PATH_1_0='' \
      tests threads --suite threads
  fi
}

# With link-time optimisation, the linker sees all definitions of a type at once.
run_link_time_optimisation() {
  targets=(gst/libgstcudavision.so) suites=()
  if build lto -Dcuda=disabled -Dtests=disabled -Dbenchmarks=disabled -Dbuildtype=plain -Doptimization=1 \
    -Db_lto=true -Dcpp_args=-Wodr -Dcpp_link_args='-Wodr -Werror=odr'; then
    echo "ok: no type has two definitions" >build-tests/odr.log
    python3 tests/tally.py collect "one definition" build-tests/odr.log 0 >>"$results"
  fi
}

case $mode in
  default) if [[ ${#chosen[@]} -gt 0 ]]; then run_chosen; else run_default; fi ;;
  sanitize) run_sanitizers ;;
  full)
    run_default
    run_without_cuda
    run_sanitizers
    run_link_time_optimisation
    ;;
esac

printf '\n'
if grep -q 'GPU half not proven for this tree' "$results"; then
  shout "Some parts of this tree are not proven on a GPU; the list of skipped tests names them." \
    "docs/testing.md describes how to run them on a GPU host."
fi
python3 tests/tally.py sum "$results"
