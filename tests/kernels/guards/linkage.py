#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""linkage.py BUILD: the build's programs and libraries must start without the CUDA toolkit and without a driver.

The CUDA runtime is linked statically and looks for the driver at run time. Therefore no program and no
library of the build may have libcudart, libcuda or another NVIDIA library among its NEEDED entries.
"""
import os
import pathlib
import re
import subprocess
import sys

NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
FORBIDDEN = re.compile(r"^lib(cuda|cudart|nvidia-.*|nvrtc|nvJitLink|npp.*|cublas.*)\.so")


def elf_files(build):
    for path in sorted(build.rglob("*")):
        parts = path.relative_to(build).parts
        if path.is_symlink() or not path.is_file() or parts[0].startswith("meson-"):
            continue
        if any(part.endswith(".p") for part in parts[:-1]):
            continue
        with path.open("rb") as file:
            if file.read(4) == b"\x7fELF":
                yield path


def main():
    build = pathlib.Path(sys.argv[1])
    bad = 0
    names = []
    for path in elf_files(build):
        name = str(path.relative_to(build))
        names.append(name)
        dynamic = subprocess.run(["readelf", "-d", "--wide", path], check=True, text=True,
                                 stdout=subprocess.PIPE, env={**os.environ, "LC_ALL": "C"}).stdout
        needed = NEEDED.findall(dynamic)
        if not needed:
            print(f"not ok: {name} starts without CUDA: readelf lists no needed libraries")
            bad += 1
            continue
        wrong = [library for library in needed if FORBIDDEN.match(library)]
        if wrong:
            print(f"not ok: {name} starts without CUDA: it needs {', '.join(wrong)}")
            bad += 1
        else:
            print(f"ok: {name} starts without CUDA")
    if not any(name.endswith("libgstcudavision.so") for name in names):
        print("not ok: the plug-in starts without CUDA: the build has no libgstcudavision.so")
        bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
