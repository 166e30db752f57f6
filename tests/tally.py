#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the results in the output of test programs.

    tally.py collect NAME LOG RC        prints the counts of one program's log as a line of JSON
    tally.py meson BUILD TESTLOG.json   does the same for each test of a `meson test` run; BUILD
                                        distinguishes builds of the same tests
    tally.py sum [--brief] [LINES.jsonl]  reports the sum of such lines (standard input by default);
                                        --brief prints the number of skipped tests of each program instead of
                                        their names

It understands GoogleTest, gst-check ("100%: Checks: 3, Failures: 0, Errors: 0", and "SKIP: name: reason"
for a check that could not run), lists of "ok: name", "not ok: name: why", "SKIP: name: reason" and "unchanged: name"
(a part that was not run, because its dependencies have not changed since it passed), and plain programs (exit status 0
means passed, 77 skipped).
A program that dies without having reported a failure counts as one failure. A GoogleTest program also counts as one
failure if its output lacks the summary.
"""
import json
import re
import sys

GTEST_RESULT = re.compile(r"^\[\s*(OK|FAILED|SKIPPED)\s*\] (\S+?)(?:, where .*)? \(\d+ ms\)$", re.M)
GTEST_SKIP = re.compile(r"^\[ RUN      \] (\S+)\n(.*?)^\[  SKIPPED \] \1", re.M | re.S)
GTEST_END = re.compile(r"^\[==========\] \d+ tests? from \d+ test (?:suites?|cases?) ran\.", re.M)
CHECK_SUMMARY = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.M)
CHECK_FAILURE = re.compile(r"^(?:\S*/)?\S+:\d+:[FE]:([^:]*:[^:]*):-?\d+: (.*)$", re.M)
OK_LINE = re.compile(r"^ok: (.*)$", re.M)
NOT_OK_LINE = re.compile(r"^not ok: (.*)$", re.M)
UNCHANGED_LINE = re.compile(r"^unchanged: (.*)$", re.M)
SKIP_LINE = re.compile(r"^SKIP: ([^:\n]+): (.*)$", re.M)


def count(name, output, status):
    result = {"name": name, "passed": 0, "failed": [], "skipped": []}
    gtest = GTEST_RESULT.findall(output)
    check = CHECK_SUMMARY.findall(output)
    if gtest or "[==========] Running" in output:
        count_gtest(result, output, gtest)
        if (status != 0 or not GTEST_END.search(output)) and not result["failed"]:
            running = re.findall(r"^\[ RUN      \] (\S+)$", output, re.M)
            where = f" in {running[-1]}" if running and "[==========] " not in output.split(running[-1])[-1] else ""
            result["failed"].append(f"ended with status {status}{where}")
    elif check:
        count_check(result, output, check)
        if status != 0 and not result["failed"]:
            result["failed"].append(f"ended with status {status}")
    elif OK_LINE.search(output) or NOT_OK_LINE.search(output) or UNCHANGED_LINE.search(output) or (status == 0 and SKIP_LINE.search(output)):
        result["passed"] = len(OK_LINE.findall(output))
        result["failed"] = NOT_OK_LINE.findall(output)
        result["skipped"] = [[name, reason] for name, reason in SKIP_LINE.findall(output)]
        result["unchanged"] = len(UNCHANGED_LINE.findall(output))
        if status != 0 and not result["failed"]:
            result["failed"].append(f"ended with status {status}: {last_line(output)}")
    elif status == 77:
        reason = SKIP_LINE.search(output)
        result["skipped"].append(["", reason.group(2) if reason else last_line(output)])
    elif status == 0:
        result["passed"] = 1
    else:
        result["failed"].append(f"ended with status {status}: {last_line(output)}")
    return result


def count_gtest(result, output, tests):
    reasons = {}
    for name, text in GTEST_SKIP.findall(output):
        lines = [line for line in text.splitlines() if line and not line.endswith(": Skipped")]
        reasons[name] = " ".join(lines)
    for state, name in tests:
        if state == "OK":
            result["passed"] += 1
        elif state == "FAILED":
            result["failed"].append(name)
        else:
            result["skipped"].append([name, reasons.get(name, "")])


def count_check(result, output, summaries):
    skips = SKIP_LINE.findall(output)
    total = sum(int(n) for n, _, _ in summaries)
    bad = sum(int(f) + int(e) for _, f, e in summaries)
    failures = [f"{test}: {text}" for test, text in CHECK_FAILURE.findall(output)][:bad]
    failures += ["a check, see the log"] * (bad - len(failures))
    result["failed"] = failures
    # The test programs do not register checks that cannot run, so the summary does not count them.
    result["passed"] = total - bad
    result["skipped"] = [[name, reason] for name, reason in skips]


def last_line(output):
    lines = [line for line in output.splitlines() if line.strip()]
    return lines[-1].strip()[:200] if lines else "no output"


def meson_lines(build, path):
    for line in open(path, encoding="utf-8", errors="replace"):
        test = json.loads(line)
        output = test.get("stdout", "") + "\n" + test.get("stderr", "")
        status = test["returncode"]
        if test["result"] == "TIMEOUT":
            status = "timeout"
        yield {"build": build, **count(test["name"].split(" / ")[-1], output, status)}


def report(lines, brief):
    passed, failed, skip_count, skipped, unchanged = 0, [], 0, {}, 0
    for line in lines:
        result = json.loads(line)
        build = result.get("build", "")
        passed += result["passed"]
        unchanged += result.get("unchanged", 0)
        failed += [(build, result["name"], what) for what in result["failed"]]
        skip_count += len(result["skipped"])
        for what, reason in result["skipped"]:
            names = skipped.setdefault(reason or "no reason given", {})
            names.setdefault(result["name"] if brief else f'{result["name"]} {what}'.strip(), []).append(build)
    for reason, names in skipped.items():
        print(f"skipped, {reason}:")
        for name, builds in sorted(names.items()):
            where = str(len(builds)) if brief else ", ".join(dict.fromkeys(build for build in builds if build))
            print(f"  {name}" + (f" ({where})" if where else ""))
    for build, name, what in failed:
        print("FAILED: " + ": ".join(part for part in (build, name, what) if part))
    kept = f", {unchanged} unchanged since they passed" if unchanged else ""
    print(f"{passed} passed, {len(failed)} failed, {skip_count} skipped{kept}")
    return 0 if (passed or unchanged) and not failed else 1


def main(arguments):
    if len(arguments) == 4 and arguments[0] == "collect":
        with open(arguments[2], encoding="utf-8", errors="replace") as log:
            line = json.dumps(count(arguments[1], log.read(), int(arguments[3]))) + "\n"
        # A single write, because several processes may append to the same file.
        sys.stdout.write(line)
        return 0
    if len(arguments) == 3 and arguments[0] == "meson":
        for result in meson_lines(*arguments[1:]):
            print(json.dumps(result))
        return 0
    if arguments and arguments[0] == "sum":
        brief = "--brief" in arguments
        files = [argument for argument in arguments[1:] if argument != "--brief"]
        if len(files) <= 1:
            return report(open(files[0], encoding="utf-8") if files else sys.stdin, brief)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
