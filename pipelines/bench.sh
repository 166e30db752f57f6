#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Measures the operations on the CPU of this machine and, if there is one, on its GPU. Prints a table of the times and plots
# it. For comparison, it also measures a copy of the same bytes and, if OpenCV is installed, OpenCV on the CPU.
#
#   pipelines/bench.sh [--quick] [--markdown] [--machine NAME] [--build FOLDER] [OUT]
#
# Writes the plot to OUT (.svg; default: bench.svg), and the figures to a .json file of the same name, which
# scripts/figures.py reads. Without --build, the script first installs missing packages (as root or if sudo needs no
# password; otherwise it prints the command) and builds the benchmarks in build-bench/. OpenCV is in Debian's package
# libopencv-dev. The script takes some minutes; run nothing else meanwhile.
#
#   --quick      measure only briefly on the CPU
#   --markdown   print the table as Markdown, as in docs/performance.md
#   --machine    name of this machine in the plot (default: its number of threads and its processor)
#   --build      use the benchmarks of this build folder, which was set up with -Dbenchmarks=enabled
set -euo pipefail
# shellcheck source=env.sh
. "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/env.sh"
option=([--quick]=no [--markdown]=no [--machine]='' [--build]='')
read_arguments 0 1 "$@"
out=${arguments[0]:-bench.svg}
check_output "$out" svg
figures=${out%.*}.json

build=${option[--build]}
if [[ -n $build ]]; then
  [[ -x $build/tests/bench/bench_kernels ]] ||
    die "$build: there is no bench_kernels in tests/bench/; set this build folder up with -Dbenchmarks=enabled and run ninja"
else
  build=$(dirname "$pipelines")/build-bench
  install_missing "${packages_build[@]}" "${packages_bench[@]}"
  cuda=(-Dcuda=disabled)
  if nvidia_card && find_nvcc; then
    cuda=()
  fi
  targets=(tests/bench/bench_kernels)
  (cd "$(dirname "$pipelines")" && configure "$build" -Dbenchmarks=enabled "${cuda[@]}")
  # Meson adds bench_opencv only if it has found OpenCV.
  [[ $(meson introspect --targets "$build") != *'"bench_opencv"'* ]] || targets+=(tests/bench/bench_opencv)
  say "Building in $build"
  ninja -C "$build" "${targets[@]}" >"$build/build.log" 2>&1 || {
    tail -n 40 "$build/build.log" >&2
    die "The benchmarks do not build; see the compiler's messages above."
  }
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rows='^(copy|equalise|blur (5x5|15x15|31x31|sigma 30)|sum uint32|mean radius 7|bradley radius 50|denoise 21x21 7x7|stereo 128 disparities 8 paths)/GRAY8/(640x480|1920x1080)(/natural)?(/|$)'
# Repeats each measurement. figures.py keeps the shortest time, because other load can only make a time longer.
effort=(--benchmark_min_time=0.02 --benchmark_repetitions=20)
[[ ${option[--quick]} == no ]] || effort=(--benchmark_min_time=0.001)

# measure WHAT PROGRAM ARGUMENT...: runs a benchmark program and writes its output to a log. The message names WHAT.
measure() {
  say "Measuring $1" >&2
  "$build/tests/bench/$2" "${@:3}" >"$scratch/log" 2>&1 || {
    tail -n 5 "$scratch/log" >&2
    die "$2 failed; its messages are above."
  }
}
collected=()
measure "the CPU" bench_kernels --cpu --benchmark_filter="$rows" "${effort[@]}" --json "$scratch/cpu.json"
collected+=(--kernels "$scratch/cpu.json")
if nvidia_usable; then
  measure "the GPU" bench_kernels --cuda --json "$scratch/cuda.json"
  collected+=(--kernels "$scratch/cuda.json")
fi
if [[ -x $build/tests/bench/bench_opencv ]]; then
  effort=()
  [[ ${option[--quick]} == no ]] || effort=(--quick)
  measure "OpenCV on the CPU" bench_opencv "${effort[@]}" --json "$scratch/opencv.json"
  collected+=(--opencv "$scratch/opencv.json")
else
  say "$build has no bench_opencv, so OpenCV is not measured: install Debian's package libopencv-dev, run meson setup --reconfigure $build && ninja -C $build, and measure again." >&2
fi

machine=${option[--machine]}
if [[ -z $machine ]]; then
  processor=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  machine="$(nproc) threads of ${processor:-$(uname -m)}"
fi
python3 "$(dirname "$pipelines")/scripts/figures.py" --collect "$figures" "${collected[@]}" \
  --machine "$machine"
show=("$figures" --svg "$out")
[[ ${option[--markdown]} == no ]] || show+=(--markdown)
python3 "$(dirname "$pipelines")/scripts/figures.py" "${show[@]}"
say "" "The plot: $out, the figures: $figures" >&2
