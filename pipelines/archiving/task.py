# SPDX-License-Identifier: LGPL-2.1-or-later
"""A task of archive.py: runs one pipeline in a Ray worker, perhaps on another machine. Ray sends the functions of this module
with each task, so other machines need no copy of the file."""
import collections
import contextlib
import errno
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import uuid

placeholders = {
    "input": "the file to read",
    "output": "the file to write; it gets its final name when it is complete",
    "input-uri": "the file to read as a URI",
    "output-uri": "the file to write as a URI",
    "backend": "cuda if the pipeline has a GPU, otherwise cpu",
    "device": "the CUDA device number for the pipeline: 0, because the process can use only its own GPU; -1 without a GPU"}
placeholder = re.compile("{(" + "|".join(placeholders) + ")}")
# Prefix of the file name until the result is complete.
unfinished_prefix = ".archive-unfinished-"
# Seconds from an error until a pipeline is killed, in case its elements hang while they stop.
seconds_to_end = 5
# Seconds that may be missing at the end of a video, because streams seldom end at exactly the same time.
tolerance = 1
no_space = re.compile("No space left on (the resource|device)|Disk quota exceeded", re.I)

# Paths of the video and of its result. A damaged result gets the path `damaged` instead of `output`.
Job = collections.namedtuple("Job", "input output damaged")
# The settings of a run, which all its tasks share. `measure` is the text of filmlength.py.
Settings = collections.namedtuple("Settings", "pipeline backend variables timeout niceness may_be_shorter measure")


class Failure(Exception):
    """A failed task: its error in one line, and its log. `stop` is "pipeline" or "disk" if the cause affects all videos."""

    def __init__(self, error, log="", stop=None):
        super().__init__(error, log, stop)
        self.error, self.log, self.stop = error, log, stop


def words_of(description, values):
    """Yields the arguments of gst-launch-1.0, split as by a shell, with the placeholders replaced."""
    for word in shlex.split(description):
        name, equals, value = word.partition("=")
        if equals and placeholder.search(value):
            value = placeholder.sub(lambda found: values[found[1]], value)
            # Within quotes, GStreamer interprets only these two characters.
            value = value.replace("\\", "\\\\").replace('"', '\\"')
            word = f'{name}="{value}"'
        yield word


def explain(status, log):
    """Returns the error of a failed pipeline in one line, from the output of gst-launch-1.0."""
    error = re.search(r"^(?:ERROR: (?:from element \S+: )?|WARNING: (?=erroneous pipeline))(.+)", log, re.M)
    if error:
        return error[1]
    if status < 0:
        return f"gst-launch-1.0 was ended by {signal.Signals(-status).name}"
    return (log.strip().splitlines() or [f"gst-launch-1.0 ended with status {status}"])[-1]


def has_failed(messages):
    """Returns True if gst-launch-1.0 has printed an error. Reads with pread(), because gst-launch-1.0 shares the file offset."""
    return re.search(rb"^ERROR: ", os.pread(messages.fileno(), 1 << 20, 0), re.M) is not None


def processor_waits(process):
    """Maps the threads of a process to the seconds for which each was runnable but had no processor. Empty if the kernel
    does not provide these times."""
    waits = {}
    for file in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):
            waits[file.parent.name] = int(file.read_text().split()[1]) / 1e9
    return waits


def play(words, environment, output, timeout, niceness=0):
    """Runs a pipeline to its end and returns its messages. Kills it if it hangs after an error, if this process ends, or if
    its output does not grow for `timeout` seconds. Time in which it waits for a processor does not count."""
    with tempfile.TemporaryFile() as messages:
        # Ray's workers can be killed at any time. Because of setpriv, the kernel then kills the pipeline, too. The pipeline has
        # its own session, so that Ctrl-C does not reach it: gst-launch-1.0 would exit with 0, and half a video would look complete.
        lower = ["nice", "-n", str(niceness - os.nice(0))] if niceness > os.nice(0) else []
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *lower, "gst-launch-1.0", "-q", *words], env=environment,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=messages, start_new_session=True)
        size, grown, failed, waits = 0, time.monotonic(), None, {}
        try:
            while process.poll() is None:
                time.sleep(0.1)
                if failed is None and has_failed(messages):
                    failed = time.monotonic()
                if failed is not None and time.monotonic() > failed + seconds_to_end:
                    break
                # Extends the timeout by the time in which a thread waited for a processor.
                before, waits = waits, processor_waits(process.pid)
                grown += max((seconds - before.get(thread, 0) for thread, seconds in waits.items()), default=0)
                before, size = size, output.stat().st_size if output.exists() else 0
                if size != before:
                    grown = time.monotonic()
                elif time.monotonic() > grown + timeout:
                    raise Failure(f"the pipeline wrote nothing for {timeout:g} s: if it is only slow, set a larger --timeout")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        messages.seek(0)
        log = messages.read().decode(errors="replace")[-20000:]
    if process.returncode != 0:
        if no_space.search(log):
            raise full_disk(output, log)
        raise Failure(explain(process.returncode, log), log, stop="pipeline" if "WARNING: erroneous pipeline" in log else None)
    if not output.exists() or output.stat().st_size == 0:
        raise Failure("the pipeline ended without an error, but wrote nothing: run it for this video with gst-launch-1.0 -v to see which element gets no data", log)
    return log


