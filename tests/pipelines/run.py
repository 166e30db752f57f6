#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run.py [--changed] BUILD [WORD]...: tests the scripts, the example programs and the commands of the documentation,
with the plug-in of a build folder. Prints a line for each test: "ok: name", "not ok: name: why" or "SKIP: name: why".
With words, runs only tests whose names contain one of them. With --changed, runs only tests whose dependencies have
changed since they passed, and prints "unchanged: name" for the other tests."""
import concurrent.futures
import importlib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import harness


sys.path.insert(0, str(harness.top / "tests"))
import changed  # noqa: E402  pylint: disable=wrong-import-position

# The files that any test may read: the plug-in, the scripts, the programs and the modules that the tests share.
SHARED = ("pipelines/", "scripts/", *(f"tests/pipelines/{name}.py" for name in ("boards", "explore/browser", "harness", "play", "run")),
          "BUILD/gst/", "BUILD/pipelines/", "BUILD/tests/bench/")


# Each module registers its tests.
for source in sorted(pathlib.Path(__file__).parent.rglob("test_*.py")):
    if str(source.parent) not in sys.path:
        sys.path.append(str(source.parent))
    importlib.import_module(source.stem)


def file_of(module):
    return pathlib.Path(sys.modules[module].__file__).resolve()


def reads_of(module):
    """Lists the files that the tests of a module read. Only modules that import harness.top can find other files of the
    tree. The variable `reads` of a module lists these files; without this variable, they may read the whole tree."""
    modules = {module}
    while True:
        more = {other for name in modules for other in
                re.findall(r"^from (test_\w+) import", file_of(name).read_text(encoding="utf-8"), re.M)}
        if more <= modules:
            break
        modules |= more
    rooms = [room for name in modules for room in
             getattr(sys.modules[name], "reads", ("",) if hasattr(sys.modules[name], "top") else ())]
    return sorted({*SHARED, *rooms, *(str(file_of(name).relative_to(harness.top)) for name in modules)})


def select(build, chosen, only_changed):
    """Returns the chosen tests that must run, with their digests, and the record of passed tests."""
    tree, passed = changed.Tree(build), changed.Passed(build / "passed-pipelines.json", not only_changed)
    digests = {name: changed.digest_of(changed.conditions(), [tree.of(room) for room in reads_of(function.__module__)])
               for name, function in chosen}
    return passed.select(digests), passed


def run(build, scratch, name, function):
    place = harness.Place(build, scratch)
    try:
        function(place)
        return f"ok: {name}", False
    except harness.Skip as reason:
        return f"SKIP: {name}: {reason}", False
    except (AssertionError, OSError, subprocess.TimeoutExpired) as problem:
        return f"not ok: {name}: {' '.join(str(problem).split())}", True
    finally:
        place.remove()


def main():
    arguments = [word for word in sys.argv[1:] if word != "--changed"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    build, words = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    chosen = [(name, function) for name, function in harness.tests if not words or any(word in name for word in words)]
    digests, passed = select(build, chosen, "--changed" in sys.argv)
    print("".join(f"{line}\n" for line in changed.unchanged((name for name, _ in chosen), digests)), end="")
    chosen = [(name, function) for name, function in chosen if name in digests]
    if not chosen:
        return
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="cudavision-pipelines-"))
    failed = False
    try:
        # The first pipeline also completes the registry of GStreamer, before several tests read it at once.
        harness.make_materials(harness.Place(build, scratch))
        # Runs three tests at a time, because most tests wait for a pipeline that plays in real time.
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for (name, _), (line, bad) in zip(chosen, pool.map(lambda one: run(build, scratch, *one), chosen)):
                print(line, flush=True)
                failed |= bad
                if line.startswith("ok"):
                    passed.enter(name, digests[name])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
