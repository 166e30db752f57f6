#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends an archive of films through a pipeline, on all GPUs of a Ray cluster, or on the CPUs if it has no GPU. Without
a cluster, this machine alone is one. A run that was interrupted goes on where it ended: results that are complete stay
as they are."""
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

from archiving import task
from archiving.jobs import Marker, plan, remove_leftovers
from archiving.report import Report

# uritranscodebin keeps the sound if there is any, and takes the decoders and the encoder that rank highest. videoflip
# turns films as their players would: Matroska would not keep what the film says about that.
default_pipeline = ('uritranscodebin source-uri={input-uri} dest-uri={output-uri} '
                    'profile=video/x-matroska:video/x-h264:audio/x-opus '
                    'video-filter="videoconvert ! videoflip video-direction=auto ! cudahistequalize backend={backend} cuda-device-id={device}"')
films = [f"*.{ending}" for ending in ("mp4", "m4v", "mov", "mkv", "webm", "avi", "ts", "mts", "m2ts", "mpg", "mpeg", "mxf", "wmv", "flv",
                                      "ogv", "3gp")]
# So many tasks wait in Ray: enough for any cluster, and Ray's lists stay short.
max_submitted = 1000
# So many films are measured by one task.
films_per_measure = 16
# When a run is interrupted, its tasks have so many seconds to end. A second Ctrl-C does not wait for them.
seconds_to_cancel = 300


def gstreamer_variables():
    """The variables of GStreamer that all pipelines get, with those by which it finds the elements, installed or just
    built."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("GST_")}
    # The prefix of this file's own installation comes before GStreamer's plug-in folder.
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
    """Ctrl-C, or SIGTERM. An exception that Python raises in a destructor or a callback of Ray is lost, so loops call
    check()."""
    asked = False

    def catch(self):
        # A shell lets its background jobs ignore Ctrl-C.
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
    """Runs all jobs as tasks, some of them several times, until each has a result. Ends early if the pipeline fits no
    job, or if a disk is full."""
    waiting = collections.deque((job, 1) for job in jobs)
    running = {}
    try:
        while waiting or running:
            while waiting and len(running) < max_submitted:
                job, attempt = waiting.popleft()
                running[submit(job)] = job, attempt
            # The clock of the bar ticks while all pipelines run.
            report.bar.refresh()
            interruption.check()
            for task in ray.wait(list(running), timeout=1)[0]:
                job, attempt = running.pop(task)
                try:
                    result = ray.get(task)
                except ray.exceptions.RayError as error:
                    # The worker or its machine died, more often than Ray itself tries again.
                    result = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", "log": str(error), "stop": None}
                # If files could be made, only this machine lacks what the pipeline needs. A disk is full for all.
                stop = result.get("stop") == "disk" or result.get("stop") == "pipeline" and not report.contents["written"]
                if "error" in result and attempt <= retries and not stop:
                    waiting.append((job, attempt + 1))
                    continue
                report.add(job, attempt, result)
                if stop:
                    report.say("No further file can be made like this: stopping here.", sys.stderr)
                    return
    finally:
        # Tasks that are cancelled end their pipelines and remove what these have begun.
        with contextlib.suppress(ray.exceptions.RayError):
            for task in running:
                ray.cancel(task)
            if running:
                ray.wait(list(running), num_returns=len(running), timeout=seconds_to_cancel)


def measured(ray, jobs, measure, interruption):
    """The seconds of each film, by its header; None where they are not known."""
    promised_lengths = ray.remote(num_cpus=1)(task.promised_lengths)
    parts = [jobs[first:first + films_per_measure] for first in range(0, len(jobs), films_per_measure)]
    tasks = [promised_lengths.remote([job.input for job in part], measure) for part in parts]
    while ray.wait(tasks, num_returns=len(tasks), timeout=1)[1]:
        interruption.check()
    return dict(zip(jobs, (seconds for part in ray.get(tasks) for seconds in part)))


