# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by the scripts beside it: makes GStreamer find the elements, installed or just built.
if ! gst-inspect-1.0 cudahistequalize >/dev/null 2>&1; then
  top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
  for folder in "$top/build/gst" "$top/build-quickstart/gst"; do
    [[ ! -e $folder/libgstcudavision.so ]] || export GST_PLUGIN_PATH=$folder${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  done
  if ! gst-inspect-1.0 cudahistequalize >/dev/null; then
    echo "GStreamer finds no cudahistequalize. Build it: meson setup build && ninja -C build" >&2
    exit 1
  fi
fi

