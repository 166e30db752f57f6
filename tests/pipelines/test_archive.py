# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/archive.py, with Ray on this machine. Ray and tqdm come from the Python that CUDAVISION_TEST_RAY
names, the virtual environment that tests/run.sh makes, or python3. The tests share a cluster, because it starts slowly."""
import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import threading
import time

from harness import Skip, expect, pipelines, test, top, watchdog

reads = ()  # in addition to SHARED of run.py

archive = pipelines / "archive.py"
launch = shutil.which("gst-launch-1.0")
# This pipeline copies a file, so that results are easy to check, a kilobyte every 0.4 s, so that tests can interrupt it.
copy = "filesrc location={input} blocksize=1024 ! identity sleep-time=400000 ! filesink location={output} buffer-mode=unbuffered"


@functools.lru_cache
def python_with_ray():
    """Returns the path of a Python that has Ray and tqdm, or None."""
    for name in (os.environ.get("CUDAVISION_TEST_RAY", ""), str(top / "build-tests/ray/bin/python"), "python3"):
        python = shutil.which(name)
        if python and subprocess.run([python, "-c", "import ray, tqdm"], stderr=subprocess.DEVNULL).returncode == 0:
            return python
    return None


class Cluster:
    """A Ray cluster that claims to have two GPUs. The cluster ends with this process."""
    lock = threading.Lock()
    process = address = None

    @classmethod
    def join(cls, place):
        """Makes archive.py use the cluster. If GST_STAND_IN names a program, the cluster runs it instead of
        gst-launch-1.0; archive.py passes GStreamer's environment variables to its workers."""
        if not python_with_ray():
            raise Skip("there is no Python with Ray and tqdm: pip install ray tqdm")
        place.environment.update(RAY_AUTH_MODE="disabled", RAY_USAGE_STATS_ENABLED="0")
        with cls.lock:
            # Retries, because Ray can exceed its own limit of 30 s on a busy machine.
            end = time.monotonic() + watchdog
            while not cls.address and time.monotonic() < end:
                cls.start(place)
        if not cls.address:
            raise Skip("Ray does not start here in time")
        place.environment.update(RAY_ADDRESS=cls.address)

    @classmethod
    def start(cls, place):
        folder = place.folder.parent / "cluster"
        folder.mkdir(exist_ok=True)
        (folder / "gst-launch-1.0").write_text(f'#!/bin/bash\nexec "${{GST_STAND_IN:-{launch}}}" "$@"\n')
        (folder / "gst-launch-1.0").chmod(0o755)
        cls.process = subprocess.Popen(
            [python_with_ray(), "-c", "import ray, sys\n"
             "ray.init('local', num_cpus=8, num_gpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=80 << 20)\n"
             "print(ray.get_runtime_context().gcs_address, flush=True)\nsys.stdin.read()"],
            # archive.py itself starts a cluster with these RAY_worker_ variables.
            cwd=folder, env={**place.environment, "PATH": f"{folder}:{place.environment['PATH']}", "RAY_worker_niceness": "0",
                             "RAY_worker_register_timeout_seconds": "3600"}, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
        cls.address = cls.process.stdout.readline().strip()


def command(*arguments):
    return (python_with_ray(), archive, *arguments)


def stand_in(place, text):
    """Makes this test run a script instead of gst-launch-1.0."""
    script = place.folder / "stand-in"
    script.write_text(f"#!/bin/bash\n{text}")
    script.chmod(0o755)
    place.environment["GST_STAND_IN"] = str(script)


def report_of(place):
    return json.loads((place.folder / "out/archive.json").read_text())


def results(place):
    return sorted(str(path.relative_to(place.folder / "out")) for path in (place.folder / "out").rglob("*")
                  if path.is_file() and path.name not in (".archive", "archive.json"))


def unfinished(place):
    return [path for path in (place.folder / "out").rglob(".archive-unfinished-*") if path.stat().st_size > 0]


def alive(pid):
    with contextlib.suppress(FileNotFoundError):
        # A zombie process is no longer alive either.
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    return False


def expect_ended(place, names):
    """Expects that all processes whose ids are in these files end."""
    pids = [int(path.read_text()) for path in place.folder.glob(names)]
    end = time.monotonic() + watchdog
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.1)
    expect(pids and not any(map(alive, pids)), f"of the pipelines {pids}, some still run")


