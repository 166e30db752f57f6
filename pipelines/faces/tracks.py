# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tracks faces over time: assigns detections to faces, and computes the boxes to hide, even if the detector misses a face for
a while. Times are in seconds; boxes are (x, y, width, height) in pixels."""
import bisect
import collections
import math

# What to hide in a frame. boxes: regions with faces. whole: True if a face is lost, so that the whole frame should be hidden.
# width: width of the widest face, from which the strength follows.
Hidden = collections.namedtuple("Hidden", "boxes whole width")
# A frame: its number, its time, and the list of the tracks of its scene.
Frame = collections.namedtuple("Frame", "number time scene")
# Margin on each side of a detection as a share of its size, because detections leave out hair, ears and chin. The margin is
# doubled while the face is missed, because it may have moved.
margin = 0.25
# A face with fewer detections than this is probably a false positive, so it is never reported as lost.
least_seen = 4


def grown(box, share):
    """Returns the box, extended by a share of its size on each side."""
    x, y, width, height = box
    dx, dy = int(width * share + 0.5), int(height * share + 0.5)
    return x - dx, y - dy, width + 2 * dx, height + 2 * dy


def hull(one, other):
    x, y = min(one[0], other[0]), min(one[1], other[1])
    return (x, y, max(one[0] + one[2], other[0] + other[2]) - x, max(one[1] + one[3], other[1] + other[3]) - y)


def clock(seconds):
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


class Spans:
    """Counts frames, and merges successive frames into spans of time."""

    def __init__(self):
        self.frames, self.spans = 0, []  # each span: [time of its first frame, time of its last frame, number of its last frame]

    def add(self, frame):
        self.frames += 1
        if self.spans and self.spans[-1][2] == frame.number - 1:
            self.spans[-1][1:] = frame.time, frame.number
        else:
            self.spans.append([frame.time, frame.time, frame.number])

    def __str__(self):
        return ", ".join(clock(begin) if begin == end else f"{clock(begin)} to {clock(end)}" for begin, end, _ in self.spans)


class Track:
    """The track of one face: times and boxes of its detections, and the frames in which it is lost."""

    def __init__(self):
        self.times, self.boxes, self.lost = [], [], Spans()

    def distance(self, box, time):
        """Returns the distance from the face's last box to this box, in mean widths, plus half the log2 of their size ratio;
        None if the box cannot be the same face. A face may move by half a width at once, by two more widths a second, and by
        at most three widths between detections. The size ratio is at most 3."""
        x, y, width, height = self.boxes[-1]
        size, ratio = (width + box[2]) / 2, max(width, box[2]) / min(width, box[2])
        away = max(abs(x + width / 2 - box[0] - box[2] / 2), abs(y + height / 2 - box[1] - box[3] / 2)) / size
        fits = ratio <= 3 and away <= min(0.5 + 2 * (time - self.times[-1]), 3)
        return away + math.log2(ratio) / 2 if fits else None


class Tracks:
    """The face tracks of a video or camera. add() takes the detections of each frame; hidden() returns the boxes to hide. If
    add() has taken all frames of a video first, hidden() also covers a face in the frames before its first detection."""

    def __init__(self, persistence, lost_seconds):
        """A missed face stays hidden at its last position for `persistence` seconds after its last detection. After that, it is
        lost until `lost_seconds` after its last detection or until the scene changes."""
        self.persistence, self.lost_seconds = persistence, lost_seconds
        # The longest time from a detection to a frame on which it has an effect.
        self.time_window = max(persistence, lost_seconds)
        # scenes: tracks of each scene. open: tracks of the current scene that may get more detections. past: tracks of a camera
        # that ended and were lost in some frames, for report().
        self.scenes, self.open, self.past, self.frame = [[]], [], [], None
        self.widest, self.found, self.without = 0, 0, Spans()

    def add(self, time, boxes, cut=False):
        """Adds the detections of the next frame, and returns its Frame for hidden()."""
        if cut or (self.frame and time < self.frame.time):
            self.scenes.append([])
            self.open = []
        self.frame = Frame(self.frame.number + 1 if self.frame else 0, time, self.scenes[-1])
        self.open = [track for track in self.open if time - track.times[-1] <= self.time_window]
        # Assigns boxes to faces one to one, greedily: nearest pairs first.
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
        """Returns what to hide in a frame that add() has returned. Call hidden() once for each frame, in order."""
        boxes, width, lost = [], 0, False
        for track in frame.scene:
            if not track.times[0] - self.time_window <= frame.time <= track.times[-1] + self.time_window:
                continue
            i = bisect.bisect_right(track.times, frame.time)
            near = [(abs(frame.time - track.times[k]), track.boxes[k]) for k in (i - 1, i) if 0 <= k < len(track.times)]
            # If the face is missed between two detections, it may be anywhere in their common bounding box.
            kept = [box for away, box in near if away <= self.persistence]
            if near[0][0] == 0:
                boxes.append(grown(near[0][1], margin))
            elif kept:
                boxes.append(grown(hull(kept[0], kept[-1]), 2 * margin))
            elif len(track.times) >= least_seen and min(away for away, _ in near) <= self.lost_seconds:
                kept, lost = [box for _, box in near], True
                track.lost.add(frame)
            width = max([width, *(box[2] for box in kept)])
        if not boxes:
            self.without.add(frame)
        return Hidden(boxes, lost, width)

    def forget(self):
        """For cameras: drops the tracks that later frames do not need, but keeps the tracks of lost faces for report()."""
        self.past += [track for scene in self.scenes for track in scene if track.lost.frames and track not in self.open]
        self.scenes[-1][:] = self.open
        del self.scenes[:-1]

    def report(self):
        """Returns lines of text that list the frames without a face and the lost faces."""
        lines = []
        if self.without.frames:
            lines.append(f"{self.without.frames} of {self.frame.number + 1} frames have no face: {self.without}")
        for track in self.past + [track for scene in self.scenes for track in scene]:
            if track.lost.frames:
                x, y, width, height = track.boxes[0]
                lines.append(f"A face, first seen {clock(track.times[0])} at {x + width // 2},{y + height // 2}, is lost: {track.lost}")
        return lines
