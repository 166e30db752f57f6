#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds the Debian package and checks it with lintian, in a minimal Debian with the recipe's build dependencies. Then
# installs it into a clean Debian.
set -euo pipefail

usage() {
  cat <<'END'
usage: tests/debian-package.sh [--suite SUITE] [--root FOLDER] [--mirror URL]

Installs Debian twice with debootstrap. In the first Debian, builds the packages by the recipe in
pipelines/packaging/, checks them with lintian, and follows the links of their pages. In the second Debian,
installs the elements, and runs `gst-inspect-1.0 cudavision` and one pipeline with each element. Needs root,
a Debian mirror and 2 GB.

  --suite SUITE  bookworm (Debian 12, the default) or trixie (Debian 13)
  --root FOLDER  where both Debians are or will be (default: /var/tmp/gst-cudavision/package)
  --mirror URL   the Debian mirror (default: http://deb.debian.org/debian)
  -h, --help     this text
END
}

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/scripts/setup.sh"
. "$top/scripts/chroot.sh"
. "$top/scripts/programs.sh"
suite=bookworm
root=/var/tmp/gst-cudavision/package
mirror=http://deb.debian.org/debian
read_options 'suite root mirror' '' 0 "$@"
root=$(realpath -m "$root")
cd "$top"

# apt_in FOLDER ARGUMENT...: runs apt-get quietly in the Debian in FOLDER.
apt_in() {
  in_chroot "$1" env DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends "${@:2}" \
    >"$root/apt.log" 2>&1 || {
    tail -n 20 "$root/apt.log" >&2
    die "apt-get ${*:2} failed in $1; its messages are above."
  }
}

mkdir -p "$root"
make_chroot "$suite" "$root/$suite-build" "$mirror"
copy_sources "$root/$suite-build"
apt_in "$root/$suite-build" update
apt_in "$root/$suite-build" install dpkg-dev lintian xz-utils
# Besides, install only the recipe's build dependencies, so that the build fails if the recipe lacks one.
in_chroot "$root/$suite-build" sh -c 'rm -rf /recipe && mkdir /recipe && cp -r pipelines/packaging/debian /recipe/'
apt_in "$root/$suite-build" build-dep /recipe
in_chroot "$root/$suite-build" sh -c 'rm -rf build-deb && pipelines/packaging/build-deb.sh'

# Checks the links of the pages, because debhelper compresses and renames files in usr/share/doc.
rm -rf "$root/pages"
for package in "$root/$suite-build"/src/build-deb/*.deb; do
  dpkg-deb --extract "$package" "$root/pages"
done
dangling=$(cd tests/guards && python3 -c 'import sys, guard_plugin; print(guard_plugin.dangling_links(sys.argv[1]))' "$root/pages")
[[ -z $dangling ]] || die "Pages of the packages have links to files that no package has: $dangling"

# Each run installs into a fresh copy of a clean Debian.
make_chroot "$suite" "$root/$suite" "$mirror"
clean=$root/$suite-clean
rm -rf "$clean"
cp -a "$root/$suite" "$clean"
cp "$root/$suite-build"/src/build-deb/gstreamer1.0-cudavision_*.deb "$clean/"
cp pipelines/packaging/debian/tests/elements "$clean/"
apt_in "$clean" update
in_chroot "$clean" sh -c 'apt-get install -y --no-install-recommends ./gstreamer1.0-cudavision_*.deb' >"$root/apt.log" 2>&1 || {
  tail -n 20 "$root/apt.log" >&2
  die "The package cannot be installed into a clean $suite; apt-get's messages are above."
}
apt_in "$clean" install gstreamer1.0-tools gstreamer1.0-plugins-base
in_chroot "$clean" /elements
say "ok: the package installs into a clean $suite, and its elements run there"
