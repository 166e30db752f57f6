#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the part of a bundle that tests the elements with a GStreamer that may need a newer glibc than the host's.
set -euo pipefail

usage() {
  cat <<'END_USAGE'
usage: tests/gpu/bundle-elements.sh [--archs LIST] FOLDER

Builds below build-gpu/elements and fills FOLDER with the programs that run elements on a GPU host: the plug-in,
the element tests, bench_pipelines and a runtime that contains glibc as well. FOLDER is replaced.
bundle.sh --debian13 runs this in a Debian 13.

  --archs LIST  the GPU architectures, as for -Dcuda-archs (default: 90)
  -h, --help    this text

The folder's programs run with FOLDER/runtime/bin/run, after FOLDER/runtime/env.sh has been sourced.
END_USAGE
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/scripts/setup.sh"
. "$top/scripts/programs.sh"
archs=90
read_options archs '' 1 "$@"
folder=$(realpath -m "${arguments[0]}")
cd "$top"
[[ ! -e $folder || -f $folder/runtime/bin/run ]] || die "$folder exists, but this script did not make it; name another folder."
need_toolkit "${packages_test_build[@]}" ccache

build='build-gpu/elements'
# Build without OpenCV, whose libraries would be a third of the runtime. Only rectification needs
# OpenCV, and rectification does not depend on GStreamer.
configure_for_gpu "$build" "$archs" -Dopencv=disabled
mapfile -t targets < <(targets_of "$build" check)
compile "$build" gst/libgstcudavision.so tests/bench/bench_pipelines "${targets[@]}"

rm -rf "$folder"
mkdir -p "$folder"
collect "$build" check "$folder/check"
collect "$build" bench "$folder/bench"
collect_plugin "$build" "$folder/plugin"
tests/gpu/collect-runtime.sh --with-glibc "$folder/runtime" "$folder"/{check,bench,plugin}