def connect(ray, address):
    """Joins a cluster, or starts one on this machine."""
    host = re.fullmatch(r"(?:ray://)?([^/]+):(\d+)", address)
    if host:
        # Ray itself tries for minutes.
        try:
            socket.create_connection((host[1].strip("[]"), int(host[2])), timeout=10).close()
        except OSError as error:
            sys.exit(f"There is no Ray cluster at {address}, or no way to it: {error}")
    # Ray would send statistics about its use from a cluster that was started without being asked.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray would give workers, and so the pipelines, the lowest priority but four: beside another program they would hardly
    # get a processor. It also kills workers that take a minute to start, and starts others.
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_worker_register_timeout_seconds", "3600")
    # The tasks pass no large objects: the least store that Ray accepts is enough.
    local = {"include_dashboard": False, "object_store_memory": 80 << 20} if address == "local" else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **local)
    except Exception as error:  # ray.init() raises a plain Exception if a cluster takes more than 30 s to start.
        # The last line of the cause has the remedy, except for timeouts.
        remedy = str(error.__cause__ or "").strip().splitlines()[-1:]
        if "timed out" in str(error):
            remedy.append("Run archive.py again when the machine is less busy; /tmp/ray/session_latest/logs has Ray's messages.")
        sys.exit("\n".join([f"Ray has no cluster for this program (--address {address}): {error}", *remedy]))


