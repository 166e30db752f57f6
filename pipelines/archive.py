#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processes an archive of videos with a pipeline, on all GPUs of a Ray cluster, or on its CPUs if it has no GPU. The default
cluster is this machine alone. If a run is interrupted, the next run keeps the complete results and continues."""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import shlex
import signal
import socket
import subprocess
import sys

from argtypes import number_in
from archiving import task
from archiving.jobs import Marker, plan, remove_leftovers
from archiving.report import Report

# uritranscodebin keeps the sound, and uses the decoders and the encoder of the highest rank. videoflip applies the orientation
# tag of each video, because Matroska does not store this tag.
default_pipeline = ('uritranscodebin source-uri={input-uri} dest-uri={output-uri} '
                    'profile=video/x-matroska:video/x-h264:audio/x-opus '
                    'video-filter="videoconvert ! videoflip video-direction=auto ! cudahistequalize backend={backend} cuda-device-id={device}"')
films = [f"*.{ending}" for ending in ("mp4", "m4v", "mov", "mkv", "webm", "avi", "ts", "mts", "m2ts", "mpg", "mpeg", "mxf", "wmv", "flv",
                                      "ogv", "3gp")]
# Maximum number of tasks that are submitted to Ray at the same time: enough for any cluster, but few enough to keep Ray's task lists short.
max_submitted = 1000
# Number of videos whose durations one task reads.
films_per_task = 16
# Seconds for which a run that ends early waits until its tasks have stopped. Another Ctrl-C ends this wait.
seconds_to_cancel = 300


def gstreamer_variables():
    """Returns the GST_ environment variables for all pipelines. Extends GST_PLUGIN_PATH by the plug-in's folder
    in this prefix, or by the build folders if GStreamer does not find the plug-in."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("GST_")}
    # The plug-in of this installation's prefix takes precedence over GStreamer's plug-in folder.
    own = pathlib.Path(__file__).resolve().parent / "plugin"
    if own.exists():
        variables["GST_PLUGIN_PATH"] = ":".join([*filter(None, [variables.get("GST_PLUGIN_PATH")]), str(own.resolve())])
        return variables
    with contextlib.suppress(OSError):
        if subprocess.run(["gst-inspect-1.0", "cudavision"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            top = pathlib.Path(__file__).resolve().parent.parent
            built = [str(top / build / "gst") for build in ("build", "build-quickstart") if (top / build / "gst").is_dir()]
            variables["GST_PLUGIN_PATH"] = ":".join([*built, *filter(None, [variables.get("GST_PLUGIN_PATH")])])
    return variables


class Interruption:
    """Ctrl-C or SIGTERM. A KeyboardInterrupt that is raised in a destructor or callback of Ray is lost, so loops also call
    check()."""
    asked = False

    def catch(self):
        # A signal that is ignored stays ignored, because shells start background jobs with SIGINT ignored.
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self.raise_it)

    def raise_it(self, *_):
        self.asked = True
        raise KeyboardInterrupt

    def check(self):
        if self.asked:
            raise KeyboardInterrupt


def run(ray, jobs, report, submit, retries, interruption):
    """Runs all jobs as tasks, with retries, until each has a result. Stops early if the pipeline is invalid or a disk is
    full."""
    waiting = collections.deque((job, 1) for job in jobs)
    running = {}
    try:
        while waiting or running:
            while waiting and len(running) < max_submitted:
                job, attempt = waiting.popleft()
                running[submit(job)] = job, attempt
            # Updates the elapsed time on the progress bar even if no task has finished.
            report.bar.refresh()
            interruption.check()
            for task in ray.wait(list(running), timeout=1)[0]:
                job, attempt = running.pop(task)
                try:
                    result = ray.get(task)
                except ray.exceptions.RayError as error:
                    # The worker or its machine died and Ray's own retries are used up, or the task raised an unexpected exception.
                    result = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", "log": str(error), "stop": None}
                # A full disk stops the run, because it affects all jobs. A pipeline that GStreamer refuses stops the run only if there
                # are no results yet. If there are, the pipeline is valid, and only this worker's machine lacks an element.
                stop = result.get("stop") == "disk" or result.get("stop") == "pipeline" and not report.contents["written"]
                if "error" in result and attempt <= retries and not stop:
                    waiting.append((job, attempt + 1))
                    continue
                report.add(job, attempt, result)
                if stop:
                    report.say("Stopping: the other videos would fail in the same way.", sys.stderr)
                    return
    finally:
        # Cancelled tasks end their pipelines and remove unfinished files.
        with contextlib.suppress(ray.exceptions.RayError):
            for task in running:
                ray.cancel(task)
            if running:
                ray.wait(list(running), num_returns=len(running), timeout=seconds_to_cancel)


def header_durations_of(ray, jobs, measure, interruption):
    """Returns the duration of each job's video in seconds, from its header; None if unknown."""
    header_durations = ray.remote(num_cpus=1)(task.header_durations)
    parts = [jobs[first:first + films_per_task] for first in range(0, len(jobs), films_per_task)]
    tasks = [header_durations.remote([job.input for job in part], measure) for part in parts]
    while ray.wait(tasks, num_returns=len(tasks), timeout=1)[1]:
        interruption.check()
    return dict(zip(jobs, (seconds for part in ray.get(tasks) for seconds in part)))


def connect(ray, address):
    """Joins a cluster, or starts one on this machine."""
    host = re.fullmatch(r"(?:ray://)?([^/]+):(\d+)", address)
    if host:
        # Tests the connection first, because ray.init() would retry for minutes.
        try:
            socket.create_connection((host[1].strip("[]"), int(host[2])), timeout=10).close()
        except OSError as error:
            sys.exit(f"No Ray cluster answers at --address {address} ({error.strerror or error}): start it there with `ray start --head`, "
                     "correct --address or $RAY_ADDRESS, or set --address local to use this machine alone.")
    # By default, Ray sends usage statistics from clusters that a program starts.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # By default, Ray runs workers at nice 15, so that any other busy program would starve the pipelines. Ray also replaces
    # workers that take more than a minute to start.
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_worker_register_timeout_seconds", "3600")
    # Tasks pass no large objects, so the smallest object store that Ray accepts is enough.
    local = {"include_dashboard": False, "object_store_memory": 80 << 20} if address == "local" else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **local)
    except Exception as error:  # ray.init() raises a plain Exception if a cluster takes more than 30 s to start.
        # The last line of the exception's cause is Ray's remedy. Timeouts have no cause.
        remedy = str(error.__cause__ or "").strip().splitlines()[-1:]
        if "timed out" in str(error):
            remedy.append("Run archive.py again when the machine is less busy; /tmp/ray/session_latest/logs has Ray's messages.")
        sys.exit("\n".join([f"Ray has no cluster for this program (--address {address}): {error}", *remedy]))


