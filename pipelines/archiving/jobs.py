# SPDX-License-Identifier: LGPL-2.1-or-later
"""Plans the jobs of archive.py: finds the videos, names the results, and removes unfinished files of earlier runs."""
import collections
import fcntl
import fnmatch
import os
import pathlib
import sys

from archiving.task import Job, unfinished_prefix


def walk(folder, patterns, without):
    """Yields the files below a folder that match a pattern. Skips the folder `without`, hidden files and folders, and pipes
    and devices, which may be endless. Includes unreadable files, so that the report lists them."""
    for path, folders, names in os.walk(folder, onerror=lambda error: sys.exit(f"{error.filename}: {error.strerror}; correct its permissions")):
        folders[:] = sorted(name for name in folders if name[0] != "." and os.path.realpath(os.path.join(path, name)) != without)
        for name in sorted(names):
            film = os.path.join(path, name)
            if (name[0] != "." and any(fnmatch.fnmatch(name.lower(), pattern.lower()) for pattern in patterns)
                    and (os.path.isfile(film) or not os.path.exists(film))):
                yield film


def with_ending(name, ending):
    """Returns the file names of a complete result and of a damaged result."""
    return f"{name}.{ending}", f"{name}.damaged.{ending}"


def results_of(films, ending):
    """Maps videos to the names of their results, in which `ending` replaces the extension. If two videos would share a name,
    such as film.mp4 and film.avi, `ending` is appended instead: film.mp4.mkv."""
    names = {film: os.path.splitext(film)[0] for film in films}
    while True:
        claims = collections.defaultdict(list)
        for film, name in names.items():
            for result in with_ending(name, ending):
                claims[result].append(film)
        disputed = {film for films in claims.values() if len(films) > 1 for film in films if names[film] != film}
        if not disputed:
            return {film: with_ending(name, ending) for film, name in names.items()}
        names.update((film, film) for film in disputed)


def plan(inputs, out, patterns, ending):
    """Returns a job for each video. Below `out`, results have the same subfolders as the videos."""
    out = os.path.realpath(out)
    films = {}
    for name in inputs:
        if os.path.isdir(name):
            if os.path.realpath(name) == out:
                sys.exit(f"{name}: the results would be among the videos; name another folder for the results")
            found = [(film, os.path.relpath(film, name)) for film in walk(name, patterns, out)]
            if not found:
                sys.exit(f"{name}: there is no file that matches {' '.join(patterns)}; set --match")
        elif os.access(name, os.R_OK):
            found = [(name, os.path.basename(name))]
        else:
            sys.exit(f"{name}: there is no such file or folder, or it cannot be read; correct its name or permissions")
        for film, relative in found:
            other = films.setdefault(relative, film)
            if os.path.realpath(other) != os.path.realpath(film):
                sys.exit(f"{other} and {film} would both become {os.path.join(out, relative)}: process them in two runs with different output folders")
    results = {relative: [os.path.join(out, name) for name in names] for relative, names in results_of(films, ending).items()}
    films_themselves = set(map(os.path.realpath, films.values()))
    for result in (name for names in results.values() for name in names):
        if os.path.realpath(result) in films_themselves:
            sys.exit(f"{result}: this is an input itself; name another folder for the results")
    return [Job(os.path.abspath(film), *results[relative]) for relative, film in films.items()]


class Marker:
    """A hidden file in the folder of the results. It holds the description of the pipeline that made the results, is older
    than all complete results, and is locked during a run."""

    def __init__(self, out):
        os.makedirs(out, exist_ok=True)
        self.file = open(os.path.join(out, ".archive"), "a+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"{out}: another archive.py writes to this folder; wait until that program ends, or name another folder")

    def complete(self, job):
        """Returns True if the result exists, is not empty, and is not older than the video and this marker."""
        try:
            made = os.stat(job.output)
        except FileNotFoundError:
            return False
        return made.st_size > 0 and made.st_mtime_ns >= max(os.stat(job.input).st_mtime_ns, os.fstat(self.file.fileno()).st_mtime_ns)

    def begin(self, description, jobs, again):
        """Records the pipeline, and returns the jobs that are complete. If results of another pipeline exist, ends the program
        unless `again` is set."""
        self.file.seek(0)
        before = self.file.read()
        if before != description or again:
            there = next((job.output for job in jobs if os.path.exists(job.output)), None)
            if there and not again:
                origin = f"comes from another pipeline:\n  {before}\n" if before else "was not made by this program. "
                sys.exit(f"{there} {origin}Name another folder for the results, or set --again to replace the existing results.")
            self.file.truncate(0)
            self.file.write(description)
            self.file.flush()
        return {job for job in jobs if self.complete(job)}


def remove_leftovers(jobs):
    """Removes unfinished files of killed runs and processes."""
    for folder in {os.path.dirname(job.output) for job in jobs}:
        if os.path.isdir(folder):
            for name in os.listdir(folder):
                if name.startswith(unfinished_prefix):
                    pathlib.Path(folder, name).unlink(missing_ok=True)
