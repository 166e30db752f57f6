#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# guards.sh BUILD: what no test program can see of the plug-in as a whole, of the programs that come
# with it and of the sources' order.
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
for element in cudahistequalize cudagaussblur cudaintegral; do
  [[ -n $loaded || $features == *" $element: "* ]] || loaded="$element is not in it"
done
verdict "the plug-in loads and registers" "$loaded"

# Of a still picture, while sigma goes from 0 up and back: the hash of each frame.
still=(videotestsrc num-buffers=61 pattern=checkers-8 ! 'video/x-raw,format=GRAY8,width=64,height=64,framerate=30/1')
hashes() { # PROGRAM ELEMENT...
  GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" "$@" ! checksumsink 2>"$scratch/hashes.log" |
    awk '$1 ~ /^[0-9]+:/ { print $2 }'
}
mapfile -t plain < <(hashes gst-launch-1.0 -q "${still[@]}")
mapfile -t swept < <(hashes "$build/pipelines/blur-sweep" --sigma 4 --period 2 "${still[@]}" ! cudagaussblur backend=cpu)
sweep=''
if [[ ${#plain[@]} -ne 61 || ${#swept[@]} -ne 61 ]]; then
  sweep="${#plain[@]} and ${#swept[@]} frames instead of 61; $(tail -n 1 "$scratch/hashes.log")"
elif [[ ${swept[0]} != "${plain[0]}" || ${swept[60]} != "${plain[0]}" ]]; then
  sweep="sigma is not 0 at the beginning and after a period"
elif [[ $(printf '%s\n' "${swept[@]}" | sort -u | wc -l) -lt 20 ]]; then
  sweep="sigma takes fewer than 20 values on its way"
fi
verdict "pipelines/blur-sweep takes sigma from 0 up and back" "$sweep"

# The sum over a box of the table against that over the same pixels of the frames themselves.
moving=(videotestsrc num-buffers=3 pattern=smpte horizontal-speed=5 ! 'video/x-raw,format=GRAY8,width=64,height=48,framerate=25/1')
GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" \
  "$build/pipelines/box-sum" 10 4 60 33 "${moving[@]}" >"$scratch/boxes" 2>&1
GST_REGISTRY="$scratch/registry-all" GST_PLUGIN_PATH="$build/gst" \
  gst-launch-1.0 -q "${moving[@]}" ! filesink location="$scratch/frames" >"$scratch/boxes.log" 2>&1
wrong=$(python3 - "$scratch" <<'PY'
import re, sys
frames = open(sys.argv[1] + "/frames", "rb").read()
said = [int(number) for number in re.findall(r"sum (\d+)", open(sys.argv[1] + "/boxes").read())]
right = [sum(sum(frames[start + 64 * y + 10:start + 64 * y + 60]) for y in range(4, 33)) for start in range(0, len(frames), 64 * 48)]
print("" if said == right and len(set(right)) == 3 else f"{said} instead of {right}")
PY
)
verdict "pipelines/box-sum sums the pixels of a box" "$wrong"
snippet=$(awk '/^```/ { inside = $0 == "```c"; next } inside' README.md)
[[ -n $snippet && $(<pipelines/box-sum.cpp) == *"$snippet"* ]] && differs='' || differs='its lines of C are not there'
verdict "README.md shows what pipelines/box-sum.cpp does" "$differs"

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
