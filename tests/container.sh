#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the image of Containerfile without a registry, on a base image of debootstrap, and runs the elements in it.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/container.sh [--suite SUITE] [--root FOLDER] [--mirror URL]

Installs Debian with debootstrap, makes an image of it and builds the image of Containerfile on that image,
with buildah. Runs `gst-inspect-1.0 cudavision` and one pipeline with each element in a container. Needs root, a
Debian mirror and 8 GB.

  --suite SUITE  trixie (Debian 13, the default) or bookworm (Debian 12)
  --root FOLDER  where Debian and the images are or will be (default: /var/tmp/gst-cudavision/container)
  --mirror URL   the Debian mirror (default: http://deb.debian.org/debian)
  -h, --help     this text
END
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/scripts/setup.sh"
. "$top/scripts/chroot.sh"
. "$top/scripts/programs.sh"
suite=trixie
root=/var/tmp/gst-cudavision/container
mirror=http://deb.debian.org/debian
read_options 'suite root mirror' '' 0 "$@"
root=$(realpath -m "$root")
cd "$top"

make_chroot "$suite" "$root/$suite" "$mirror"
install_missing buildah
export BUILDAH_ISOLATION=chroot # chroot isolation needs no container runtime, and works inside of containers
images=(buildah --root "$root/images" --runroot "$root/run" --storage-driver vfs)

container=$("${images[@]}" from scratch)
cp -a "$root/$suite/." "$("${images[@]}" mount "$container")"
"${images[@]}" commit --quiet --rm "$container" "localhost/debian:$suite" >"$root/base.log"
say "Building Containerfile on a Debian of the suite $suite"
"${images[@]}" build --pull=never --build-arg "BASE=localhost/debian:$suite" --tag localhost/gst-cudavision . >"$root/build.log" 2>&1 || {
  tail -n 40 "$root/build.log" >&2
  die "The image of Containerfile could not be built; the complete output: $root/build.log"
}
container=$("${images[@]}" from --pull=never localhost/gst-cudavision)
"${images[@]}" copy --quiet "$container" pipelines/packaging/debian/tests/elements /elements >>"$root/base.log"
"${images[@]}" run "$container" -- /elements
"${images[@]}" rm "$container" >>"$root/base.log"
say "ok: the image has the plug-in, and its elements run"