@test("pipelines/archive.py checks its arguments before it begins")
def _(place):
    for name in ("films/b.mkv", "others/b.mkv"):
        (place.folder / name).parent.mkdir(exist_ok=True)
        (place.folder / name).write_text(name)
    (place.folder / "empty.json").mkdir()
    # The import of this fake Ray fails, so archive.py must print how to install Ray.
    (place.folder / "ray.py").write_text("raise ImportError('No module named ray')\n")
    for arguments, status, words in (
            (["others"], 2, "required: OUT"),
            (["none.mp4", "out"], 1, "none.mp4: there is no such file or folder"),
            (["empty.json", "out"], 1, "set --match"),
            (["others", "--match", "*.mp4", "out"], 1, "others: there is no file that matches *.mp4"),
            (["films", "others", "out"], 1, "would both become"),
            (["others", "others"], 1, "others: the results would be among the videos"),
            (["others/b.mkv", "others"], 1, "this is an input itself"),
            (["others", "out", "--pipeline", "filesrc location={input} ! fakesink"], 2, "{output}"),
            (["others", "out", "--pipeline", "videotestsrc ! filesink location={output}"], 2, "{input}"),
            (["others", "out", "--pipeline", "filesrc 'location={input} ! filesink location={output}"], 2, "No closing quotation"),
            (["others", "out", "--ending", "a/b"], 2, "--ending"),
            (["others", "out", "--report", "report.txt"], 2, "use .json"),
            (["others", "out", "--report", "empty.json"], 1, "empty.json: this is a folder; name a file"),
            (["others", "out", "--report", "none/report.json"], 1, "the folder of this file does not exist"),
            (["others", "out", "--per-gpu", "0"], 2, "--per-gpu: needs a whole number of at least 1, not 0"),
            (["others", "out", "--cpus", "many"], 2, '--cpus: needs a whole number of at least 1, not "many"'),
            (["others", "out", "--retries", "-1"], 2, "--retries: needs a whole number of at least 0, not -1"),
            (["others", "out", "--timeout", "0"], 2, "--timeout"),
            (["others", "out", "--nice", "20"], 2, "--nice: needs a whole number from 0 to 19, not 20"),
            (["others", "out", "--backend", "gpu"], 2, "--backend"),
            (["others", "out"], 1, "pip install ray tqdm")):
        result = place.run("python3", archive, *arguments, PYTHONPATH=str(place.folder))
        expect(result.status == status and words in result.err and "Traceback" not in result.err, f"{arguments}: {result.text}")
        expect(not (place.folder / "out").exists(), f"{arguments}: it begins to write")
    late = "import archive, types; archive.connect(types.SimpleNamespace(init=lambda *_, **__: (_ for _ in ()).throw(Exception('It timed out'))), 'local')"
    expect("Run archive.py again" in place.run("python3", "-c", late, PYTHONPATH=str(pipelines)).err, "the remedy after a timeout of Ray")


