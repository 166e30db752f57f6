# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reports the outcome of each video on the terminal and in a JSON file."""
import json
import os
import statistics
import sys
import time


def entries(jobs):
    return [{"input": job.input, "output": job.output} for job in jobs]


class Report:
    """The report on the terminal and in a file. The file is updated during the run, so it is useful even if the run is killed."""

    def __init__(self, file, description, jobs, skipped):
        self.file, self.start = file, time.monotonic()
        self.jobs = jobs
        # "interrupted" is null until close().
        self.contents = {"pipeline": description, "backend": None, "interrupted": None, "written": [], "damaged": [], "failed": [],
                         "unfinished": [], "skipped": entries(job for job in jobs if job in skipped)}
        self.reported = set(skipped)
        self.bar, self.seconds = None, {}
        self.next_save = self.start

    def begin(self, tqdm, lengths, backend):
        """Shows the progress bar, weighted by duration. `lengths` maps jobs to durations in seconds (None if unknown). Returns
        the jobs, longest first, so that no long video runs alone at the end while other GPUs are idle."""
        known = [seconds for seconds in lengths.values() if seconds]
        average = statistics.fmean(known) if known else 1
        self.seconds = {job: seconds or average for job, seconds in lengths.items()}
        self.contents["backend"] = backend
        # disable=None: shows the bar on a terminal only.
        self.bar = tqdm(total=sum(self.seconds.values()), disable=None, dynamic_ncols=True,
                        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left")
        self.progress()
        self.save()
        return sorted(self.seconds, key=lambda job: -self.seconds[job])

    def progress(self):
        counts = "".join(f", {len(self.contents[kind])} {kind}" for kind in ("damaged", "failed") if self.contents[kind])
        self.bar.set_description_str(f"{len(self.reported)} of {len(self.jobs)} files{counts}")

    def say(self, text, file=sys.stdout):
        if self.bar is not None:
            self.bar.write(text, file=file)
        else:
            print(text, file=file)
        file.flush()

    def add(self, job, attempts, result):
        """Reports the final result of a job."""
        self.reported.add(job)
        entry = {"input": job.input, "output": job.output, "attempts": attempts,
                 **{key: value for key, value in result.items() if key != "stop"}}
        if "error" in result:
            self.contents["failed"].append(entry)
            self.say(f"{job.input}: {result['error']}", sys.stderr)
        elif "damage" in result:
            self.contents["damaged"].append({**entry, "output": job.damaged})
            self.say(f"{job.input}: {result['damage']} (result: {job.damaged})", sys.stderr)
        else:
            self.contents["written"].append(entry)
            if self.bar.disable:
                self.say(f"[{len(self.reported)}/{len(self.jobs)}] {job.output}")
        self.bar.update(self.seconds[job])
        self.progress()
        if time.monotonic() >= self.next_save:
            self.save()

    def save(self):
        """Replaces the file atomically. Returns the error if it cannot be written, otherwise None."""
        begin = time.monotonic()
        self.contents["unfinished"] = entries(job for job in self.jobs if job not in self.reported)
        self.contents["seconds"] = round(begin - self.start, 3)
        new = f"{self.file}.new"
        try:
            with open(new, "w") as file:
                json.dump(self.contents, file, indent=1)
                file.write("\n")
            os.replace(new, self.file)
        except OSError as error:
            return error
        finally:
            # Limits writing to about a twentieth of the run time, because a long report takes long to write.
            end = time.monotonic()
            self.next_save = end + max(1, 20 * (end - begin))
        return None

    def close(self, interrupted):
        """Writes the report and returns the exit status."""
        if self.bar is not None:
            self.bar.close()
        contents = self.contents
        contents["interrupted"] = interrupted
        error = self.save()
        counts = [(f"{len(contents['written'])} written", True), (f"{len(contents['skipped'])} already complete", contents["skipped"]),
                  (f"{len(contents['damaged'])} damaged", contents["damaged"]), (f"{len(contents['failed'])} failed", contents["failed"]),
                  (f"{len(contents['unfinished'])} left", contents["unfinished"])]
        print(", ".join(text for text, shown in counts if shown) + (f"; {self.file} has the details" if not error else ""), flush=True)
        if error:
            print(f"The report cannot be written: {error}; set --report to another file", file=sys.stderr, flush=True)
        if interrupted:
            return 130
        return int(bool(error or contents["damaged"] or contents["failed"] or contents["unfinished"]))
