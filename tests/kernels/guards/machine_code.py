#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""machine_code.py BUILD: checks that the compilers kept the arithmetic of cuda/ exact.

- Host objects must not contain fused multiply-adds, except for std::fma and an exact conversion of integers.
- The PTX of each .cu file must contain none of these: fused floating-point multiply-adds; instructions that
  ptxas could fuse; tensor core instructions on floating-point numbers (on integers they are exact);
  approximate instructions; instructions that flush denormals to zero. EXACT_BY_RANGE lists exceptions.
- GPU machine code must not use a stack frame, because ptxas spills registers to it.

Each guard first checks that it finds a fault in faulty code.

The script reads PTX and machine code from the objects of the build, so it does not compile product code
again. A build with tests keeps both uncompressed.
"""
import concurrent.futures
import os
import pathlib
import re
import shlex
import struct
import subprocess
import sys
import tempfile

# Instructions that PTX must not contain, because results must be identical on all devices. A line of
# inline assembly may hold several instructions.
INEXACT = re.compile(r"(?:^|[{;])\s*(?:@!?%\w+\s+)?"
                     r"((?:fma|mad)\.[a-z.]*f(?:16|32|64)\S*"
                     r"|(?:add|sub|mul)\.f(?:16|32|64)\S*"  # ptxas never fuses instructions with .rn
                     r"|w?g?mma\.\S*(?:\.b?f16|\.tf32|\.f64|\.e[2-5]m[1-5])\S*"
                     r"|\S*\.approx\S*|div\.full\S*|\S+\.ftz\S*)", re.M)
# For each source, the instructions of INEXACT that it may use. The final results are exact, because:
# - 16-bit floats hold all intermediate values without error: integers up to 2048, sums of weights up to 1600 and half of
#   these sums, and luminance differences in steps of 1/64.
# - Approximate quotients are rounded to integers. No exact quotient is so close to a rounding boundary that the error of
#   the instruction could change the integer.
# - CLAHE computes (level + 2^23)·weight − 2^23·weight with an FMA. The result is level·weight, rounded once.
EXACT_BY_RANGE = {"cuda/chroma/cuda.cu": {"rcp.approx.ftz.f32"},
                  "cuda/clahe/cuda.cu": {"fma.rn.f32", "rcp.approx.ftz.f32"},
                  "cuda/sgm/census/cuda.cu": {"fma.rn.f16x2"},
                  # The sign of a fused remainder corrects the estimate; noise/filter_arithmetic.h proves the result exact.
                  "cuda/sgm/noise/filter_cuda.cu": {"fma.rn.f32", "fma.rm.f32", "rcp.approx.ftz.f32"},
                  "cuda/sgm/maps/refine_cuda.cu": {"fma.rn.f16x2", "fma.rn.sat.f16x2"},
                  # Floats only give estimates. Results near a decision threshold are computed again in integers.
                  "cuda/localstatistics/cuda.cu": {"fma.rn.f32", "rcp.approx.ftz.f32",
                                                  "sqrt.approx.ftz.f32"},
                  # Floats only give estimates of slopes and reciprocals, which an integer remainder corrects.
                  "cuda/guided/cuda.cu": {"fma.rn.f32", "rcp.approx.ftz.f32"},
                  "cuda/sgm/surfaces/smooth_cuda.cu": {"fma.rn.f16x2", "fma.rn.sat.f16x2", "fma.rn.f32",
                                              "div.approx.ftz.f32"}}
PTX = re.compile(rb"\.version \d+\.\d+\n\.target [^\0]*")
# Constants of CUDA's ELF files: the machine number, and the .nv.info records of stack frame sizes.
EM_CUDA = 190
FRAME_SIZE = struct.Struct("<BBHII")
EIATTR_FRAME_SIZE, EIFMT_SVAL = 0x11, 4
# objdump's names of fused multiply-adds, and the compiler options that enable them. The key is the
# machine number in an object's ELF header.
EM_X86_64, EM_AARCH64 = 62, 183
HOST_FUSED = {EM_X86_64: re.compile(r"\s(v?fn?m(?:add|sub)\w*)\s"),
              EM_AARCH64: re.compile(r"\s(fn?m(?:add|sub)|fml[as]\w*)\s")}
FUSE_OPTIONS = {EM_X86_64: ["-mfma"], EM_AARCH64: []}

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


def command_of(build, target):
    """Returns ninja's command for a target of the build."""
    commands = run(["ninja", "-C", str(build), "-t", "commands", "-s", str(target)], build).stdout
    return shlex.split(commands.strip().splitlines()[-1])


