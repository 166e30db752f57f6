# SPDX-License-Identifier: LGPL-2.1-or-later
"""A task of archive.py: one pipeline, in a worker of Ray, perhaps on another machine. Ray sends the functions along, so
those machines need no copy of this file."""
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
    "backend": "cuda if the pipeline has a GPU, else cpu",
    "device": "the number of this GPU in the pipeline's process, always 0, because the process sees no other; without a GPU -1"}
placeholder = re.compile("{(" + "|".join(placeholders) + ")}")
# The name of a file that a pipeline writes begins with this until the file is complete.
unfinished_prefix = ".archive-unfinished-"
# A pipeline that has failed has so many seconds to end: GStreamer's elements may hang when they are stopped after an error.
seconds_to_end = 5
# So many seconds may be missing at the end of a film: streams of one film seldom end at exactly the same time.
tolerance = 1
no_space = re.compile("No space left on (the resource|device)|Disk quota exceeded", re.I)

# A film, its result, and what the result is called if it is damaged.
Job = collections.namedtuple("Job", "input output damaged")
# Shared by all tasks of a run. The measure is the text of filmlength.py.
Settings = collections.namedtuple("Settings", "pipeline backend variables timeout niceness may_be_shorter measure")


class Failure(Exception):
    """A pipeline that failed: what it said in one line, and all of it. If other films would fail alike, stop says why:
    "pipeline" or "disk"."""

    def __init__(self, error, log="", stop=None):
        super().__init__(error, log, stop)
        self.error, self.log, self.stop = error, log, stop


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
    """Returns the error of gst-launch-1.0 about a pipeline that failed, in one line."""
    error = re.search(r"^(?:ERROR: (?:from element \S+: )?|WARNING: (?=erroneous pipeline))(.+)", log, re.M)
    if error:
        return error[1]
    if status < 0:
        return f"gst-launch-1.0 was ended by {signal.Signals(-status).name}"
    return (log.strip().splitlines() or [f"gst-launch-1.0 ended with status {status}"])[-1]


def has_failed(messages):
    """Returns True if gst-launch-1.0 has printed an error. Its position in the file, which it shares, stays as it is."""
    return re.search(rb"^ERROR: ", os.pread(messages.fileno(), 1 << 20, 0), re.M) is not None


def processor_waits(process):
    """Returns the seconds for which each thread of a process was ready to run, but had no processor. Empty if the kernel does
    not count them."""
    waits = {}
    for file in pathlib.Path(f"/proc/{process}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, IndexError):
            waits[file.parent.name] = int(file.read_text().split()[1]) / 1e9
    return waits


def play(words, environment, output, timeout, niceness=0):
    """Runs a pipeline to its end and returns what it said, if anything. Ends it if its output does not grow for `timeout`
    seconds, without those in which it waited for a processor, if it hangs after an error, or if this process ends."""
    with tempfile.TemporaryFile() as messages:
        # Ray's workers can be killed at any time: setpriv lets the kernel end the pipeline then. In a session of its own,
        # Ctrl-C does not reach the pipeline. It would end the stream, and half a film would look complete.
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
                # Time in which a thread waits for a processor does not count against the timeout.
                before, waits = waits, processor_waits(process.pid)
                grown += max((seconds - before.get(thread, 0) for thread, seconds in waits.items()), default=0)
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
        if no_space.search(log):
            raise full_disk(output, log)
        raise Failure(explain(process.returncode, log), log, stop="pipeline" if "WARNING: erroneous pipeline" in log else None)
    if not output.exists() or output.stat().st_size == 0:
        raise Failure("the pipeline ended without an error, but wrote nothing", log)
    return log


def full_disk(path, log=""):
    place = os.path.realpath(path)
    while not os.path.ismount(place):
        place = os.path.dirname(place)
    return Failure(f"no space is left on the disk at {place} of {socket.gethostname()}: free some, then run archive.py again", log, stop="disk")


def lengths(files, measure, header_only=False):
    """Returns the findings of filmlength.py about each file."""
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else "python3"
    # If this worker is killed, the measure ends, as a pipeline does in play().
    done = subprocess.run(["setpriv", "--pdeathsig", "KILL", python, "-", *(["--header"] if header_only else []), *files], input=measure, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        # A Python that has ended by a signal has found all that it needs, so that another attempt may succeed.
        raise Failure(f"the films cannot be measured ({said}): sudo apt-get install python3-gi gir1.2-gstreamer-1.0", done.stderr,
                      stop="pipeline" if done.returncode > 0 else None)
    return [json.loads(line) for line in done.stdout.splitlines()]


def promised_lengths(files, measure):
    """The seconds that each film promises; None where that is not known."""
    try:
        return [one["promised"] for one in lengths(files, measure, header_only=True)]
    except Failure:  # The tasks themselves will fail, and say so.
        return [None] * len(files)


def damage(film, result, may_be_shorter):
    """Why the result does not have all that the film promises, or None."""
    if film["promised"] and film["end"] is not None and film["end"] < film["promised"] - tolerance:
        return f"the film ends after {film['end']:.1f} s, but promises {film['promised']:.1f} s"
    # In a file without streams, such as raw frames, no end is known.
    ends_known = film["video_end"] is not None and result["end"] is not None
    if not may_be_shorter and ends_known and (result["video_end"] or 0) < film["video_end"] - tolerance:
        return f"the result ends after {result['video_end'] or 0:.1f} s, the film after {film['video_end']:.1f} s"
    return None


def convert(job, settings):
    """Makes one file. Returns where and how long it ran, and what went wrong if anything did."""
    import ray

    start = time.monotonic()
    gpus = ray.get_runtime_context().get_accelerator_ids()["GPU"] if settings.backend == "cuda" else []
    # The workers of an existing cluster may have a higher niceness, which an unprivileged process cannot lower.
    result = {"host": socket.gethostname(), "gpu": gpus[0] if gpus else None, "niceness": max(os.nice(0), settings.niceness)}
    final = pathlib.Path(job.output)
    unfinished = final.with_name(f"{unfinished_prefix}{uuid.uuid4().hex[:8]}-{final.name}")
    try:
        if not shutil.which("gst-launch-1.0"):
            raise Failure("gst-launch-1.0 is not installed: sudo apt-get install gstreamer1.0-tools", stop="pipeline")
        if not os.access(job.input, os.R_OK):
            raise Failure(f"{job.input} cannot be read; all machines of a cluster need the archive under the same path")
        final.parent.mkdir(parents=True, exist_ok=True)
        film, = lengths([job.input], settings.measure)
        values = {"input": job.input, "input-uri": pathlib.Path(job.input).as_uri(), "output": str(unfinished),
                  "output-uri": unfinished.as_uri(), "backend": settings.backend, "device": "0" if gpus else "-1"}
        # Ray sets CUDA_VISIBLE_DEVICES for its tasks unless it was told not to; here the pipeline relies on it. Messages in
        # English can be recognised.
        environment = {**os.environ, **settings.variables, "LC_ALL": "C.UTF-8", "LANGUAGE": "C",
                       **({"CUDA_VISIBLE_DEVICES": ",".join(gpus)} if gpus else {})}
        result["log"] = play(words_of(settings.pipeline, values), environment, unfinished, settings.timeout, settings.niceness)
        # The name must not reach the disk before the film.
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
