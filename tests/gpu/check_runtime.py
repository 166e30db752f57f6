#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a runtime holds exactly the libraries that its users need.

    check_runtime.py RUNTIME HOSTS-OWN PROGRAM-OR-LIBRARY...

RUNTIME is a folder that collect-runtime.sh has made. HOSTS-OWN is a regular expression for the names of the libraries
that the host must provide. The users are the runtime's tools and plug-ins and the given files. Prints the problems, and
exits with 1 if there are any.
"""
import pathlib
import re
import subprocess
import sys


def dynamic_section(file):
    return subprocess.run(["readelf", "-d", file], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False).stdout


def needs_of(file):
    """Returns the names of the libraries that a program or library was linked with."""
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section(file)))


def soname_of(file):
    return re.search(r"\(SONAME\).*\[(.*)\]", dynamic_section(file))[1]


def main(runtime, hosts_own, *users):
    libraries = {path.name: path for path in pathlib.Path(runtime, "lib").iterdir() if path.is_file()}
    with_glibc = "ld.so" in libraries  # collect-runtime.sh gives the loader of glibc this name
    if with_glibc:
        loader = libraries.pop("ld.so")
        libraries[soname_of(loader)] = loader
    tools = [path for folder in ("bin", "libexec", "lib/gstreamer-1.0")
             for path in pathlib.Path(runtime, folder).glob("*")]
    needed, lacking = set(), []
    waiting = [*tools, *users]
    while waiting:
        user = waiting.pop()
        for name in needs_of(user) - needed:
            needed.add(name)
            if name in libraries:
                waiting.append(libraries[name])
            elif not re.fullmatch(hosts_own, name):
                lacking.append(f"{runtime} lacks {name}, which {user} needs")
    # The driver's libraries need these libraries of a bundled glibc.
    drivers = r"lib(dl|m|pthread|resolv|rt|util)\.so\.\d" if with_glibc else ""
    idle = [f"{runtime} holds {name}, which nothing needs" for name in libraries
            if name not in needed and not re.fullmatch(drivers, name)]
    print(*sorted(lacking), *sorted(idle), sep="\n", end="\n" if lacking or idle else "")
    return 1 if lacking or idle else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
