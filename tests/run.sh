#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The test command: installs what is missing, builds, and runs everything that this machine can run.
set -uo pipefail

usage() {
  cat <<'END'
usage: tests/run.sh [--quick] [-D MESON-OPTION]...

Builds and tests, each in a folder of its own under build-tests/:
  default      what this machine can build, with the CUDA kernels where there is nvcc
  cpu          the build without the CUDA toolkit
  sanitized    the CPU code under AddressSanitizer and UndefinedBehaviorSanitizer
  threads      the protocols between threads under ThreadSanitizer
and looks at the built plug-in itself. Ends with the line `N passed, N failed, N skipped`; what was
skipped is listed above it with the reason. Exits with 1 where anything failed.

  --quick      the default build only
  -D NAME=VALUE, -DNAME=VALUE
               an option for meson setup, for example -Dwerror=true or -Dcuda-archs=90
               (meson_options.txt lists the project's own)
  -h, --help   this text

Missing Debian packages are installed when run as root or where sudo asks for no password; otherwise
the command to run is printed. Where all is installed, no network is needed.

Environment: CUDA_HOME, a CUDA toolkit besides those on PATH and in /usr/local/cuda*;
CUDAVISION_TEST_CASES, how many random cases each kernel test tries.
END
}

quick=no
options=()
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=yes ;;
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

cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
. scripts/setup.sh

install_missing "${packages_build[@]}" "${packages_run[@]}" "${packages_pictures[@]}" "${packages_test[@]}"
find_nvcc || true
if [[ -n $nvcc ]]; then
  say "Using $nvcc ($(nvcc_version "$nvcc"))"
else
  say "No CUDA toolkit: building for the CPU only"
fi

results=build-tests/results.jsonl
mkdir -p build-tests
: >"$results"

record_failure() { # NAME WHY
  python3 -c 'import json, sys
print(json.dumps({"name": sys.argv[1], "passed": 0, "failed": [sys.argv[2]], "skipped": []}))' "$1" "$2" >>"$results"
}

# run NAME PROGRAM...: one program outside meson, its output kept and counted.
run() {
  local name=$1 log=build-tests/${1//[^a-z0-9]/-}.log status=0
  shift
  "$@" </dev/null >"$log" 2>&1 || status=$?
  python3 tests/tally.py collect "$name" "$log" "$status" >>"$results"
  [[ $status -eq 0 || $status -eq 77 ]] || tail -n 40 "$log" >&2
}

# programs_of FOLDER SUITE: the programs of that suite of tests, as ninja calls them.
programs_of() {
  meson introspect --tests "build-tests/$1" | python3 -c '
import json, os, sys
for test in json.load(sys.stdin):
    if any(suite.split(":")[-1] == sys.argv[2] for suite in test["suite"]):
        print(os.path.relpath(test["cmd"][0], sys.argv[1]))' "$PWD/build-tests/$1" "$2"
}

# build FOLDER [OPTION...]: false, and one failure counted, where it does not build. Where suite is
# set, only that suite's programs.
build() {
  local dir=build-tests/$1 targets=()
  shift
  printf '\n== %s\n' "$dir $*"
  if ! (configure "$dir" -Dtests=enabled "$@" "${options[@]}"); then
    record_failure "$dir" "meson could not configure it"
    return 1
  fi
  if [[ -n ${suite:-} ]]; then
    mapfile -t targets < <(programs_of "$(basename "$dir")" "$suite")
  fi
  if ! ninja -C "$dir" "${targets[@]}" >"$dir/build.log" 2>&1 </dev/null; then
    grep -E '^FAILED|error|undefined reference' "$dir/build.log" | head -n 20 >&2
    complain "All that the compilers said: $dir/build.log"
    record_failure "$dir" "it does not build"
    return 1
  fi
}

# tests FOLDER [ARGUMENT OF meson test...]: runs its tests and counts each.
tests() {
  local dir=build-tests/$1 base
  shift
  base=testlog-$((++runs))
  rm -f "$dir/meson-logs/$base.json"
  meson test -C "$dir" --no-rebuild --logbase "$base" "$@" </dev/null >"$dir/$base.out" 2>&1
  local status=$?
  grep -E '^ *[0-9]+/[0-9]+ ' "$dir/$base.out"
  if [[ -s $dir/meson-logs/$base.json ]]; then
    python3 tests/tally.py meson "$(basename "$dir")" "$dir/meson-logs/$base.json" >"$dir/$base.jsonl"
    cat "$dir/$base.jsonl" >>"$results"
    if ! grep -q '"failed": \["' "$dir/$base.jsonl"; then
      [[ $status -eq 0 ]] || record_failure "$dir" "meson test ended with status $status"
    else
      say "Full output of the failed tests: $dir/meson-logs/$base.txt"
    fi
  else
    cat "$dir/$base.out" >&2
    record_failure "$dir" "no test ran"
  fi
}
runs=0

has_cuda() { grep -q '"cuda"' "build-tests/$1/meson-info/intro-compilers.json"; }

if build default -Dbenchmarks=enabled; then
  tests default
  if nvidia_usable && has_cuda default; then
    printf '\n== the elements on the card\n'
    CUDAVISION_TEST_BACKEND=cuda CK_FORK=no tests default --suite check --suite fuzz
  fi
  run guards tests/guards.sh build-tests/default
fi

if [[ $quick == no ]]; then
  # Without nvcc the default build is this one.
  if [[ -n $nvcc ]] && build cpu -Dcuda=disabled -Dbenchmarks=enabled; then
    tests cpu
    run "guards without the toolkit" tests/guards.sh build-tests/cpu
  fi

  # Plug-in scanning happens in the test program, since the scanner has no sanitizer runtime. GLib and
  # the plug-ins keep memory for good, which is no leak of ours: leaks are looked for in the kernel tests.
  if build sanitized -Dcuda=disabled -Dbenchmarks=disabled -Dbuildtype=debugoptimized \
    -Db_sanitize=address,undefined -Db_lundef=false; then
    export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    asan=detect_stack_use_after_return=1:allocator_may_return_null=1
    # The sanitizers look for bad memory rather than for rare results: fewer cases are enough.
    ASAN_OPTIONS=detect_leaks=1:$asan CUDAVISION_TEST_CASES=${CUDAVISION_TEST_CASES:-60} \
      tests sanitized --suite kernels --timeout-multiplier 10
    ASAN_OPTIONS=detect_leaks=0:$asan GST_REGISTRY_FORK=no \
      tests sanitized --suite check --suite fuzz --timeout-multiplier 10
    unset UBSAN_OPTIONS
  fi

  # Only what waits for other threads by its own protocol; TBB's is not understood by ThreadSanitizer.
  if suite=threads build threads -Dcuda=disabled -Dbenchmarks=disabled -Dbuildtype=debugoptimized \
    -Db_sanitize=thread -Db_lundef=false; then
    TSAN_OPTIONS=halt_on_error=1 tests threads --suite threads --timeout-multiplier 10
  fi
fi

printf '\n'
if grep -q 'not proven for this tree' "$results"; then
  shout "GPU half not proven for this tree: tests/gpu/proof.json is missing or was made from other sources." \
    "What the GPU computes was not checked by this run. docs/testing.md, \"On a GPU host\", says how to do it."
fi
python3 tests/tally.py sum "$results"
