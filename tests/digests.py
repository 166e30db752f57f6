# SPDX-License-Identifier: LGPL-2.1-or-later
"""Digests of files. With them, tests/gpu/check_proof.py and tests/changed.py detect whether a part of the tree has
changed since it was tested."""
import hashlib
import pathlib


def digest(top, names, contents=pathlib.Path.read_bytes):
    """Returns the SHA-256 of the names of these files and of contents(path) of each, in the order of the names."""
    sum_of_all = hashlib.sha256()
    for name in sorted(names):
        sum_of_all.update(name.encode() + b"\0")
        sum_of_all.update(hashlib.sha256(contents(top / name)).digest())
    return sum_of_all.hexdigest()
