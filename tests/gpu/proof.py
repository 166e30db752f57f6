#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Evaluates the results of run-gpu.sh.

    proof.py transfers STREET.json FOLDER ELEMENT:BITS...
        checks the transfers that run-gpu.sh counted into FOLDER: in a run that only decodes and, for each
        element, in runs that decode and apply the element, with and without a download. BITS is the
        number of bits that the element outputs for each decoded pixel, 12 for NV12
    proof.py hashes NATIVE.json PTX.json OPERATION...
        prints for each of these operations whether the PTX gives the same hashes as the machine code
    proof.py write BUNDLE RESULTS WORK CARD DRIVER CARDS
        merges the results of the stages in WORK into RESULTS/results.json, and the records of each part
        into RESULTS/proof.json, which begins as the bundle's proof. A result that WORK/STAGE.planned names
        and WORK/STAGE.jsonl lacks has failed. Records of the stage cards contain CARDS, the number of GPUs
    proof.py results WORK
        prints the results of the stages in WORK as lines of JSON
    proof.py merge DIGESTS.json PROOF.json NEWER.json
        merges those records of NEWER.json whose digests are in DIGESTS.json into PROOF.json. check_proof.py
        --digests prints the digests of a tree

The names of kernel test results begin with VARIANT-OR-TOOL PART/PROGRAM, for example "ptx75
gaussblur/test_gaussblur" or "memcheck sgm/test_sgmstereo 1 of 4". All other results belong to the part
"elements", or to a part of their own if the stage ran the elements with another GStreamer.
"""
import fcntl
import json
import os
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
    video_bytes = frame * facts["frames"]
    bits_of = {name: int(bits) for name, bits in (element.split(":") for element in elements)}
    counts = {}
    for name in ("decode", *(name for element in bits_of for name in (element, f"{element}-download"))):
        path = pathlib.Path(folder) / f"transfers.{name}.json"
        if not path.exists():
            verdict("transfers are counted", f"there are no counts of the pipeline {name}")
            return 1
        counts[name] = load(path)

    print(f'{facts["frames"]} frames of {facts["width"]}x{facts["height"]} NV12, {video_bytes} bytes')
    print(f'{"pipeline":25} {"host to device":>24} {"device to host":>24} {"device to device":>24} {"kernels":>8}')
    for name, count in counts.items():
        columns = [f'{count[way]["copies"]:6} / {count[way]["bytes"]:11} B'
                   for way in ("host_to_device", "device_to_host", "device_to_device")]
        print(f"{name:25} {columns[0]:>24} {columns[1]:>24} {columns[2]:>24} {count['kernels']:8}")

    decode = counts["decode"]
    lost = sum(count["lost"] for count in counts.values())
    good = [verdict("every copy was recorded", f"{lost} records were lost" if lost else "")]
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


def hashes(native, ptx, *operations):
    there, here = load(native)["cases"], load(ptx)["cases"]
    good = []
    for part in operations:
        cases = sorted(case for case in there | here if case.startswith(f"{part}/"))
        wrong = [case for case in cases if there.get(case) != here.get(case)]
        if cases:
            good.append(verdict(f"{part}/hashes", f"{len(wrong)} differ, {wrong[0]} first" if wrong else ""))
        else:
            print(f"SKIP: {part}/hashes: the operation has no seeded cases")
    return 0 if all(good) else 1


KERNEL_STAGES = ("tests", "sanitizers")
ELEMENTS = "elements"
ELEMENTS_BY_STAGE = {"check13": "elements with GStreamer 1.26"}


def part_of(stage, name):
    words = name.split(" ")
    return words[1].split("/")[0] if len(words) > 1 and "/" in words[1] else ELEMENTS_BY_STAGE.get(stage, ELEMENTS)


def add(counts, result):
    for state in ("passed", "failed", "skipped"):
        value = result[state]
        counts[state] = counts.get(state, 0) + (value if isinstance(value, int) else len(value))


def replace(path, content):
    """Replaces a JSON file atomically, so that it is complete even if this program is killed."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    os.replace(beside, path)


def ended(path):
    """Yields the results in a file with one JSON object per line. Skips incomplete lines, which a full disk can leave."""
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            print(f"{path.name} has an incomplete line: {line[:60]}", file=sys.stderr)


def results_of(planned):
    """Returns the results of a stage. Planned results that are missing have failed."""
    results = list(ended(planned.with_suffix(".jsonl")))
    names = {result["name"] for result in results}
    return results + [{"name": name, "passed": 0, "failed": ["it did not end"], "skipped": []}
                      for name in planned.read_text(encoding="utf-8").splitlines() if name not in names]


