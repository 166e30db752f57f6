# SPDX-License-Identifier: LGPL-2.1-or-later
"""Guard of the sizes: the lines of rooms and files, and the number of files in a folder. budgets.txt lists rooms and exceptions."""
from guard import guard

FILES, LINES = 25, 400
SOURCES = (".cpp", ".h", ".cu", ".cuh", ".py", ".sh")


def room_of(name):
    """Returns the room of a file: the folder directly below cuda/, gst/ or tests/ that contains it."""
    return "/".join(name.split("/")[:2])


def sizes(tree):
    """Returns the number of lines of each source, by name."""
    names = tree.names("cuda/**/*.*", "gst/**/*.*", "tests/**/*.*")
    return {name: tree.text(name).count("\n") for name in names if name.endswith(SOURCES)}


def budgets(tree):
    """Returns the limits in budgets.txt, by kind (room, folder or file) and name."""
    rows = [row.split() for row in tree.text("tests/guards/budgets.txt").splitlines() if row and not row.startswith("#")]
    return {(kind, name): int(number) for kind, name, number in rows}


@guard("rooms, folders and files keep their budgets", alone=True)
def rooms(tree):
    limits, found, wrong = budgets(tree), {}, []
    for name, lines in sizes(tree).items():
        if name.count("/") > 1:
            found["room", room_of(name)] = found.get(("room", room_of(name)), 0) + lines
        folder = ("folder", name.rsplit("/", 1)[0])
        found[folder] = found.get(folder, 0) + 1
        found["file", name] = lines
    usual = {"folder": FILES, "file": LINES}
    for (kind, name), number in found.items():
        limit = limits.get((kind, name), usual.get(kind, 0))
        unit = "files" if kind == "folder" else "lines"
        if number > limit:
            wrong.append(f"the {kind} {name} has {number} {unit}, its budget is {limit}")
    wrong += [f"budgets.txt names the {kind} {name}, which needs no entry" for kind, name in limits
              if (kind, name) not in found or found[kind, name] <= usual.get(kind, -1)]
    return ", ".join(wrong)
