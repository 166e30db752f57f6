#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures how strong a blur or a mosaic must be to hide the faces in the videos of Debian's opencv-doc. Three OpenCV
cascades, two of Haar features and one of local binary patterns, detect faces before and after hiding. Each hidden face is compared
with all unprocessed faces of other frames by normalised correlation. It is recognised if the best match is the same person.
The blur is OpenCV's, which cudagaussblur reproduces bit for bit. Prints rows for sharp faces and for shares of a face's side."""
import math

import cv2
import numpy

data = "/usr/share/doc/opencv-doc/examples/data/"
haar, lbp = (
    [cv2.CascadeClassifier(f"/usr/share/opencv4/{kind}cascades/{kind}cascade_frontalface_{name}.xml") for name in names]
    for kind, names in (("haar", ("alt2", "default")), ("lbp", ("improved",))))
strengths = [("blur", 1 / n) for n in (12, 10, 8, 6, 5, 4)] + [("mosaic", 1 / n) for n in (24, 16, 12, 8, 6, 5, 4, 3, 2)]


def faces(cascades, gray):
    return [tuple(map(int, face)) for cascade in cascades for face in cascade.detectMultiScale(gray, 1.1, 4, minSize=(24, 24))]


def grown(box, share):
    x, y, w, h = box
    return x - int(w * share), y - int(h * share), w + 2 * int(w * share), h + 2 * int(h * share)


def cut(gray, box):
    x, y, w, h = box
    return gray[max(y, 0):y + h, max(x, 0):x + w]


def hidden(gray, boxes, kind, share):
    """Hides faces as the elements do with region-strength and a margin of a quarter of each face's side."""
    side = max(min(box[2:]) for box in boxes)
    strength = 2 ** (math.ceil(6 * math.log2(share * side)) / 6)
    if kind == "blur":
        processed = cv2.GaussianBlur(gray, (0, 0), min(strength, 127))
    else:
        size, processed = min(max(math.ceil(share * side), int(strength), 2), 256), gray.copy()
        for y in range(0, gray.shape[0], size):
            for x in range(0, gray.shape[1], size):
                block = processed[y:y + size, x:x + size]
                block[:] = int(block.mean() + 0.5)
    out = gray.copy()
    for box in boxes:
        x, y, w, h = grown(box, 1 / 4)
        rows, columns = slice(max(y, 0), y + h), slice(max(x, 0), x + w)
        out[rows, columns] = processed[rows, columns]
    return out


def found_in(cascades, gray, box):
    """Returns the number of detected faces whose centre is in the hidden region."""
    around, (x, y, w, h) = grown(box, 3 / 4), grown(box, 1 / 4)
    left, top = x - max(around[0], 0), y - max(around[1], 0)
    return sum(left <= a + c / 2 < left + w and top <= b + d / 2 < top + h for a, b, c, d in faces(cascades, cut(gray, around)))


def same(one, other):
    """Returns True if two boxes, of one frame or of successive frames, show the same face."""
    (x, y, w, h), (a, b, c, d) = one, other
    return abs(x + w / 2 - a - c / 2) < max(w, c) / 2 and abs(y + h / 2 - b - d / 2) < max(h, d) / 2 and max(w, c) < 2 * min(w, c)


def vector(gray, box):
    patch = cv2.resize(cut(gray, box), (48, 48)).astype(float).ravel()
    patch -= patch.mean()
    return patch / (numpy.linalg.norm(patch) or 1)


def frames():
    for film, step in (("Megamind.avi", 6), ("vtest.avi", 20)):
        film, number = cv2.VideoCapture(data + film), 0
        while (read := film.read())[0]:
            if number % step == 0:
                yield cv2.cvtColor(read[1], cv2.COLOR_BGR2GRAY)
            number += 1


def main():
    found = {strength: [0, 0] for strength in strengths}
    probes = {strength: [] for strength in strengths}
    gallery, people, numbers, before, person = [], [], [], [], 0
    for number, gray in enumerate(frames()):
        boxes, now = faces(haar + lbp, gray), []
        for box in boxes:
            known = [name for other, name in before + now if same(box, other)]
            person += not known
            now.append((box, known[0] if known else person))
            gallery.append(vector(gray, box))
            people.append(now[-1][1])
            numbers.append(number)
        before = now
        for strength in strengths if boxes else ():
            out = hidden(gray, boxes, *strength)
            for i, cascades in enumerate((haar, lbp)):
                found[strength][i] += sum(found_in(cascades, out, box) for box in boxes)
            probes[strength] += [vector(out, box) for box in boxes]
    people, numbers = numpy.array(people), numpy.array(numbers)
    print(f"{len(people)} faces of {person} people in {len(set(numbers))} frames")
    others = [numbers != number for number in numbers]
    several = [i for i, other in enumerate(others) if (people[other] == people[i]).any()]
    chance = numpy.mean([(people[others[i]] == people[i]).mean() for i in several])
    for strength in (None, *strengths):
        vectors = probes[strength] if strength else gallery
        matches = numpy.array(gallery) @ numpy.array(vectors).T
        right = numpy.mean([people[numpy.where(others[i], matches[:, i], -2).argmax()] == people[i] for i in several])
        name = f"{strength[0]} 1/{1 / strength[1]:.0f}: {found[strength][0]} by Haar, {found[strength][1]} by LBP" if strength else "sharp"
        print(f"{name}; recognised {right:.2f}, by chance {chance:.2f}", flush=True)


if __name__ == "__main__":
    main()
