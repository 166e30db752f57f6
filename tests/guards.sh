#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# guards.sh BUILD: what no test program can see of the plug-in as a whole and of the sources' order.
# Prints one line for each guard, "ok: name" or "not ok: name: why". (The compilers' output is looked
# at in tests/kernels/guards.)
set -uo pipefail
build=$(realpath "${1:?usage: guards.sh BUILD}")
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

verdict() { # NAME WHY: an empty WHY is good news
  if [[ -z $2 ]]; then
    printf 'ok: %s\n' "$1"
  else
    printf 'not ok: %s: %s\n' "$1" "$2"
    bad=1
  fi
}

plugin=$build/gst/libgstcudavision.so

# A registry of its own, so that nothing is taken from a cache or an installed copy.
features=$(GST_REGISTRY="$scratch/registry" GST_PLUGIN_PATH='' GST_PLUGIN_SYSTEM_PATH='' \
  gst-inspect-1.0 "$plugin" 2>&1) && loaded='' || loaded='gst-inspect-1.0 fails'
[[ -n $loaded || $features == *cudahistequalize* ]] || loaded='cudahistequalize is not in it'
verdict "the plug-in loads and registers" "$loaded"

DESTDIR="$scratch/root" meson install -C "$build" --no-rebuild >"$scratch/install.log" 2>&1
directory=$(meson introspect "$build" --installed | tr ',' '\n' | grep -o '"[^"]*/libgstcudavision.so"' | tail -n 1 | tr -d '"')
missing=''
[[ $directory == */gstreamer-1.0/libgstcudavision.so && -f $scratch/root$directory ]] ||
  missing="it is not below a folder gstreamer-1.0: '$directory'"
verdict "meson install puts the plug-in into a GStreamer plug-in folder" "$missing"

found=$(grep -rlE '#include *[<"](gst/|glib|gio/|gobject/)' cuda | tr '\n' ' ')
verdict "cuda/ includes no GLib or GStreamer header" "$found"
found=$(grep -rlE '#include *[<"](cuda|cuda_runtime|cuda_runtime_api|device_launch_parameters)\.h' gst | tr '\n' ' ')
verdict "gst/ includes no CUDA header of its own" "$found"
found=$(grep -rnE '\bcuda(DeviceSynchronize|SetDevice|DeviceReset)\b *\(' cuda gst --include=*.cu --include=*.cuh --include=*.cpp --include=*.h |
  cut -d: -f1,2 | tr '\n' ' ')
verdict "nothing resets, selects or stalls the whole device" "$found"

exit $bad
