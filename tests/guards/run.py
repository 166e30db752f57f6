#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run.py [--changed] BUILD [WORD]...: runs the guards, which check the plug-in as a whole, the programs and scripts in
pipelines/, the documentation, the sources and the test scripts. Takes the plug-in and programs from the build folder
BUILD. Prints a line for each guard: "ok: name", "not ok: name: why" or "SKIP: name: why". With words, only runs guards
whose names contain one of the words. With --changed, only runs guards for which something has changed since they were
ok, and prints "unchanged: name" for the others. tests/kernels/guards checks the compilers' output."""
import concurrent.futures
import functools
import importlib
import os
import pathlib
import sys
import tempfile

import guard

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import changed  # noqa: E402  pylint: disable=wrong-import-position

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


# Each module registers its guards.
for source in sorted(pathlib.Path(__file__).parent.glob("guard_*.py")):
    importlib.import_module(source.stem)


def verdict(look):
    """Runs a guard and returns its line of output. A guard that raises an exception other than Skip is not ok."""
    name = look.func.guard
    try:
        complaint = look()
    except guard.Skip as reason:
        return f"SKIP: {name}: {reason}"
    except Exception as problem:  # pylint: disable=broad-except
        complaint = f"the guard itself fails: {problem!r}"
    return f"not ok: {name}: {' '.join(complaint.split())}" if complaint else f"ok: {name}"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--changed"]
    if not arguments or arguments[0].startswith("-"):
        sys.exit(__doc__)
    folder, words = pathlib.Path(arguments[0]).resolve(), arguments[1:]
    tree = guard.Tree(TOP)
    chosen = [one for one in guard.guards if not words or any(word in one.guard for word in words)]
    rooms, passed = changed.Tree(folder), changed.Passed(folder / "passed-guards.json", "--changed" not in sys.argv)
    parts = {one.guard: changed.digest_of(changed.conditions(), [rooms.of(room) for room in one.reads]) for one in chosen}
    must_run = passed.select(parts)
    print("".join(f"{line}\n" for line in changed.unchanged(parts, must_run)), end="")
    bad = not chosen
    with tempfile.TemporaryDirectory(prefix="cudavision-guards-") as scratch:
        build = guard.Build(tree, folder, scratch)
        build.play("gst-inspect-1.0")  # once, so that the registry is complete before several guards read it
        looks = [functools.partial(one, tree) if one.alone else functools.partial(one, tree, build)
                 for one in chosen if one.guard in must_run]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for look, line in zip(looks, pool.map(verdict, looks)):
                print(line, flush=True)
                bad |= line.startswith("not ok")
                if line.startswith("ok"):
                    passed.enter(look.func.guard, must_run[look.func.guard])
    sys.exit(bad)


if __name__ == "__main__":
    main()
