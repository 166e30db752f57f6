# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guards of the scripts that build and test: they run the scripts with fake programs."""
import os
import platform
import re
import shutil

from guard import Skip, guard, run


def first_complaint(tree, script):
    """Runs a test script that prints problems, or nothing. Returns the first problem, or an empty string."""
    # The longest script builds and tests a small tree about 20 times, which takes minutes on a busy machine.
    result = run(tree.top, [tree.top / script], timeout=3600)
    complaint = result.text.split("\n", 1)[0]
    return complaint or ("" if result.status == 0 else f"{script} ended with status {result.status}")


@guard("each guard finds the fault that it looks for", alone=True, reads=("tests/guards/",))
def guards_find_faults(tree):
    return first_complaint(tree, "tests/guards/test_guards.py")


@guard("tests/run.sh --changed runs what has changed and nothing else", alone=True,
       reads=("scripts/setup.sh", "meson_options.txt", "tests/changed.py", "tests/digests.py", "tests/run.sh", "tests/tally.py",
              "tests/pipelines/run.py"))
def changed_parts(tree):
    return first_complaint(tree, "tests/guards/test_changed.py")


@guard("runs on a GPU host prove what they finished and nothing else", alone=True, reads=("tests/gpu/", "tests/digests.py", "tests/tally.py"))
def gpu_runs(tree):
    return first_complaint(tree, "tests/gpu/test_check_proof.py") or first_complaint(tree, "tests/gpu/stub_runs.py")


@guard("a bundle's runtime holds what its programs need and nothing else", alone=True, reads=("tests/gpu/", "scripts/"))
def gpu_runtime(tree):
    return first_complaint(tree, "tests/gpu/stub_runtime.py")


@guard("cuda-archs=auto covers the common GPU architectures")
def common_cards(tree, build):
    # Without a GPU, auto means the common GPU architectures that this nvcc supports.
    if not shutil.which("nvcc") or build.run("pkg-config", "--exists", "gstreamer-cuda-1.0").status != 0:
        raise Skip("there is no nvcc, or no gstreamer-cuda-1.0")
    stand_in = build.scratch / "bin/nvidia-smi"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\nexit 1\n")
    stand_in.chmod(0o755)
    jetson = platform.machine() == "aarch64"
    supported = build.run("nvcc", "--list-gpu-code").out.split()
    archs = [arch for arch in ("75", "80", "86", *(["87"] if jetson else []), "89", "90", "100", *(["110"] if jetson else []), "120")
             if f"sm_{arch}" in supported]
    wanted = "-real,".join(archs)
    shown = build.run("meson", "setup", build.scratch / "archs", "-Dcuda=enabled", "-Dtests=disabled", "-Dbenchmarks=disabled",
                      "-Dexamples=disabled", PATH=f"{stand_in.parent}:{os.environ['PATH']}").text
    found = re.search(r"^ *GPU targets *: *(.*)$", shown, re.M)
    return "" if found and found[1] == wanted else f"'{found[1] if found else ''}' instead of {wanted}"
