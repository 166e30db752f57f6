# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Sourced by the other scripts: makes GStreamer find the elements, installed or just built.

# This does not use --exists, which finds only plug-ins of GStreamer's own version or a later one.
elements_found() {
  local element
  for element in cudahistequalize cudagaussblur cudaintegral cudasgmstereo; do
    gst-inspect-1.0 "$element" >/dev/null 2>&1 || return 1
  done
}

pipelines=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
builds=("$pipelines"/../build "$pipelines"/../build-quickstart)
if ! elements_found; then
  for build in "${builds[@]}"; do
    [[ ! -e $build/gst/libgstcudavision.so ]] || export GST_PLUGIN_PATH=$build/gst${GST_PLUGIN_PATH:+:$GST_PLUGIN_PATH}
  done
  if ! elements_found; then
    echo "GStreamer does not find all of cudahistequalize, cudagaussblur, cudaintegral and cudasgmstereo. Build them: meson setup build && ninja -C build" >&2
    exit 1
  fi
fi

# program NAME: prints the path of a built program, preferably from the build that the elements come from.
program() {
  local plugin build
  plugin=$(gst-inspect-1.0 cudavision | sed -n 's/^ *Filename *//p')
  for build in "$(dirname "$plugin")/.." "${builds[@]}"; do
    if [[ -x $build/pipelines/$1 ]]; then
      echo "$build/pipelines/$1"
      return
    fi
  done
  echo "There is no program $1 yet. Build it: meson setup build && ninja -C build" >&2
  return 1
}