def full_disk(path, log=""):
    mount_point = os.path.realpath(path)
    while not os.path.ismount(mount_point):
        mount_point = os.path.dirname(mount_point)
    return Failure(f"no space is left on the disk at {mount_point} of {socket.gethostname()}: free some space, then run archive.py again", log, stop="disk")


def lengths(files, measure, header_only=False):
    """Runs filmlength.py, whose text is `measure`, and returns its result for each file."""
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    # setpriv makes the kernel kill filmlength.py if this worker is killed.
    done = subprocess.run(["setpriv", "--pdeathsig", "KILL", python, "-", *(["--header"] if header_only else []), *files], input=measure, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        # If a signal ended Python, no module is missing, so a retry may succeed.
        is_missing = done.returncode > 0
        remedy = ": sudo apt-get install python3-gi gir1.2-gstreamer-1.0 gstreamer1.0-plugins-base" if is_missing else ""
        raise Failure(f"the durations of the videos cannot be read ({said}){remedy}", done.stderr, stop="pipeline" if is_missing else None)
    return [json.loads(line) for line in done.stdout.splitlines()]


def header_durations(files, measure):
    """Returns a list of the durations in the headers of the videos, in seconds; None for each unknown duration."""
    try:
        return [one["header"] for one in lengths(files, measure, header_only=True)]
    except Failure:  # The tasks will fail for the same reason, and report it.
        return [None] * len(files)


def damage(film, result, may_be_shorter):
    """Describes a video or result that ends too early. Returns None if both are complete or their ends are unknown."""
    if film["header"] and film["end"] is not None and film["end"] < film["header"] - tolerance:
        return f"the video ends after {film['end']:.1f} s, but its header gives {film['header']:.1f} s: replace the video by a complete copy"
    # A file without a container, such as raw frames, has no known end.
    ends_known = film["video_end"] is not None and result["end"] is not None
    if not may_be_shorter and ends_known and (result["video_end"] or 0) < film["video_end"] - tolerance:
        return f"the result ends after {result['video_end'] or 0:.1f} s, the video after {film['video_end']:.1f} s: if the pipeline shortens videos, set --shorter"
    return None


def convert(job, settings):
    """Processes one video. Returns a dictionary with the host, the elapsed seconds, and the error or damage, if any."""
    import ray

    start = time.monotonic()
    gpus = ray.get_runtime_context().get_accelerator_ids()["GPU"] if settings.backend == "cuda" else []
    # Workers of an existing cluster may have a higher niceness, and an unprivileged process cannot lower it.
    result = {"host": socket.gethostname(), "gpu": gpus[0] if gpus else None, "niceness": max(os.nice(0), settings.niceness)}
    final = pathlib.Path(job.output)
    unfinished = final.with_name(f"{unfinished_prefix}{uuid.uuid4().hex[:8]}-{final.name}")
    try:
        if not shutil.which("gst-launch-1.0"):
            raise Failure("gst-launch-1.0 is not installed: sudo apt-get install gstreamer1.0-tools", stop="pipeline")
        if not os.access(job.input, os.R_OK):
            raise Failure(f"{job.input} cannot be read on {result['host']}: restore the file or correct its permissions; in a cluster, all machines need "
                          "the archive under the same path")
        final.parent.mkdir(parents=True, exist_ok=True)
        film, = lengths([job.input], settings.measure)
        values = {"input": job.input, "input-uri": pathlib.Path(job.input).as_uri(), "output": str(unfinished),
                  "output-uri": unfinished.as_uri(), "backend": settings.backend, "device": "0" if gpus else "-1"}
        # Sets CUDA_VISIBLE_DEVICES even if Ray was configured not to set it. explain() and no_space need messages in
        # English.
        environment = {**os.environ, **settings.variables, "LC_ALL": "C.UTF-8", "LANGUAGE": "C",
                       **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {})}
        result["log"] = play(words_of(settings.pipeline, values), environment, unfinished, settings.timeout, settings.niceness)
        # The file gets its final name only when its data is on the disk.
        with open(unfinished, "rb") as made:
            os.fsync(made.fileno())
        if why := damage(film, *lengths([str(unfinished)], settings.measure), settings.may_be_shorter):
            result["damage"] = why
            unfinished.replace(job.damaged)
        else:
            unfinished.replace(final)
            pathlib.Path(job.damaged).unlink(missing_ok=True)
    except (Failure, OSError) as problem:
        failure = problem
        if isinstance(problem, OSError):
            full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
            failure = full_disk(problem.filename or final.parent) if full else Failure(str(problem))
        result.update(error=failure.error, log=failure.log, stop=failure.stop)
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return {**result, "seconds": round(time.monotonic() - start, 3)}
