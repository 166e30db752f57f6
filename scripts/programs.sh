# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions for the scripts that build programs for a GPU host and collect them in a folder. Source this
# file after scripts/setup.sh.

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
