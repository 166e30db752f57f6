#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Sends an archive of films through a pipeline, on all GPUs of a Ray cluster, or on the CPUs if it has no GPU. Without
a cluster, this machine alone is one. A run that was interrupted goes on where it ended: results that are complete stay
as they are."""
import argparse
import collections
import contextlib
import fcntl
import fnmatch
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import uuid

# uritranscodebin keeps the sound if there is any, and takes the decoders and the encoder that rank highest.
default_pipeline = ('uritranscodebin source-uri={input-uri} dest-uri={output-uri} '
                    'profile=video/x-matroska:video/x-h264:audio/x-opus '
                    'video-filter="videoconvert ! cudahistequalize backend={backend} cuda-device-id={device}"')
placeholders = {
    "input": "the file to read",
    "output": "the file to write; it gets its final name when it is complete",
    "input-uri": "the file to read as a URI",
    "output-uri": "the file to write as a URI",
    "backend": "cuda if the pipeline has a GPU, else cpu",
    "device": "the number of this GPU in the pipeline's process, always 0, because the process sees no other; without a GPU -1"}
placeholder = re.compile("{(" + "|".join(placeholders) + ")}")
films = [f"*.{ending}" for ending in ("mp4", "m4v", "mov", "mkv", "webm", "avi", "ts", "mts", "m2ts", "mpg", "mpeg", "mxf", "wmv", "flv",
                                      "ogv", "3gp")]
# What a pipeline writes has this before its name until it is complete.
unfinished_prefix = ".archive-unfinished-"
# So many tasks wait in Ray: enough for any cluster, and Ray's lists stay short.
most_submitted = 1000
# A pipeline that has failed has so many seconds to end: GStreamer's elements may hang when they are stopped after an error.
seconds_to_end = 5

Job = collections.namedtuple("Job", "input output size")


class Failure(Exception):
    """A pipeline that failed: what it said in one line, and all of it."""

    def __init__(self, error, log="", hopeless=False):
        super().__init__(error, log, hopeless)
        self.error, self.log, self.hopeless = error, log, hopeless


# --- A task: one pipeline, in a worker of Ray, perhaps on another machine ---------------------------------------------

def words_of(description, values):
    """The arguments of gst-launch-1.0 for a pipeline, as a shell would pass them, with values for the placeholders."""
    for word in shlex.split(description):
        name, equals, value = word.partition("=")
        if equals and placeholder.search(value):
            value = placeholder.sub(lambda found: values[found[1]], value)
            # Within quotes, GStreamer takes all characters as they are but these two.
            value = value.replace("\\", "\\\\").replace('"', '\\"')
            word = f'{name}="{value}"'
        yield word


def explain(status, log):
    """What gst-launch-1.0 says of a pipeline that failed, in one line."""
    error = re.search(r"^(?:ERROR: (?:from element \S+: )?|WARNING: (?=erroneous pipeline))(.+)", log, re.M)
    if error:
        return error[1]
    if status < 0:
        return f"gst-launch-1.0 was ended by {signal.Signals(-status).name}"
    return (log.strip().splitlines() or [f"gst-launch-1.0 ended with status {status}"])[-1]


def has_failed(messages):
    """Whether gst-launch-1.0 has printed an error. Its position in the file, which it shares, stays as it is."""
    return re.search(rb"^ERROR: ", os.pread(messages.fileno(), 1 << 20, 0), re.M) is not None


def play(words, environment, output, timeout):
    """Runs a pipeline to its end and returns what it said, if anything. Ends it if its output does not grow for `timeout`
    seconds, if it hangs after an error, or if this process ends."""
    with tempfile.TemporaryFile() as messages:
        # Ray's workers can be killed at any time: setpriv lets the kernel end the pipeline then. In a session of its own,
        # Ctrl-C does not reach the pipeline. It would end the stream, and half a film would look complete.
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "gst-launch-1.0", "-q", *words], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True)
        size, grown, failed = 0, time.monotonic(), None
        try:
            while process.poll() is None:
                time.sleep(0.1)
                if failed is None and has_failed(messages):
                    failed = time.monotonic()
                if failed is not None and time.monotonic() > failed + seconds_to_end:
                    break
                before, size = size, output.stat().st_size if output.exists() else 0
                if size != before:
                    grown = time.monotonic()
                elif time.monotonic() > grown + timeout:
                    raise Failure(f"the pipeline wrote nothing for {timeout:g} s")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        messages.seek(0)
        log = messages.read().decode(errors="replace")[-20000:]
    if process.returncode != 0:
        raise Failure(explain(process.returncode, log), log, hopeless="WARNING: erroneous pipeline" in log)
    if not output.exists() or output.stat().st_size == 0:
        raise Failure("the pipeline ended without an error, but wrote nothing", log)
    return log


def convert(job, description, backend, variables, timeout):
    """Makes one file. Returns where and how long it ran, and the failure if there was one."""
    import ray

    start = time.monotonic()
    gpus = ray.get_runtime_context().get_accelerator_ids()["GPU"] if backend == "cuda" else []
    result = {"host": socket.gethostname(), "gpu": gpus[0] if gpus else None}
    final = pathlib.Path(job.output)
    unfinished = final.with_name(f"{unfinished_prefix}{uuid.uuid4().hex[:8]}-{final.name}")
    try:
        if not shutil.which("gst-launch-1.0"):
            raise Failure("gst-launch-1.0 is not installed: sudo apt-get install gstreamer1.0-tools", hopeless=True)
        if not os.access(job.input, os.R_OK):
            raise Failure(f"{job.input} cannot be read; all machines of a cluster need the archive under the same path")
        final.parent.mkdir(parents=True, exist_ok=True)
        values = {"input": job.input, "input-uri": pathlib.Path(job.input).as_uri(), "output": str(unfinished),
                  "output-uri": unfinished.as_uri(), "backend": backend, "device": "0" if gpus else "-1"}
        # Ray sets CUDA_VISIBLE_DEVICES for its tasks unless it was told not to; here the pipeline relies on it. Messages in
        # English can be recognised.
        environment = {**os.environ, **variables, "LC_ALL": "C.UTF-8", "LANGUAGE": "C",
                       **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {})}
        result["log"] = play(words_of(description, values), environment, unfinished, timeout)
        # The name must not reach the disk before the film.
        with open(unfinished, "rb") as film:
            os.fsync(film.fileno())
        unfinished.replace(final)
    except Failure as failure:
        result.update(error=failure.error, log=failure.log, hopeless=failure.hopeless)
    except OSError as error:
        result.update(error=str(error), log="", hopeless=False)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return {**result, "seconds": round(time.monotonic() - start, 3)}


# --- What there is to do ----------------------------------------------------------------------------------------------

def walk(folder, patterns, without):
    """The files below a folder that match a pattern, without hidden ones. Those that cannot be read are among them, so
    that the report names them; pipes and devices, which may have no end, are not."""
    for path, folders, names in os.walk(folder, onerror=lambda error: sys.exit(str(error))):
        folders[:] = sorted(name for name in folders if name[0] != "." and os.path.realpath(os.path.join(path, name)) != without)
        for name in sorted(names):
            film = os.path.join(path, name)
            if (name[0] != "." and any(fnmatch.fnmatch(name.lower(), pattern.lower()) for pattern in patterns)
                    and (os.path.isfile(film) or not os.path.exists(film))):
                yield film


def size_of(film):
    """In bytes; 0 if that is not known."""
    try:
        return os.path.getsize(film)
    except OSError:
        return 0


def plan(inputs, out, patterns, ending):
    """A job for each film: results lie below `out` as films lie below the folders that are named."""
    out = os.path.realpath(out)
    makers = {}
    for name in inputs:
        if os.path.isdir(name):
            if os.path.realpath(name) == out:
                sys.exit(f"{name}: the results would lie among the films; name another folder for them")
            found = [(film, os.path.relpath(film, name)) for film in walk(name, patterns, out)]
            if not found:
                sys.exit(f"{name}: there is no file that matches {' '.join(patterns)}; set --match")
        elif os.access(name, os.R_OK):
            found = [(name, os.path.basename(name))]
        else:
            sys.exit(f"{name}: there is no such file or folder, or it cannot be read")
        for film, relative in found:
            result = os.path.join(out, os.path.splitext(relative)[0] + "." + ending)
            other = makers.setdefault(result, film)
            if os.path.realpath(other) != os.path.realpath(film):
                sys.exit(f"{other} and {film} would both become {result}: send them to different folders")
    films_themselves = set(map(os.path.realpath, makers.values()))
    for result in makers:
        if os.path.realpath(result) in films_themselves:
            sys.exit(f"{result}: this is an input itself; name another folder for the results")
    # The largest first: then no long one is left at the end, when all other GPUs have nothing more to do.
    return sorted((Job(os.path.abspath(film), result, size_of(film)) for result, film in makers.items()), key=lambda job: -job.size)


class Marker:
    """A hidden file among the results. It holds the pipeline that they come from and is older than all of them. It is
    locked while a run writes there."""

    def __init__(self, out):
        os.makedirs(out, exist_ok=True)
        self.file = open(os.path.join(out, ".archive"), "a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"{out}: another archive.py writes there; wait for its end, or name another folder")

    def complete(self, job):
        """Whether the result is there, and neither the film nor the pipeline is younger."""
        try:
            made = os.stat(job.output)
        except FileNotFoundError:
            return False
        return made.st_size > 0 and made.st_mtime_ns >= max(os.stat(job.input).st_mtime_ns, os.fstat(self.file.fileno()).st_mtime_ns)

    def begin(self, description, jobs, again):
        """Returns the jobs that are done already."""
        self.file.seek(0)
        before = self.file.read()
        if before != description or again:
            there = next((job.output for job in jobs if os.path.exists(job.output)), None)
            if there and not again:
                origin = f"comes from another pipeline:\n  {before}\n" if before else "was not made by this program. "
                sys.exit(f"{there} {origin}Name another folder for the results, or set --again to replace those that are there.")
            self.file.truncate(0)
            self.file.write(description)
            self.file.flush()
        return {job for job in jobs if self.complete(job)}


def remove_leftovers(jobs):
    """What runs left behind that were killed."""
    for folder in {os.path.dirname(job.output) for job in jobs}:
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if name.startswith(unfinished_prefix):
                    os.unlink(os.path.join(folder, name))


def gstreamer_variables():
    """The variables of GStreamer that all pipelines get, with those by which it finds the elements, installed or just
    built."""
    variables = {name: value for name, value in os.environ.items() if name.startswith("GST_")}
    with contextlib.suppress(OSError):
        if subprocess.run(["gst-inspect-1.0", "cudavision"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            top = pathlib.Path(__file__).resolve().parent.parent
            built = [str(top / build / "gst") for build in ("build", "build-quickstart") if (top / build / "gst").is_dir()]
            variables["GST_PLUGIN_PATH"] = ":".join([*built, *filter(None, [variables.get("GST_PLUGIN_PATH")])])
    return variables


# --- The run ----------------------------------------------------------------------------------------------------------

class Report:
    """What became of each job, for the terminal and as JSON."""

    def __init__(self, file, description, tqdm, jobs, skipped):
        self.file, self.start = file, time.monotonic()
        self.jobs = jobs
        self.contents = {"pipeline": description, "backend": None, "interrupted": False, "written": [], "failed": [], "unfinished": [],
                         "skipped": [{"input": job.input, "output": job.output} for job in jobs if job in skipped]}
        self.reported = set(skipped)
        # On a terminal only. Films take time by their size rather than by their number.
        self.bar = tqdm(total=sum(job.size for job in jobs), initial=sum(job.size for job in skipped), unit="B", unit_scale=True,
                        disable=None, dynamic_ncols=True)
        self.progress()

    def progress(self):
        failed = len(self.contents["failed"])
        self.bar.set_description(f"{len(self.reported)} of {len(self.jobs)} files" + (f", {failed} failed" if failed else ""))

    def say(self, text, file=sys.stdout):
        self.bar.write(text, file=file)
        file.flush()

    def add(self, job, attempts, result):
        """Reports a job that needs no further attempt."""
        self.reported.add(job)
        entry = {"input": job.input, "output": job.output, "attempts": attempts,
                 **{key: value for key, value in result.items() if key != "hopeless"}}
        if "error" in result:
            self.contents["failed"].append(entry)
            self.say(f"{job.input}: {result['error']}", sys.stderr)
        else:
            self.contents["written"].append(entry)
            if self.bar.disable:
                self.say(f"[{len(self.reported)}/{len(self.jobs)}] {job.output}")
        self.bar.update(job.size)
        self.progress()

    def close(self, interrupted):
        """Writes the report and returns the exit status."""
        self.bar.close()
        contents = self.contents
        contents["interrupted"] = interrupted
        contents["unfinished"] = [{"input": job.input, "output": job.output} for job in self.jobs if job not in self.reported]
        contents["seconds"] = round(time.monotonic() - self.start, 3)
        # Its old contents stay if this cannot be written.
        new = f"{self.file}.new"
        with open(new, "w") as file:
            json.dump(contents, file, indent=1)
            file.write("\n")
        os.replace(new, self.file)
        counts = [(f"{len(contents['written'])} written", True), (f"{len(contents['skipped'])} complete before", contents["skipped"]),
                  (f"{len(contents['failed'])} failed", contents["failed"]), (f"{len(contents['unfinished'])} left", contents["unfinished"])]
        print(", ".join(text for text, shown in counts if shown) + f"; {self.file} says more", flush=True)
        return 130 if interrupted else int(bool(contents["failed"] or contents["unfinished"]))


def run(ray, jobs, report, submit, retries):
    """Runs all jobs as tasks, some of them several times, until each has a result. Ends early if the pipeline fits no
    job."""
    waiting = collections.deque((job, 1) for job in jobs)
    running = {}
    try:
        while waiting or running:
            while waiting and len(running) < most_submitted:
                job, attempt = waiting.popleft()
                running[submit(job)] = job, attempt
            # The clock of the bar ticks while all pipelines run.
            report.bar.refresh()
            for task in ray.wait(list(running), timeout=1)[0]:
                job, attempt = running.pop(task)
                try:
                    result = ray.get(task)
                except ray.exceptions.RayError as error:
                    # The worker or its machine died, more often than Ray itself tries again.
                    result = {"error": f"{type(error).__name__}: {' '.join(str(error).split())[:200]}", "log": str(error), "hopeless": False}
                # If files could be made, only this machine lacks what the pipeline needs.
                stop = result.get("hopeless") and not report.contents["written"]
                if "error" in result and attempt <= retries and not stop:
                    waiting.append((job, attempt + 1))
                    continue
                report.add(job, attempt, result)
                if stop:
                    report.say("No file can be made like this: stopping here.", sys.stderr)
                    return
    finally:
        # Tasks that are cancelled end their pipelines and remove what these have begun.
        with contextlib.suppress(ray.exceptions.RayError):
            for task in running:
                ray.cancel(task)
            if running:
                ray.wait(list(running), num_returns=len(running), timeout=20)


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
    # The tasks pass no large objects: the least store that Ray accepts is enough.
    local = {"include_dashboard": False, "object_store_memory": 80 << 20} if address == "local" else {}
    try:
        ray.init(address, log_to_driver=False, logging_level="ERROR", **local)
    except Exception as error:  # Ray raises it as it is if a cluster takes too long to start.
        # The last line of the cause says what to do.
        sys.exit("\n".join([f"Ray has no cluster for this program (--address {address}): {error}", *str(error.__cause__ or "").strip().splitlines()[-1:]]))


def resources_of_task(ray, arguments):
    """What Ray must give to each pipeline: processors and a part of a GPU."""
    machines = [node["Resources"] for node in ray.nodes() if node["Alive"]]
    backend = arguments.backend
    if backend == "auto":
        backend = "cuda" if any(machine.get("GPU", 0) for machine in machines) else "cpu"
    most = int(max(machine.get("CPU", 0) for machine in machines))
    needed = {"num_gpus": 1 / arguments.per_gpu if backend == "cuda" else 0,
              "num_cpus": arguments.cpus or (1 if backend == "cuda" else max(1, min(4, most)))}
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
        epilog="These stand for values in the pipeline:\n" + "".join(f"  {f'{{{name}}}':14}{text}\n" for name, text in placeholders.items()) +
        f"\nThe default pipeline equalises films; their sound goes along:\n  {default_pipeline}\n\n"
        "It exits with 1 if anything failed. OUT/archive.json says what became of each file.")
    parser.add_argument("inputs", nargs="+", metavar="IN", help="films, or folders with films at any depth")
    parser.add_argument("out", metavar="OUT", help="the folder of the results")
    parser.add_argument("--pipeline", default=default_pipeline, help="the pipeline, in gst-launch-1.0's words (default: below)")
    parser.add_argument("--ending", default="mkv", help="how the names of the results end (default: mkv)")
    parser.add_argument("--match", action="append", metavar="PATTERN", help="which files of folders to take, such as '*.png'; can be repeated "
                        "(default: films of the usual endings)")
    parser.add_argument("--again", action="store_true", help="replace results that are there, whatever they come from")
    parser.add_argument("--retries", type=int, default=2, help="how often to try again with a file that fails (default: 2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="end a pipeline that writes nothing for so long (default: 600)")
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
    if not arguments.timeout > 0:
        parser.error("--timeout needs a number of seconds above 0")
    try:
        used = set(placeholder.findall("".join(word.partition("=")[2] for word in shlex.split(arguments.pipeline))))
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
    report = Report(arguments.report or os.path.join(arguments.out, "archive.json"), arguments.pipeline, tqdm, jobs, skipped)
    interrupted = False
    try:
        if len(skipped) < len(jobs):
            connect(ray, arguments.address)
            # Ray has set a handler of its own, which would leave the pipelines to themselves.
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            backend, resources = resources_of_task(ray, arguments)
            report.contents["backend"] = backend
            task = ray.remote(scheduling_strategy="SPREAD", **resources)(convert)
            variables = gstreamer_variables()
            run(ray, [job for job in jobs if job not in skipped], report, lambda job: task.remote(
                job, arguments.pipeline, backend, variables, arguments.timeout), arguments.retries)
    except KeyboardInterrupt:
        interrupted = True
    except ray.exceptions.RayError as error:
        report.say(f"The cluster has failed: {error}", sys.stderr)
    finally:
        ray.shutdown()
    sys.exit(report.close(interrupted))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