@test("pipelines/archive.py searches folders, reports failures, and continues after an interruption")
def _(place):
    Cluster.join(place)
    (place.folder / "films/at sea").mkdir(parents=True)
    place.play("videotestsrc num-buffers=50 ! videobalance contrast=0.3 ! video/x-raw,format=I420,width=192,height=144,framerate=25/1 "
                 "! x264enc ! h264parse ! mp4mux ! filesink location=pale.mp4")
    source, silent, broken = (place.folder / "films" / name for name in ("film.mp4", "at sea/\"pale\".mp4", "broken.mp4"))
    source.write_bytes((place.materials / "film.mp4").read_bytes())
    silent.write_bytes((place.folder / "pale.mp4").read_bytes())
    broken.write_text("no film\n" * 1000)
    (place.folder / "films/words.txt").write_text("no film either")
    (place.folder / "films/.hidden.mp4").write_text("nor this")

    result = place.run(*command("films", "out", "--retries", "1", "--backend", "cpu"))
    expect(result.status == 1 and "2 written, 1 failed" in result.out, result.last())
    expect(results(place) == ["at sea/\"pale\".mkv", "film.mkv"], f"{results(place)}")
    film, pale = (place.folder / "out" / name for name in ("film.mkv", "at sea/\"pale\".mkv"))
    expect(b"A_OPUS" in film.read_bytes() and b"A_OPUS" not in pale.read_bytes(), "the sound is not what it was")
    frames = place.gray("""filesrc 'location="out/at sea/\\"pale\\".mkv"' ! decodebin""")
    expect(len(frames) == 50 * 192 * 144 and max(frames) - min(frames) > 200, "the pale film is not equalised")
    report = report_of(place)
    failed = report["failed"]
    said = place.run("gst-launch-1.0", "-q", "filesrc", f"location={broken}", "!", "decodebin", "!", "fakesink").err
    expect(len(failed) == 1 and failed[0]["input"] == str(broken) and failed[0]["attempts"] == 2, f"{failed}")
    expect(failed[0]["error"] in said and failed[0]["error"] in failed[0]["log"] and f"{broken}: {failed[0]['error']}" in result.err, f"{failed}: {said}")
    expect(report["backend"] == "cpu" and not report["unfinished"] and not report["interrupted"], f"{report}")

    # The broken video is repaired, and another video has changed. On a terminal, there is a progress bar.
    broken.write_bytes(silent.read_bytes())
    source.touch()
    made = pale.stat().st_mtime_ns
    text = place.on_terminal("/bin/bash", "-c", 'stty rows 40 columns 120; exec "$@"', "", *command("films", "out", "--backend", "cpu"))
    expect("3 of 3 files: 100%" in text and "2 written, 1 already complete" in text, text[-300:])
    expect(len(results(place)) == 3 and pale.stat().st_mtime_ns == made, f"{results(place)}")

    # With nothing left to do, archive.py does not even start Ray.
    result = place.run(*command("films", "out", "--address", "192.0.2.1:1"))
    expect(result.status == 0 and "0 written, 3 already complete" in result.out, result.last())

    # Existing results of another pipeline are an error, unless --again replaces them with the new pipeline's output.
    equalise = "decodebin expose-all-streams=false caps='video/x-raw(ANY)' ! videoconvert ! cudahistequalize backend={backend} cuda-device-id={device}"
    pipeline = f"filesrc location={{input}} ! {equalise} ! filesink location={{output}}"
    result = place.run(*command("films", "out", "--pipeline", pipeline))
    expect(result.status == 1 and "comes from another pipeline" in result.err and "--again" in result.err, result.last())
    result = place.run(*command("films", "out", "--pipeline", pipeline, "--again", "--cpus", "1", "--backend", "cpu"))
    expect(result.status == 0 and "3 written;" in result.out, result.last())
    place.play(f"filesrc location=films/film.mp4 ! {equalise.format(backend='cpu', device=-1)} ! filesink location=film.raw")
    expect(film.read_bytes() == (place.folder / "film.raw").read_bytes(), "the frames differ from the pipeline's own")

    # archive.py does not replace files of other programs either.
    (place.folder / "kept").mkdir()
    (place.folder / "kept/film.mkv").write_text("not yours")
    result = place.run(*command("films", "kept"))
    expect(result.status == 1 and "was not made by this program" in result.err, result.last())
    expect((place.folder / "kept/film.mkv").read_text() == "not yours", "a film of others is gone")

    # A second run into the same folder fails while the first holds its lock.
    hold = place.start(python_with_ray(), "-c", "import fcntl, signal\nfile = open('out/.archive')\nfcntl.flock(file, fcntl.LOCK_EX)\nprint('held', flush=True)\nsignal.pause()")
    hold.wait_until(lambda: "held" in hold.text())
    result = place.run(*command("films", "out", "--pipeline", pipeline))
    hold.kill()
    expect(result.status == 1 and "another archive.py writes to this folder" in result.err, result.last())


