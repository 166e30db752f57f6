#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""machine_code.py BUILD: the exact arithmetic of cuda/ survives its compilers.

Host objects: no fused multiply-add. PTX of each .cu file: no fused floating-point multiply-add and
none that ptxas could fuse, no tensor core instruction on floating-point numbers (on integers they are
exact), no approximate instruction, no flushing of small numbers. ptxas: no register spills. Each guard
is first shown code that it must find fault with.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

# What PTX may not contain where results must be the same to the bit. Inline assembly may have several
# instructions in a line.
INEXACT = re.compile(r"(?:^|[{;])\s*(?:@!?%\w+\s+)?"
                     r"((?:fma|mad)\.[a-z.]*f(?:16|32|64)\S*"
                     r"|(?:add|sub|mul)\.f(?:16|32|64)\S*"  # with .rn ptxas fuses them with nothing
                     r"|w?g?mma\.\S*(?:\.b?f16|\.tf32|\.f64|\.e[2-5]m[1-5])\S*"
                     r"|\S*\.approx\S*|div\.full\S*|\S+\.ftz\S*)", re.M)
# In the table of -v; -warn-spills names the same spills before the functions that they belong to.
SPILL = re.compile(r"bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
FUNCTION = re.compile(r"Compiling entry function '([^']+)' for '([^']+)'")
HOST_FUSED = re.compile(r"\s(v?fn?m(?:add|sub)\w*)\s")

INEXACT_CU = """__global__ void f(float* p, unsigned* h) {
  p[2] = p[0] * p[1] + p[2];
  asm("{ mul.f32 %0, %0, %0; }" : "+f"(p[3]));
  asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %2}, {%2}, {%0, %1};"
      : "+r"(h[0]), "+r"(h[1]) : "r"(h[2]));
}
"""
INEXACT_CU_HAS = ("fma.rn.f32", "mul.f32", "mma.sync")
SPILLING_CU = """__global__ void f(const float* in, float* out) {
  float values[96];
#pragma unroll
  for (int i = 0; i < 96; ++i) values[i] = in[i * 7 + threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int i = 0; i < 96; ++i) out[i * 5 + threadIdx.x] = values[95 - i] * values[i];
}
"""
FUSED_CPP = "float f(float a, float b, float c) { return a * b + c; }\n"

results = []


def verdict(name, complaint):
    print(f"ok: {name}" if not complaint else f"not ok: {name}: {complaint}")
    results.append(not complaint)


def run(command, folder):
    return subprocess.run(command, cwd=folder, check=False, text=True, errors="replace",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                          env={**os.environ, "LC_ALL": "C"})


def compile_again(entry, scratch, more=()):
    """Compiles a file as the build does, its products going to scratch."""
    command = shlex.split(entry["command"])
    for option, value in (("-o", "object.o"), ("-MF", "depends"), ("-MQ", "object.o")):
        if option in command:
            command[command.index(option) + 1] = str(scratch / value)
    return run(command + list(more), entry["directory"])


def same_flags(entry, source, drop=()):
    """The entry, for another source file and without some flags."""
    command = [word for word in shlex.split(entry["command"]) if word not in drop]
    command[-1] = str(source)
    assert "-c" in command
    return {"directory": entry["directory"], "command": shlex.join(command)}


def inspect_cuda(entry, scratch, more=()):
    """PTX and ptxas's report of one .cu file, or the reason why there are none."""
    scratch.mkdir()
    compiled = compile_again(entry, scratch, ["--keep", "--keep-dir", str(scratch), "-Xptxas=-v", *more])
    if compiled.returncode != 0:
        return None, None, compiled.stdout.strip().splitlines()[-1]
    ptx = "\n".join(path.read_text() for path in sorted(scratch.glob("*.ptx")))
    return ptx, compiled.stdout, "" if ".target" in ptx else "nvcc kept no PTX"


def inexact(ptx):
    found = sorted(set(INEXACT.findall(ptx)))
    return f"its PTX has {', '.join(found)}" if found else ""


def spilling(report):
    function, bad = "", []
    for line in report.splitlines():
        name = FUNCTION.search(line)
        function = f"{name[1]} for {name[2]}" if name else function
        spill = SPILL.search(line)
        if spill and spill[1] + spill[2] != "00":
            bad.append(f"{function} ({spill[1]} bytes stored, {spill[2]} loaded)")
    return "; ".join(bad)


def check_cuda(entries, scratch):
    contraction, spills = "PTX is exact", "no register spills"
    if not entries:
        print(f"SKIP: {contraction}: this build has no CUDA kernels")
        print(f"SKIP: {spills}: this build has no CUDA kernels")
        return
    # ptxas runs where machine code is built, not where PTX alone is.
    machine_code = re.search(r"code=\[?[^ ]*sm_", entries[0]["command"]) is not None

    bad = scratch / "inexact.cu"
    bad.write_text(INEXACT_CU)
    ptx, _, problem = inspect_cuda(same_flags(entries[0], bad, ["--fmad=false"]), scratch / "inexact")
    missed = [] if problem else [instruction for instruction in INEXACT_CU_HAS if instruction not in inexact(ptx)]
    verdict("the guard of exact PTX finds what is not",
            problem or (f"it does not find {', '.join(missed)}" if missed else ""))
    if machine_code:
        bad = scratch / "spilling.cu"
        bad.write_text(SPILLING_CU)
        _, report, problem = inspect_cuda(same_flags(entries[0], bad), scratch / "spilling",
                                          ["-maxrregcount=24"])
        verdict("the guard of register spills finds one",
                problem or ("" if spilling(report) else "it does not"))
    else:
        print(f"SKIP: {spills}: this build has PTX only")

    names = [pathlib.Path(entry["file"]).name for entry in entries]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        inspected = list(pool.map(inspect_cuda, entries, [scratch / name for name in names]))
    for name, (ptx, report, problem) in zip(names, inspected):
        verdict(f"{contraction} in {name}", problem or inexact(ptx))
        if machine_code:
            if not problem and ".entry" in ptx and not SPILL.search(report):
                problem = "ptxas reported nothing"
            verdict(f"{spills} in {name}", problem or spilling(report))


def fused_on_host(path, folder):
    listing = run(["objdump", "-d", "--no-show-raw-insn", str(path)], folder)
    if listing.returncode != 0 or "Disassembly" not in listing.stdout:
        return "objdump shows no code"
    found = sorted(set(HOST_FUSED.findall(listing.stdout)))
    return f"it has {', '.join(found)}" if found else ""


def check_host(entries, build, scratch):
    if run(["uname", "-m"], build).stdout.strip() != "x86_64":
        print("SKIP: host code is exact: only x86-64 is looked at")
        return
    bad = scratch / "fused.cpp"
    bad.write_text(FUSED_CPP)
    entry = same_flags(entries[0], bad, ["-ffp-contract=off"])
    compiled = compile_again(entry, scratch, ["-O2", "-mfma", "-ffp-contract=fast"])
    verdict("the guard of exact host code finds a fused multiply-add",
            compiled.stdout if compiled.returncode else
            "" if fused_on_host(scratch / "object.o", build).startswith("it has") else "it does not")
    for entry in entries:
        command = shlex.split(entry["command"])
        verdict(f"host code is exact in {pathlib.Path(entry['file']).name}",
                fused_on_host(command[command.index("-o") + 1], entry["directory"]))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    commands = json.loads((build / "compile_commands.json").read_text())
    # The library that the plug-in has, not the tests' variant of it.
    kernels = [entry for entry in commands
               if "libcudavision-kernels.a" in entry.get("output", entry["command"])]
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_host([entry for entry in kernels if entry["file"].endswith(".cpp")], build, scratch)
        check_cuda([entry for entry in kernels if entry["file"].endswith(".cu")], scratch)
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
