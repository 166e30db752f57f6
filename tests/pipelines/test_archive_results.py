# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/archive.py: which results it makes, how it reports wrong results, and how long it waits for a result."""
import contextlib
import json
import shutil

from harness import Skip, expect, pipelines, python, test
from test_archive import Cluster, archive, command, copy, launch, python_with_ray, report_of, results, stand_in


def size_of(place, film):
    """Returns the width and height of a video's frames."""
    log = place.launch(f"-v filesrc location={film} ! decodebin expose-all-streams=false caps='video/x-raw(ANY)' ! fakesink")
    caps = next(line for line in reversed(log.out.splitlines()) if "fakesink0.GstPad:sink: caps = video" in line)
    return tuple(int(caps.split(f"{side}=(int)")[1].split(",")[0]) for side in ("width", "height"))


@test("pipelines/archive.py rotates videos by their tag, gives results different names, and reports damaged videos")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    whole = (place.materials / "lying.mp4").read_bytes()
    cut = whole[:len(whole) * 6 // 10]
    for name, film in (("turned.mp4", (place.materials / "turned.mp4").read_bytes()), ("cut.mp4", cut),
                       ("one name.mp4", whole), ("one name.mkv", (place.materials / "deep.mkv").read_bytes())):
        (place.folder / "films" / name).write_bytes(film)
    result = place.run(*command("films", "out", "--backend", "cpu", "--cpus", "2"))
    expect(result.status == 1 and "3 written, 1 damaged;" in result.out, result.last())
    expect(results(place) == ["cut.damaged.mkv", "one name.mkv.mkv", "one name.mp4.mkv", "turned.mkv"], f"{results(place)}")
    expect(size_of(place, "out/turned.mkv") == (144, 192), "the film is not upright")
    report = report_of(place)
    damaged, = report["damaged"]
    expect(damaged["output"].endswith("out/cut.damaged.mkv") and "but its header gives 3.0 s" in damaged["damage"] and damaged["damage"] in result.err,
           f"{damaged}: {result.err}")
    expect(not report["failed"] and damaged["attempts"] == 1, f"{report}")
    # A complete video replaces the truncated video.
    (place.folder / "films/cut.mp4").write_bytes(whole)
    result = place.run(*command("films", "out", "--backend", "cpu"))
    expect(result.status == 0 and "1 written, 3 already complete;" in result.out, result.last())
    expect(results(place) == ["cut.mkv", "one name.mkv.mkv", "one name.mp4.mkv", "turned.mkv"], f"{results(place)}")


@test("pipelines/archive.py marks results that are shorter than their videos as damaged, unless the pipeline shortens videos")
def _(place):
    Cluster.join(place)
    film = place.materials / "lying.mp4"
    first = "filesrc location={input} ! qtdemux ! h264parse ! identity eos-after=30 ! matroskamux ! filesink location={output}"
    result = place.run(*command(film, "out", "--backend", "cpu", "--pipeline", first))
    damaged = report_of(place)["damaged"]
    expect(result.status == 1 and len(damaged) == 1 and "the result ends after 1.2 s, the video after 3.0 s" in damaged[0]["damage"],
           f"{damaged}: {result.last()}")
    result = place.run(*command(film, "out", "--backend", "cpu", "--pipeline", first, "--shorter"))
    expect(result.status == 0 and results(place) == ["lying.mkv"], f"{result.last()}; {report_of(place)['failed']}; {results(place)}")


@test("pipelines/archive.py begins with the longest video, however large other files are")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    (place.folder / "films/a.mp4").write_bytes((place.materials / "film.mp4").read_bytes() + bytes(1000000))
    shutil.copy(place.materials / "lying.mp4", place.folder / "films/b.mp4")
    remux = "filesrc location={input} ! qtdemux ! h264parse ! matroskamux ! filesink location={output}"
    place.succeed(*command("films", "out", "--backend", "cpu", "--pipeline", remux, "--cpus", "8"))
    order = [one["input"].rsplit("/", 1)[1] for one in report_of(place)["written"]]
    expect(order == ["b.mp4", "a.mp4"], f"{order}")
    # The bar shows seconds of video. For a video without a known duration, it adds the average duration of the other videos.
    result = place.run("python3", "-c", f"import sys; sys.path.insert(0, {str(pipelines)!r})\n"
                       "from archiving.report import Report\nfrom archiving.task import Job\n"
                       "class Bar:\n"
                       "    def __init__(self, total, **_): self.total = total\n"
                       "    def set_description_str(self, _): pass\n"
                       "report = Report('report.json', '', [], [])\n"
                       "jobs = report.begin(Bar, {Job(*one): seconds for one, seconds in (('aaa', 10), ('bbb', 30), ('ccc', None))}, 'cpu')\n"
                       "print(report.bar.total, *(job.input for job in jobs))")
    expect(result.out == "60.0 b c a\n", result.text)


@test("pipelines/archive.py reads a video as long as data arrives")
def _(place):
    result = place.run(python, "-c", f"import sys; sys.path.insert(0, {str(pipelines / 'archiving')!r})\n"
                       "from filmlength import Gst, Reader\n"
                       "Gst.init(None)\n"
                       "class Bus:\n"
                       "    # No message comes within the time of the first calls, but frames do.\n"
                       "    def __init__(self, reader, calls): self.reader, self.calls = reader, calls\n"
                       "    def timed_pop_filtered(self, *_):\n"
                       "        self.calls -= 1\n"
                       "        self.reader.buffers += self.calls >= 0\n"
                       "        return Gst.Message.new_eos(None) if self.calls == 0 else None\n"
                       "for calls in (5, -1):\n"
                       "    reader = Reader('film')\n"
                       "    reader.bus = Bus(reader, calls)\n"
                       "    print(reader.wait(Gst.MessageType.EOS))")
    expect(result.out == "True\nFalse\n", result.text)


@test("pipelines/archive.py stops at once if the disk is full, and names the disk")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for number in range(9):
        (place.folder / f"films/{number}.mp4").write_text("film")
    # filesink reports the full disk. Videos that begin before archive.py notices the error end only if archive.py stops them.
    stand_in(place, f"echo tried >>{place.folder}/tried\n[[ $(<{place.folder}/tried) == tried ]] || exec sleep infinity\n"
             f"exec {launch} -q filesrc location={place.materials}/film.mp4 ! filesink location=/dev/full\n")
    # The report archive.json cannot be written on the full disk, either.
    (place.folder / "out").mkdir()
    (place.folder / "out/archive.json.new").symlink_to("/dev/full")
    result = place.run(*command("films", "out", "--pipeline", copy, "--cpus", "8", "--backend", "cpu"))
    expect(result.status == 1 and "0 written, 1 failed, 8 left" in result.out and "Traceback" not in result.text, result.text)
    disk = next(str(folder) for folder in place.folder.parents if folder.is_mount())
    expect(f"no space is left on the disk at {disk} of " in result.err and "Stopping" in result.err, result.err)
    expect("The report cannot be written: " in result.err and "No space left on device" in result.err, result.err)
    tried = (place.folder / "tried").read_text().count("tried")
    expect(tried <= 2, f"it tries {tried} times")


@test("pipelines/archive.py names the resources that its cluster lacks, and a folder that it cannot use")
def _(place):
    for machines, options, words in (([{"CPU": 16}], ["--cpus", "64"], "64 processors (at most 16): set --cpus to 16 or less"),
                                     ([{"CPU": 16}, {"CPU": 4, "GPU": 1}], ["--cpus", "8"], "a GPU and 8 processors (at most 4): set --cpus to 4 or less"),
                                     ([{"CPU": 16}], ["--backend", "cuda"], "a GPU: set --backend=cpu"),
                                     ([{}], [], "1 processor (at most 0): start Ray with a larger --num-cpus")):
        result = place.program("import archive, sys, types\n"
                               f"sys.argv = ['archive.py', 'in', 'out', '--address', 'local', *{options}]\n"
                               f"nodes = [{{'Alive': True, 'Resources': machine}} for machine in {machines}]\n"
                               "archive.resources_of_task(types.SimpleNamespace(nodes=lambda: nodes), archive.parse())\n")
        expect(result.status == 1 and result.err == f"Ray has no machine with {words}\n", f"{machines}: {result.text}")
    for name in ("film.mkv", "file"):
        (place.folder / name).touch()
    result = place.program("import archive, sys, types\nsys.modules.update(ray=types.SimpleNamespace(), tqdm=types.SimpleNamespace(tqdm=None))\n"
                           "sys.argv = ['archive.py', 'film.mkv', 'file']\narchive.main()\n")
    expect(result.status == 1 and result.err.startswith("file: File exists; name another folder for the results"), result.text)


@test("pipelines/archive.py does not count the time in which a pipeline waits for a processor against --timeout")
def _(place):
    place.stand_in("gst-launch-1.0", "sleep 3\necho film >out\n")
    play = ("import pathlib, os, sys, time; from archiving import task; waits = sys.argv[1] == 'waits'\n"
            "task.processor_waits = lambda _: {'1': time.monotonic() - start if waits else 0}; start = time.monotonic()\n"
            "task.play([], os.environ, pathlib.Path('out'), 1)")
    for waits, status, words in (("waits", 0, ""), ("sleeps", 1, "the pipeline wrote nothing for 1 s")):
        result = place.run("python3", "-c", play, waits, PYTHONPATH=str(pipelines))
        expect(result.status == status and words in result.err, f"{waits}: {result.text}")
        (place.folder / "out").unlink(missing_ok=True)
    # Of two busy processes on one processor, one always waits.
    result = place.run("python3", "-c", "import os, subprocess, sys, time; from archiving import task\n"
                       "os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:1])\n"
                       "busy = [subprocess.Popen([sys.executable, '-c', 'while True: pass']) for _ in range(2)]\n"
                       "time.sleep(2)\nprint(*(max(task.processor_waits(one.pid).values(), default=-1) for one in busy))\n"
                       "[one.kill() for one in busy]", PYTHONPATH=str(pipelines))
    waits = [float(seconds) for seconds in result.out.split()]
    if -1 in waits:
        raise Skip("this kernel does not count the time in which a thread waits")
    expect(len(waits) == 2 and min(waits) > 0.2, f"{waits}: {result.err}")


@test("pipelines/archive.py updates its report during the run")
def _(place):
    Cluster.join(place)
    (place.folder / "films").mkdir()
    for name in ("quick", "slow"):
        (place.folder / f"films/{name}.mp4").write_text(name)
    stand_in(place, f'[[ $* != *slow.mp4* ]] || exec sleep infinity\nsleep 1\nexec {launch} "$@"\n')
    running = place.start(*command("films", "out", "--pipeline", copy, "--cpus", "1", "--backend", "cpu"))

    def report():
        with contextlib.suppress(FileNotFoundError):
            return report_of(place)
        return {"written": []}

    running.wait_until(lambda: report()["written"])
    seen = report()
    running.kill()
    expect([one["input"].rsplit("/", 1)[1] for one in seen["written"]] == ["quick.mp4"] and seen["interrupted"] is None, json.dumps(seen))
    expect([one["input"].rsplit("/", 1)[1] for one in seen["unfinished"]] == ["slow.mp4"], json.dumps(seen))


@test("the tasks of pipelines/archive.py run on machines without a copy of it")
def _(place):
    Cluster.join(place)
    result = place.run(python_with_ray(), "-c", f"import sys; sys.path.insert(0, {str(archive.parent)!r})\n"
                       "import ray\nfrom archiving import task\nray.cloudpickle.register_pickle_by_value(task)\n"
                       "open('task', 'wb').write(ray.cloudpickle.dumps((task.convert, task.Job('a', 'b', 'c'))))")
    expect(result.status == 0, result.last())
    result = place.run(python_with_ray(), "-c", "import pickle\nconvert, job = pickle.load(open('task', 'rb'))\nprint(convert.__name__, job.input)")
    expect(result.out == "convert a\n", result.last())
