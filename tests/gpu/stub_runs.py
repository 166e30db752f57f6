#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Checks which results run-gpu.sh writes and which proofs proof.py makes of them, with stubs instead of a GPU.

Stubs in a bundle replace the tests, the benchmarks, the card and compute-sanitizer. Each of STAGES runs once to its
end, and once for each way to stop it. Planned, unfinished results must then have failed. Prints any problems.
"""
import concurrent.futures
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent

# Replaces the programs of a bundle and some of the host. If STUB_WAIT matches the command line, a program with results
# waits before it prints the last of them, as long as the file STUB_WAITING exists.
STUB = r"""#!/usr/bin/env bash
[[ $0 == */debian13/* && $STUB_RUNTIME-$STUB_STARTED != 26-yes ]] && exit 1
wait_here() {
  [[ -n ${STUB_WAIT:-} && "$tool $0 $* shard ${GTEST_SHARD_INDEX:-}" =~ $STUB_WAIT ]] || return
  echo $$ >"$STUB_WAITING"
  while [[ -e $STUB_WAITING ]]; do sleep 0.1; done
}
long() { [[ ${STUB_LONG:-} != "$0" ]] || printf 'line %s\n' {1..2000}; }
case $0 in
  */nvidia-smi)
    [[ $* != *--list-gpus* ]] && echo stub || printf 'GPU %s: stub\n' $(seq "${STUB_GPUS:-1}")
    ;;
  */nproc)
    echo 16 # so that all programs can run while some wait
    ;;
  */compute-sanitizer)
    export tool=$2
    while [[ $1 != /* ]]; do shift; done
    exec "$@"
    ;;
  */test_*)
    [[ $1 != --gtest_list_tests ]] || exec printf 'Suite.\n  One\n  Two\n'
    wait_here "$@"
    printf '[ RUN      ] Suite.One\n[       OK ] Suite.One (1 ms)\n'
    long
    printf '[==========] 1 test from 1 test suite ran. (1 ms total)\n[  PASSED  ] 1 test.\n'
    [[ -z $tool ]] || printf 'ERROR SUMMARY: 0 errors\nRACECHECK SUMMARY: 0 hazards\n'
    ;;
  */proof_hashes)
    wait_here "$@"
    echo '{"cases": {"sgm/0": "a"}}'
    ;;
  */check_*)
    wait_here "$@"
    long
    printf '100%%: Checks: 2, Failures: 0, Errors: 0\n'
    ;;
  */bench_*)
    known='none blur'
    [[ $0 == */bench_kernels ]] || known='none chains'
    group=none json=/dev/null
    while [[ $# -gt 0 ]]; do
      case $1 in
        --group) group=$2 ;;
        --json) json=$2 ;;
        --list) list=yes ;;
      esac
      arguments+=" $1"
      shift
    done
    [[ " $known " == *" $group "* ]] || { echo "there is no group $group"; exit 1; }
    [[ -z $list ]] || { echo row; exit; }
    echo "${0##*/} row 1, group $group"
    echo '{}' >"$json"
    wait_here "$arguments"
    echo "${0##*/} row 2"
    ;;
  */gst-inspect-1.0)
    printf '  %s: stub\n' ${STUB_ELEMENTS-cudahistequalize cudagaussblur cudaintegral cudasgmstereo}
    ;;
  */gst-launch-1.0)
    wait_here "$@"
    down=0 kernels=0
    [[ $* != *backend* ]] || kernels=1
    location=${*: -1}
    if [[ $location == location=* ]]; then
      echo frame >"${location#*=}"
      down=12
      [[ ! $* =~ integral|sgmstereo|threshold ]] || down=8
    fi
    none='{"copies": 0, "bytes": 0}'
    [[ -z $CUDAVISION_TRANSFERS ]] ||
      printf '{"host_to_device": %s, "device_to_host": {"copies": 1, "bytes": %d}, "device_to_device": %s, "kernels": %d, "lost": 0}\n' \
        "$none" $down "$none" $kernels >"$CUDAVISION_TRANSFERS"
    ;;
