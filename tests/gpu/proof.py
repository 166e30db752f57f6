#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What run-gpu.sh makes of its results.

    proof.py transfers STREET.json FOLDER ELEMENT:BITS...
        judges the transfers that run-gpu.sh counted into FOLDER: of decoding alone, and for each
        element of decoding and the element, and of these two and a download; BITS is what the
        element gives for each pixel decoded, 12 for NV12
    proof.py write BUNDLE RESULTS WORK CARD DRIVER
        merges the stages in WORK into RESULTS/results.json and writes RESULTS/proof.json
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
            verdict("transfers are counted", f"the pipeline {name} left no counts")
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
            verdict(f"{element} works on the card",
                    "" if kernels >= facts["frames"] else f"only {kernels} kernels for {facts['frames']} frames"),
            # A table or two may go up when the element starts; a frame may not.
            verdict(f"no frame goes up for {element}", f"{up} bytes more than decoding alone" if up >= frame else ""),
            verdict(f"nothing comes down from {element} before the download",
                    f"{back} bytes more than decoding alone" if back else ""),
            verdict(f"the download behind {element} moves each frame once",
                    "" if downloaded == given else f"{downloaded} bytes for a film of {given}"),
        ]
    return 0 if all(good) else 1


def add(totals, result):
    """Adds the counts of one program to a suite's."""
    for state in ("passed", "failed", "skipped"):
        value = result[state]
        totals[state] = totals.get(state, 0) + (value if isinstance(value, int) else len(value))


def merge(path, news):
    """The JSON object in path with these news, kept there for the stages that run later."""
    merged = {**(load(path) if path.exists() else {}), **news}
    path.write_text(json.dumps(merged, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    return merged


def write(bundle, results, work, card, driver):
    bundle, results, work = map(pathlib.Path, (bundle, results, work))
    stages = merge(results / "results.json", {
        path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for path in work.glob("*.jsonl")})
    counted = merge(results / "transfers.json", {
        path.name.split(".")[1]: load(path) for path in work.glob("transfers.*.json")})

    suites, sanitizers = {}, {}
    for stage, lines in stages.items():
        for result in lines:
            name = result["name"]
            if stage == "sanitizers":
                tool = sanitizers.setdefault(name.split()[0], {})
                add(tool.setdefault("programs without findings" if name.endswith(" verdict") else "tests", {}), result)
            else:
                add(suites.setdefault(stage if name == stage else f"{stage}: {name}", {}), result)

    hashes = results / "hashes.json"
    proof = {
        "digest": (bundle / "digest").read_text(encoding="utf-8").strip(),
        "card": card,
        "driver": driver,
        "toolkit": (bundle / "toolkit").read_text(encoding="utf-8").strip(),
        "suites": suites,
        "sanitizers": sanitizers,
        "transfers": counted,
        "cases": load(hashes)["cases"] if hashes.exists() else {},
    }
    (results / "proof.json").write_text(json.dumps(proof, indent=1) + "\n", encoding="utf-8")
    print(f"proof.json covers {', '.join(sorted(stages))} and {len(proof['cases'])} hashed cases")
    return 0


def main(arguments):
    if len(arguments) > 3 and arguments[0] == "transfers":
        return transfers(*arguments[1:])
    if len(arguments) == 6 and arguments[0] == "write":
        return write(*arguments[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
