#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Evaluates the results of run-gpu.sh.

    proof.py transfers STREET.json FOLDER ELEMENT:BITS...
        judges the transfers that run-gpu.sh counted into FOLDER: those of decoding alone, and for each
        element those of decoding and the element, with and without a download. BITS is the number of
        bits that the element outputs for each decoded pixel, 12 for NV12
    proof.py hashes NATIVE.json PTX.json
        prints for each operation whether the PTX gives the same hashes as the machine code
    proof.py write BUNDLE RESULTS WORK CARD DRIVER
        merges the results of the stages in WORK into RESULTS/results.json, and the records of each part
        into the bundle's proof, which it writes to RESULTS/proof.json

The name of a result begins with VARIANT-OR-TOOL PART/PROGRAM, for example "ptx75 gaussblur/test_gaussblur"
or "memcheck sgm/test_sgmstereo 1 of 4". All other results belong to the part "elements", or to a part of their
own if the stage ran the elements with another GStreamer.
"""
import json
import pathlib
import sys


def load(path):
    return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))


def verdict(name, why_not):
    print(f"not ok: {name}: {why_not}" if why_not else f"ok: {name}")
    return not why_not


def transfers(street, folder, *elements):
    facts = load(street)
    pixels = facts["width"] * facts["height"]
    frame = pixels * 3 // 2
    film = frame * facts["frames"]
    bits_of = {name: int(bits) for name, bits in (element.split(":") for element in elements)}
    counts = {}
    for name in ("decode", *(name for element in bits_of for name in (element, f"{element}-download"))):
        path = pathlib.Path(folder) / f"transfers.{name}.json"
        if not path.exists():
            verdict("transfers are counted", f"there are no counts of the pipeline {name}")
            return 1
        counts[name] = load(path)

    print(f'{facts["frames"]} frames of {facts["width"]}x{facts["height"]} NV12, {film} bytes')
    print(f'{"pipeline":25} {"host to device":>24} {"device to host":>24} {"device to device":>24} {"kernels":>8}')
    for name, count in counts.items():
        columns = [f'{count[way]["copies"]:6} / {count[way]["bytes"]:11} B'
                   for way in ("host_to_device", "device_to_host", "device_to_device")]
        print(f"{name:25} {columns[0]:>24} {columns[1]:>24} {columns[2]:>24} {count['kernels']:8}")

    decode = counts["decode"]
    lost = sum(count["lost"] for count in counts.values())
    good = [verdict("every copy was seen", f"{lost} records were lost" if lost else "")]
    for element, bits in bits_of.items():
        given = pixels * bits // 8 * facts["frames"]
        alone, download = counts[element], counts[f"{element}-download"]
        back = alone["device_to_host"]["bytes"] - decode["device_to_host"]["bytes"]
        up = alone["host_to_device"]["bytes"] - decode["host_to_device"]["bytes"]
        downloaded = download["device_to_host"]["bytes"] - decode["device_to_host"]["bytes"]
        kernels = alone["kernels"] - decode["kernels"]
        good += [
            verdict(f"{element} works on the GPU",
                    "" if kernels >= facts["frames"] else f"only {kernels} kernels for {facts['frames']} frames"),
            # The element may upload a table or two when it starts, but never a frame.
            verdict(f"{element} uploads no frame", f"{up} bytes more than decoding alone" if up >= frame else ""),
            verdict(f"{element} downloads nothing itself",
                    f"{back} bytes more than decoding alone" if back else ""),
            verdict(f"the download after {element} copies each frame once",
                    "" if downloaded == given else f"{downloaded} bytes for a video of {given}"),
        ]
    return 0 if all(good) else 1


def hashes(native, ptx):
    there, here = load(native)["cases"], load(ptx)["cases"]
    good = []
    for part in sorted({case.split("/")[0] for case in there | here}):
        wrong = sorted(case for case in there | here
                       if case.startswith(f"{part}/") and there.get(case) != here.get(case))
        good.append(verdict(f"{part}/hashes", f"{len(wrong)} differ, {wrong[0]} first" if wrong else ""))
    return 0 if good and all(good) else 1


ELEMENTS = "elements"
ELEMENTS_BY_STAGE = {"check13": "elements with GStreamer 1.26"}


def part_of(stage, name):
    words = name.split(" ")
    return words[1].split("/")[0] if len(words) > 1 and "/" in words[1] else ELEMENTS_BY_STAGE.get(stage, ELEMENTS)


def add(counts, result):
    for state in ("passed", "failed", "skipped"):
        value = result[state]
        counts[state] = counts.get(state, 0) + (value if isinstance(value, int) else len(value))


def merge(path, news):
    """Merges news into the JSON object in a file, where later stages find it, and returns the object."""
    merged = {**(load(path) if path.exists() else {}), **news}
    path.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return merged


def write(bundle, results, work, card, driver):
    bundle, results, work = map(pathlib.Path, (bundle, results, work))
    lines = {}
    for path in sorted(work.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            result = json.loads(line)
            lines.setdefault(f"{path.stem} {part_of(path.stem, result['name'])}", []).append(result)
    lines = merge(results / "results.json", lines)
    counted = merge(results / "transfers.json", {
        path.name.split(".")[1]: load(path) for path in work.glob("transfers.*.json")})
    digests = load(bundle / "digests.json")
    toolkit = (bundle / "toolkit").read_text(encoding="utf-8").strip()

    earlier = bundle / "proof.json"
    proven = load(earlier)["parts"] if earlier.exists() else {}
    parts = {}
    for key, stage_lines in lines.items():
        stage, part = key.split(" ", 1)
        kernels = stage in ("tests", "sanitizers")
        if part not in digests or stage == "bench" or kernels == part.startswith(ELEMENTS):
            continue
        if not any(result["passed"] or result["failed"] for result in stage_lines):
            continue  # The bundle lacks what the stage needs, so it says nothing about these sources.
        if part not in parts:
            # Earlier results for exactly the same sources stay valid, so new ones are added to them.
            same = proven.get(part, {}).get("digest") == digests[part]
            parts[part] = {**(proven[part] if same else {}), "digest": digests[part], "card": card,
                           "driver": driver, "toolkit": toolkit}
        kind = parts[part].setdefault("sanitizers" if stage == "sanitizers" else "suites", {})
        found = {}
        for result in stage_lines:
            add(found.setdefault(result["name"].split(" ")[0] if kernels else stage, {}), result)
        kind.update(found)
    hashed = results / "hashes.json"
    for case, value in (load(hashed)["cases"] if hashed.exists() else {}).items():
        if case.split("/")[0] in parts:
            parts[case.split("/")[0]].setdefault("cases", {})[case] = value
    if counted and ELEMENTS in parts:
        parts[ELEMENTS]["transfers"] = counted

    proven.update(parts)
    (results / "proof.json").write_text(
        json.dumps({"parts": dict(sorted(proven.items()))}, indent=1) + "\n", encoding="utf-8")
    print(f"proof.json: new records of {', '.join(sorted(parts)) or 'nothing'}; "
          f"{sum(len(part.get('cases', {})) for part in parts.values())} hashed cases")
    return 0


def main(arguments):
    if len(arguments) > 3 and arguments[0] == "transfers":
        return transfers(*arguments[1:])
    if len(arguments) == 3 and arguments[0] == "hashes":
        return hashes(*arguments[1:])
    if len(arguments) == 6 and arguments[0] == "write":
        return write(*arguments[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
