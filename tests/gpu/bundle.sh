#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a folder that runs the tests, sanitizers and benchmarks on a GPU host which has the NVIDIA
# driver but neither GStreamer nor a network: build here, copy the folder there, run run-gpu.sh in it.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/bundle.sh [--archs LIST] [--archive] FOLDER

Builds below build-gpu/ and fills FOLDER (about 300 MB). It is made anew if it is a bundle already.
  --archs LIST   GPU targets of the main build, as -Dcuda-archs takes them (default: 90)
  --archive      makes FOLDER.tar.xz as well (about 37 MB; takes 8 GB of memory)
The kernel tests are built twice more, as PTX of compute_75 and of compute_80 only, so that a newer
card executes the code of older ones, too.

Environment: CUDAVISION_STEREO_PAIRS, a folder of real stereo pairs, which go along.
END
}

archs=90
archive=no
while [[ $# -gt 0 ]]; do
  case $1 in
    --archs)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      archs=$2
      shift
      ;;
    --archive) archive=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*)
      usage >&2
      exit 2
      ;;
    *) break ;;
  esac
  shift
done
[[ $# -eq 1 ]] || { usage >&2; exit 2; }
mkdir -p "$1"
folder=$(realpath "$1")

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/setup.sh
[[ -z $(ls -A "$folder") || -f $folder/run-gpu.sh ]] || die "$folder is neither empty nor a bundle; name another folder."

install_missing "${packages_build[@]}" "${packages_run[@]}" "${packages_pictures[@]}" "${packages_test[@]}" \
  gstreamer1.0-plugins-ugly binutils
find_nvcc || die "There is no CUDA toolkit on this machine, and the bundle is about nothing else."
toolkit=$(realpath "$(dirname "$nvcc")/..")

# --- Build ------------------------------------------------------------------------------------------

# programs BUILD FOLDER: the programs that the build makes of tests/FOLDER, each with the folder of its
# first source below tests/FOLDER: its operation or element.
programs() {
  meson introspect --targets "$1" | python3 -c '
import json, os, sys
for target in json.load(sys.stdin):
    if target["type"] == "executable" and target["defined_in"].endswith(f"/tests/{sys.argv[1]}/meson.build"):
        source = target["target_sources"][0]["sources"][0]
        print(target["filename"][0], os.path.dirname(source.split(f"/tests/{sys.argv[1]}/")[-1]) if "/tests/" + sys.argv[1] in source else "")' "$2"
}

build() { # NAME ARCHS TARGET...: without targets everything
  local dir=build-gpu/$1 archs=$2
  shift 2
  say "Building $dir for $archs"
  configure "$dir" -Dcuda=enabled -Dcuda-archs="$archs" -Dtests=enabled -Dbenchmarks=enabled -Dgpu-tests=enabled
  # ninja knows its targets by their paths within the build folder.
  [[ $* != kernels ]] || mapfile -t targets < <(programs "$dir" kernels | sed "s|^$PWD/$dir/||; s| .*||" | grep -v /oracle_)
  ninja -C "$dir" "${targets[@]}" >"$dir/build.log" 2>&1 </dev/null || {
    tail -n 40 "$dir/build.log" >&2
    die "$dir does not build; the compiler's messages are above."
  }
  targets=()
}
targets=()
build native "$archs"
build ptx75 75-virtual kernels
build ptx80 80-virtual kernels

# --- Collect ----------------------------------------------------------------------------------------

find "$folder" -mindepth 1 -delete
cp tests/tally.py tests/gpu/run-gpu.sh tests/gpu/proof.py "$folder/" # first: they mark it as a bundle
collected=()

# collect BUILD SOURCE-FOLDER DESTINATION: its programs, kernel tests below the folder of their
# operation, without those that need OpenCV, which compare the CPU's half with it.
collect() {
  local program folder_of_source destination
  while read -r program folder_of_source; do
    [[ -f $program ]] || continue # an oracle, which was not built
    if ldd "$program" | grep -q libopencv; then
      say "Left out, since it needs OpenCV and tests the CPU only: $(basename "$program")"
      continue
    fi
    destination=$folder/$3
    [[ $2 != kernels ]] || destination+=/$folder_of_source
    mkdir -p "$destination"
    strip -o "$destination/$(basename "$program")" "$program"
    collected+=("$program")
  done < <(programs "build-gpu/$1" "$2")
  [[ -n $(ls "$folder/$3") ]] || die "build-gpu/$1 has no program of tests/$2"
}
collect native kernels kernels/native
collect ptx75 kernels kernels/ptx75
collect ptx80 kernels kernels/ptx80
collect native check check
collect native bench bench

mkdir "$folder/plugin"
strip -o "$folder/plugin/libgstcudavision.so" build-gpu/native/gst/libgstcudavision.so
collected+=(build-gpu/native/gst/libgstcudavision.so)
tests/gpu/collect-runtime.sh "$folder/runtime" "${collected[@]}"

# The counter of transfers needs CUPTI, which lies in one of two places in a toolkit.
counter=no
for cupti in "$toolkit/extras/CUPTI" "$toolkit"; do
  [[ -f $cupti/include/cupti.h ]] || continue
  library=$(find -L "$cupti"/lib* -maxdepth 1 -name 'libcupti.so.[0-9]*' | sort -V | tail -n 1)
  [[ -n $library ]] || continue
  mkdir "$folder/transfers"
  g++ -std=c++17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden \
    -isystem "$cupti/include" -isystem "$toolkit/include" tests/gpu/count_transfers.cpp "$library" \
    -Wl,-rpath,"\$ORIGIN" -o "$folder/transfers/libcounttransfers.so"
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  cp -L "$library" "$folder/transfers/$soname"
  counter=yes
  break
done
[[ $counter == yes ]] || complain "No CUPTI in $toolkit: the bundle will not count transfers. Install cuda-cupti-dev for your toolkit."

mkdir "$folder/pictures"
cp /usr/share/doc/opencv-doc/examples/data/{fruits.jpg,baboon.jpg,box_in_scene.png,aloeL.jpg} "$folder/pictures/"

# Real stereo pairs, where there are some; test_sgm_pairs.cpp says how they lie.
if [[ -n ${CUDAVISION_STEREO_PAIRS:-} ]]; then
  cp -rL "$CUDAVISION_STEREO_PAIRS" "$folder/pairs"
  chmod -R u+w "$folder/pairs"
else
  complain "CUDAVISION_STEREO_PAIRS is not set: the bundle will not match real pairs."
fi

# A short piece of the street video, as a camera or a film would deliver it.
street=/usr/share/doc/opencv-doc/examples/data/vtest.avi
mkdir "$folder/video"
gst-launch-1.0 -q filesrc location=$street ! decodebin ! videoconvert ! identity eos-after=121 \
  ! video/x-raw,format=I420 ! x264enc bitrate=1500 key-int-max=30 speed-preset=medium \
  ! video/x-h264,profile=main ! h264parse ! matroskamux ! filesink location="$folder/video/street.mkv" </dev/null
gst-launch-1.0 -v filesrc location="$folder/video/street.mkv" ! matroskademux ! h264parse ! avdec_h264 \
  ! fakesink silent=false </dev/null >"$folder/video/probe" 2>&1
python3 - "$folder/video" <<'PY'
import json, re, sys
probe = open(sys.argv[1] + "/probe").read()
size = re.search(r"avdec_h264\S*\.GstPad:src: caps = .*?width=\(int\)(\d+), height=\(int\)(\d+)", probe)
facts = {"width": int(size[1]), "height": int(size[2]), "frames": len(re.findall(r"last-message = chain ", probe))}
json.dump(facts, open(sys.argv[1] + "/street.json", "w"))
PY
rm "$folder/video/probe"

python3 tests/gpu/check_proof.py --digests >"$folder/digests.json"
[[ ! -f tests/gpu/proof.json ]] || cp tests/gpu/proof.json "$folder/" # what stays true of parts that are not run
"$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' >"$folder/toolkit"

say "Done: $folder, $(du -sm "$folder" | cut -f1) MB. Copy it to the GPU host and run there: bash run-gpu.sh all"
if [[ $archive == yes ]]; then
  # The programs have most of their machine code in common, but hundreds of megabytes apart: a large
  # dictionary with the fastest search gives 37 MB in 90 s, preset 4 with 256 MiB 43 MB in 10 minutes.
  tar -C "$(dirname "$folder")" -c "$(basename "$folder")" | xz --lzma2=preset=1,dict=768MiB >"$folder.tar.xz"
  say "Done: $folder.tar.xz, $(du -sm "$folder.tar.xz" | cut -f1) MB"
fi
