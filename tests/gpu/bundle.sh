#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a folder that contains the tests and benchmarks for a GPU host. The host needs the NVIDIA driver, Python and, for
# the stage sanitizers, compute-sanitizer, but neither GStreamer nor a network. Build here, copy the folder to the host,
# and run run-gpu.sh there.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/bundle.sh [--archs LIST] [--debian13] [--archive] FOLDER

Builds below build-gpu/ and fills FOLDER (about 1.4 GB). If FOLDER is a bundle already, it is replaced.
  --archs LIST   the GPU architectures of the main build, as for -Dcuda-archs (default: 90)
  --debian13     also build the plug-in, the element tests and bench_pipelines in a Debian 13, for the
                 stages check13 and bench. Needs root, a Debian mirror and 5 GB
  --root FOLDER  the folder of the Debian system (default: /var/tmp/gst-cudavision/debian13, which
                 tests/debian13.sh uses as well)
  --mirror URL   the Debian mirror (default: http://deb.debian.org/debian)
  --archive      also make FOLDER.tar.xz (about 45 MB, 54 with --debian13; needs 8 GB of memory)
The kernel tests are built twice more, as PTX of compute_75 and of compute_80 only, so that a newer
GPU also tests the code for older ones.

Environment: CUDAVISION_STEREO_PAIRS, a folder of real stereo pairs to include.
END
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/scripts/setup.sh"
. "$top/scripts/chroot.sh"
. "$top/scripts/programs.sh"
archs=90 archive=no debian13=no
root=/var/tmp/gst-cudavision/debian13
mirror=http://deb.debian.org/debian
read_options 'archs root mirror' 'archive debian13' 1 "$@"
mkdir -p "${arguments[0]}"
folder=$(realpath "${arguments[0]}")
root=$(realpath -m "$root")
cd "$top"
[[ -z $(ls -A "$folder") || -f $folder/run-gpu.sh ]] || die "$folder is neither empty nor a bundle; name another folder."

need_toolkit "${packages_pictures[@]}" "${packages_test[@]}" gstreamer1.0-plugins-ugly
toolkit=$(realpath "$(dirname "$nvcc")/..")

# --- Build ------------------------------------------------------------------------------------------

configure_for_gpu build-gpu/native "$archs"
compile build-gpu/native
for arch in 75 80; do
  configure_for_gpu "build-gpu/ptx$arch" "$arch-virtual"
  mapfile -t targets < <(targets_of "build-gpu/ptx$arch" kernels | grep -v /oracle_)
  compile "build-gpu/ptx$arch" "${targets[@]}"
done

# Debian 13 is installed without a toolkit, so it uses the toolkit of this machine.
if [[ $debian13 == yes ]]; then
  # A toolkit from Debian packages is in /usr, which cannot be mounted over the /usr of Debian 13.
  [[ $toolkit != /usr ]] || die "--debian13 needs a CUDA toolkit in a folder of its own, for example NVIDIA's in /usr/local/cuda; set CUDA_HOME to it."
  make_chroot trixie "$root" "$mirror"
  copy_sources "$root"
  shown_in_chroot=("$toolkit")
  in_chroot "$root" env CUDA_HOME="$toolkit" tests/gpu/bundle-elements.sh --archs "$archs" build-gpu/collected
fi

# --- Collect ----------------------------------------------------------------------------------------

find "$folder" -mindepth 1 -delete
cp tests/tally.py tests/gpu/{run-gpu.sh,run-records.sh,run-kernels.sh,run-cards.sh,proof.py} "$folder/" # copied first, because run-gpu.sh marks the folder as a bundle
for variant in native ptx75 ptx80; do
  collect "build-gpu/$variant" kernels "$folder/kernels/$variant"
done
collect build-gpu/native check "$folder/check"
collect build-gpu/native bench "$folder/bench"
collect_plugin build-gpu/native "$folder/plugin"
preload_library tests/gpu/hide_peers.cpp "$folder/libhidepeers.so"
tests/gpu/collect-runtime.sh "$folder/runtime" "$folder"/{kernels,check,bench,plugin}
[[ $debian13 == no ]] || cp -a "$root/src/build-gpu/collected" "$folder/debian13"

# The counter of transfers and launches needs CUPTI, which toolkits have in one of two folders.
counter=no
for cupti in "$toolkit/extras/CUPTI" "$toolkit"; do
  [[ -f $cupti/include/cupti.h ]] || continue
  library=$(find -L "$cupti"/lib* -maxdepth 1 -name 'libcupti.so.[0-9]*' | sort -V | tail -n 1)
  [[ -n $library ]] || continue
  mkdir "$folder/transfers"
  preload_library tests/gpu/count_transfers.cpp "$folder/transfers/libcounttransfers.so" \
    -isystem "$cupti/include" -isystem "$toolkit/include" "$library" -Wl,-rpath,"\$ORIGIN"
  soname=$(readelf -d "$library" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
  cp -L "$library" "$folder/transfers/$soname"
  counter=yes
  break
done
[[ $counter == yes ]] || complain "No CUPTI in $toolkit: the bundle will not count transfers and launches. Install cuda-cupti-dev for your toolkit."

mkdir "$folder/pictures"
sed -n 's|^"\(.*\)",$|\1|p' tests/check/common/pictures/picturefiles.inc |
  (cd /usr/share/doc/opencv-doc/examples/data && xargs cp -t "$folder/pictures")

# Include real stereo pairs if there are any; stereo_pairs.h describes their files.
if [[ -n ${CUDAVISION_STEREO_PAIRS:-} ]]; then
  cp -rL "$CUDAVISION_STEREO_PAIRS" "$folder/pairs"
  chmod -R u+w "$folder/pairs"
else
  complain "CUDAVISION_STEREO_PAIRS is not set: the bundle contains no real stereo pairs to test."
fi

# A video for the tests that decode with nvh264dec.
mkdir "$folder/video"
encode_street "$folder/video/street.mkv" 120 1500
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

describe_sources "$folder"

say "Done: $folder, $(du -sm "$folder" | cut -f1) MB. Copy it to the GPU host and run there: bash run-gpu.sh all"
if [[ $archive == yes ]]; then
  # Most of the machine code of the kernels is the same in all programs, but hundreds of megabytes apart. A
  # large dictionary with a fast search gives 37 MB in 90 s; preset 4 with 256 MiB gives 43 MB in 10
  # minutes. The runtimes have no distant repetitions, so they get the thorough search. The parts of an xz file
  # may have different presets. head removes the end of the first tar, two empty blocks.
  name=$(basename "$folder")
  runtimes=("$name/runtime")
  [[ $debian13 == no ]] || runtimes+=("$name/debian13/runtime")
  {
    tar -C "$(dirname "$folder")" -b 1 -c "${runtimes[@]}" | head -c -1024 | xz --x86 --lzma2=preset=9e
    tar -C "$(dirname "$folder")" -c "${runtimes[@]/#/--exclude=}" "$name" | xz --lzma2=preset=1,dict=768MiB
  } >"$folder.tar.xz"
  say "Done: $folder.tar.xz, $(du -sm "$folder.tar.xz" | cut -f1) MB"
fi
