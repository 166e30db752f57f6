#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the results of a GPU host with this tree and with this machine's CPU.

    check_proof.py --digests                         prints the digest of each part of the tree, as JSON
    check_proof.py --tree --proof FILE               lists the parts that FILE proves for this tree
    check_proof.py --program PROGRAM --proof FILE    compares the CPU's hashes with those in FILE

FILE is tests/gpu/proof.json. A part is a folder of cuda/ that has tests of its own (core, sync, pixels,
gaussblur, ...), "elements", which means gst/ and its tests, or "elements with GStreamer 1.26", the same sources
built and run with that version. Its digest covers its sources, its tests and the files that these include
(for the elements, except in cuda/), so that a change to one operation keeps the proofs of independent
parts. Comments are not part of a digest.

With --tree, a part that is not proven is reported as skipped, by name and with the reason.
--program fails if a hash differs, or if a case of a proven part is missing on either side.
"""
import argparse
import collections
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import digests  # noqa: E402  pylint: disable=wrong-import-position

# The suites that must have run for parts other than operations.
ELEMENTS = {"elements": ("check",), "elements with GStreamer 1.26": ("check13",)}
VARIANTS = ("native", "ptx75", "ptx80")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
# A comment. With //, it extends over the next line if a backslash precedes the line break.
COMMENT = rb"//(?:\\.|[^\\\n])*|/\*.*?\*/"
# Text that code_of() keeps: literals, numbers (with ' between digits), included names, and the line after a backslash if it
# is empty or a comment, because it ends a macro; or else space and comments.
TOKEN = re.compile(rb'''(\b(?:u8?|[UL])?R"([^()\\\s]*)\(.*?\)\2"|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'|\b[0-9](?:'?[\w.])*'''
                   rb'''|\#\s*include\s*<[^>\n]*>|\\\n[^\S\n]*(?://[^\n]*)?\n)|((?:\s|''' + COMMENT + rb''')+)''', re.S)


def files_below(folder):
    """Yields the sources in a folder, without temporary files of editors and Python."""
    for path in sorted((ROOT / folder).rglob("*")):
        if path.suffix in (".h", ".cpp", ".cu", ".cuh"):
            yield path.relative_to(ROOT).as_posix()


def operations():
    """Returns the folders of cuda/ that have tests."""
    return sorted(path.name for path in (ROOT / "tests/kernels").iterdir()
                  if path.is_dir() and (ROOT / "cuda" / path.name).is_dir())


def room_of(name):
    """Returns the part's folder for a file: everything in cuda/sgm/census belongs to cuda/sgm."""
    return "/".join(name.split("/")[:2])


@functools.lru_cache(maxsize=None)
def includes_of(name):
    path = ROOT / name
    found = INCLUDE.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    return [include for include in found if (ROOT / include).is_file()]


def sources_of(part):
    """Returns the files that the part's digest covers."""
    covered = set()
    if part in ELEMENTS:
        waiting = [name for folder in ("gst", "tests/check", "tests/fuzz") for name in files_below(folder)]
    else:
        waiting = [*files_below(f"cuda/{part}"), *files_below(f"tests/kernels/{part}"),
                   *files_below("tests/kernels/contract")]
    while waiting:
        name = waiting.pop()
        if name in covered:
            continue
        covered.add(name)
        for include in includes_of(name):
            if include.startswith("cuda/"):
                # An operation that includes a header of another folder depends on all sources of that
                # folder. Elements also use cuda/, but its parts have their own proofs.
                waiting += files_below(room_of(include)) if part not in ELEMENTS else []
            else:
                waiting.append(include)
                stem = (ROOT / include).with_suffix("")
                waiting += [path.relative_to(ROOT).as_posix() for path in
                            (stem.with_suffix(".cpp"), stem.with_suffix(".cu")) if path.is_file()]
    return covered | ({"cuda/nvcc/meson.build"} if part not in ELEMENTS else set())


def code_of(path):
    """Returns a source without comments, and with a single space or line break where it has spaces or comments; a file of meson
    without lines that are comments."""
    if path.suffix == ".build":
        return re.sub(rb"^[ \t]*#[^\n]*\n", b"", path.read_bytes(), flags=re.M)

    def kept(match):
        return match[1] or (b"\n" if b"\n" in re.sub(COMMENT, b"", match[3], flags=re.S) else b" ")
    return TOKEN.sub(kept, path.read_bytes()).strip()


def digest_of(part):
    return digests.digest(ROOT, sources_of(part), code_of)