@test("pipelines/archive.py retries, and ends pipelines that hang")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for name in ("flaky", "crash", "nothing", "stuck", "good"):
        (place.folder / f"films/{name}.mp4").write_text(name)
    (place.folder / "films/lost.mp4").symlink_to("nowhere")
    os.mkfifo(place.folder / "films/no-film.mp4")
    stand_in(place, f"""
case "$*" in
  *films/flaky.mp4*)
    mkdir {place.folder}/tried 2>/dev/null && echo 'ERROR: from element /GstPipeline:pipeline0/GstFileSrc:filesrc0: The tape is torn.' >&2 && exit 1
    ;;
  *films/crash.mp4*) kill -SEGV $$ ;;
  *films/nothing.mp4*) exit 0 ;;
  *films/hang.mp4*)
    echo $$ >{place.folder}/hanging
    exec {launch} -q videotestsrc is-live=true ! fakesink
    ;;
  *films/stuck.mp4*)
    echo $$ >{place.folder}/hanging-after-error
    echo 'ERROR: from element /GstPipeline:pipeline0/GstFileSrc:filesrc0: The tape is stuck.' >&2
    exec sleep infinity
    ;;
esac
exec {launch} "$@"
""")
    arguments = ("out", "--pipeline", copy, "--retries", "1", "--cpus", "1", "--backend", "cpu", "--report", "report.json")
    result = place.run(*command("films", *arguments))
    expect(result.status == 1 and "2 written, 4 failed" in result.out, result.last())
    report = json.loads((place.folder / "report.json").read_text())
    attempts = {os.path.basename(one["input"]): one["attempts"] for one in report["written"]}
    expect(attempts == {"good.mp4": 1, "flaky.mp4": 2}, f"{attempts}")
    errors = {os.path.basename(one["input"]): (one["attempts"], one["error"]) for one in report["failed"]}
    attempts, error = errors.pop("lost.mp4")
    expect(attempts == 2 and error.startswith(f"{place.folder}/films/lost.mp4 cannot be read on {socket.gethostname()}: restore the file"), error)
    expect(errors == {"crash.mp4": (2, "gst-launch-1.0 was ended by SIGSEGV"),
                      "stuck.mp4": (2, "The tape is stuck."),
                      "nothing.mp4": (2, "the pipeline ended without an error, but wrote nothing: run it for this video with gst-launch-1.0 -v "
                                      "to see which element gets no data")}, f"{errors}")
    expect(results(place) == ["flaky.mkv", "good.mkv"] and (place.folder / "out/flaky.mkv").read_text() == "flaky", f"{results(place)}")
    # Only this video, which hangs, has a short limit, because other videos may need longer to start.
    (place.folder / "films/hang.mp4").write_text("hang")
    result = place.run(*command("films/hang.mp4", *arguments, "--timeout", "3"))
    failed, = json.loads((place.folder / "report.json").read_text())["failed"]
    expect(result.status == 1 and failed["attempts"] == 2 and failed["error"].startswith("the pipeline wrote nothing for 3 s: "), f"{failed}")
    expect_ended(place, "hanging*")


@test("pipelines/archive.py stops at once if GStreamer does not know the pipeline")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for number in range(20):
        (place.folder / f"films/{number}.mp4").write_text("film")
    result = place.run(*command("films", "out", "--pipeline", f"{copy} nonsense=1", "--backend", "cpu"))
    expect(result.status == 1 and 'no property "nonsense" in element' in result.err and "Stopping" in result.err, result.last())
    expect(not results(place) and len(report_of(place)["unfinished"]) == 19, f"{results(place)}")


@test("pipelines/archive.py leaves no unfinished files if it is interrupted")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for name in ("one", "two"):
        (place.folder / f"films/{name}.mp4").write_bytes(os.urandom(20000))
    stand_in(place, f'echo $$ >{place.folder}/pid-$$\nexec {launch} "$@"\n')
    arguments = command("films", "out", "--pipeline", copy, "--cpus", "1", "--backend", "cpu")
    for end, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGKILL, -9)):
        running = place.start(*arguments)
        running.wait_until(lambda: unfinished(place))
        expect(running.runs(), f"it does not run long enough for {end.name}: {running.text()}")
        running.process.send_signal(end)
        result = running.finish()
        expect(result.status == status and "Traceback" not in result.text, f"{end.name}: status {result.status}: {result.text}")
        expect_ended(place, "pid-*")
        if end != signal.SIGKILL:
            report = report_of(place)
            expect(not results(place) and report["interrupted"] and len(report["unfinished"]) == 2, f"{end.name}: {results(place)}, {report}")
        expect(not any((place.folder / f"out/{name}.mkv").exists() for name in ("one", "two")), f"{end.name}: {results(place)}")
    result = place.run(*arguments)
    expect(result.status == 0 and results(place) == ["one.mkv", "two.mkv"], f"{result.last()}; {results(place)}")
    for name in ("one", "two"):
        expect((place.folder / f"out/{name}.mkv").read_bytes() == (place.folder / f"films/{name}.mp4").read_bytes(), f"{name}.mkv is not complete")


