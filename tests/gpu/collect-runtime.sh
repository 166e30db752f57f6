#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a GStreamer runtime for a GPU host that has none.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/collect-runtime.sh FOLDER [PROGRAM-OR-LIBRARY...]

Makes a GStreamer runtime in FOLDER that needs only glibc, libstdc++ and the NVIDIA driver from the
host. The host's glibc must not be older than this machine's. The runtime consists of

  bin/                 the tools
  lib/                 the shared libraries that the tools, the plug-ins and the given programs and
                       libraries need (the programs and libraries themselves are not copied)
  lib/gstreamer-1.0/   the plug-ins that the tests and pipelines use
  env.sh               the environment; source it before running anything

  -h, --help           this text
END
}

case ${1:-} in
  -h | --help)
    usage
    exit 0
    ;;
  '' | -*)
    usage >&2
    exit 2
    ;;
esac
folder=$1
shift
programs=("$@")

plugins_here=$(pkg-config --variable=pluginsdir gstreamer-1.0)
scanner=$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner
plugins=(app coreelements coretracers debug debugutilsbad gaudieffects jpeg matroska nvcodec playback png rawparse
  typefindfunctions videoconvertscale videofilter videoparsersbad videorate videotestsrc)

mkdir -p "$folder/bin" "$folder/lib/gstreamer-1.0"
cp -L "$(command -v gst-launch-1.0)" "$(command -v gst-inspect-1.0)" "$scanner" "$folder/bin/"
for plugin in "${plugins[@]}"; do
  [[ -f $plugins_here/libgst$plugin.so ]] || {
    echo "collect-runtime.sh: GStreamer's plug-in $plugin is not installed here" >&2
    exit 1
  }
  cp -L "$plugins_here/libgst$plugin.so" "$folder/lib/gstreamer-1.0/"
done

# Copies the libraries that the dynamic linker would load, except those that must come from the host: the C
# and C++ runtimes, which have to fit its kernel and its driver, and the driver's own libraries.
hosts_own='^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|nsl|stdc\+\+|gcc_s|cuda|nvcuvid|nvidia-.*|nvoptix))\.so'
libraries=()
while read -r library; do
  [[ $(basename "$library") =~ $hosts_own ]] || libraries+=("$library")
done < <(ldd "$folder"/bin/* "$folder"/lib/gstreamer-1.0/*.so ${programs[@]+"${programs[@]}"} 2>/dev/null |
  sed -n 's/.* => \(\/[^ ]*\) (0x.*/\1/p' | sort -u)
cp -L "${libraries[@]}" "$folder/lib/"

cat >"$folder/env.sh" <<'ENV'
# shellcheck shell=bash
# Source this file. Programs started from this shell then use only the GStreamer in this folder.
runtime=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export PATH=$runtime/bin:$PATH
export LD_LIBRARY_PATH=$runtime/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export GST_PLUGIN_SYSTEM_PATH_1_0=$runtime/lib/gstreamer-1.0
export GST_PLUGIN_SCANNER_1_0=$runtime/bin/gst-plugin-scanner
GST_REGISTRY_1_0=$(mktemp -d)/registry.bin
export GST_REGISTRY_1_0
ENV
