#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Records which parts of the tests have passed, and selects those whose dependencies have changed since.

    changed.py select --all|--changed --unchanged FILE BUILD [--suite SUITE]... [--without SUITE]... [NAME]...
        prints the names of the build's tests that must run. Considers the tests in these suites or with these names, or
        all. --all selects each of these tests, --changed only tests whose dependencies have changed since they passed.
        Lists the other tests in FILE
    changed.py record BUILD TESTLOG.json
        notes which of the selected tests have passed

A part is a test of `meson test`, a guard, or a test of tests/pipelines. The digest of a part covers the programs and
scripts that it runs, the files that it reads, and the conditions (such as libraries, GStreamer's plug-ins,
environment variables and the GPU). A part's record is removed before the part runs and written again when it has
passed. A part that failed, was interrupted or never ran will therefore run again.

For a test program, the digest covers the linked file and the build's libraries that the test needs, not their sources.
ninja rebuilds these files when sources change; if a file is the same afterwards, the test need not run again.

CUDAVISION_TEST_ELEMENTS limits some test programs to the elements that it lists. The digests of these programs cover only
a part of the plug-in: the objects of these elements, of the code that all elements share, and of the operations whose
headers any of these objects includes.
"""
import argparse
import functools
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys

import digests
import tally

TOP = pathlib.Path(__file__).resolve().parent.parent
# The folders and files that script tests read, in addition to the files in their command lines: "ROOM" in the tree,
# "BUILD/ROOM" in the build. A script that is not listed here is assumed to read the whole tree and build.
READS = {"proof_hashes": ("cuda/", "tests/kernels/", "tests/digests.py"), "proof_tree": ("cuda/", "gst/", "tests/"),
         "machine_code": ("cuda/", "BUILD/cuda/")}
PLUGIN = "gst/libgstcudavision.so"
VARIABLES = ("CUDAVISION_", "CK_", "GST_", "G_", "ASAN_", "UBSAN_", "TSAN_", "CUDA_VISIBLE_")


def digest_of(*words):
    return hashlib.sha256(json.dumps(words, sort_keys=True).encode()).hexdigest()


def stamps(folder):
    """Returns the names, sizes and modification times of the files in a folder."""
    paths = sorted(pathlib.Path(folder).glob("*")) if folder else []
    return [(path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in paths if path.is_file()]


def output_of(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    return done.stdout.decode(errors="replace")


@functools.lru_cache(maxsize=None)
def conditions():
    """Returns the digest of conditions outside the tree and the build that may affect a result."""
    try:
        card = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader")
    except FileNotFoundError:
        card = ""
    folders = [*(output_of("pkg-config", f"--variable={name}", "gstreamer-1.0").strip() for name in ("libdir", "pluginsdir")), "/usr/share/doc/opencv-doc/examples/data",
               os.environ.get("CUDAVISION_STEREO_PAIRS")]
    variables = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
    return digest_of(card, variables, sys.version, [stamps(folder) for folder in folders])


@functools.lru_cache(maxsize=None)
def digest_of_file(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


class Tree:
    """Computes digests of files and folders of the tree and of one build of it."""

    def __init__(self, build):
        self.build = pathlib.Path(build).resolve()

    @functools.lru_cache(maxsize=None)
    def of(self, room):
        """Returns the digest of a file or folder of the tree, or of the build if the name starts with BUILD/; "": of the whole
        tree."""
        if room.startswith("BUILD/"):
            return digest_of([(name, digest_of_file(self.build / name)) for name in self._built(room.removeprefix("BUILD/"))])
        return digests.digest(TOP, [name for name in self._sources() if name == room or room == "" or
                                    room.endswith("/") and name.startswith(room)])

    @functools.lru_cache(maxsize=None)
    def _sources(self):
        names = []
        for folder, folders, files in os.walk(TOP):
            if pathlib.Path(folder) == TOP:
                folders[:] = [name for name in folders if name != ".git" and not name.startswith("build")]
            folders[:] = [name for name in folders if name != "__pycache__"]
            names += [os.path.relpath(os.path.join(folder, name), TOP) for name in files]
        return names

    @functools.lru_cache(maxsize=None)
    def _outputs(self):
        lines = output_of("ninja", "-C", str(self.build), "-t", "targets", "all").splitlines()
        return [line.rsplit(":", 1)[0] for line in lines if line.endswith(("LINKER", "CUSTOM_COMMAND", "COMPILER"))]

    @functools.lru_cache(maxsize=None)
    def of_plugin(self, elements):
        """Returns the digest of the objects of the plug-in that these elements use."""
        of_element = {element: room_of(name) for name in self._sources() if name.startswith("gst/") and name.endswith(".cpp")
                      for element in re.findall(r'^GST_ELEMENT_REGISTER_DEFINE\(\s*\w+, "(\w+)"', (TOP / name).read_text(encoding="utf-8"), re.M)}
        others = {room for element, room in of_element.items() if element not in elements}
        objects, more = self._plugin_parts()
        headers = {}
        for room, names in objects.values():
            headers.setdefault(room, set()).update(names)
        needed, left = set(), {room for room in headers if room.startswith("gst/")} - others
        while left:
            needed |= left
            left = {name for room in left for name in headers.get(room, ())} - needed
        # Files directly in gst/ or cuda/ register elements and replace parts that a build lacks, so all are included.
        parts = [name for name, (room, _) in objects.items() if room in needed or "." in room]
        return digest_of([(name, digest_of_file(self.build / name)) for name in sorted(parts + more)],
                         [self.of(name) for name in ("meson.build", "cuda/meson.build", "gst/meson.build")])

    @functools.lru_cache(maxsize=None)
    def _plugin_parts(self):
        """Returns the plug-in's objects, each with its room and the rooms whose headers it includes, and the paths of other inputs."""
        inputs, left = set(), [PLUGIN]
        while left:
            lines = output_of("ninja", "-C", str(self.build), "-t", "query", left.pop()).split("  outputs:")[0].splitlines()
            new = {line.strip(" |") for line in lines if line.startswith("    ") and "||" not in line} - inputs
            inputs |= new
            left += [name for name in new if name.endswith(".a")]
        files = {}
        for block in output_of("ninja", "-C", str(self.build), "-t", "deps").split("\n\n"):
            first, *lines = block.splitlines() or [""]
            files[first.split(":")[0]] = [os.path.relpath(self.build / line.strip(), TOP) for line in lines]
        objects = {name: (next(map(room_of, (file for file in files[name] if file.endswith((".cpp", ".cu")))), ""),
                          {room_of(file) for file in files[name] if file.startswith(("cuda/", "gst/"))})
                   for name in inputs if name.endswith(".o") and name in files}
        return objects, [name for name in inputs if name not in objects and not name.endswith(".a") and (self.build / name).is_file()]

    def _built(self, room):
        return sorted(name for name in self._outputs() if name.startswith(room) and (self.build / name).is_file())


