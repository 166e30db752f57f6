# SPDX-License-Identifier: LGPL-2.1-or-later
"""pipelines/cudatensors.py and film-model.py: frames as arrays, arrays as frames, and a model between two pipelines.
Films of depth."""
from harness import Skip, expect, pipelines, test

python = "/usr/bin/python3"
# Odd sizes, whose planes have padding after their rows.
formats = {"GRAY8": [(17, 33)], "GRAY16_LE": [(17, 33)], "NV12": [(17, 33), (9, 17, 2)], "P010_10LE": [(17, 33), (9, 17, 2)],
           "I420": [(17, 33), (9, 17), (9, 17)], "I420_10LE": [(17, 33), (9, 17), (9, 17)], "RGB": [(17, 33, 3)],
           "BGR": [(17, 33, 3)], "RGBA": [(17, 33, 4)], "BGRA": [(17, 33, 4)]}


@test("pipelines/cudatensors.py pushes arrays as frames and gets the same arrays from them")
def _(place):
    (place.folder / "frames_and_arrays.py").write_text(f"""
import sys
sys.path.insert(0, {str(pipelines)!r})
import cudatensors, numpy
from frames import Gst, GstVideo
Gst.init(None)

def to_list(arrays):
    return arrays if isinstance(arrays, list) else [arrays]

for name, shapes in {formats!r}.items():
    pipeline = Gst.parse_launch("appsrc name=src format=time ! identity ! appsink name=sink sync=false")
    caps = f"video/x-raw,format={{name}},width=33,height=17,framerate=30/1"
    source = cudatensors.ArraySource(pipeline.get_by_name("src"), caps)
    pipeline.set_state(Gst.State.PLAYING)
    numbers = numpy.random.default_rng(1)
    kind = "u1" if GstVideo.VideoInfo.new_from_caps(Gst.Caps.from_string(caps)).finfo.depth[0] == 8 else "<u2"
    frames = [[numbers.integers(0, numpy.iinfo(kind).max, shape, kind, endpoint=True) for shape in shapes] for _ in range(9)]
    good = all([source.push(frame if len(frame) > 1 else frame[0], 1000 * i, 10) for i, frame in enumerate(frames)])
    pipeline.get_by_name("src").emit("end-of-stream")
    got = []
    while sample := pipeline.get_by_name("sink").emit("pull-sample"):
        good &= sample.get_buffer().pts == 1000 * len(got) and sample.get_buffer().duration == 10
        got.append(to_list(cudatensors.to_numpy(sample)))
    pipeline.set_state(Gst.State.NULL)
    # Samples are gone, and their arrays keep the memory.
    good &= len(got) == 9 and all(a.shape == b.shape and (a == b).all() and not b.flags.writeable
                                  for pair in zip(frames, got) for a, b in zip(*pair))
    print(name, good)
for arrays in (numpy.zeros((17, 33), "u1"), numpy.zeros((17, 33, 4), "f4")):
    try:
        source.push(arrays, 0)
    except ValueError as error:
        print(error)

def refused(caps):
    try:
        cudatensors.to_numpy(Gst.Sample.new(Gst.Buffer.new_allocate(None, 100, None), Gst.Caps.from_string(caps), None, None))
    except (RuntimeError, ValueError) as error:
        print(error)
refused("video/x-raw,format=YUY2,width=4,height=4,framerate=1/1")
refused("video/x-raw,format=GRAY8,width=101,height=1,framerate=1/1")
""")
    result = place.run(python, "frames_and_arrays.py")
    lines = result.out.splitlines()
    expect(lines[:len(formats)] == [f"{name} True" for name in formats], result.text)
    expect(lines[len(formats):] == [
        "the planes of the frame are [((17, 33, 4), 'uint8')], and the arrays [((17, 33), 'uint8')]",
        "the planes of the frame are [((17, 33, 4), 'uint8')], and the arrays [((17, 33, 4), 'float32')]",
        f"YUY2 frames have no arrays; convert them to one of {', '.join(formats)}",
        "the buffer is smaller than its caps say"], result.text)


