# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions for the scripts that build programs for a GPU host and collect them in a folder. Source this
# file after scripts/setup.sh, whose variables it uses.
# shellcheck disable=SC2154

# programs BUILD FOLDER: prints the programs that the build makes of tests/FOLDER, each with the folder of
# its first source below tests/FOLDER, which is named after its operation or element.
programs() {
  meson introspect --targets "$1" | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["type"] == "executable" and target["defined_in"].endswith(f"/tests/{sys.argv[1]}/meson.build"):
        source = target["target_sources"][0]["sources"][0]
        print(target["filename"][0], os.path.dirname(source.split(f"/tests/{sys.argv[1]}/")[-1]) if "/tests/" + sys.argv[1] in source else "")' "$2"
}

# configure_for_gpu BUILD ARCHS [OPTION...]
configure_for_gpu() {
  say "Building $1 for $2"
  configure "$1" -Dcuda=enabled -Dcuda-archs="$2" -Dtests=enabled -Dbenchmarks=enabled -Dgpu-tests=enabled "${@:3}"
}

# targets_of BUILD FOLDER: prints the programs of tests/FOLDER as ninja names them, by their paths in the
# build folder.
targets_of() { programs "$1" "$2" | sed "s|^$PWD/$1/||; s| .*||"; }

# compile BUILD [TARGET...]: builds these targets, or everything.
compile() {
  ninja -C "$1" "${@:2}" >"$1/build.log" 2>&1 </dev/null || {
    tail -n 40 "$1/build.log" >&2
    die "$1 does not build; the compiler's messages are above."
  }
}

# collect BUILD SOURCE-FOLDER DESTINATION: copies the programs that a build has made of tests/SOURCE-FOLDER,
# the kernel tests into a folder for each operation. Leaves out programs that need OpenCV, because they
# compare only the CPU half with it.
collect() {
  local program folder_of_source destination libraries
  while read -r program folder_of_source; do
    [[ -f $program ]] || continue # not all are built
    libraries=$(ldd "$program")
    # A pipe into grep -q would fail now and then where pipefail is set: grep leaves at the first match, and ldd
    # is then stopped while it prints the others.
    if [[ $libraries == *libopencv* ]]; then
      say "Leaving out $(basename "$program"), which needs OpenCV and compares only the CPU half with it"
      continue
    fi
    destination=$3
    [[ $2 != kernels ]] || destination+=/$folder_of_source
    mkdir -p "$destination"
    strip -o "$destination/$(basename "$program")" "$program"
  done < <(programs "$1" "$2")
  [[ -n $(ls "$3") ]] || die "$1 has no program of tests/$2"
}

# collect_plugin BUILD DESTINATION
collect_plugin() {
  mkdir "$2"
  strip -o "$2/libgstcudavision.so" "$1/gst/libgstcudavision.so"
}

refuse_arguments() {
  printf '%s: %s\n\n' "$0" "$1" >&2
  usage >&2
  exit 2
}

# read_options VALUES FLAGS COUNT ARGUMENT...: sets the variable of each option: NAME to its value for --NAME VALUE,
# if VALUES names it, and NAME to yes for --NAME, if FLAGS does. Sets the array arguments to what follows the options,
# of which there must be COUNT. The script has a function usage.
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

# need_toolkit PACKAGE...: installs these packages and finds the CUDA toolkit.
need_toolkit() {
  install_missing "${packages_build[@]}" "${packages_run[@]}" binutils "$@"
  find_nvcc || die "A bundle needs the CUDA toolkit, which this machine does not have. Install it, or set CUDA_HOME, and try again."
}

# preload_library SOURCE DESTINATION [ARGUMENT...]: builds a library that programs are started with.
preload_library() {
  g++ -std=c++20 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I. "$1" "${@:3}" -o "$2"
}

# encode_street FILE FRAMES KBITS: encodes the beginning of the street video as H.264.
encode_street() {
  gst-launch-1.0 -q filesrc location=/usr/share/doc/opencv-doc/examples/data/vtest.avi ! decodebin ! videoconvert \
    ! identity eos-after=$(($2 + 1)) ! video/x-raw,format=I420 ! x264enc bitrate="$3" key-int-max=30 \
    speed-preset=medium ! video/x-h264,profile=main ! h264parse ! matroskamux ! filesink location="$1" </dev/null
}

# describe_sources FOLDER: puts what proof.py needs to know of this tree into a bundle.
describe_sources() {
  python3 tests/gpu/check_proof.py --digests >"$1/digests.json"
  [[ ! -f tests/gpu/proof.json ]] || cp tests/gpu/proof.json "$1/" # keeps the proof of parts that are not run
  "$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' >"$1/toolkit"
}
