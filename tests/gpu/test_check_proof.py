#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the digests of check_proof.py cover code and literals, but not comments. Prints the problems, or nothing."""
import pathlib
import sys
import tempfile

import check_proof
import digests

SOURCE = r'''// Halves x.
int half(int x) {
  /* A shift
     would round down. */

  const char* url = "https://a.b/\"c\"";  // "quoted"
  const char* raw = R"(" // no comment)";
  const char slash = '/', quote = '\'', other = '"';
  return x / 2 + 1'000 - 0x3ff'fff;  // it's even
}
'''

# A change of SOURCE, and whether the digest must change.
CHANGES = [
    ("// Halves x.", "// Divides x by 2.", False),
    ("// Halves x.\n", "", False),
    ("  /* A shift\n     would round down. */\n\n", "", False),
    ('  // "quoted"', "", False),
    ("  // it's even", "", False),
    ("x / 2", "x / 3", True),
    ("x / 2", "x // 2", True),
    ("a.b/", "a.b/d/", True),
    ('\\"c\\"', '\\"d\\"', True),
    ("no comment", "comment", True),
    ("'\\''", "'`'", True),
    ("1'000", "1'001", True),
    ("0x3ff", "0x2ff", True),
    ("// Halves x.", "// Halves x.\nint n;", True),
]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        def digest(text):
            pathlib.Path(scratch, "half.cpp").write_text(text, encoding="utf-8")
            return digests.digest(pathlib.Path(scratch), ["half.cpp"], check_proof.code_of)

        unchanged = digest(SOURCE)
        for old, new, differs in CHANGES:
            if SOURCE.count(old) != 1:
                problems.append(f"the source has {old!r} {SOURCE.count(old)} times")
            if (digest(SOURCE.replace(old, new)) != unchanged) != differs:
                problems.append(f"{old!r} → {new!r} {'does not change' if differs else 'changes'} the digest")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
