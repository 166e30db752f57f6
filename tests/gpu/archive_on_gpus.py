#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures pipelines/archive.py on one GPU and on two, and kills one of its workers.

FOLDER gets the results, and links to VIDEO. Prints the videos per minute, and for each check "ok: what" or "not ok: what:
why". It needs a Python with Ray and tqdm. The default pipeline decodes on the GPU, denoises there and encodes on the CPU.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

DECODE = "filesrc location={input} ! matroskademux ! h264parse ! nvh264dec"
PIPELINE = f"{DECODE} ! cudadenoise frames=3 backend={{backend}} cuda-device-id={{device}} ! videoconvert ! jpegenc ! matroskamux ! filesink location={{output}}"


def verdict(what, why_not):
    print(f"not ok: {what}: {why_not}" if why_not else f"ok: {what}", flush=True)


class Run:
    """A run of archive.py on these GPUs."""

    def __init__(self, arguments, name, gpus, videos):
        folder = pathlib.Path(arguments.folder, name)
        self.videos, self.out, self.arrivals, self.written = videos, folder / "out", [], []
        (folder / "videos").mkdir(parents=True)
        for number in range(videos):
            (folder / f"videos/{number:02}.mkv").symlink_to(arguments.video)
        self.process = subprocess.Popen(
            [sys.executable, arguments.archive, folder / "videos", self.out, "--backend", "cuda", "--per-gpu", str(arguments.per_gpu),
             "--pipeline", arguments.pipeline],
            env={**os.environ, "CUDA_VISIBLE_DEVICES": gpus, "RAY_USAGE_STATS_ENABLED": "0"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def follow(self, videos):
        """Reads the output until this number of videos is ready."""
        while len(self.arrivals) < videos and (line := self.process.stdout.readline()):
            if re.match(r"\[\d+/\d+\] ", line):
                self.arrivals.append(time.monotonic())
            else:
                print(line, end="", flush=True)

    def end(self, what):
        self.follow(self.videos)
        print(self.process.stdout.read(), end="")
        status = self.process.wait()
        report = self.out / "archive.json"
        self.written = json.loads(report.read_text())["written"] if report.exists() else []
        verdict(what, "" if status == 0 and len(self.written) == self.videos else f"status {status}, {len(self.written)} of {self.videos} videos")

    def on_gpus(self, since=0):
        """Returns how many videos each GPU has processed, without the first `since` videos."""
        gpus = [video["gpu"] for video in self.written[since:]]
        return {gpu: gpus.count(gpu) for gpu in sorted(set(gpus))}

    def videos_per_minute(self):
        if not self.written or not self.arrivals:
            return 0
        return 60 * len(self.arrivals) / (self.arrivals[-1] - self.arrivals[0] + self.written[0]["seconds"])

    def pipelines_on(self, gpu):
        """Returns the process ids of the pipelines that run on this GPU."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                mine = str(self.out).encode() in (process / "cmdline").read_bytes() and b"gst-launch-1.0" in (process / "cmdline").read_bytes()
                if mine and f"CUDA_VISIBLE_DEVICES={gpu}\0".encode() in (process / "environ").read_bytes():
                    found.append(int(process.name))
            except OSError:  # The process has ended.
                pass
        return found


def worker_of(pipeline):
    return int(re.search(r"^PPid:\s*(\d+)", pathlib.Path(f"/proc/{pipeline}/status").read_text(), re.M)[1])


def kill_a_worker(run, gpu, videos):
    """Kills the worker of a pipeline on this GPU once this number of videos is ready. Returns the number that was ready."""
    run.follow(videos)
    end, pipelines = time.monotonic() + 60, []
    while not pipelines and time.monotonic() < end:
        time.sleep(0.05)
        pipelines = run.pipelines_on(gpu)
    if not pipelines:
        verdict("a worker is killed", f"no pipeline runs on GPU {gpu}")
        return 0
    os.kill(worker_of(pipelines[0]), signal.SIGKILL)
    end = time.monotonic() + 20
    while pathlib.Path(f"/proc/{pipelines[0]}").exists() and time.monotonic() < end:
        time.sleep(0.05)
    verdict("the pipeline of a killed worker ends", "it still runs" if pathlib.Path(f"/proc/{pipelines[0]}").exists() else "")
    return len(run.arrivals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", metavar="ARCHIVE.py")
    parser.add_argument("video")
    parser.add_argument("folder")
    parser.add_argument("--pipeline", default=PIPELINE)
    parser.add_argument("--per-gpu", type=int, default=4)
    parser.add_argument("--videos", type=int, default=24)
    arguments = parser.parse_args()
    rates = {}
    for gpus in ("0", "0,1"):
        run = Run(arguments, f"on-{gpus}", gpus, arguments.videos)
        run.end(f"all videos on GPU {gpus}")
        rates[gpus] = run.videos_per_minute()
        verdict(f"every GPU of {gpus} processes videos", "" if list(run.on_gpus()) == gpus.split(",") else f"{run.on_gpus()}")
        print(f"{arguments.videos} videos, {arguments.per_gpu} at a time on each GPU of {gpus}: {rates[gpus]:.1f} videos per minute, "
              f"by GPU {run.on_gpus()}", flush=True)
    print(f"two GPUs make {rates['0,1'] / max(rates['0'], 1e-9):.2f} times as many videos per minute as one", flush=True)
    run = Run(arguments, "killed", "0,1", arguments.videos)
    before = kill_a_worker(run, "1", arguments.per_gpu)
    run.end("all videos, although a worker was killed")
    verdict("the GPU of a killed worker processes more videos", "" if run.on_gpus(before).get("1") else f"{run.on_gpus(before)}")


if __name__ == "__main__":
    main()
