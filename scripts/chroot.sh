# shellcheck shell=bash
# SPDX-License-Identifier: LGPL-2.1-or-later
#
# Functions for scripts that test the project in a separate Debian system in a folder: they install the
# system, copy the sources into it and run commands in it. Source this file after setup.sh.

# make_chroot SUITE FOLDER MIRROR: installs a minimal Debian, unless the folder already holds a Debian.
make_chroot() {
  local suite=$1 folder=$2 mirror=$3
  [[ $(id -u) -eq 0 ]] || die "Only root can make and enter a chroot. Run this script with sudo."
  [[ -e $folder/etc/debian_version ]] && return
  install_missing debootstrap
  [[ ! -e $folder ]] || rmdir "$folder" 2>/dev/null ||
    die "$folder exists, but is not a chroot: name another folder with --root, or remove it."
  say "Installing Debian's $suite in $folder"
  mkdir -p "$(dirname "$folder")"
  # The folder gets its name last, so that an interrupted installation is not mistaken for a chroot.
  rm -rf "$folder.partial"
  debootstrap --variant=minbase "$suite" "$folder.partial" "$mirror" >"$folder.log" 2>&1 || {
    tail -n 20 "$folder.log" >&2
    die "debootstrap could not install $suite from $mirror; its messages are above. If the mirror fails, name another with --mirror."
  }
  mv "$folder.partial" "$folder"
}

# Folders of this machine that commands in the chroot can read at the same path.
shown_in_chroot=()

# in_chroot FOLDER COMMAND...: runs a command in the chroot's /src, or in / if /src does not exist. Mounts /proc,
# /dev and the folders of shown_in_chroot for the command. Passes only the variables that match the patterns below.
in_chroot() {
  local folder=$1 name kept=()
  shift
  for name in "${!CUDAVISION_@}" "${!CK_@}" MESON_TESTTHREADS DEB_BUILD_OPTIONS DEB_BUILD_PROFILES; do
    [[ -z ${!name:-} ]] || kept+=("$name=${!name}")
  done
  # shellcheck disable=SC2016
  unshare --mount --propagation private sh -ec '
    mount -t proc proc "$0/proc"
    mount --rbind /dev "$0/dev"
    until [ "$1" = -- ]; do
      mkdir -p "$0$1"
      mount --bind -o ro "$1" "$0$1"
      shift
    done
    shift
    exec chroot "$0" "$@"' "$folder" "${shown_in_chroot[@]}" -- \
    env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 "${kept[@]}" \
    sh -c 'cd /src 2>/dev/null || cd /; exec "$@"' sh "$@"
}

# copy_sources FOLDER: copies the working tree to /src in the chroot, and keeps the build folders there. Changed
# files get the current time, because a file can be edited while an earlier copy is being built.
copy_sources() {
  local source=$1/src copy=$1/src.copy file
  rm -rf "$copy"
  mkdir -p "$source" "$copy"
  tar --exclude='./build*' --exclude=./.git -c . | tar -x --no-same-owner --touch -C "$copy"
  (cd "$copy" && find . -type f -print0) | while IFS= read -r -d '' file; do
    ! cmp -s "$copy/$file" "$source/$file" || touch -r "$source/$file" "$copy/$file"
  done
  find "$source" -mindepth 1 -maxdepth 1 ! -name 'build*' -exec rm -rf {} +
  find "$copy" -mindepth 1 -maxdepth 1 -exec mv -t "$source" {} +
  rmdir "$copy"
}