esac
exit 0 # most programs do not notice that they cannot print
"""

OPERATIONS = ("sgm", "sync")
VARIANTS = ("native", "ptx75", "ptx80")
DIGESTS = {"sgm": "1", "sync": "2", "elements": "3", "elements with GStreamer 1.26": "3"}
STAGES = ("tests", "sanitizers", "check", "check13", "transfers", "bench")
MAX_WAIT = 1800  # limit of each wait in seconds; only a hang reaches it

problems = []


def expect(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {json.dumps(found, default=sorted)} instead of {json.dumps(wanted, default=sorted)}")


def make_bundle(scratch):
    bundle = scratch / "bundle"
    for name in ("tally.py", "proof.py", "run-gpu.sh", "run-records.sh", "run-kernels.sh", "run-cards.sh"):
        source = HERE / name if (HERE / name).exists() else HERE.parent / name
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, bundle / name)
    programs = [f"bin/{name}" for name in ("nvidia-smi", "nproc", "compute-sanitizer")]
    programs += [f"kernels/{variant}/{part}/test_{part}" for variant in VARIANTS for part in OPERATIONS]
    programs += [f"kernels/{variant}/proof_hashes" for variant in VARIANTS]
    programs += [f"{edition}check/check_{name}" for edition in ("", "debian13/")
                 for name in ("caps", "faults", "states", "leaks")]
    programs += ["bench/bench_kernels", "bench/bench_pipelines", "debian13/bench/bench_pipelines"]
    programs += ["runtime/bin/gst-launch-1.0", "runtime/bin/gst-inspect-1.0"]
    write = {name: STUB for name in programs}
    write["debian13/runtime/bin/run"] = '#!/usr/bin/env bash\nSTUB_STARTED=yes exec "$@"\n'
    for name, text in write.items():
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_text(text, encoding="utf-8")
        (bundle / name).chmod(0o755)
    for name, text in {
            "digests.json": json.dumps(DIGESTS), "toolkit": "13.0",
            "runtime/env.sh": f"export PATH={bundle}/runtime/bin:$PATH",
            "debian13/runtime/env.sh": "export STUB_RUNTIME=26",
            "transfers/libcounttransfers.so": "",
            "video/street.json": '{"width": 4, "height": 2, "frames": 1}'}.items():
        (bundle / name).parent.mkdir(parents=True, exist_ok=True)
        (bundle / name).write_text(text, encoding="utf-8")
    return bundle


class Run:
    """A run of run-gpu.sh with a folder of its own for results."""

    def __init__(self, bundle, name, *arguments, before="", **environment):
        self.folder = bundle.parent / name
        self.folder.mkdir()
        self.results = self.folder / "results"
        self.waiting = self.folder / "waiting"
        self.log = self.folder / "log"
        command = f'{before} exec bash "$@"'
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                ["bash", "-c", command, "run-gpu.sh", bundle / "run-gpu.sh", "--results", self.results, *arguments],
                stdout=log, stderr=subprocess.STDOUT, start_new_session=True,
                env={**os.environ, "PATH": f"{bundle}/bin:{os.environ['PATH']}", "STUB_WAITING": str(self.waiting),
                     **environment})

    def end(self):
        status = self.process.wait(MAX_WAIT)
        self.waiting.unlink(missing_ok=True)
        return status

    def program_gone(self):
        """Waits until the waiting program has been stopped. Returns False if it still runs after the time limit."""
        program = pathlib.Path("/proc", self.waiting.read_text(encoding="utf-8").strip())
        until = time.monotonic() + MAX_WAIT
        while program.exists() and time.monotonic() < until:
            time.sleep(0.1)
        return not program.exists()

    def load(self, name):
        path = self.results / name
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def named(self, stage):
        """Returns the results of a stage by name."""
        return {result["name"]: result for key, results in self.load("results.json").items()
                if key.split(" ")[0] == stage for result in results}

    def stop(self, how, stage, ended):
        """Sends a signal once a program waits and these results are written."""
        until = time.monotonic() + MAX_WAIT
        while not self.waiting.exists() or not all(
                self.named(stage).get(name, {}).get("passed") for name in ended):
            if time.monotonic() > until or self.process.poll() is not None:
                break
            time.sleep(0.1)
        if how == signal.SIGKILL:
            os.killpg(self.process.pid, how)  # as when a host reclaims the machine
        else:
            self.process.send_signal(how)
        try:
            status = self.process.wait(MAX_WAIT)
        except subprocess.TimeoutExpired:
            status = "it goes on"
            self.process.kill()
        if how == signal.SIGTERM:
            expect(f"{stage}, {how.name}: its program is gone", self.program_gone(), True)
        self.waiting.unlink(missing_ok=True)
        expect(f"{stage}, {how.name}: exit status", status, -9 if how == signal.SIGKILL else 143)


# For each stage: the STUB_WAIT pattern of a program that hangs, the name of a result that is then missing, the name of
# an earlier result, and the place of the suite in the proof (None if the stage has none).
STOPS = {
    "tests": ("ptx80/sgm", "ptx80 sgm/test_sgm", "ptx75 sgm/hashes", ("sgm", "suites", "ptx80")),
    "sanitizers": ("^memcheck.*sgm.*shard 1", "memcheck sgm/test_sgm 2 of 2 verdict",
                   "memcheck sgm/test_sgm 1 of 2 verdict", ("sgm", "sanitizers", "memcheck")),
    "check": ("check_states", "check_leaks", "check_caps", ("elements", "suites", "check")),
    "check13": ("check_leaks", "check_leaks", "check_caps", ("elements with GStreamer 1.26", "suites", "check13")),
    "transfers": ("cudaintegral.*filesink", "cudaintegral pixels", "cudagaussblur pixels",
                  ("elements", "suites", "transfers")),
    "bench": ("bench_pipelines", "bench_pipelines on the GPU", "bench_kernels", None),
}


def check_stopped(bundle, full, stage, how):
    pattern, unfinished, ended, suite = STOPS[stage]
    run = Run(bundle, f"{stage}-{how.name}", stage, STUB_WAIT=pattern)
    run.stop(how, stage, [ended])
    where = f"{stage}, {how.name}"
    named = run.named(stage)
    expect(f"{where}: the results that were planned", set(named), set(full.named(stage)))
    expect(f"{where}: {unfinished} has failed", named.get(unfinished, {}).get("failed"), ["it did not end"])
    expect(f"{where}: {ended} has passed", bool(named.get(ended, {}).get("passed")), True)
    if suite:
        part, kind, name = suite
        counts = run.load("proof.json").get("parts", {}).get(part, {}).get(kind, {}).get(name, {})
        expect(f"{where}: the proof says that {name} failed", counts.get("failed", 0) > 0, True)
    if stage == "bench":
        figures = (run.results / "bench.txt").read_text(encoding="utf-8")
        expect(f"{where}: the figures of the program that ended", "bench_kernels row 2" in figures, True)
        expect(f"{where}: and as JSON", (run.results / "bench_kernels.json").exists(), True)
    if how == signal.SIGKILL:
        expect(f"{where}: the logs are there", any((run.results / "logs" / stage).iterdir()), True)
    else:
        expect(f"{where}: the logs are packed", (run.results / f"logs-{stage}.tar.gz").exists(), True)


def check_stopped_at_once(bundle, full, stage):
    run = Run(bundle, f"{stage}-at-once", stage, STUB_WAIT=".")
    run.stop(signal.SIGKILL, stage, [])
    named = run.named(stage)
    expect(f"{stage}, at once: the results that were planned", set(named), set(full.named(stage)))
    passed = {name for name, result in named.items() if not result["failed"]}
    expect(f"{stage}, at once: what has not failed", passed, set())


def check_without_elements(bundle):
    run = Run(bundle, "no-elements", "transfers", STUB_ELEMENTS="")
    expect("no elements: exit status", run.end(), 1)
    expect("no elements: what has failed", [name for name, result in run.named("transfers").items() if result["failed"]], ["transfers"])
    expect("no elements: why", run.named("transfers")["transfers"]["failed"], ["the elements are found: gst-inspect-1.0 cudavision shows none"])


def check_proof_of(full):
    parts = full.load("proof.json").get("parts", {})
    for part, record in parts.items():
        for suite, counts in {**record.get("suites", {}), **record.get("sanitizers", {})}.items():
            expect(f"{part}, {suite}: failed in a complete run", counts["failed"], 0)
    expect("the parts of a complete run", set(parts), set(DIGESTS))
    for kind, names in (("suites", set(VARIANTS)), ("cases", {"sgm/0"}),
                        ("sanitizers", {"memcheck", "racecheck", "initcheck", "synccheck"})):
        expect(f"the {kind} of sgm", set(parts.get("sgm", {}).get(kind, {})), names)
    expect("the processes that share the tests of check_faults", {name for name in full.named("check") if "faults" in name},
           {f"check_faults {number} of 8" for number in range(1, 9)})
    expect("what the elements have passed", parts.get("elements", {}).get("suites"),
           {"check": {"passed": 22, "failed": 0, "skipped": 0}, "transfers": {"passed": 34, "failed": 0, "skipped": 0}})


def check_other_gstreamer(bundle, full):
    """Checks that a bundle without the other GStreamer keeps the earlier results of check13 in the proof."""
    without = bundle.parent / "without"
    shutil.copytree(bundle, without / "bundle", ignore=shutil.ignore_patterns("debian13"))
    shutil.copy(full.results / "proof.json", without / "bundle" / "proof.json")
    run = Run(without / "bundle", "run", "check13")
    run.end()
    expect("the proof after a stage that was skipped", run.load("proof.json"), full.load("proof.json"))


def check_two_gpus(bundle):
    """Checks that the record of the stage cards contains the number of GPUs, and that one GPU makes no record."""
    cards = bundle.parent / "cards" / "bundle"
    shutil.copytree(bundle, cards)
    for name in ("check_cuda", "check_stereo_memory"):
        shutil.copy(cards / "check/check_caps", cards / "check" / name)
    (cards / "archive_on_gpus.py").write_text("print('ok: videos')\n", encoding="utf-8")
    run = Run(cards, "one", "cards")
    run.end()
    expect("one GPU: the proof", "cards" in run.load("proof.json").get("parts", {}).get("elements", {}).get("suites", {}), False)
    run = Run(cards, "two", "cards", STUB_GPUS="2")
    expect("two GPUs: exit status", run.end(), 1)  # the stub of check_* prints no summary of memcheck
    counts = run.load("proof.json")["parts"]["elements"]["suites"]["cards"]
    expect("two GPUs: the number of GPUs", counts["cards"], 2)
    expect("two GPUs: what has failed", counts["failed"], 10)
    run = Run(cards, "figures", "card-figures", STUB_GPUS="2")
    run.end()
    expect("figures: no record", "card-figures" in run.load("proof.json").get("parts", {}).get("elements", {}).get("suites", {}), False)
    figures = (run.results / "bench.txt").read_text(encoding="utf-8")
    expect("two GPUs: the figures", "bench_pipelines row 2" in figures and "ok: videos" in figures, True)


def check_full_disk(bundle):
    """Checks runs on a full disk, which a limit for file sizes simulates."""
    limit = "trap '' XFSZ; ulimit -f {};"
    run = Run(bundle, "full-disk", "--operations", "sgm", "--variants", "native", "tests", before=limit.format(8),
              STUB_LONG=str(bundle / "kernels/native/sgm/test_sgm"))
    expect("full disk: exit status", run.end(), 1)
    failed = run.named("tests").get("native sgm/test_sgm", {}).get("failed", [])
    expect("full disk: a program whose log is incomplete has failed", len(failed), 1)
    run = Run(bundle, "full-disk-check", "check", before=limit.format(8), STUB_LONG=str(bundle / "check/check_caps"))
    expect("full disk, check: exit status", run.end(), 1)
    failed = run.named("check").get("check_caps", {}).get("failed", [])
    expect("full disk: an element test whose log is incomplete has failed", len(failed), 1)
    run = Run(bundle, "no-disk", "check", before=limit.format(0), STUB_WAIT="check_caps")
    expect("no disk: exit status", run.process.wait(MAX_WAIT), 1)
    expect("no disk: a program is run", run.waiting.exists(), False)


def check_benchmarks(bundle):
    run = Run(bundle, "group", "--group", "blur", "--filter", "NV12", "bench")
    expect("--group blur: exit status", run.end(), 0)
    expect("--group blur: what was run", set(run.named("bench")), {"bench_kernels", "bench_kernels on the GPU"})
    figures = (run.results / "bench.txt").read_text(encoding="utf-8")
    expect("--group blur: the program gets it", "row 1, group blur" in figures, True)
    run = Run(bundle, "no-group", "--group", "nonsense", "bench")
    expect("--group nonsense: exit status", run.end(), 1)
    run = Run(bundle, "late", "bench", STUB_WAIT="bench_kernels", BENCH_TIMEOUT="20")
    expect("late: exit status", run.end(), 1)
    figures = (run.results / "bench.txt").read_text(encoding="utf-8")
    expect("late: the rows before the timeout are kept", "bench_kernels row 1" in figures, True)
    expect("late: the next program is run", "bench_pipelines row 2" in figures, True)
    expect("late: what failed", {name for name, result in run.named("bench").items() if result["failed"]},
           {"bench_kernels", "bench_kernels on the GPU"})


def check_short_runs(bundle):
    """Checks that a proof made in several short runs keeps the results of each run."""
    run = Run(bundle, "short", "--operations", "sgm", "--variants", "native", "tests")
    run.end()
    # The second --results takes precedence, so this run adds to the results of the first run.
    again = Run(bundle, "again", "--results", run.results, "--operations", "sgm", "--variants", "ptx75", "tests")
    again.end()
    suites = run.load("proof.json").get("parts", {}).get("sgm", {}).get("suites", {})
    expect("the suites of two short runs", set(suites), {"native", "ptx75"})
    expect("their counts", {"tests native sgm", "tests ptx75 sgm"} <= set(run.load("results.json")), True)


def check_merge(scratch):
    record = {"digest": "1", "card": "old", "suites": {"native": {"passed": 1}, "ptx75": {"passed": 1}}}
    files = {
        "digests": {"a": "1", "b": "2", "c": "3"},
        "old": {"parts": {"a": record, "b": {**record, "digest": "0"}, "c": {**record, "digest": "3"}}},
        "new": {"parts": {"a": {"digest": "1", "card": "new", "suites": {"native": {"passed": 2}}},
                          "b": {"digest": "2", "card": "new", "suites": {"native": {"passed": 3}}},
                          "c": {"digest": "9", "card": "new", "suites": {"native": {"passed": 4}}}}}}
    for name, content in files.items():
        (scratch / name).write_text(json.dumps(content), encoding="utf-8")
    subprocess.run([sys.executable, HERE / "proof.py", "merge", *(scratch / name for name in files)],
                   stdout=subprocess.DEVNULL, check=False)
    found = json.loads((scratch / "old").read_text(encoding="utf-8"))["parts"]
    expect("merge: newer suites replace those of the same sources", found["a"],
           {"digest": "1", "card": "new", "suites": {"native": {"passed": 2}, "ptx75": {"passed": 1}}})
    expect("merge: a record of these sources replaces one of others", found["b"], files["new"]["parts"]["b"])
    expect("merge: a record of other sources is left out", found["c"], files["old"]["parts"]["c"])


def main():
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        scratch = pathlib.Path(scratch)
        bundle = make_bundle(scratch)
        check_merge(scratch)
        full = Run(bundle, "full", *STAGES)
        check_short_runs(bundle)
        expect("exit status of a complete run", full.end(), 0)
        check_proof_of(full)
        # A stopped run replaces the results of an earlier run with the same sources.
        shutil.copy(full.results / "proof.json", bundle / "proof.json")
        ways = [(stage, how) for stage in STAGES for how in (signal.SIGKILL, signal.SIGTERM)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            tasks = [pool.submit(check_stopped, bundle, full, *way) for way in ways]
            tasks += [pool.submit(check_stopped_at_once, bundle, full, stage) for stage in STAGES]
            tasks += [pool.submit(check_full_disk, bundle), pool.submit(check_benchmarks, bundle),
                      pool.submit(check_other_gstreamer, bundle, full), pool.submit(check_two_gpus, bundle), pool.submit(check_without_elements, bundle)]
            for task in tasks:
                if task.exception():
                    problems.append(repr(task.exception()))
    print(*problems, sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
