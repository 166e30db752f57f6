# SPDX-License-Identifier: LGPL-2.1-or-later
"""The cameras and files that the page offers. Only files below one folder are reachable."""
import glob
import mimetypes
import os
import stat

from explore.inputs import Unusable

max_listed = 1000
more_films = ".ts", ".m2ts", ".mts", ".y4m"  # unknown to Python's mimetypes


class Folder:
    def __init__(self, top):
        self.top = os.path.realpath(top)

    def path(self, name):
        """Resolves symbolic links. Raises Unusable for paths that lead out of the folder, are hidden or cannot be read."""
        try:
            path = os.path.realpath(os.path.join(self.top, name))
            inside = os.path.relpath(path, self.top)
        except ValueError:  # zero bytes
            raise Unusable("There is no such file or folder.") from None
        # Missing and forbidden paths get the same message, so that messages do not reveal which files exist.
        if (inside != "." and any(part.startswith(".") for part in inside.split(os.sep))) or not os.access(path, os.R_OK):
            raise Unusable("There is no such file or folder below the folder in which explore.py was started.")
        return path

    def is_kind(self, name, kind):
        try:
            return kind(os.stat(self.path(name)).st_mode)
        except (Unusable, OSError):
            return False

    def list(self, name):
        """Returns the cameras, and the subfolders, videos and pictures of a folder as paths relative to the top folder."""
        path = self.path(name)
        if not os.path.isdir(path):
            raise Unusable(f"{name} is not a folder.")
        inside = os.path.relpath(path, self.top)
        names = [os.path.normpath(os.path.join(inside, one)) for one in sorted(os.listdir(path)) if not one.startswith(".")][:max_listed]
        return {"folder": "" if inside == "." else inside, "cameras": cameras(),
                "folders": [one for one in names if self.is_kind(one, stat.S_ISDIR)],
                "files": [one for one in names if is_watchable(one) and self.is_kind(one, stat.S_ISREG)]}

    def input(self, name):
        """Returns the name of a camera, or the path of a file below the folder; raises Unusable for other names."""
        if name in cameras():
            return name
        if not self.is_kind(name, stat.S_ISREG):
            raise Unusable("There is no such file below the folder in which explore.py was started, and no such camera.")
        return self.path(name)


def is_watchable(name):
    return (mimetypes.guess_type(name)[0] or "").startswith(("image/", "video/")) or name.lower().endswith(more_films)


def cameras():
    return sorted(name for name in glob.glob("/dev/video*") if os.access(name, os.R_OK))