def compile_like(command, build, source, scratch, more=(), drop=()):
    """Compiles a source with the command's flags. Returns the object's path or None, and the errors."""
    words = [word for word in command if word not in drop and not word.startswith("-Werror")]
    for option, value in (("-o", "object.o"), ("-MF", "depends"), ("-MQ", "object.o")):
        if option in words:
            words[words.index(option) + 1] = str(scratch / value)
    words[words.index("-c") + 1] = str(source)
    compiled = run([*words, *more], build)
    return (scratch / "object.o", "") if compiled.returncode == 0 else (None, compiled.stdout)


def ptx_in(path):
    return "\n".join(text.decode("ascii", "replace") for text in PTX.findall(path.read_bytes()))


def cubins_in(data):
    """For each embedded GPU ELF image, yields the object's data from the image to the end."""
    start = data.find(b"\x7fELF", 1)
    while start >= 0:
        if struct.unpack_from("<H", data, start + 18)[0] == EM_CUDA:
            yield data[start:]
        start = data.find(b"\x7fELF", start + 4)


def frames_in(path):
    """Returns the number of GPU functions in an object, and the functions that have a stack frame."""
    functions, framed = 0, []
    for image in cubins_in(path.read_bytes()):
        table, = struct.unpack_from("<Q", image, 40)
        entry_size, count = struct.unpack_from("<HH", image, 58)
        sections = [struct.unpack_from("<IIQQQQIIQQ", image, table + i * entry_size) for i in range(count)]
        symbols = next(section for section in sections if section[1] == 2)  # SHT_SYMTAB
        names = sections[symbols[6]]
        for section in sections:
            if section[1] != 0x70000000:  # SHT_CUDA_INFO
                continue
            at, end = section[4], section[4] + section[5]
            while at + FRAME_SIZE.size <= end:
                form, attribute, size, symbol, frame = FRAME_SIZE.unpack_from(image, at)
                if form == EIFMT_SVAL and attribute == EIATTR_FRAME_SIZE:
                    functions += 1
                    if frame:
                        name, = struct.unpack_from("<I", image, symbols[4] + 24 * symbol)
                        begin = names[4] + name
                        framed.append(f"{image[begin:image.index(0, begin)].decode()} ({frame} bytes)")
                at += 4 + size if form == EIFMT_SVAL else 4
    return functions, framed


def inexact(ptx, allowed=frozenset()):
    found = sorted(set(INEXACT.findall(ptx)) - allowed)
    return f"its PTX has {', '.join(found)}" if found else ""


def check_cuda(objects, build, scratch):
    exact, registers = "PTX is exact", "no stack frame"
    if not objects:
        print(f"SKIP: {exact}: this build has no CUDA kernels")
        print(f"SKIP: {registers}: this build has no CUDA kernels")
        return
    command = command_of(build, objects[0].relative_to(build))
    bad = scratch / "inexact.cu"
    bad.write_text(INEXACT_CU)
    made, problem = compile_like(command, build, bad, scratch, drop=["--fmad=false"])
    missed = [instruction for instruction in INEXACT_CU_HAS if not made or instruction not in inexact(ptx_in(made))]
    verdict("the guard of exact PTX finds inexact instructions",
            problem or (f"it does not find {', '.join(missed)}" if missed else ""))
    bad = scratch / "spilling.cu"
    bad.write_text(SPILLING_CU)
    made, problem = compile_like(command, build, bad, scratch, ["-maxrregcount=24"])
    machine_code = problem or frames_in(made)[0]
    if machine_code:
        verdict("the guard of stack frames finds a stack frame", problem or ("" if frames_in(made)[1] else "it finds none"))
    else:
        print(f"SKIP: {registers}: this build has PTX only")

    for path in objects:
        # cuda/LIBRARY.a.p/sgm/cuda.o comes from cuda/sgm/cuda.cu.
        name = pathlib.Path("cuda", *path.relative_to(build).parts[2:]).with_suffix(".cu")
        ptx = ptx_in(path)
        allowed = EXACT_BY_RANGE.get(name.as_posix(), frozenset())
        verdict(f"{exact} in {name}", inexact(ptx, allowed) if ptx else "the object holds no PTX")
        if machine_code:
            functions, framed = frames_in(path)
            missing = "the object holds no function" if ".entry" in ptx and not functions else ""
            verdict(f"{registers} in {name}", missing or "; ".join(framed))


