#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Makes a GStreamer runtime for a GPU host that has none.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/gpu/collect-runtime.sh [--with-glibc] FOLDER [USER...]

Makes a GStreamer runtime in FOLDER that needs only glibc, libstdc++ and the NVIDIA driver from the
host. The host's glibc must not be older than this machine's. The runtime consists of

  bin/                 the tools
  lib/                 the shared libraries that the tools, the plug-ins and the users need; a USER is
                       a program, a library or a folder of them, and is not copied
  lib/gstreamer-1.0/   the plug-ins that the tests and pipelines use
  env.sh               the environment; source it before running anything

  --with-glibc         for a host whose glibc is older: adds glibc, its dynamic loader and libstdc++,
                       and bin/run, which starts a program with them: bin/run PROGRAM ARGUMENT...
                       The tools in bin/ start that way, too.
  -h, --help           this text
END
}

with_glibc=no
while [[ ${1:-} == -* ]]; do
  case $1 in
    --with-glibc) with_glibc=yes ;;
    -h | --help)
      usage
      exit 0
      ;;
    *)
      usage >&2
      exit 2
      ;;
  esac
  shift
done
[[ $# -ge 1 && -n $1 ]] || { usage >&2; exit 2; }
folder=$1
shift
here=$(dirname "${BASH_SOURCE[0]}")
users=()
[[ $# -eq 0 ]] || mapfile -t users < <(find "$@" -type f | sort)

plugins_here=$(pkg-config --variable=pluginsdir gstreamer-1.0)
scanner=$(pkg-config --variable=pluginscannerdir gstreamer-1.0)/gst-plugin-scanner
plugins=(app coreelements coretracers debug debugutilsbad gaudieffects jpeg matroska nvcodec playback png rawparse
  typefindfunctions videoconvertscale videocrop videofilter videoparsersbad videorate videotestsrc)

tools=$folder/bin
[[ $with_glibc == no ]] || tools=$folder/libexec
mkdir -p "$folder/bin" "$tools" "$folder/lib/gstreamer-1.0"
cp -L "$(command -v gst-launch-1.0)" "$(command -v gst-inspect-1.0)" "$scanner" "$tools/"
for plugin in "${plugins[@]}"; do
  [[ -f $plugins_here/libgst$plugin.so ]] || {
    echo "collect-runtime.sh: $plugins_here/libgst$plugin.so is missing; install the GStreamer package that contains it" >&2
    exit 1
  }
  cp -L "$plugins_here/libgst$plugin.so" "$folder/lib/gstreamer-1.0/"
done

# Copies the libraries that the dynamic linker would load. The host must provide the driver's libraries, which
# match its kernel, and the C and C++ runtimes, unless they are too old there.
hosts_own='(lib(cuda|nvcuvid|nvidia-.*|nvoptix)'
[[ $with_glibc == yes ]] || hosts_own+='|ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|nsl|stdc\+\+|gcc_s)'
hosts_own+=')\.so.*'
libraries=()
while read -r library; do
  [[ $(basename "$library") =~ ^$hosts_own$ ]] || libraries+=("$library")
done < <(ldd "$tools"/* "$folder"/lib/gstreamer-1.0/*.so ${users[@]+"${users[@]}"} 2>/dev/null |
  sed -n 's/.* => \(\/[^ ]*\) (0x.*/\1/p' | sort -u)
cp -L "${libraries[@]}" "$folder/lib/"

if [[ $with_glibc == no ]]; then
  cat >"$folder/env.sh" <<'ENV'
# shellcheck shell=bash
# Source this file. Programs started from this shell then use only the GStreamer in this folder.
runtime=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
export LD_LIBRARY_PATH=$runtime/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
ENV
else
  # ldd prints a program's loader without an arrow. The driver's libraries also need other libraries of
  # glibc, such as libdl. The host's copies would not match the bundled glibc.
  loader=$(ldd "$tools/gst-launch-1.0" | sed -n 's/^\s*\(\/[^ ]*\/ld-linux[^ ]*\) (0x.*/\1/p')
  libc_folder=$(dirname "$(ldd "$tools/gst-launch-1.0" | sed -n 's/.* => \(\/.*\/libc\.so[^ ]*\) .*/\1/p')")
  cp -L "$loader" "$folder/lib/ld.so"
  cp -L "$libc_folder"/lib{dl,m,pthread,resolv,rt,util}.so.[0-9] "$folder/lib/"
  cat >"$folder/bin/run" <<'RUN'
#!/bin/sh
# Runs a program with the glibc and the libraries in this folder. The loader also searches the host's
# ld.so.cache and LD_LIBRARY_PATH, but only for libraries that this folder lacks: the driver's. If this folder
# were in LD_LIBRARY_PATH instead, host programs that the program starts would load this glibc with the host's
# loader, and crash.
lib=$(cd "$(dirname "$0")/../lib" && pwd)
exec "$lib/ld.so" --library-path "$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$@"
RUN
  for tool in "$tools"/*; do
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nbin=$(dirname "$0")\nexec "$bin/run" "$bin/../libexec/%s" "$@"\n' "${tool##*/}" \
      >"$folder/bin/${tool##*/}"
  done
  chmod +x "$folder"/bin/*
  cat >"$folder/env.sh" <<'ENV'
# shellcheck shell=bash
# Source this file. Programs started with bin/run then use only the GStreamer in this folder.
runtime=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
ENV
fi
cat >>"$folder/env.sh" <<'ENV'
export PATH=$runtime/bin:$PATH
export GST_PLUGIN_SYSTEM_PATH_1_0=$runtime/lib/gstreamer-1.0
export GST_PLUGIN_SCANNER_1_0=$runtime/bin/gst-plugin-scanner
GST_REGISTRY_1_0=$(mktemp -d)/registry.bin
export GST_REGISTRY_1_0
ENV

# Needless libraries enlarge the archive, and a missing library would fail only on the GPU host.
"$here/check_runtime.py" "$folder" "$hosts_own" ${users[@]+"${users[@]}"} || {
  echo "collect-runtime.sh: $folder does not contain the right libraries (see above)" >&2
  exit 1
}
