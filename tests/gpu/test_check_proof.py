#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks that the digests of check_proof.py cover code and literals, but not comments. Prints the problems, or nothing."""
import pathlib
import sys
import tempfile

import check_proof
import digests

# Sources with the same code.
EQUAL = [
    ("int n;  // one\n", "int n;  // two\n"),
    ("// one\nint n;\n", "int n;\n"),
    ("/* one\n   two */\nint n;\n\n\nint m;\n", "int n;\n  int m;\n"),
    ("int n = 1'000;  // it's\n", "int n = 1'000;  // it is\n"),
    ("char c = '\"';  // \"one\"\n", "char c = '\"';  // \"two\"\n"),
    ("f(a /* one */, b)", "f(a /* two */, b)"),
    ("int n;  // one \\\nint m;\n", "int n;\n"),
]

# Sources with different code.
DIFFERENT = [
    ("int n = x / 2;", "int n = x / 3;"),
    ("int n = x / 2;", "int n = x // 2;"),
    ("/* a */ int n; /* b */", "/* a */ int m; /* b */"),
    ("int/**/x;", "intx;"),
    ('const char* s = "//a";', 'const char* s = "//b";'),
    ('const char* s = "\\"//a";', 'const char* s = "\\"//b";'),
    ("char c = '\"'; const char* s = \"//a\"; int n = 1;", "char c = '\"'; const char* s = \"//a\"; int n = 2;"),
    ("f('\\'', '\"', \"//a\");", "f('\\'', '\"', \"//b\");"),
    ("char c = u8'\"'; const char* s = \"//a\"; int n = 1;", "char c = u8'\"'; const char* s = \"//a\"; int n = 2;"),
    ("case'\"': f(\"//a\"); g(1);", "case'\"': f(\"//a\"); g(2);"),
    ("int n = 1'0 + g('\"', \"//a\", 1);", "int n = 1'0 + g('\"', \"//a\", 2);"),
    ('f(R"(" // a)");', 'f(R"(" // b)");'),
    ('f(R"-(" // a)" // a)-");', 'f(R"-(" // a)" // b)-");'),
    ('f(R"(a\n\nb)");', 'f(R"(a\nb)");'),
    ('f(R"(a \nb)");', 'f(R"(a\nb)");'),
    ('f("a  b");', 'f("a b");'),
    ("#define F x; \\\n\ny;", "#define F x; \\\ny;"),
    ("#define F x; \\\n  // end\ny;", "#define F x; \\\ny;"),
    ("#define F x /* a\n */ + y\n", "#define F x\n + y\n"),
    ("// one \\\nint n;\nint m;", "// one\nint n;\nint m;"),
    ("#include <a//b.h>\n", "#include <a//c.h>\n"),
]


def main():
    problems = []
    with tempfile.TemporaryDirectory() as scratch:
        def digest(text, name="code.cpp"):
            pathlib.Path(scratch, name).write_text(text, encoding="utf-8")
            return digests.digest(pathlib.Path(scratch), [name], check_proof.code_of)

        problems += [f"{one!r} and {other!r} have different digests" for one, other in EQUAL if digest(one) != digest(other)]
        problems += [f"{one!r} and {other!r} have the same digest" for one, other in DIFFERENT if digest(one) == digest(other)]
        built, name = "# one\nif x\n  # two\n  y = '#'\nendif\n", "meson.build"
        if digest(built, name) != digest(built.replace("two", "three"), name) or digest(built, name) == digest(built.replace("'#'", "'##'"), name):
            problems.append("the digest of meson.build must cover code and no comments")
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
