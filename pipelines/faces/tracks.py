# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks faces over time: assigns detections to faces, and computes the boxes to hide, also where the detector misses a
face. Times are in seconds; boxes are (x, y, width, height) in pixels."""
import bisect
import collections
import math

# What to hide in a frame: boxes; `whole` if a lost face requires hiding the whole frame; the width of the widest face, which
# sets the strength.
Hidden = collections.namedtuple("Hidden", "boxes whole width")
# A frame, with the faces of its scene.
Frame = collections.namedtuple("Frame", "number time scene")
# Share of a face's size added on each side, because detections leave out hair, ears and chin. Doubled while the face is
# missed, because it may have moved.
margin = 0.25
# A face with fewer detections counts as a false positive, and is not reported as lost.
least_seen = 4


def grown(box, share):
    """Returns the box with a share of its size added on each side."""
    x, y, width, height = box
    dx, dy = int(width * share + 0.5), int(height * share + 0.5)
    return x - dx, y - dy, width + 2 * dx, height + 2 * dy


def hull(one, other):
    x, y = min(one[0], other[0]), min(one[1], other[1])
    return (x, y, max(one[0] + one[2], other[0] + other[2]) - x, max(one[1] + one[3], other[1] + other[3]) - y)


def clock(seconds):
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


class Spans:
    """Collects frames into runs of successive frames."""

    def __init__(self):
        self.frames, self.spans = 0, []  # [first time, last time, last number]

    def add(self, frame):
        self.frames += 1
        if self.spans and self.spans[-1][2] == frame.number - 1:
            self.spans[-1][1:] = frame.time, frame.number
        else:
            self.spans.append([frame.time, frame.time, frame.number])

    def __str__(self):
        return ", ".join(clock(begin) if begin == end else f"{clock(begin)} to {clock(end)}" for begin, end, _ in self.spans)


class Track:
    """A face: times and boxes of its detections, and the frames in which it is lost."""

    def __init__(self):
        self.times, self.boxes, self.lost = [], [], Spans()

    def distance(self, box, time):
        """How far the box is from the last one of this face, in their mean width, plus what the sizes differ; None if it
        cannot be the same face. A face moves by a width in a quarter of a second and by three in the long run; detectors
        find it up to three times as large as before."""
        x, y, width, height = self.boxes[-1]
        size, ratio = (width + box[2]) / 2, max(width, box[2]) / min(width, box[2])
        away = max(abs(x + width / 2 - box[0] - box[2] / 2), abs(y + height / 2 - box[1] - box[3] / 2)) / size
        fits = ratio <= 3 and away <= min(0.5 + 2 * (time - self.times[-1]), 3)
        return away + math.log2(ratio) / 2 if fits else None


class Tracks:
    """The faces of a film or a camera. add() takes the detections of each frame; hidden() answers for a frame with all that
    is known then: of a film that has been seen as a whole, also the frames before a face was found."""

    def __init__(self, persistence, patience):
        """A face that is missed stays hidden where it was for `persistence` seconds, and is lost after that, for up to
        `patience` seconds or until the scene changes."""
        self.persistence, self.patience = persistence, patience
        self.reach = max(persistence, patience)
        # scenes: faces of each scene. open: faces of the current scene that may continue. past: lost faces of a camera, for report().
        self.scenes, self.open, self.past, self.frame = [[]], [], [], None
        self.widest, self.found, self.without = 0, 0, Spans()

    def add(self, time, boxes, cut=False):
        """Adds the detections of the next frame, and returns its Frame for hidden()."""
        if cut or (self.frame and time < self.frame.time):
            self.scenes.append([])
            self.open = []
        self.frame = Frame(self.frame.number + 1 if self.frame else 0, time, self.scenes[-1])
        self.open = [track for track in self.open if time - track.times[-1] <= self.reach]
        # Greedy one-to-one assignment of boxes to faces, nearest pairs first.
        pairs = sorted((away, i, j) for i, track in enumerate(self.open) for j, box in enumerate(boxes)
                       if (away := track.distance(box, time)) is not None)
        track_of, taken = {}, set()
        for _, i, j in pairs:
            if j not in track_of and i not in taken:
                track_of[j] = self.open[i]
                taken.add(i)
        for j, box in enumerate(boxes):
            if j not in track_of:
                track_of[j] = Track()
                self.open.append(track_of[j])
                self.scenes[-1].append(track_of[j])
            track_of[j].times.append(time)
            track_of[j].boxes.append(tuple(box))
            self.widest = max(self.widest, box[2])
        self.found += len(boxes)
        return self.frame

    def hidden(self, frame):
        """Returns the Hidden of a frame that add() has returned. Call it once for each frame, in order."""
        boxes, width, lost = [], 0, False
        for track in frame.scene:
            if not track.times[0] - self.reach <= frame.time <= track.times[-1] + self.reach:
                continue
            i = bisect.bisect_right(track.times, frame.time)
            near = [(abs(frame.time - track.times[k]), track.boxes[k]) for k in (i - 1, i) if 0 <= k < len(track.times)]
            # Detections before and after a gap both count: in between, the face may be anywhere in their hull.
            kept = [box for away, box in near if away <= self.persistence]
            if near[0][0] == 0:
                boxes.append(grown(near[0][1], margin))
            elif kept:
                boxes.append(grown(hull(kept[0], kept[-1]), 2 * margin))
            elif len(track.times) >= least_seen and min(away for away, _ in near) <= self.patience:
                kept, lost = [box for _, box in near], True
                track.lost.add(frame)
            width = max([width, *(box[2] for box in kept)])
        if not boxes:
            self.without.add(frame)
        return Hidden(boxes, lost, width)

    def forget(self):
        """For cameras: drops faces that no later frame needs, except lost ones, which report() lists."""
        self.past += [track for scene in self.scenes for track in scene if track.lost.frames and track not in self.open]
        self.scenes[-1][:] = self.open
        del self.scenes[:-1]

    def report(self):
        """Returns lines about frames without a face, and lost faces."""
        lines = []
        if self.without.frames:
            lines.append(f"{self.without.frames} of {self.frame.number + 1} frames have no face: {self.without}")
        for track in self.past + [track for scene in self.scenes for track in scene]:
            if track.lost.frames:
                x, y, width, height = track.boxes[0]
                lines.append(f"A face, first seen {clock(track.times[0])} at {x + width // 2},{y + height // 2}, is lost: {track.lost}")
        return lines
