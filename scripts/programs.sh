# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions for the scripts that build programs for a GPU host and collect them in a folder. Source this
# file after scripts/setup.sh, whose variables it uses.
# shellcheck disable=SC2154

# programs BUILD FOLDER: prints the programs that the build makes from tests/FOLDER. Each line also has the folder of the
# program's first source, relative to tests/FOLDER; empty if the source is directly in or outside tests/FOLDER.
programs() {
  meson introspect --targets "$1" | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["type"] == "executable" and target["defined_in"].endswith(f"/tests/{sys.argv[1]}/meson.build"):
        source = target["target_sources"][0]["sources"][0]
        print(target["filename"][0], os.path.dirname(source.split(f"/tests/{sys.argv[1]}/")[-1]) if "/tests/" + sys.argv[1] in source else "")' "$2"
}

# configure_for_gpu BUILD ARCHS [OPTION...]: configures a build of the tests and benchmarks for these GPU architectures.
configure_for_gpu() {
  say "Building $1 for $2"
  configure "$1" -Dcuda=enabled -Dcuda-archs="$2" -Dtests=enabled -Dbenchmarks=enabled -Dgpu-tests=enabled "${@:3}"
}

# targets_of BUILD FOLDER: prints the ninja targets of the programs of tests/FOLDER. The targets are paths relative to the
# build folder.
targets_of() { programs "$1" "$2" | sed "s|^$PWD/$1/||; s| .*||"; }

# compile BUILD [TARGET...]: builds these targets, or everything.
compile() {
  ninja -C "$1" "${@:2}" >"$1/build.log" 2>&1 </dev/null || {
    tail -n 40 "$1/build.log" >&2
    die "$1 does not build; the compiler's messages are above."
  }
}

# collect BUILD SOURCE-FOLDER DESTINATION: copies the programs that a build has made from tests/SOURCE-FOLDER.
# Kernel tests get a folder for each operation. Leaves out programs that need OpenCV, because they compare only
# CPU results with OpenCV's.
collect() {
  local program folder_of_source destination libraries
  while read -r program folder_of_source; do
    [[ -f $program ]] || continue # not every program is built
    libraries=$(ldd "$program")
    # With pipefail, a pipe into grep -q would sometimes fail, because grep exits at the first match, and ldd is
    # then killed while it prints more lines.
    if [[ $libraries == *libopencv* ]]; then
      say "Leaving out $(basename "$program"), which only compares CPU results with OpenCV's"
      continue
    fi
    destination=$3
    [[ $2 != kernels ]] || destination+=/$folder_of_source
    mkdir -p "$destination"
    strip -o "$destination/$(basename "$program")" "$program"
  done < <(programs "$1" "$2")
  [[ -n $(ls "$3" 2>/dev/null) ]] || die "$1 has no program of tests/$2 to collect: see $1/build.log."
}

# collect_plugin BUILD DESTINATION: creates the folder DESTINATION and copies the stripped plug-in into it.
collect_plugin() {
  mkdir "$2"
  strip -o "$2/libgstcudavision.so" "$1/gst/libgstcudavision.so"
}

refuse_arguments() {
  printf '%s: %s\n\n' "$0" "$1" >&2
  usage >&2
  exit 2
}

# read_options VALUES FLAGS COUNT ARGUMENT...: parses the options of a script that defines the function usage. VALUES
# lists the options with a value: --NAME VALUE sets the variable NAME to VALUE. FLAGS lists the options without a value:
# --NAME sets NAME to yes. COUNT arguments must follow the options; they become the array `arguments`.
read_options() {
  local values=" $1 " flags=" $2 " count=$3 name
  shift 3
  while [[ ${1:-} == -* ]]; do
    name=${1#--}
    if [[ $1 == -h || $name == help ]]; then
      usage
      exit 0
    elif [[ $values == *" $name "* && $# -ge 2 ]]; then
      printf -v "$name" %s "$2"
      shift
    elif [[ $values == *" $name "* ]]; then
      refuse_arguments "$1 needs a value"
    elif [[ $flags == *" $name "* ]]; then
      printf -v "$name" yes
    else
      refuse_arguments "unknown option \"$1\""
    fi
    shift
  done
  [[ $# -eq $count ]] || refuse_arguments "$# arguments after the options instead of $count"
  # shellcheck disable=SC2034
  arguments=("$@")
}

# need_toolkit PACKAGE...: installs the packages for building and running, and these; finds the CUDA toolkit or ends the script.
need_toolkit() {
  install_missing "${packages_build[@]}" "${packages_run[@]}" binutils "$@"
  find_nvcc || die "A bundle needs nvcc of CUDA $oldest_cuda or newer, which is neither on PATH nor in CUDA_HOME or /usr/local/cuda*. Install it, or set CUDA_HOME, and try again."
}

# preload_library SOURCE DESTINATION [ARGUMENT...]: builds a library for LD_PRELOAD.
preload_library() {
  g++ -std=c++20 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I. "$1" "${@:3}" -o "$2"
}

# encode_street FILE FRAMES KBITS: encodes the beginning of the street video as H.264.
encode_street() {
  gst-launch-1.0 -q filesrc location=/usr/share/doc/opencv-doc/examples/data/vtest.avi ! decodebin ! videoconvert \
    ! identity eos-after=$(($2 + 1)) ! video/x-raw,format=I420 ! x264enc bitrate="$3" key-int-max=30 \
    speed-preset=medium ! video/x-h264,profile=main ! h264parse ! matroskamux ! filesink location="$1" </dev/null
}

# describe_sources FOLDER: writes this tree's digests, proof and toolkit version, which proof.py reads, into a bundle.
describe_sources() {
  python3 tests/gpu/check_proof.py --digests >"$1/digests.json"
  [[ ! -f tests/gpu/proof.json ]] || cp tests/gpu/proof.json "$1/" # keeps the records that the run of this bundle does not replace
  "$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' >"$1/toolkit"
}
