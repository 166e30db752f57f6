#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Holds what a GPU host computed against this tree and this machine's CPU.

    check_proof.py --digest                          prints the digest of this tree's kernels and tests
    check_proof.py --tree --proof FILE               was FILE made from this tree?
    check_proof.py --program PROGRAM --proof FILE    does the CPU give the hashes in FILE?

FILE is tests/gpu/proof.json. --tree never fails: where the proof is missing or another tree's, it says
so and ends with status 77, which test runners count as skipped. --program fails where a hash differs or
a case is missing on either side; without a proof it ends with status 77, too.
"""
import argparse
import collections
import hashlib
import json
import pathlib
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("cuda", "tests/kernels")


def tree_files(root):
    """The sources that a proof is about, without what editors and Python leave behind."""
    for folder in FOLDERS:
        for path in (root / folder).rglob("*"):
            parts = path.relative_to(root).parts
            left_behind = path.name.endswith((".pyc", "~", ".orig", ".rej")) or any(
                part.startswith(".") or part == "__pycache__" for part in parts)
            if path.is_file() and not left_behind:
                yield path.relative_to(root).as_posix(), path


def tree_digest(root=ROOT):
    """SHA-256 over names and contents, in the order of the names."""
    digest = hashlib.sha256()
    for name, path in sorted(tree_files(root)):
        digest.update(name.encode() + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def shout(*lines):
    rule = "*" * 79
    print(rule, *lines, rule, sep="\n")


def load(path):
    """The proof, or None where there is none. A proof that cannot be read is an error."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    try:
        proof = json.loads(text)
        if not isinstance(proof["digest"], str) or not isinstance(proof["cases"], dict):
            raise TypeError("digest must be a string and cases an object")
        return proof
    except (ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path} is not a proof: {error!r}; make a new one on a GPU host "
                 "with tests/gpu/bundle.sh")


def unproven(name, why):
    shout("GPU half not proven for this tree:", f"  {why}.",
          "Make a new proof on a GPU host: tests/gpu/bundle.sh says how.")
    print(f"SKIP: {name}: GPU half not proven for this tree: {why}")
    return SKIPPED


def check_tree(path):
    proof = load(path)
    if proof is None:
        return unproven("tree", "tests/gpu/proof.json does not exist")
    digest = tree_digest()
    if proof["digest"] != digest:
        return unproven("tree", f"the proof was made from {proof['digest'][:12]}, this tree is {digest[:12]}")
    print(f"The GPU half is proven for this tree: {proof.get('card', 'a card without a name')}, "
          f"driver {proof.get('driver', 'unknown')}.")
    return 0


def hashes_of(program):
    run = subprocess.run([program, "--backend", "cpu"], stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit(f"{program} ended with status {run.returncode}")
    return json.loads(run.stdout)["cases"]


def by_operation(cases):
    """How many cases each operation has, after which they are named."""
    counts = collections.Counter(case.split("/")[0] for case in cases)
    return ", ".join(f"{count} of {operation}" for operation, count in sorted(counts.items()))


def check_hashes(program, path):
    proof = load(path)
    if proof is None:
        return unproven("hashes", "tests/gpu/proof.json does not exist, so there are no hashes to compare with")
    here = hashes_of(program)
    there = proof["cases"]
    problems = [f"{case}: {here[case]} on this CPU, {there[case]} on the GPU"
                for case in sorted(here.keys() & there.keys()) if here[case] != there[case]]
    gaps = [f"{fault} {by_operation(cases)}, {min(cases)} being the first"
            for cases, fault in ((here.keys() - there.keys(), "the proof does not have"),
                                 (there.keys() - here.keys(), "only the proof has")) if cases]
    this_tree = proof["digest"] == tree_digest()
    if this_tree:
        problems += gaps
    if not here:
        problems.append("there are no cases to compare")
    for problem in problems[:20]:
        print(problem)
    if problems:
        print(f"Not all of {len(here | there)} cases are there and agree.")
        if not this_tree:
            print("The proof is another tree's. Where the cases or what the kernels compute have "
                  "changed on purpose, make a new proof on a GPU host (tests/gpu/bundle.sh).")
        return 1
    # A proof from before there were such cases says nothing against them, and nothing for them.
    if gaps:
        agreeing = by_operation(here.keys() & there.keys()) or "none"
        return unproven("hashes", f"{'; '.join(gaps)} ({agreeing} agree)")
    print(f"{len(here)} cases ({by_operation(here)}): this CPU gives the hashes of "
          f"{proof.get('card', 'the GPU')}.")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--digest", action="store_true")
    what.add_argument("--tree", action="store_true")
    what.add_argument("--program")
    parser.add_argument("--proof", help="tests/gpu/proof.json")
    arguments = parser.parse_args()
    if arguments.digest:
        print(tree_digest())
        return 0
    if not arguments.proof:
        parser.error("--proof is missing")
    if arguments.tree:
        return check_tree(arguments.proof)
    return check_hashes(arguments.program, arguments.proof)


if __name__ == "__main__":
    sys.exit(main())