def shout(*lines):
    rule = "*" * 79
    print(rule, *lines, rule, sep="\n")


def load(path):
    """Returns the parts of the proof, or an empty dictionary if the file does not exist. Exits if it is unreadable."""
    try:
        parts = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["parts"]
        for part in parts.values():
            if not isinstance(part["digest"], str) or not isinstance(part.get("cases", {}), dict):
                raise TypeError("digest must be a string and cases an object")
        return parts
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f"{path} is not a proof: {error!r}; make a new one on a GPU host "
                 "with tests/gpu/bundle.sh")


def shortcoming(part, record):
    """Explains why the record does not prove the part. Returns an empty string if it does."""
    if record is None:
        return "it was not run on a GPU host"
    if record["digest"] != digest_of(part):
        return "it has changed since it was run on a GPU host"
    suites = record.get("suites", {})
    wanted = ELEMENTS.get(part, VARIANTS)
    missing = [suite for suite in wanted if not suites.get(suite, {}).get("passed")]
    if part not in ELEMENTS:
        missing += [tool for tool in SANITIZERS if tool not in record.get("sanitizers", {})]
    if missing:
        return f"the GPU host ran no {', '.join(missing)}"
    failed = [suite for suite, counts in {**suites, **record.get("sanitizers", {})}.items() if counts["failed"]]
    return f"these failed on the GPU host: {', '.join(failed)}" if failed else ""


def check_tree(path):
    parts = load(path)
    unproven = []
    for part in (*operations(), *ELEMENTS):
        why = shortcoming(part, parts.get(part))
        if why:
            unproven.append(part)
            print(f"SKIP: {part}: GPU half not proven for this tree: {why}")
        else:
            record = parts[part]
            print(f"ok: {part} is proven for this tree on {record.get('card', 'an unknown GPU')}, "
                  f"driver {record.get('driver', 'unknown')}")
    if unproven:
        shout(f"GPU half not proven for this tree: {', '.join(unproven)}.",
              "Run these parts on a GPU host; docs/testing.md describes how.")
    return 0


def hashes_of(program):
    # Meson sets this variable to the emulator of a cross build.
    wrapper = shlex.split(os.environ.get("MESON_EXE_WRAPPER", ""))
    run = subprocess.run([*wrapper, program, "--backend=cpu"], stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit(f"{program} ended with status {run.returncode}")
    cases = collections.defaultdict(dict)
    for name, value in json.loads(run.stdout)["cases"].items():
        cases[name.split("/")[0]][name] = value
    return cases


def check_hashes(program, path):
    parts = load(path)
    here = hashes_of(program)
    faults = 0 if here else 1
    for part in sorted(here.keys() | {part for part, record in parts.items() if record.get("cases")}):
        record = parts.get(part, {})
        ours, theirs = here.get(part, {}), record.get("cases", {})
        problems = [f"{case}: {ours[case]} on this CPU, {theirs[case]} on the GPU"
                    for case in sorted(ours.keys() & theirs.keys()) if ours[case] != theirs[case]]
        gaps = [f"{fault} {len(cases)} cases, the first of which is {min(cases)}"
                for cases, fault in ((ours.keys() - theirs.keys(), "the proof lacks"),
                                     (theirs.keys() - ours.keys(), "only the proof has")) if cases]
        if not shortcoming(part, record or None):
            problems += gaps
        for problem in problems[:20]:
            print(f"not ok: {part}: {problem}")
        faults += len(problems)
        if not problems and gaps:
            print(f"SKIP: {part} hashes: GPU half not proven for this tree: {'; '.join(gaps)}")
        elif not problems:
            print(f"ok: {part}: this CPU gives the {len(ours)} hashes of {record.get('card', 'the GPU')}")
    if faults:
        print("If you changed the cases or the results of the kernels on purpose, run these parts on a GPU "
              "host again (docs/testing.md).")
    return 1 if faults else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--digests", action="store_true")
    what.add_argument("--tree", action="store_true")
    what.add_argument("--program")
    parser.add_argument("--proof", help="tests/gpu/proof.json")
    arguments = parser.parse_args()
    if arguments.digests:
        json.dump({part: digest_of(part) for part in (*operations(), *ELEMENTS)}, sys.stdout, indent=1)
        print()
        return 0
    if not arguments.proof:
        parser.error("--proof is missing")
    if arguments.tree:
        return check_tree(arguments.proof)
    return check_hashes(arguments.program, arguments.proof)


if __name__ == "__main__":
    sys.exit(main())