@test("pipelines/archive.py ends on a signal at any moment of Ray's work")
def _(place):
    (place.folder / "film.mp4").write_text("film")
    (place.folder / "tqdm.py").write_text("class tqdm:\n    disable = True\n    def __init__(self, **_): pass\n    def __getattr__(self, _): return lambda *_, **__: None\n")
    # A fake Ray sends the signal at its start, or in a destructor, where Python ignores exceptions.
    (place.folder / "ray.py").write_text("""
import os, signal, sys, time, types
exceptions = types.SimpleNamespace(RayError=type("RayError", (Exception,), {}))
cloudpickle = types.SimpleNamespace(register_pickle_by_value=lambda _: None)
nodes = lambda: [{"Alive": True, "Resources": {"CPU": 8}}]
waits, cancelled = [], []
cancel, shutdown = cancelled.append, lambda: None
class Dropped:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.01)
def init(*_, **__):
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(number))
    if os.environ["WHEN"] == "init":
        os.kill(os.getpid(), signal.SIGTERM)
def remote(**_):
    return lambda function: types.SimpleNamespace(remote=lambda *_: function.__name__)
def wait(tasks, timeout=None, num_returns=1):
    if os.environ["WHEN"] == tasks[0] and not cancelled:
        Dropped()
    waits.append(tasks[0])
    done = [task for task in tasks if os.environ["WHEN"] != task or len(waits) > 100]
    return done, [task for task in tasks if task not in done]
def get(tasks):
    return {"log": ""} if tasks == "convert" else [[None] for _ in tasks]
""")
    for when in ("init", "header_durations", "convert"):
        result = place.run("python3", archive, "film.mp4", "out", "--address", "local", PYTHONPATH=str(place.folder), WHEN=when)
        report = report_of(place)
        expect(result.status == 130 and report["interrupted"] and len(report["unfinished"]) == 1, f"{when}: {result.last()}; {report}")


@test("pipelines/archive.py gives each pipeline its own GPU")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for name in ("one", "two"):
        (place.folder / f"films/{name}.mp4").write_text(name)
    # Each of two pipelines waits for the other pipeline, so both must run at the same time.
    stand_in(place, f"""
echo "$CUDA_VISIBLE_DEVICES: $*" >{place.folder}/ran-$$
while :; do
  ran=({place.folder}/ran-*)
  [[ ${{#ran[@]}} -lt 2 ]] || break
  sleep 0.1
done
for word; do
  word=${{word#location=\\"}}
  [[ $word != *unfinished* ]] || echo "${{#ran[@]}}" >"${{word%\\"}}"
done
""")
    result = place.run(*command("films", "out", "--pipeline", "filesrc location={input} ! cudahistequalize backend={backend} "
                                "cuda-device-id={device} ! filesink location={output}"))
    expect(result.status == 0 and "2 written" in result.out, result.last())
    ran = sorted(path.read_text() for path in place.folder.glob("ran-*"))
    expect(len(ran) == 2 and ran[0].startswith("0: ") and ran[1].startswith("1: "), f"{ran}")
    expect(all('backend="cuda" cuda-device-id="0"' in line for line in ran), f"{ran}")
    expect([(place.folder / f"out/{name}.mkv").read_text() for name in ("one", "two")] == ["2\n", "2\n"], "they ran one after the other")
    report = report_of(place)
    expect(report["backend"] == "cuda" and sorted(one["gpu"] for one in report["written"]) == ["0", "1"], f"{report}")


@test("pipelines/archive.py reports what a cluster lacks, and starts a cluster without --address")
def _(place):
    Cluster.join(place)
    (place.folder / "film.mp4").write_text("film")
    result = place.run(*command("film.mp4", "out", "--address", "127.0.0.1:9"))
    expect(result.status == 1 and "No Ray cluster answers at --address 127.0.0.1:9 (Connection refused)" in result.err, result.last())
    place.environment.pop("RAY_ADDRESS")
    # A pipeline has the priority of archive.py. With the priority of Ray's workers, the pipeline would hardly get a processor
    # on a busy machine.
    place.stand_in("gst-launch-1.0", f'nice >{place.folder}/niceness\nexec {launch} "$@"\n')

    def run(*arguments):
        """Retries, because Ray may exceed its own time limit when it starts."""
        end = time.monotonic() + watchdog
        while time.monotonic() < end:
            result = place.run(*command(*arguments))
            if "timed out during startup" not in result.err:
                return result
        raise Skip("Ray does not start here in time")

    result = run("film.mp4", "out", "--pipeline", "filesrc location={input} ! filesink location={output}")
    expect(result.status == 0 and (place.folder / "out/film.mkv").read_text() == "film", result.last())
    niceness = (place.folder / "niceness").read_text()
    expect(int(niceness) == os.nice(0), f"the pipeline has niceness {niceness}")
    lower = min(19, os.nice(0) + 3)
    result = run("film.mp4", "low", "--nice", str(lower), "--pipeline", "filesrc location={input} ! filesink location={output}")
    written, = json.loads((place.folder / "low/archive.json").read_text())["written"]
    niceness = (place.folder / "niceness").read_text()
    expect(result.status == 0 and int(niceness) == lower == written["niceness"], f"{niceness}: {written}")
    result = run("film.mp4", "more", "--cpus", "100000")
    expect(result.status == 1 and re.search(r"no machine with 100000 processors \(at most (\d+)\): set --cpus to \1 or less", result.err), result.last())
