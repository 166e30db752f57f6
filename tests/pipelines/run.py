#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""run.py BUILD [WORD]...: the scripts, the example programs and the commands of the documentation, with the plug-in of
a build folder. Prints a line for each test: "ok: name", "not ok: name: why" or "SKIP: name: why". With words: only the
tests whose names have one of them."""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

import harness
import test_archive  # noqa: F401  (each registers its tests)
import test_archive_results  # noqa: F401
import test_bench  # noqa: F401
import test_calibrate  # noqa: F401
import test_calibrate_verdicts  # noqa: F401
import test_commands  # noqa: F401
import test_examples  # noqa: F401
import test_explore  # noqa: F401
import test_explore_socket  # noqa: F401
import test_explore_stereo  # noqa: F401
import test_inputs  # noqa: F401
import test_install  # noqa: F401
import test_privacy  # noqa: F401
import test_scripts  # noqa: F401
import test_warnings  # noqa: F401


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
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, words = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    chosen = [(name, function) for name, function in harness.tests if not words or any(word in name for word in words)]
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="cudavision-pipelines-"))
    failed = False
    try:
        # Once, so that the registry is complete before several read it.
        harness.make_materials(harness.Place(build, scratch))
        # Most of them wait for a pipeline that plays in real time.
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            for line, bad in pool.map(lambda one: run(build, scratch, *one), chosen):
                print(line, flush=True)
                failed |= bad
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
