#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""screenshots.py BUILD FOLDER: writes the screenshots that docs/explore.md shows into a folder: explore-stereo.jpg,
explore-film.jpg and explore-phone.jpg."""
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from browser import Explored, middle, painted  # noqa: E402  pylint: disable=wrong-import-position
from harness import Place, examples  # noqa: E402  pylint: disable=wrong-import-position


def main():
    build, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:])
    scratch = pathlib.Path(tempfile.mkdtemp(prefix="cudavision-screenshots-"))
    try:
        for name, arguments in (("stereo", ["preset=dense"]), ("film", ["--element", "cudahistequalize", examples / "vtest.avi", "method=clahe", "clip-limit=3"])):
            with Explored(Place(build, scratch), *arguments) as explored:
                page = explored.page
                page.resize(1200, 760)
                painted(page)
                page.hover(middle(page, 0.62, 0.6))
                time.sleep(25 if name == "stereo" else 12)  # until the curves show some history
                page.screenshot(folder / f"explore-{name}.jpg", format="jpeg", quality=68)
                if name == "film":
                    page.resize(390, 844, True)
                    time.sleep(2)  # until pictures of the new size arrive
                    page.screenshot(folder / "explore-phone.jpg", format="jpeg", quality=68)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


if __name__ == "__main__":
    main()
