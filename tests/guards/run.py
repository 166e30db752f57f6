#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run.py BUILD [WORD]...: checks what no test program can check: the plug-in as a whole, the programs and scripts in
pipelines/, the documentation and the includes. Takes the plug-in and the programs from the build folder BUILD. Prints a
line for each guard: "ok: name", "not ok: name: why" or "SKIP: name: why". With words: only the guards whose names have
one of them. tests/kernels/guards checks the compilers' output."""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

import guard
import guard_pages  # noqa: F401  (each registers its guards)
import guard_plugin  # noqa: F401
import guard_scripts  # noqa: F401
import guard_sources  # noqa: F401

TOP = pathlib.Path(__file__).resolve().parent.parent.parent


def verdict(name, look):
    """The line about one guard, and whether it is bad. A guard that cannot look has not found that all is well."""
    try:
        complaint = look()
    except guard.Skip as reason:
        return f"SKIP: {name}: {reason}", False
    except Exception as problem:  # pylint: disable=broad-except
        complaint = f"the guard itself fails: {problem!r}"
    return (f"not ok: {name}: {' '.join(complaint.split())}", True) if complaint else (f"ok: {name}", False)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    words = sys.argv[2:]
    tree = guard.Tree(TOP)
    with tempfile.TemporaryDirectory(prefix="cudavision-guards-") as scratch:
        build = guard.Build(tree, sys.argv[1], scratch)
        build.play("gst-inspect-1.0")  # once, so that the registry is complete before several read it
        chosen = [(name, (lambda function=function: function(tree)) if alone else (lambda function=function: function(tree, build)))
                  for name, function, alone in guard.guards if not words or any(word in name for word in words)]
        bad = not chosen
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for line, wrong in pool.map(lambda one: verdict(*one), chosen):
                print(line, flush=True)
                bad |= wrong
    sys.exit(bad)


if __name__ == "__main__":
    main()
