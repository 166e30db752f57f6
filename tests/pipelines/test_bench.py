# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests pipelines/bench.sh, bench_pipelines, bench_kernels and scripts/figures.py, which makes a table and a plot of the
results of benchmarks."""
import json
import re
import xml.etree.ElementTree

from harness import Skip, expect, full, test, top

reads = ("docs/",)  # in addition to SHARED of run.py

kernels = {"card": "", "cuda": [], "cpu": [{"name": "copy/GRAY8/1920x1080", "microseconds": 100},
                                           {"name": "equalise/GRAY8/1920x1080/natural", "microseconds": 612.4},
                                           {"name": "equalise/GRAY8/1920x1080/flat", "microseconds": 1},
                                           {"name": "blur 15x15/GRAY8/1920x1080", "microseconds": 900}]}
cuda = {"card": "A card", "cpu": [], "cuda": [
    {"operation": "blur 15x15", "format": "GRAY8", "width": 1920, "height": 1080, "content": "natural",
     "microseconds": 4.8, "copy_microseconds": 1.5, "required": None}]}
opencv = {"opencv": "4.6.0", "rows": [{"name": "blur 15x15/GRAY8/1920x1080", "microseconds": 907.6, "opencv_microseconds": 1066}]}


def programs(place, **files):
    """Makes a build folder whose benchmarks write these results."""
    folder = place.folder / "built/tests/bench"
    folder.mkdir(parents=True)
    for name, results in files.items():
        for option, result in results.items():
            (folder / f"{name}{option}").write_text(json.dumps(result))
        (folder / name).write_text('#!/bin/bash\noption=$1\nwhile [[ $# -gt 1 ]]; do\n[[ $1 != --json ]] || out=$2\nshift\ndone\n'
                                   '[[ -e $0$option ]] || option=\ncp "$0$option" "$out"\n')
        (folder / name).chmod(0o755)


@test("pipelines/bench.sh makes a table and a plot")
def _(place):
    place.stand_in("nvidia-smi", "echo 'GPU 0: A card'\n")
    programs(place, bench_kernels={"--cpu": kernels, "--cuda": cuda}, bench_opencv={"--json": opencv})
    result = place.script("bench.sh", "--build=built", "here.svg")
    rows = [re.split(r"  +", line) for line in result.out.splitlines()]
    expect(result.status == 0, result.last())
    for row in (["operation", "frame", "CPU", "OpenCV, CPU", "copy, CPU", "GPU", "copy, GPU"],
                ["equalise", "1920×1080", "0.612", "0.100"],
                ["blur 15×15", "1920×1080", "0.900", "1.07", "0.100", "0.00480", "0.00150"]):
        expect(row in rows, f"{row} is not in {result.out}")
    svg = xml.etree.ElementTree.parse(place.folder / "here.svg").getroot()
    bars = [one for one in svg.iter("{http://www.w3.org/2000/svg}rect") if one.get("height") == "9"]
    expect(len(bars) == 7, f"{len(bars)} bars instead of 7")
    result = place.script("bench.sh", "--build=built", "--markdown")
    expect("| equalise | 1920×1080 | 0.612 |  | 0.100 |  |  |" in result.out and "bench.svg" in place.files(), result.out)


@test("pipelines/bench.sh works without OpenCV and without a card")
def _(place):
    place.stand_in("nvidia-smi", "exit 9\n")
    programs(place, bench_kernels={"--cpu": kernels})
    result = place.script("bench.sh", "--build=built")
    expect(result.status == 0 and "has no bench_opencv" in result.err and "GPU" not in result.out, result.text)


@test("pipelines/bench.sh checks its arguments")
def _(place):
    for arguments, words in ((["bench.png"], "use .svg"), (["--build=none"], "there is no bench_kernels"),
                             (["--slow"], "there is no option --slow")):
        result = place.script("bench.sh", *arguments)
        expect(result.status in (1, 2) and words in result.err and not place.files(), f"{arguments}: {result.text}")


@test("docs/performance.md has the table that pipelines/bench.sh printed")
def _(place):
    page = (top / "docs/performance.md").read_text()
    result = place.run("python3", top / "scripts/figures.py", "--markdown", "--svg", "plot.svg", top / "docs/performance.json")
    expect(result.status == 0 and result.out.count("\n") > 8, result.last())
    expect(result.out in page, "figures.py --markdown docs/performance.json prints another table")
    expect((place.folder / "plot.svg").read_text() == (top / "docs/performance.svg").read_text(),
           "figures.py --svg plots docs/performance.json differently")
    result = place.run("python3", top / "scripts/figures.py")
    expect(result.status == 2 and "name a file of figures" in result.err, result.text)
    for name, reason in ((place.folder, "Is a directory"), ("none.json", "No such file or directory"), ("plot.svg", "this is not JSON")):
        result = place.run("python3", top / "scripts/figures.py", name)
        expect(result.status == 1 and result.err.startswith(f"{name}: {reason}; name a file of figures"), result.text)


@test("bench_pipelines measures each element and a chain")
def _(place):
    program = place.build / "tests/bench/bench_pipelines"
    if not program.exists():
        raise Skip("only --full builds the benchmarks")
    chosen = "cuda(histequalize|gaussblur sigma=1.2|integral)/.*/system|threshold radius=20/NV12/1920x1080/(system|CUDA)"
    result = place.succeed(program, "--backend", "cpu", "--seconds", "0.01", "--filter", chosen, "--json", "rows.json")
    rows = json.loads((place.folder / "rows.json").read_text())["pipelines"]
    measured = {(row["pipeline"].split()[0], row["elements"]) for row in rows}
    expect(measured == {("cudahistequalize", 1), ("cudagaussblur", 1), ("cudaintegral", 1), ("cudathreshold", 1),
                        ("cudahistequalize", 3)}, f"{measured}")
    for row in rows:
        expect(row["backend"] == "cpu" and row["frames_per_second"] > 0 and row["host_microseconds"] > 0, f"{row}")
    expect(result.out.count("CUDAMemory: not run: --backend is cpu") == 2, result.out)
    groups = re.search(r"only these rows: (.*)", place.run(program, "--help").out)[1].split(", ")
    rows_of = {group: place.run(program, "--list", "--group", group).out for group in groups}
    expect(all(rows_of.values()) and place.run(program, "--list").out == "".join(rows_of.values()), f"{rows_of}")
    for arguments, words in ((["--group", "none"], "there is no group"), (["--filter", "none"], "no row matches"),
                             (["--filter", "("], "regular expression"), (["--seconds", "0"], "must be above 0")):
        result = place.run(program, *arguments)
        expect(result.status == 1 and words in result.err, f"{arguments}: {result.text}")


@test("bench_kernels measures the selected rows")
def _(place):
    program = place.build / "tests/bench/bench_kernels"
    if not program.exists():
        raise Skip("only --full builds the benchmarks")
    groups = re.search(r"only these rows: (.*)", place.run(program, "--help").out)[1].split(", ")
    rows_of = {group: place.run(program, "--cpu", "--list", "--group", group).out for group in groups}
    everything = place.run(program, "--cpu", "--list").out.splitlines()
    expect(sorted(everything) == sorted("".join(rows_of.values()).splitlines()), f"{rows_of}")
    chosen = ("--cpu", "--group", "blur", "--filter", "^blur .*(NV12|P010)/1920")
    expected = [name for name in everything if re.search("^blur .*(NV12|P010)/1920", name)]
    result = place.run(program, *chosen, "--benchmark_min_time=0.01", "--json", "rows.json")
    rows = json.loads((place.folder / "rows.json").read_text())
    expect(result.status == 0 and len(expected) > 2 and [row["name"] for row in rows["cpu"]] == expected, f"{rows}")
    for arguments, words in ((["--group", "none"], "there is no group"), (["--filter", "none"], "no row matches"),
                             (["--filter", "none", "--list"], "no row matches"), (["--filter", "("], "regular expression"),
                             (["--json", "none/rows.json", "--group", "remap"], "cannot write none/rows.json")):
        result = place.run(program, "--cpu", *arguments)
        expect(result.status == 1 and words in result.err, f"{arguments}: {result.text}")


@test("killed benchmarks leave the rows measured before")
def _(place):
    for name, half, options in (("bench_pipelines", "pipelines", ("--backend", "cpu", "--seconds", "0.05")),
                                ("bench_kernels", "cpu", ("--cpu", "--benchmark_min_time=0.05"))):
        program = place.build / "tests/bench" / name
        if not program.exists():
            raise Skip("only --full builds the benchmarks")
        path = place.folder / f"{name}.json"
        running = place.start(program, *options, "--json", path)
        running.wait_until(lambda: path.exists() and len(json.loads(path.read_text())[half]) > 1)
        expect(running.runs(), f"{name} had ended before it was killed")
        running.kill()
        rows = json.loads(path.read_text())[half]
        names = [row.get("name") or f'{row["pipeline"]}/{row["format"]}' for row in rows]
        expect(len(rows) > 1 and all(name in running.text() for name in names), f"{names} in {running.text()}")


@test("pipelines/bench.sh measures")
def _(place):
    if not full or not (place.build / "tests/bench/bench_kernels").exists():
        raise Skip("only --full builds the benchmarks")
    result = place.script("bench.sh", "--quick", f"--build={place.build}")
    expect(result.status == 0 and len(result.out.splitlines()) > 10, result.last())