def print_results(work):
    for planned in sorted(pathlib.Path(work).glob("*.planned")):
        for result in results_of(planned):
            print(json.dumps(result))
    return 0


def merged(proof, news):
    """Returns the parts of a proof with newer records. If a part's sources are unchanged, its record keeps the
    suites, sanitizers, cases and transfers that the newer record lacks. Otherwise the newer record replaces it."""
    parts = dict(proof)
    for part, record in news.items():
        earlier = proof.get(part, {})
        if earlier.get("digest") != record["digest"]:
            earlier = {}
        both = {key: {**earlier[key], **record[key]} for key in earlier.keys() & record.keys()
                if isinstance(record[key], dict)}
        parts[part] = {**earlier, **record, **both}
    return dict(sorted(parts.items()))


def parts_in(path):
    return load(path)["parts"] if path.exists() else {}


def holding(parts, digests):
    """Returns the records whose sources have these digests."""
    return {part: record for part, record in parts.items() if digests.get(part) == record["digest"]}


def merge(digests, proof, newer):
    news = load(newer)["parts"]
    valid = holding(news, load(digests))
    path = pathlib.Path(proof)
    replace(path, {"parts": merged(parts_in(path), valid)})
    for part in sorted(news):
        print(f"{part}: " + ("merged" if part in valid else "left out, because its sources have changed"))
    return 0


def write(bundle, results, work, card, driver, cards):
    bundle, results, work = map(pathlib.Path, (bundle, results, work))
    with open(work / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # programs of a stage end at the same time
        return write_alone(bundle, results, work, card, driver, int(cards))


def write_alone(bundle, results, work, card, driver, cards):
    digests = load(bundle / "digests.json")
    toolkit = (bundle / "toolkit").read_text(encoding="utf-8").strip()
    counts, news = {}, {}
    for planned in sorted(work.glob("*.planned")):
        stage = planned.stem
        for result in results_of(planned):
            suite = result["name"].split(" ")[0] if stage in KERNEL_STAGES else stage
            counts.setdefault((stage, suite, part_of(stage, result["name"])), []).append(result)
    for (stage, suite, part), results_of_suite in counts.items():
        kernels = stage in KERNEL_STAGES
        if part not in digests or stage in ("bench", "card-figures") or kernels == part.startswith(ELEMENTS):
            continue
        if not kernels and not any(result["passed"] or result["failed"] for result in results_of_suite):
            continue  # The stage skipped everything, so it proves nothing.
        record = news.setdefault(part, {"digest": digests[part], "card": card, "driver": driver,
                                        "toolkit": toolkit})
        suites = record.setdefault("sanitizers" if stage == "sanitizers" else "suites", {})
        for result in results_of_suite:
            add(suites.setdefault(suite, {"cards": cards} if stage == "cards" else {}), result)
    hashed = work / "hashes.native"
    for case, value in (load(hashed)["cases"] if hashed.exists() else {}).items():
        if case.split("/")[0] in news:
            news[case.split("/")[0]].setdefault("cases", {})[case] = value
    counted = {path.name.split(".")[1]: load(path) for path in work.glob("transfers.*.json")}
    if counted and ELEMENTS in news:
        news[ELEMENTS]["transfers"] = counted

    total = results / "results.json"
    replace(total, {**(load(total) if total.exists() else {}),
                    **{" ".join(dict.fromkeys(key)): found for key, found in counts.items()}})
    proof = results / "proof.json"
    base = merged(parts_in(bundle / "proof.json"), holding(parts_in(proof), digests))
    replace(proof, {"parts": merged(base, news)})
    print(f"proof.json: new records of {', '.join(sorted(news)) or 'nothing'}; "
          f"{sum(len(record.get('cases', {})) for record in news.values())} hashed cases")
    return 0


def main(arguments):
    if len(arguments) > 3 and arguments[0] == "transfers":
        return transfers(*arguments[1:])
    if len(arguments) > 3 and arguments[0] == "hashes":
        return hashes(*arguments[1:])
    if len(arguments) == 7 and arguments[0] == "write":
        return write(*arguments[1:])
    if len(arguments) == 2 and arguments[0] == "results":
        return print_results(*arguments[1:])
    if len(arguments) == 4 and arguments[0] == "merge":
        return merge(*arguments[1:])
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
