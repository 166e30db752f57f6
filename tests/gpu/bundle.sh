#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a folder with which the tests, sanitizers and benchmarks run on a GPU host that has the NVIDIA
# driver but needs neither GStreamer nor a network. Build here, copy the folder to the host, and run
# run-gpu.sh in it.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/bundle.sh [--archs LIST] [--archive] FOLDER

Builds below build-gpu/ and fills FOLDER (about 300 MB). If FOLDER is a bundle already, it is replaced.
  --archs LIST   the GPU architectures of the main build, as for -Dcuda-archs (default: 90)
  --archive      also make FOLDER.tar.xz (about 37 MB; needs 8 GB of memory)
The kernel tests are built twice more, as PTX of compute_75 and of compute_80 only, so that a newer
GPU also tests the code for older ones.

Environment: CUDAVISION_STEREO_PAIRS, a folder of real stereo pairs to include.
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
find_nvcc || die "A bundle needs the CUDA toolkit, which this machine does not have. Install it and try again."
toolkit=$(realpath "$(dirname "$nvcc")/..")

# --- Build ------------------------------------------------------------------------------------------

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

build() { # NAME ARCHS [kernels]: builds everything, or only the kernel tests
  local dir=build-gpu/$1 archs=$2
  shift 2
  say "Building $dir for $archs"
  configure "$dir" -Dcuda=enabled -Dcuda-archs="$archs" -Dtests=enabled -Dbenchmarks=enabled -Dgpu-tests=enabled
  # The names of ninja's targets are paths within the build folder.
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
cp tests/tally.py tests/gpu/run-gpu.sh tests/gpu/proof.py "$folder/" # come first: they mark it as a bundle
collected=()

# collect BUILD SOURCE-FOLDER DESTINATION: copies the programs of a build, the kernel tests into a folder
# for each operation. Leaves out programs that need OpenCV, because they compare only the CPU half with it.
collect() {
  local program folder_of_source destination
  while read -r program folder_of_source; do
    [[ -f $program ]] || continue # oracles are not built
    if ldd "$program" | grep -q libopencv; then
      say "Leaving out $(basename "$program"), which needs OpenCV and compares only the CPU half with it"
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

# The counter of transfers and launches needs CUPTI, which toolkits have in one of two folders.
counter=no
for cupti in "$toolkit/extras/CUPTI" "$toolkit"; do
  [[ -f $cupti/include/cupti.h ]] || continue
  library=$(find -L "$cupti"/lib* -maxdepth 1 -name 'libcupti.so.[0-9]*' | sort -V | tail -n 1)
  [[ -n $library ]] || continue
  mkdir "$folder/transfers"
  g++ -std=c++17 -O2 -Wall -Wextra -Werror -fPIC -shared -fvisibility=hidden -I. \
    -isystem "$cupti/include" -isystem "$toolkit/include" tests/gpu/count_transfers.cpp "$library" \
    -Wl,-rpath,"\$ORIGIN" -o "$folder/transfers/libcounttransfers.so"
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  cp -L "$library" "$folder/transfers/$soname"
  counter=yes
  break
done
[[ $counter == yes ]] || complain "No CUPTI in $toolkit: the bundle will not count transfers and launches. Install cuda-cupti-dev for your toolkit."

mkdir "$folder/pictures"
cp /usr/share/doc/opencv-doc/examples/data/{fruits.jpg,baboon.jpg,box_in_scene.png,aloeL.jpg,aloeR.jpg} "$folder/pictures/"

# Include real stereo pairs if there are any; test_sgm_pairs.cpp describes their files.
if [[ -n ${CUDAVISION_STEREO_PAIRS:-} ]]; then
  cp -rL "$CUDAVISION_STEREO_PAIRS" "$folder/pairs"
  chmod -R u+w "$folder/pairs"
else
  complain "CUDAVISION_STEREO_PAIRS is not set: the bundle will not match real pairs."
fi

# Encodes a short piece of the street video as H.264, for the pipelines that start with nvh264dec.
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
[[ ! -f tests/gpu/proof.json ]] || cp tests/gpu/proof.json "$folder/" # keeps the proof of parts that are not run
"$nvcc" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p' >"$folder/toolkit"

say "Done: $folder, $(du -sm "$folder" | cut -f1) MB. Copy it to the GPU host and run there: bash run-gpu.sh all"
if [[ $archive == yes ]]; then
  # Most of the machine code is the same in all programs, but hundreds of megabytes apart. A large dictionary
  # with the fastest search gives 37 MB in 90 s; preset 4 with 256 MiB gives 43 MB in 10 minutes.
  tar -C "$(dirname "$folder")" -c "$(basename "$folder")" | xz --lzma2=preset=1,dict=768MiB >"$folder.tar.xz"
  say "Done: $folder.tar.xz, $(du -sm "$folder.tar.xz" | cut -f1) MB"
fi
