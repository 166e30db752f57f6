#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a bundle for the stages cards and card-figures of run-gpu.sh, which need a host with two GPUs.
set -euo pipefail

usage() {
  cat <<'END_USAGE'
usage: tests/gpu/bundle-cards.sh [--archs LIST] [--archive] PYTHON FOLDER

Builds below build-gpu/cards and fills FOLDER with what the stages cards and card-figures need: the plug-in, two element tests,
bench_pipelines, pipelines/archive.py with Ray, a video and a GStreamer runtime. FOLDER is replaced. Copy it to the host
and run there: bash run-gpu.sh cards card-figures
  PYTHON         a Python 3 of this machine with the same minor version as the host's python3
  --archs LIST   the GPU architectures, as for -Dcuda-archs (default: 90)
  --archive      also make FOLDER.tar.xz (about 50 MB)
  -h, --help     this text

Ray and PyGObject come from PyPI. PyGObject is compiled here, which needs libgirepository1.0-dev.
END_USAGE
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/scripts/setup.sh"
. "$top/scripts/programs.sh"
archs=90 archive=no
read_options archs archive 2 "$@"
python=${arguments[0]}
folder=$(realpath -m "${arguments[1]}")
cd "$top"
[[ ! -e $folder || -f $folder/run-gpu.sh ]] || die "$folder exists, but is not a bundle; name another folder."
need_toolkit "${packages_pictures[@]}" "${packages_test_build[@]}"
pkg-config --exists gobject-introspection-1.0 || install_missing libgirepository1.0-dev

# Build without OpenCV, which only rectification needs. OpenCV would be a third of the runtime's size.
build='build-gpu/cards'
configure_for_gpu "$build" "$archs" -Dopencv=disabled
programs=(tests/check/check_cuda tests/check/check_stereo_memory tests/bench/bench_pipelines)
compile "$build" gst/libgstcudavision.so "${programs[@]}"

rm -rf "$folder"
mkdir -p "$folder"/{check,bench,pipelines,video,python/typelibs}
cp tests/tally.py tests/gpu/{run-gpu.sh,run-records.sh,run-kernels.sh,run-cards.sh,proof.py,archive_on_gpus.py} "$folder/"
for program in "${programs[@]}"; do strip -o "$folder/${program#tests/}" "$build/$program"; done
collect_plugin "$build" "$folder/plugin"
preload_library tests/gpu/hide_peers.cpp "$folder/libhidepeers.so"
cp -r pipelines/archive.py pipelines/archiving "$folder/pipelines/"

# Ray's wheel has 240 MB. Large parts that archive.py does not use are removed, for example Java and web pages.
packages=$folder/python
environment=$(mktemp -d)
trap 'rm -rf "$environment"' EXIT
"$python" -m venv "$environment"
pip=("$environment/bin/pip" -q --disable-pip-version-check)
"${pip[@]}" install setuptools wheel
"${pip[@]}" install --target "$packages" ray tqdm
# Recent versions of PyGObject need a newer girepository than Debian 12 has.
PYGOBJECT_WITHOUT_PYCAIRO=1 "${pip[@]}" install --target "$packages" --no-deps --no-build-isolation --no-binary :all: \
  PyGObject==3.46.0
(
  cd "$packages/ray"
  rm -rf jars dashboard/client rllib train tune serve llm data core/libjemalloc.so
  strip core/src/ray/raylet/raylet core/src/ray/gcs/gcs_server _raylet.so
)
find "$packages" -name __pycache__ -prune -exec rm -rf {} +
cp "$(pkg-config --variable=libdir gstreamer-1.0)"/girepository-1.0/{GLib,GModule,GObject,Gio}-2.0.typelib \
  "$(pkg-config --variable=libdir gstreamer-1.0)/girepository-1.0/Gst-1.0.typelib" "$packages/typelibs/"

tests/gpu/collect-runtime.sh "$folder/runtime" "$folder"/{check,bench,plugin} "$packages/gi"
encode_street "$folder/video/street.mkv" 400 800
describe_sources "$folder"

say "Done: $folder, $(du -sm "$folder" | cut -f1) MB. Copy it to the host and run there: bash run-gpu.sh cards card-figures"
if [[ $archive == yes ]]; then
  # The programs contain the same kernels as the plug-in, hundreds of megabytes apart, hence the large dictionary.
  tar -C "$(dirname "$folder")" -c "$(basename "$folder")" | xz --x86 --lzma2=preset=2,dict=384MiB >"$folder.tar.xz"
  say "Done: $folder.tar.xz, $(du -sm "$folder.tar.xz" | cut -f1) MB"
fi
