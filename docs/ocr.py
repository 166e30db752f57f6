#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the words that tesseract finds on a noisy page in uneven light after different thresholds.

usage: meson devenv -C build ../docs/ocr.py [FOLDER]

Draws 260 words of COPYING as a camera sees a page in bad light, and prints the table of
docs/elements/cudathreshold.md. Needs the packages tesseract-ocr, python3-numpy, python3-pil and
fonts-dejavu-core. The pages are kept in FOLDER.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy
from PIL import Image, ImageDraw, ImageFilter, ImageFont

WIDTH, HEIGHT, MARGIN = 1240, 1400, 110  # the upper part of A4 at 150 dots per inch
LINE, LETTER = 46, 29  # pixels
WORDS = 260
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"
SIZES = (0, 5, 10)
METHODS = (
    ("Otsu", None),
    ("`bradley`, the defaults", ""),
    ("`bradley`, `radius=20`", "radius=20"),
    ("`sauvola`, `radius=20`", "method=sauvola radius=20"),
    ("`sauvola`, `radius=20 k=0.3 range=64`", "method=sauvola radius=20 k=0.3 range=64"),
)


def text():
    """Returns words of COPYING that consist of letters, and perhaps a dot or comma at the end."""
    copying = pathlib.Path(__file__).resolve().parent.parent / "COPYING"
    words = re.findall(r"(?<!\S)[A-Za-z]+[.,]?(?!\S)", copying.read_text(encoding="ascii"))
    return words[20:20 + WORDS]


def page(words):
    """Draws the page, lit by a lamp at the upper left. Below the text, the paper is empty and dark."""
    image = Image.new("L", (WIDTH, HEIGHT), 255)
    draw, font = ImageDraw.Draw(image), ImageFont.truetype(FONT, LETTER)
    line, y = "", MARGIN
    for word in [*words, None]:
        longer = f"{line} {word}".strip()
        if word is None or draw.textlength(longer, font) > WIDTH - 2 * MARGIN:
            draw.text((MARGIN, y), line, 0, font)
            line, y = word, y + LINE
        else:
            line = longer
    ink = 1 - numpy.asarray(image.filter(ImageFilter.GaussianBlur(0.8)), float) / 255
    rows, columns = numpy.mgrid[:HEIGHT, :WIDTH]
    light = 30 + 195 / (1 + numpy.exp((columns / WIDTH + rows / HEIGHT - 1.4) / 0.2))
    noise = numpy.random.default_rng(1).normal(0, 1, ink.shape)
    picture = light * (1 - 0.75 * ink)
    return numpy.clip(numpy.rint(picture + noise * (3 + 0.05 * picture)), 0, 255).astype(numpy.uint8)


def otsu(picture):
    """Returns the picture in black and white, by the threshold that separates the two classes of levels best."""
    counts = numpy.bincount(picture.ravel(), minlength=256).astype(float)
    below, sums = counts.cumsum(), (counts * numpy.arange(256)).cumsum()
    above = below[-1] - below
    with numpy.errstate(divide="ignore", invalid="ignore"):
        between = below * above * (sums / below - (sums[-1] - sums) / above) ** 2
    return numpy.where(picture > numpy.nanargmax(between), 255, 0).astype(numpy.uint8)


def binarise(name, out, properties):
    subprocess.run(["gst-launch-1.0", "-q", "filesrc", f"location={name}", "!", "pngdec", "!", "cudathreshold",
                    *properties.split(), "!", "pngenc", "!", "filesink", f"location={out}"], check=True)


def score(name, words):
    """Returns how many words tesseract finds correctly and in their order, and how many words it finds."""
    found = subprocess.run(["tesseract", name, "-", "--dpi", "150"], check=True, capture_output=True, encoding="utf-8",
                           env={**os.environ, "OMP_THREAD_LIMIT": "1"}).stdout.split()
    matcher = difflib.SequenceMatcher(None, words, found, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()), len(found)


def main(folder):
    words = text()
    name = folder / "page.png"
    picture = page(words)
    Image.fromarray(picture).save(name)
    print(f"| threshold | {' | '.join(f'`speckle-size={size}`' for size in SIZES)} |\n|---|{'---|' * len(SIZES)}")
    for title, properties in METHODS:
        cells = []
        for size in SIZES:
            if properties is None and size > 0:
                cells.append("")
                continue
            out = folder / f"{re.sub('[^a-z0-9=.]+', '-', title.lower())}-{size}.png"
            if properties is None:
                Image.fromarray(otsu(picture)).save(out)
            else:
                binarise(name, out, f"{properties} speckle-size={size}")
            right, found = score(out, words)
            cells.append(f"{right} of {found}")
        print(f"| {title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        sys.exit(__doc__.strip())
    if len(sys.argv) == 2:
        pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
        main(pathlib.Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(pathlib.Path(temporary))
