# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads pairs of pictures from photographs, videos and cameras."""
import collections
import glob
import sys

import cv2
import frames
import numpy
from calibration.boards import Pair
from gi.repository import Gst

# A pair is taken from a stream only after the board was still for this many frames and seconds, so that neither a delay between
# the cameras nor a rolling shutter matters.
still_frames, still_seconds = 3, 0.15
# Two pairs show the same view if the mean distance of their corners is below this number of pixels.
same_view = 1


def names_of(patterns):
    """Expands patterns as a shell does. Ends the program if a file cannot be read."""
    names = []
    for pattern in patterns:
        names += sorted(glob.glob(pattern)) or [pattern]
    return [frames.readable(name) for name in names]


def halves(picture):
    middle = picture.shape[1] // 2
    return picture[:, :middle], picture[:, middle:2 * middle]


def read(name):
    picture = cv2.imread(name, cv2.IMREAD_GRAYSCALE)
    if picture is None:
        sys.exit(f"{name}: OpenCV cannot read this as a picture; name pictures, or one video or camera instead of all pictures")
    return picture


def file_pairs(lefts, rights):
    """Yields the name of each pair of files, and its pictures."""
    for i, left in enumerate(lefts):
        if rights:
            yield f"{left} and {rights[i]}", read(left), read(rights[i])
        else:
            yield left, *map(numpy.ascontiguousarray, halves(read(left)))


def gray_of(sample):
    return sample.get_buffer().pts, numpy.ascontiguousarray(frames.array_of(sample))


def stream_pairs(sources):
    """Yields the time in seconds and both pictures of each pair of frames. `sources` are two cameras or videos, or one
    camera or video whose frames hold both pictures."""
    description = "  ".join(
        f"{frames.source_of(source)} ! queue leaky={'downstream' if frames.is_camera(source) else 'no'} "
        f"! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=sink{i} max-buffers=2 sync=false"
        for i, source in enumerate(sources))
    with frames.Player(description) as player:
        messages = player.messages(0)
        sinks = [player[f"sink{i}"] for i in range(len(sources))]

        def pull(sink):
            while True:
                sample = sink.emit("try-pull-sample", Gst.SECOND // 10)
                if sample or sink.get_property("eos"):
                    return sample and gray_of(sample)
                next(messages, None)  # ends the program if the pipeline has failed

        while True:
            pair = [pull(sink) for sink in sinks]
            # Pulls a new frame in place of the older one until the timestamps differ by at most 20 ms.
            while len(pair) == 2 and all(pair) and abs(pair[0][0] - pair[1][0]) > 20 * Gst.MSECOND:
                older = 0 if pair[0][0] < pair[1][0] else 1
                pair[older] = pull(sinks[older])
            if not all(pair):
                return
            pictures = [picture for _, picture in pair]
            if len(pictures) == 1:
                pictures = [numpy.ascontiguousarray(half) for half in halves(pictures[0])]
            yield pair[0][0] / Gst.SECOND, *pictures


def is_stream(names):
    return len(names) == 1 and (frames.is_camera(names[0]) or frames.is_uri(names[0]) or cv2.imread(names[0], cv2.IMREAD_GRAYSCALE) is None)


def check_sizes(name, left, right, first):
    if left.shape != right.shape or first is not None and left.shape != first.pictures[0].shape:
        sizes = {f"{one.shape[1]}x{one.shape[0]}" for one in (left, right, *(first.pictures if first else ()))}
        sys.exit(f"{name}: the pictures differ in size ({', '.join(sorted(sizes))}); calibrate with pictures of one size")


def pairs_of_files(board, lefts, rights):
    """Returns the pairs in which both pictures show the board, without repeated views."""
    kept = []
    for name, left, right in file_pairs(lefts, rights):
        check_sizes(name, left, right, kept[0] if kept else None)
        pair = Pair(name, board, left, right)
        twin = next((other for other in kept if pair.usable() and pair.distance(other) < same_view), None)
        if twin:
            print(f"{name}: the same view as {twin.name}, left out", flush=True)
        elif pair.usable():
            print(f"{name}: {len(pair.numbers)} corners", flush=True)
            kept.append(pair)
        else:
            print(f"{name}: the board is not visible in both pictures, left out", flush=True)
    return kept


class StillPairs:
    """Iterates over the pairs of a stream in which the board is still, and is elsewhere or has another size than in each of the last
    three pairs that were taken."""

    def __init__(self, board, stream, show):
        self.board, self.stream, self.show = board, stream, show
        self.taken, self.moved = [], False

    def __iter__(self):
        return self

    def __next__(self):
        run = collections.deque()
        for time, left, right in self.stream:
            name = f"{time:.1f} s"
            check_sizes(name, left, right, self.taken[0] if self.taken else None)
            pair = Pair(name, self.board, left, right)
            # Compares with the first frame in which the board was still, so that slow movements are also noticed.
            if not pair.usable() or run and run[0][1].distance(pair) > 0.3 * max(1, left.shape[1] / 1280):
                self.moved |= bool(run)
                run.clear()
            if pair.usable():
                run.append((time, pair))
            is_new = pair.usable() and all(pair.moved_from(other) for other in self.taken[-3:])
            self.show(pair, self.taken, "the board is not visible in both pictures" if not pair.usable() else "hold it still" if is_new else "move the board")
            if is_new and len(run) >= still_frames and time - run[0][0] >= still_seconds:
                self.taken.append(pair)
                return pair
        raise StopIteration


def pairs_of_stream(still_pairs, wanted):
    kept = []
    for pair in still_pairs:
        kept.append(pair)
        print(f"{pair.name}: pair {len(kept)} of {wanted}, {len(pair.numbers)} corners; move the board", flush=True)
        if len(kept) == wanted:
            break
    return kept