class Passed:
    """The file that records the parts that have passed, with their digests at that time."""

    def __init__(self, path, every):
        self.path, self.every = pathlib.Path(path), every
        try:
            self.digests = json.loads(self.path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            self.digests = {}

    def select(self, parts):
        """Returns the parts that must run, with their digests, and removes their records."""
        chosen = {part: digest for part, digest in parts.items() if self.every or self.digests.get(part) != digest}
        self._enter({part: None for part in chosen})
        return chosen

    def enter(self, part, digest):
        self._enter({part: digest})

    def _enter(self, parts):
        self.digests = {part: digest for part, digest in {**self.digests, **parts}.items() if digest}
        new = self.path.with_suffix(".new")
        new.write_text(json.dumps(self.digests, indent=0), encoding="utf-8")
        new.replace(self.path)


def unchanged(parts, chosen):
    """Returns the lines that tally.py counts as unchanged."""
    return [f"unchanged: {part}" for part in parts if part not in chosen]


def passed_tests(build, every=False):
    """Opens the record of the tests of `meson test`. Each backend under test has its own record."""
    backend = os.environ.get("CUDAVISION_TEST_BACKEND", "")
    return Passed(build / f"passed-tests{backend and '-' + backend}.json", every)


def room_of(name):
    """Returns the folder of gst/ or cuda/ that contains a file. A file directly in gst/ or cuda/ is its own room."""
    return "/".join(name.split("/")[:2])


def digest_of_test(test, outputs, tree):
    elements = test["env"].get("CUDAVISION_TEST_ELEMENTS", "").split()
    name, script = test["name"], not str(test["cmd"][0]).startswith(str(tree.build))
    # A build of some suites lacks files that only other suites need. A test whose own file is missing fails or skips.
    needed = [tree.of_plugin(tuple(elements)) if elements and path == str(tree.build / PLUGIN) and os.path.exists(path) else
              digest_of_file(path) if os.path.exists(path) else "not built" for target in test["depends"] for path in outputs[target]]
    named = [digest_of_file(path) for path in (os.path.join(tree.build, word) for word in test["cmd"][1:]) if os.path.isfile(path)]
    reads = [tree.of(room) for room in READS.get(name, ("", "BUILD/"))] if script else []
    return digest_of(conditions(), test["cmd"], test["env"], needed, named, reads)


def select(build, suites, without, names, every):
    tree = Tree(build)
    outputs = {target["id"]: target["filename"] for target in json.loads(output_of("meson", "introspect", "--targets", str(build)))}
    tests = []
    for test in json.loads(output_of("meson", "introspect", "--tests", str(build))):
        own_suites = {suite.split(":")[-1] for suite in test["suite"]}
        if (not suites or suites & own_suites) and not without & own_suites and (not names or test["name"] in names):
            tests.append(test)
    parts = {test["name"]: digest_of_test(test, outputs, tree) for test in tests}
    chosen = passed_tests(tree.build, every).select(parts)
    (tree.build / "selected-tests.json").write_text(json.dumps(chosen), encoding="utf-8")
    return list(chosen), unchanged(parts, chosen)


def record(build, log):
    passed = passed_tests(build)
    chosen = json.loads((build / "selected-tests.json").read_text(encoding="utf-8"))
    for result in tally.meson_lines("", log):
        if result["passed"] and not result["failed"] and result["name"] in chosen:
            passed.enter(result["name"], chosen[result["name"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    selecting, recording = commands.add_parser("select"), commands.add_parser("record")
    how = selecting.add_mutually_exclusive_group(required=True)
    how.add_argument("--all", action="store_true")
    how.add_argument("--changed", action="store_true")
    for command in (selecting, recording):
        command.add_argument("build", type=lambda path: pathlib.Path(path).resolve())
    selecting.add_argument("--suite", action="append", default=[])
    selecting.add_argument("--without", action="append", default=[], help="leave out the tests of this suite")
    selecting.add_argument("--unchanged", required=True, help="a file for a line about each part that need not run")
    selecting.add_argument("names", nargs="*")
    recording.add_argument("log")
    arguments = parser.parse_args()
    if arguments.command == "record":
        record(arguments.build, arguments.log)
        return
    chosen, kept = select(arguments.build, set(arguments.suite), set(arguments.without), set(arguments.names), arguments.all)
    pathlib.Path(arguments.unchanged).write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    print("".join(f"{name}\n" for name in chosen), end="")


if __name__ == "__main__":
    main()