def resources_of_task(ray, arguments):
    """Returns the backend, and the Ray resources of each pipeline: a number of processors and a fraction of a GPU."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    backend = arguments.backend
    if backend == "auto":
        backend = "cuda" if any(machine.get("GPU", 0) for machine in machines) else "cpu"
    processors = int(max(machine.get("CPU", 0) for machine in machines))
    needed = {"num_gpus": 1 / arguments.per_gpu if backend == "cuda" else 0,
              "num_cpus": arguments.cpus or (1 if backend == "cuda" else max(1, min(4, processors)))}
    most = int(max((machine.get("CPU", 0) for machine in machines if machine.get("GPU", 0) >= needed["num_gpus"]), default=-1))
    if most < needed["num_cpus"]:
        wanted = f"{'a GPU and ' if backend == 'cuda' else ''}{needed['num_cpus']} processor{'s' * (needed['num_cpus'] > 1)} (at most {most})"
        remedy = f"set --cpus to {most} or less" if most > 0 else "start Ray with a larger --num-cpus"
        lacking = f"Ray has no machine with {wanted}: {remedy}" if most >= 0 else "Ray has no machine with a GPU: set --backend=cpu"
        if arguments.address == "local":
            sys.exit(lacking)
        # A machine with these resources may join the cluster later.
        print(f"{lacking}. Waiting until such a machine joins the cluster.", file=sys.stderr)
    return backend, needed


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Placeholders in the pipeline:\n" + "".join(f"  {f'{{{name}}}':14}{text}\n" for name, text in task.placeholders.items()) +
        f"\nThe default pipeline equalises videos and keeps their sound:\n  {default_pipeline}\n\n"
        "A result that is shorter than its video is damaged: its name gets .damaged before the extension, and the next run makes it again.\n"
        "The exit status is 1 if any video failed or is damaged. OUT/archive.json lists the outcome of each video.")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="videos, or folders with videos at any depth")
    parser.add_argument("out", metavar="OUT", help="the folder of the results")
    parser.add_argument("--pipeline", default=default_pipeline, help="the pipeline, in the syntax of gst-launch-1.0 (default: below)")
    parser.add_argument("--ending", default="mkv", help="extension of the results (default: mkv)")
    parser.add_argument("--match", action="append", metavar="PATTERN", help="files to take from folders, such as '*.png'; can be repeated "
                        "(default: the usual extensions of videos)")
    parser.add_argument("--again", action="store_true", help="replace existing results, also of other pipelines and programs")
    parser.add_argument("--retries", type=number_in(0), default=2, help="number of retries of a file that fails (default: 2)")
    parser.add_argument("--timeout", type=number_in(kind=float), default=600, metavar="SECONDS", help="end a pipeline that writes nothing for this time; time in "
                        "which it waits for a processor does not count (default: 600)")
    parser.add_argument("--nice", type=number_in(0, 19), default=0, metavar="N", help="niceness of the pipelines, from 0 (the default) to 19 (the lowest priority). "
                        "In a cluster that is already running, workers may have a higher niceness: by default, Ray gives them 15")
    parser.add_argument("--shorter", action="store_true", help="the pipeline shortens videos: results that are shorter than their videos do not count as damaged")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"), default="auto", help="auto: GPUs if the cluster has any, otherwise CPUs (default: auto)")
    parser.add_argument("--per-gpu", type=number_in(1), default=1, metavar="N", help="number of pipelines that share a GPU (default: 1)")
    parser.add_argument("--cpus", type=number_in(1), metavar="N", help="processors that Ray reserves for a pipeline (default: 1 with a GPU, "
                        "otherwise up to 4)")
    parser.add_argument("--address", default=os.environ.get("RAY_ADDRESS", "local"), help="the cluster: HOST:PORT, or auto for the cluster that runs on "
                        "this machine (default: $RAY_ADDRESS, otherwise a new cluster of this machine alone)")
    parser.add_argument("--report", metavar="FILE.json", help="file for the report of the run (default: OUT/archive.json)")
    arguments = parser.parse_args()
    arguments.ending = arguments.ending.lstrip(".")
    if arguments.report and not arguments.report.endswith(".json"):
        parser.error(f'"{arguments.report}" has an unsupported extension: use .json')
    if not re.fullmatch(r"[\w.+-]+", arguments.ending):
        parser.error(f'--ending needs an extension, such as mkv, not "{arguments.ending}"')
    if not arguments.timeout > 0:
        parser.error(f"--timeout needs a number of seconds above 0, not {arguments.timeout:g}")
    try:
        used = set(task.placeholder.findall("".join(word.partition("=")[2] for word in shlex.split(arguments.pipeline))))
    except ValueError as error:
        parser.error(f"--pipeline: {error}")
    for one in ("input", "output"):
        if not used & {one, f"{one}-uri"}:
            parser.error(f"no property in --pipeline has the value {{{one}}} or {{{one}-uri}}: add one, such as location={{{one}}}")
    return arguments


def main():
    # File names may be invalid UTF-8.
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    arguments = parse()
    jobs = plan(arguments.inputs, arguments.out, arguments.match or films, arguments.ending)
    if arguments.report and os.path.isdir(arguments.report):
        sys.exit(f"{arguments.report}: this is a folder; name a file")
    if arguments.report and not os.access(os.path.dirname(arguments.report) or ".", os.W_OK):
        sys.exit(f"{arguments.report}: the folder of this file does not exist or is not writable; name a file in another folder")
    try:
        import ray
        from tqdm import tqdm
    except ImportError as error:
        sys.exit(f"{error}. Install Ray and tqdm into a virtual environment, and run this program there:\n"
                 "  python3 -m venv ray && ray/bin/pip install ray tqdm\n"
                 f"  ray/bin/python {' '.join(map(shlex.quote, sys.argv))}")

    try:
        marker = Marker(arguments.out)
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}; name another folder for the results, or correct its permissions")
    skipped = marker.begin(arguments.pipeline, jobs, arguments.again)
    remove_leftovers(jobs)
    report = Report(arguments.report or os.path.join(arguments.out, "archive.json"), arguments.pipeline, jobs, skipped)
    interruption = Interruption()
    try:
        if len(skipped) < len(jobs):
            connect(ray, arguments.address)
            # Replaces Ray's handler of SIGTERM, which would leave pipelines running.
            interruption.catch()
            backend, resources = resources_of_task(ray, arguments)
            # Pickles the module by value, so that the machines of a cluster need no copy of it.
            ray.cloudpickle.register_pickle_by_value(task)
            measure = pathlib.Path(__file__).with_name("archiving").joinpath("filmlength.py").read_text()
            lengths = header_durations_of(ray, [job for job in jobs if job not in skipped], measure, interruption)
            settings = task.Settings(arguments.pipeline, backend, gstreamer_variables(), arguments.timeout, arguments.nice,
                                     arguments.shorter, measure)
            convert = ray.remote(scheduling_strategy="SPREAD", **resources)(task.convert)
            run(ray, report.begin(tqdm, lengths, backend), report, lambda job: convert.remote(job, settings), arguments.retries, interruption)
    except KeyboardInterrupt:
        interruption.asked = True
    except SystemExit as end:
        # Before catch(), Ray's handler of SIGTERM raises SystemExit.
        if end.code != signal.SIGTERM:
            raise
        interruption.asked = True
    except ray.exceptions.RayError as error:
        report.say(f"The Ray cluster has failed; run archive.py again to process the remaining videos. {error}", sys.stderr)
    finally:
        ray.shutdown()
        remove_leftovers(jobs)  # Ray kills slow processes, which cannot remove their files.
    sys.exit(report.close(interruption.asked))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
