#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# The part of a bundle that runs elements, with a GStreamer that the GPU host may be too old for.
set -euo pipefail

usage() {
  cat <<'END_USAGE'
usage: tests/gpu/bundle-elements.sh [--archs LIST] FOLDER

Builds below build-gpu/elements and fills FOLDER with what runs the elements on a GPU host: the plug-in, the
element tests, bench_pipelines and a runtime that contains glibc as well. FOLDER is replaced.
bundle.sh --debian13 runs this in a Debian 13.

  --archs LIST  the GPU architectures, as for -Dcuda-archs (default: 90)
  -h, --help    this text

The folder's programs run with FOLDER/runtime/bin/run, after FOLDER/runtime/env.sh has been sourced.
END_USAGE
}

archs=90
while [[ $# -gt 0 ]]; do
  case $1 in
    --archs)
      [[ $# -ge 2 ]] || { usage >&2; exit 2; }
      archs=$2
      shift
      ;;
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
folder=$(realpath -m "$1")

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/setup.sh
. scripts/programs.sh

[[ ! -e $folder || -f $folder/runtime/bin/run ]] || die "$folder is something else than such a folder; name another one."
install_missing "${packages_build[@]}" "${packages_run[@]}" "${packages_test_build[@]}" ccache binutils
find_nvcc || die "This needs the CUDA toolkit, which is not here. Install it, or set CUDA_HOME, and try again."

build='build-gpu/elements'
# OpenCV only makes maps for rectification, which do not depend on GStreamer, but its libraries would be a
# third of the runtime.
configure_for_gpu "$build" "$archs" -Dopencv=disabled
mapfile -t targets < <(targets_of "$build" check)
compile "$build" gst/libgstcudavision.so tests/bench/bench_pipelines "${targets[@]}"

rm -rf "$folder"
mkdir -p "$folder"
collect "$build" check "$folder/check"
collect "$build" bench "$folder/bench"
collect_plugin "$build" "$folder/plugin"
tests/gpu/collect-runtime.sh --with-glibc "$folder/runtime" "$folder"/{check,bench,plugin}