@test("pipelines/film-model.py runs a model on each frame of a film")
def _(place):
    if place.run(python, "-c", "import torch").status != 0:
        raise Skip("PyTorch is not installed: sudo apt-get install python3-torch")
    film = place.materials / "film.mp4"
    (place.folder / "model.py").write_text("""
import torch

class Quarter(torch.nn.Module):
    def forward(self, pictures):
        return 0 * pictures[:, :, ::2, ::2] + torch.tensor([1., 0.5, 0.]).reshape(1, 3, 1, 1)

torch.jit.save(torch.jit.script(Quarter()), "quarter.pt")
""")
    expect(place.run(python, "model.py").status == 0, "the model is not written")
    for options, size in (([], (144, 192)), (["--model", "quarter.pt"], (72, 96))):
        result = place.script("film-model.py", film, "out.mkv", "--strength", "3", *options)
        expect(result.status == 0, result.text)
        (place.folder / "read.py").write_text(f"""
import sys
sys.path.insert(0, {str(pipelines)!r})
import frames
def read(name):
    player = frames.Player(f"{{frames.source_of(name)}} ! video/x-raw,format=RGB ! appsink name=sink sync=false")
    with player:
        return list(player.frames())
film, out = read({str(film)!r}), read("out.mkv")
print(len(film) == len(out), [out[0][1].shape[:2], max(abs(a[0] - b[0]) for a, b in zip(film, out)) < 0.002])
print(*out[0][1].reshape(-1, 3).mean(0).round(), out[0][1].std() > 5)
""")
        result = place.run(python, "read.py")
        expect(result.out.startswith(f"True [({size[0]}, {size[1]}), True]\n"), result.text)
        means = [float(number) for number in result.out.splitlines()[1].split()[:3]]
        if options:
            expect(all(abs(mean - wanted) < 6 for mean, wanted in zip(means, (255, 128, 0))), result.text)
        else:  # edges are gray, on black
            expect(max(means) - min(means) < 6 and 0 < means[0] < 128 and result.out.endswith("True\n"), result.text)
    result = place.script("film-model.py", film, film)
    expect(result.status == 1 and "this is the input itself" in result.err, result.text)


@test("a film of left, right and depth keeps every bit of the depth, and stays in step")
def _(place):
    place.play("cudasgmstereo name=stereo output=depth num-disparities=32 focal-length=100 baseline=60 ! queue ! video/x-raw,format=GRAY16_LE "
               "! tee name=depth ! queue ! avenc_ffv1 ! mux.  depth. ! queue ! filesink location=depth.raw  " +
               "  ".join(f"filesrc location={place.materials}/{side}.mkv ! matroskademux ! vp8dec ! videoconvert ! tee name={side} ! queue "
                         f"! stereo.sink_{side}  {side}. ! queue ! videoconvert ! x264enc tune=zerolatency ! mux."
                         for side in ("left", "right")) + "  matroskamux name=mux ! filesink location=rig.mkv")
    place.play("filesrc location=rig.mkv ! matroskademux ! avdec_ffv1 ! video/x-raw,format=GRAY16_LE ! filesink location=read.raw")
    depth = (place.folder / "depth.raw").read_bytes()
    expect(len(set(depth)) > 2 and depth == (place.folder / "read.raw").read_bytes(), "the depth is another one")
    (place.folder / "times.py").write_text(f"""
import sys
sys.path.insert(0, {str(pipelines)!r})
from frames import Gst
Gst.init(None)
pipeline = Gst.parse_launch("filesrc location=rig.mkv ! matroskademux name=demux " + " ".join(
    f"demux.video_{{track}} ! queue ! appsink name=sink{{track}} sync=false" for track in range(3)))
pipeline.set_state(Gst.State.PLAYING)
times, kinds = [[], [], []], []
for track in range(3):
    while sample := pipeline.get_by_name(f"sink{{track}}").emit("pull-sample"):
        times[track].append(sample.get_buffer().pts)
        caps = sample.get_caps().get_structure(0).get_name()
    kinds.append(caps)
print(kinds, len(times[0]), times[0] == times[1] == times[2])
""")
    result = place.run(python, "times.py")
    expect(result.out == "['video/x-ffv', 'video/x-h264', 'video/x-h264'] 25 True\n", result.text)
