#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that a bundle's runtime holds the libraries that its programs need, and no others.

A folder with two small programs replaces the build of the tests: one needs a library of its own, the other needs
libopencv_stub, so bundles leave it out. Prints the problems, or nothing.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

# This ldd prints so many extra lines that it still runs when a reader such as grep -q has exited.
COLLECT = r"""set -euo pipefail
. scripts/setup.sh
. scripts/programs.sh
programs() { printf '%s %s\n' "$1/useful" "" "$1/oracle" ""; }
ldd() {
  command ldd "$@"
  printf '\tlibmore%s.so => /nowhere\n' {1..20000}
}
collect "$1" check "$2"
"""


def build(folder):
    for library, program in (("libuseful.so", "useful"), ("libopencv_stub.so", "oracle")):
        (folder / "library.c").write_text("int answer(void) { return 42; }\n", encoding="utf-8")
        (folder / "program.c").write_text("int answer(void);\nint main(void) { return answer(); }\n", encoding="utf-8")
        for arguments in (["-shared", "-fPIC", "library.c", "-Wl,-soname," + library, "-o", library],
                          ["program.c", library, f"-Wl,-rpath,{folder}", "-o", program]):
            subprocess.run(["gcc", *arguments], cwd=folder, check=True)


def said_by(*command):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        made, check, runtime = (pathlib.Path(scratch, name) for name in ("build", "check", "runtime"))
        made.mkdir()
        build(made)
        collected = said_by("bash", "-c", COLLECT, "collect", made, check)
        names = sorted(path.name for path in check.iterdir()) if check.is_dir() else []
        if names != ["useful"]:
            problems.append(f"collected {names} instead of the program without OpenCV: {collected.stdout.strip()}")

        for option in ([], ["--with-glibc"]):
            shutil.rmtree(runtime, ignore_errors=True)
            ran = said_by("tests/gpu/collect-runtime.sh", *option, runtime, check)
            held = {path.name for path in (runtime / "lib").iterdir()}
            if ran.returncode or "libuseful.so" not in held or any(name.startswith("libopencv") for name in held):
                problems.append(f"the runtime{' '.join(['', *option])} does not fit its programs: {ran.stdout.strip()}")

        shutil.copy(made / "libopencv_stub.so", runtime / "lib")
        (runtime / "lib/libuseful.so").unlink()
        ran = said_by("tests/gpu/check_runtime.py", runtime, r"lib(cuda|nvidia-.*)\.so.*", check / "useful")
        wanted = [f"{runtime} lacks libuseful.so, which {check}/useful needs",
                  f"{runtime} holds libopencv_stub.so, which nothing needs"]
        if ran.stdout.splitlines() != wanted or ran.returncode != 1:
            problems.append(f"a library too many and one that is missing: {ran.stdout.strip()}")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