def resources_of_task(ray, arguments):
    """Returns the resources that Ray must give to each pipeline: processors and a part of a GPU."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    backend = arguments.backend
    if backend == "auto":
        backend = "cuda" if any(machine.get("GPU", 0) for machine in machines) else "cpu"
    processors = int(max(machine.get("CPU", 0) for machine in machines))
    needed = {"num_gpus": 1 / arguments.per_gpu if backend == "cuda" else 0,
              "num_cpus": arguments.cpus or (1 if backend == "cuda" else max(1, min(4, processors)))}
    if not any(machine.get("CPU", 0) >= needed["num_cpus"] and machine.get("GPU", 0) >= needed["num_gpus"] for machine in machines):
        lacking = f"Ray has no machine with {needed['num_cpus']} processors{' and a GPU' if backend == 'cuda' else ''}: lower --cpus"
        if backend == "cuda":
            lacking += ", or set --backend=cpu"
        if arguments.address == "local":
            sys.exit(lacking)
        # Such a machine may join the cluster.
        print(f"{lacking}. Waiting for one.", file=sys.stderr)
    return backend, needed


def count(text):
    """A number from 1"""
    if int(text) < 1:
        raise ValueError
    return int(text)


def parse():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="These stand for values in the pipeline:\n" + "".join(f"  {f'{{{name}}}':14}{text}\n" for name, text in task.placeholders.items()) +
        f"\nThe default pipeline equalises films; their sound goes along:\n  {default_pipeline}\n\n"
        "A result that ends before its film does is damaged: its name ends in .damaged.mkv, and the next run tries again.\n"
        "It exits with 1 if anything failed or is damaged. OUT/archive.json says what became of each file.")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="films, or folders with films at any depth")
    parser.add_argument("out", metavar="OUT", help="the folder of the results")
    parser.add_argument("--pipeline", default=default_pipeline, help="the pipeline, in gst-launch-1.0's words (default: below)")
    parser.add_argument("--ending", default="mkv", help="how the names of the results end (default: mkv)")
    parser.add_argument("--match", action="append", metavar="PATTERN", help="which files of folders to take, such as '*.png'; can be repeated "
                        "(default: films of the usual endings)")
    parser.add_argument("--again", action="store_true", help="replace results that are there, whatever they come from")
    parser.add_argument("--retries", type=int, default=2, help="how often to try again with a file that fails (default: 2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="end a pipeline that writes nothing for so long; time in "
                        "which it waits for a processor does not count (default: 600)")
    parser.add_argument("--nice", type=int, default=0, metavar="N", help="niceness of the pipelines, from 0 to 19, the lowest priority. Workers of "
                        "a cluster that runs already may have a higher one: Ray gives them 15 (default: 0)")
    parser.add_argument("--shorter", action="store_true", help="the pipeline shortens films: such results are not damaged")
    parser.add_argument("--backend", choices=("auto", "cuda", "cpu"), default="auto", help="auto: GPUs if the cluster has any, else CPUs")
    parser.add_argument("--per-gpu", type=count, default=1, metavar="N", help="how many pipelines share a GPU (default: 1)")
    parser.add_argument("--cpus", type=count, metavar="N", help="how many processors to count for a pipeline (default: 1 beside a GPU, else "
                        "up to 4)")
    parser.add_argument("--address", default=os.environ.get("RAY_ADDRESS", "local"), help="the cluster: HOST:PORT, or auto for the one that runs on "
                        "this machine (default: $RAY_ADDRESS, else a new one of this machine alone)")
    parser.add_argument("--report", metavar="FILE.json", help="default: OUT/archive.json")
    arguments = parser.parse_args()
    arguments.ending = arguments.ending.lstrip(".")
    if arguments.report and not arguments.report.endswith(".json"):
        parser.error(f'"{arguments.report}" would not be what its name says: let it end in .json')
    if not re.fullmatch(r"[\w.+-]+", arguments.ending):
        parser.error(f'--ending needs the end of a name, such as mkv, not "{arguments.ending}"')
    if arguments.retries < 0:
        parser.error("--retries needs a number from 0")
    if not 0 <= arguments.nice <= 19:
        parser.error("--nice needs a number from 0 to 19")
    if not arguments.timeout > 0:
        parser.error("--timeout needs a number of seconds above 0")
    try:
        used = set(task.placeholder.findall("".join(word.partition("=")[2] for word in shlex.split(arguments.pipeline))))
    except ValueError as error:
        parser.error(f"--pipeline: {error}")
    for one in ("input", "output"):
        if not used & {one, f"{one}-uri"}:
            parser.error(f"no property in --pipeline has the value {{{one}}} or {{{one}-uri}}")
    return arguments


def main():
    # Names of files may hold what is no text.
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    arguments = parse()
    jobs = plan(arguments.inputs, arguments.out, arguments.match or films, arguments.ending)
    if arguments.report and not os.access(os.path.dirname(arguments.report) or ".", os.W_OK):
        sys.exit(f"{arguments.report}: there is no such folder, or it cannot be written")
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
        sys.exit(str(error))
    skipped = marker.begin(arguments.pipeline, jobs, arguments.again)
    remove_leftovers(jobs)
    report = Report(arguments.report or os.path.join(arguments.out, "archive.json"), arguments.pipeline, jobs, skipped)
    interruption = Interruption()
    try:
        if len(skipped) < len(jobs):
            connect(ray, arguments.address)
            # Ray has set a handler of SIGTERM, which would leave the pipelines to themselves.
            interruption.catch()
            backend, resources = resources_of_task(ray, arguments)
            # The machines of a cluster need no copy of this file, which is sent along.
            ray.cloudpickle.register_pickle_by_value(task)
            measure = pathlib.Path(__file__).with_name("archiving").joinpath("filmlength.py").read_text()
            lengths = measured(ray, [job for job in jobs if job not in skipped], measure, interruption)
            settings = task.Settings(arguments.pipeline, backend, gstreamer_variables(), arguments.timeout, arguments.nice,
                                     arguments.shorter, measure)
            convert = ray.remote(scheduling_strategy="SPREAD", **resources)(task.convert)
            run(ray, report.begin(tqdm, lengths, backend), report, lambda job: convert.remote(job, settings), arguments.retries, interruption)
    except KeyboardInterrupt:
        interruption.asked = True
    except SystemExit as end:
        # Until catch(), Ray's own handler of SIGTERM ends the program.
        if end.code != signal.SIGTERM:
            raise
        interruption.asked = True
    except ray.exceptions.RayError as error:
        report.say(f"The cluster has failed: {error}", sys.stderr)
    finally:
        ray.shutdown()
        remove_leftovers(jobs)  # Ray kills processes that take long to end.
    sys.exit(report.close(interruption.asked))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
