#!/usr/bin/env bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Builds Debian packages of this tree from the recipe in debian/.
set -euo pipefail

usage() {
  cat <<'END'
usage: pipelines/packaging/build-deb.sh [--cuda] [--no-lintian] [FOLDER]

Makes the source package gst-cudavision and the packages gstreamer1.0-cudavision (the elements) and
gst-cudavision-tools (the scripts) of this tree in FOLDER (default: build-deb/), for the Debian on which
it runs. Checks them with lintian, and fails if lintian reports errors or warnings.

  --cuda        build the CUDA kernels, which needs nvcc; the packages work without the toolkit and
                without a driver. Default: for the CPU only, because Debian's main has no nvcc.
  --no-lintian  do not check the packages
  -h, --help    this text

Missing Debian packages are installed when run as root or if sudo asks for no password; otherwise the
command to run is printed.
END
}

cuda=disabled
lintian=(lintian)
folder=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --cuda) cuda=enabled ;;
    --no-lintian) lintian=() ;;
    -h | --help)
      usage
      exit 0
      ;;
    -*)
      printf 'build-deb.sh: unknown option "%s"\n\n' "$1" >&2
      usage >&2
      exit 2
      ;;
    *)
      [[ -z $folder ]] || {
        printf 'build-deb.sh: unexpected second folder "%s"\n\n' "$1" >&2
        usage >&2
        exit 2
      }
      folder=$(realpath -m "$1")
      ;;
  esac
  shift
done

cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/setup.sh
folder=${folder:-$PWD/build-deb}

install_missing build-essential debhelper xz-utils "${lintian[@]}"
# Lists the missing build dependencies without version constraints; dpkg-buildpackage checks the versions.
mapfile -t unmet < <(dpkg-checkbuilddeps pipelines/packaging/debian/control 2>&1 |
  sed -n 's/.*[Uu]nmet build dependencies: //p' | sed 's/ *([^)]*)//g' | tr ' ' '\n')
[[ ${#unmet[@]} -eq 0 ]] || install_missing "${unmet[@]}"
if [[ $cuda == enabled ]]; then
  find_nvcc || die "There is no nvcc of a CUDA toolkit $oldest_cuda or newer. Install one, put its nvcc on PATH, or leave out --cuda."
  export DEB_BUILD_PROFILES="${DEB_BUILD_PROFILES:+$DEB_BUILD_PROFILES }pkg.gst-cudavision.cuda"
fi

version=$(dpkg-parsechangelog -l pipelines/packaging/debian/changelog -S Version)
upstream=${version%-*}
source=$folder/gst-cudavision-$upstream
say "Making gst-cudavision $version in $folder"
rm -rf "$source"
mkdir -p "$source"
tar --exclude='./build*' --exclude=./.git -c . | tar -x -C "$source"
tar --sort=name --owner=0 --group=0 --numeric-owner -C "$folder" -cJf "$folder/gst-cudavision_$upstream.orig.tar.xz" \
  "gst-cudavision-$upstream"
cp -r pipelines/packaging/debian "$source/debian"
(cd "$source" && dpkg-buildpackage --unsigned-source --unsigned-changes) >"$folder/build.log" 2>&1 || {
  tail -n 40 "$folder/build.log" >&2
  die "The package does not build; its whole output: $folder/build.log"
}
if [[ ${#lintian[@]} -gt 0 ]]; then
  lintian+=(--fail-on "error,warning")
  [[ $(id -u) -ne 0 ]] || lintian+=(--allow-root)
  "${lintian[@]}" "$folder/gst-cudavision_${version}_$(dpkg --print-architecture).changes"
fi
say "Done: $(echo "$folder"/{gstreamer1.0-cudavision,gst-cudavision-tools}_"$version"_*.deb)"