def machine_of(path):
    return struct.unpack_from("<H", path.read_bytes(), 18)[0]


def last_write(lines, register):
    """Returns the index, the mnemonic and the operands of the last write to a vector register, or None."""
    for i in range(len(lines) - 1, max(len(lines) - 80, -1), -1):
        words = lines[i].split("\t")[-1].split(None, 1)
        operands = words[1].split("#")[0].strip().split(",") if len(words) == 2 else []
        if operands and re.sub(r"%[xyz]mm", "", operands[-1]) == register:
            return i, words[0], [re.sub(r"%[xyz]mm", "", operand) for operand in operands]
    return None


def of_unsigned_conversion(lines, instruction):
    """Returns True if an x86 fused multiply-add is part of GCC's conversion of 32-bit unsigned integers to float.
    Without AVX-512, GCC multiplies the upper 16 bits by 65536 and adds the lower 16 bits, both as floats. The
    product is exact, so fusing does not change the result."""
    match = re.search(r"vfmadd(\d)(\d)\dps\s+(\S+)$", instruction.strip())
    if not match:
        return False
    operands = [re.sub(r"%[xyz]mm", "", operand) for operand in match[3].split(",")][::-1]
    for factor in (operands[int(match[1]) - 1], operands[int(match[2]) - 1]):
        converted = last_write(lines, factor)
        if converted and converted[1] == "vcvtdq2ps":
            shifted = last_write(lines[:converted[0]], converted[2][0])
            if shifted and shifted[1] == "vpsrld" and shifted[2][0] == "$0x10":
                return True
    return False


def fused_on_host(path, objdump, folder):
    listing = run([objdump, "-d", "--no-show-raw-insn", str(path)], folder)
    if listing.returncode != 0 or "Disassembly" not in listing.stdout:
        return "objdump shows no code"
    lines = listing.stdout.splitlines()
    found = set()
    for i, line in enumerate(lines):
        match = HOST_FUSED[machine_of(path)].search(line)
        if match and not of_unsigned_conversion(lines[max(i - 200, 0):i], line):
            found.add(match[1])
    return f"it has {', '.join(sorted(found))}" if found else ""


def asks_for_fma(path, build):
    """Returns True if the source of an object calls std::fma, which must fuse on every machine."""
    command = command_of(build, path.relative_to(build))
    return "std::fma(" in (build / command[command.index("-c") + 1]).read_text(encoding="utf-8")


def check_host(objects, build, scratch):
    if machine_of(objects[0]) not in HOST_FUSED:
        print("SKIP: host code is exact: the guard reads x86-64 and arm64 code only")
        return
    command = command_of(build, objects[0].relative_to(build))
    # A cross compiler has its own objdump in the same folder.
    objdump = next((word.removesuffix("g++") + "objdump" for word in command if word.endswith("-g++")), "objdump")
    bad = scratch / "fused.cpp"
    bad.write_text(FUSED_CPP)
    made, problem = compile_like(command, build, bad, scratch,
                                 ["-O2", "-ffp-contract=fast", *FUSE_OPTIONS[machine_of(objects[0])]])
    verdict("the guard of exact host code finds a fused multiply-add",
            problem or ("" if fused_on_host(made, objdump, build).startswith("it has") else "it finds none"))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = pool.map(lambda path: fused_on_host(path, objdump, build), objects)
        for path, fault in zip(objects, faults):
            if fault.startswith("it has") and asks_for_fma(path, build):
                fault = ""
            verdict(f"host code is exact in {path.name.removesuffix('.o')}", fault)


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    # These are only the plug-in's objects. Objects that are altered for tests are in other folders.
    objects = sorted((build / "cuda").rglob("*.o"))
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        check_host([path for path in objects if path.name.endswith(".cpp.o")], build, scratch)
        check_cuda([path for path in objects if not path.name.endswith(".cpp.o")], build, scratch)
    return 0 if results and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
