"""A power cut at any moment of a run that writes checkpoints: of what the disk may have then (disk.py), the newest checkpoint that was
finished is whole, and a run goes on from it. And while old ones go, one that is whole is always there.

Whether it is whole is told here by its bytes, at every call and in every view. Of all that differ, programs are started in some, or in
all of them, and have to take the one that is told and to end with the bits of a run that nothing disturbed.
"""

import itertools
import pathlib
import shutil

import checkpoint_calls
import disk
import program

MANIFEST = "checkpoint.json"
STEPS = 6  # of the run that is cut: three checkpoints
DICE = 3  # views in which each name is there or not, of each call
MORE = 8  # until here goes what follows


def is_of_step(name):
    return name.startswith("step-")


def step_of(name):
    return int(name.removeprefix("step-").removesuffix(".before"))


class History:
    """What the calls of a run make of a disk."""

    def __init__(self, before, calls, ck):
        self.before, self.calls, self.ck = before, calls, ck
        self.due = {}  # number of a call: the newest step of the checkpoints that are finished behind it
        self.contents = set()  # of all checkpoints
        self.follow()

    def follow(self):
        """A checkpoint is finished where the folder of all was synced behind its manifest, or, should that be left out, where the run goes
        on to another or takes one away."""
        state, published, newest = disk.Disk(self.before), None, 0
        for name, files in self.checkpoints(state.view("now")).items():
            self.contents.add(disk.digest(files))
            newest = max(newest, step_of(name))
        for number, call in enumerate(self.calls, 1):
            state.do(call)
            where = pathlib.PurePath(call.other or call.path)
            if published and (call == disk.Call("fsync", self.ck) or call.what in ("mkdir", "unlink", "rmdir")):
                newest, published = max(newest, published), None
            if call.what == "rename" and where.name == MANIFEST:
                published = step_of(where.parent.name)
                self.contents.add(disk.digest(self.checkpoints(state.view("now"))[where.parent.name]))
            self.due[number] = newest
        self.due[len(self.calls)] = max(newest, published or 0)

    def checkpoints(self, view):
        """{name: files} of the folders that have a manifest, as `--resume auto` looks at them."""
        names = view.get(self.ck, {})
        return {name: names[name] for name in sorted(filter(is_of_step, names), key=lambda name: (-step_of(name), name)) if MANIFEST in names[name]}

    def is_whole(self, files):
        return disk.digest(files) in self.contents

    def views(self, dice):
        """(call's number, name, view) of each call and each thing that the disk may have behind it."""
        state = disk.Disk(self.before)
        for number, call in enumerate(self.calls, 1):
            state.do(call)
            for how in disk.VIEWS:
                for seed in range(dice if how == "some" else 1):
                    yield number, f"{how} {seed}" if how == "some" else how, state.view(how, (number, seed).__hash__())

    def complaints(self, dice=DICE, most=5):
        """The first of them."""
        return itertools.islice(self.find_complaints(dice), most)

    def find_complaints(self, dice):
        """Of what may be on the disk: the newest that is finished has to be whole, or a newer one, and each that has a manifest."""
        for number, how, view in self.views(dice):
            where = f"behind call {number} of {len(self.calls)}, {self.calls[number - 1]}, '{how}'"
            found = self.checkpoints(view)
            whole = [step_of(name) for name in found if self.is_whole(found[name])]
            if max(whole, default=0) < self.due[number]:
                yield f"{where}: the checkpoint of step {self.due[number]} is finished, whole are {whole}"
            yield from (f"{where}: {name} has a manifest, and is not whole" for name in found if not self.is_whole(found[name]))


class Watched(checkpoint_calls.Watched):
    """A program whose runs are followed."""

    def follow(self, steps, *options):
        """The history of a run; what it began with is kept."""
        before, trace = self.program.folder / "before", self.program.folder / "trace"
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(self.disk, before)
        trace.unlink(missing_ok=True)
        code, said, _ = self.run(steps, "followed", *options, FILE_CALLS_TRACE=trace)
        if code:
            raise program.CommandFailed(f"ended with {code}: {said}")
        return History(before, disk.read_calls(trace, self.disk), self.checkpoints.name)

    def goes_on(self, history, view, where):
        """Complaints about a run on what a disk may have: which checkpoint it takes, and how it ends."""
        place = self.program.folder / "cut"
        shutil.rmtree(place, ignore_errors=True)
        disk.write(view, place)
        found = history.checkpoints(view)
        taken = next((name for name in found if history.is_whole(found[name])), None)
        words = [self.program.path, "--steps", MORE, "--resume", "auto", "--checkpoint-dir", place / history.ck,
                 "--save", self.program.folder / "cut.safetensors", *self.options]
        try:
            said = program.run(words)
        except program.CommandFailed as problem:
            yield f"{where}: {problem}"
            return
        if (f"resumes {place / history.ck / taken}: " if taken else "resumes ") not in said if taken else "resumes " in said:
            yield f"{where}: {taken or 'none'} is the newest that is whole, and the run says {said[:400]}"
        if self.saved("cut") != self.saved("whole"):
            yield f"{where}: other bits at the end"


def cut(name, background, places):
    """A run from nothing on, and one that writes the checkpoint of a step again: the older steps aside."""
    def check(setting):
        watched = Watched(setting, name, background)
        watched.run(MORE, "whole")
        watched.clear()
        seen = {}
        for steps, *options in ((STEPS,), (STEPS, "--checkpoint-now")):
            history = watched.follow(steps, *options)
            yield from history.complaints()
            for number, how, view in history.views(DICE):
                seen.setdefault(disk.digest(view), (history, view, f"{options} behind call {number}, {history.calls[number - 1]}, '{how}'"))
        for at in checkpoint_calls.chosen(len(seen), places):
            yield from watched.goes_on(*list(seen.values())[at - 1])
    return check


def without(calls, what, path, behind=()):
    """Calls but for those of a kind whose path ends so; `behind`: only those which directly follow one of these kinds."""
    return [call for before, call in zip([disk.Call("", ""), *calls], calls)
            if not (call.what == what and call.path.endswith(path) and (not behind or before.what in behind))]


def left_out(setting):
    """Each sync that is left out, and a removal that comes too early, is seen."""
    watched = Watched(setting, "two threads", "off")
    history = watched.follow(STEPS)
    step, ck = f"{history.ck}/step-{STEPS:08}", history.ck
    calls = history.calls
    temporary = [call.path for call in calls if call.what == "rename"]
    contents = {call.other.rpartition("/")[2]: call.path for call in calls if call.what == "rename" and call.other.startswith(step)}
    published = next(at for at, call in enumerate(calls) if call.what == "rename" and call.other == f"{step}/{MANIFEST}")
    gone = [call for call in calls[published:] if call.what in ("unlink", "rmdir")]
    broken = {f"the contents of {name} are not synced": without(calls, "fsync", path) for name, path in contents.items()}
    broken |= {
        "the folder of a step is not synced": without(calls, "fsync", step),
        "the folder of a step is not synced before its manifest": without(calls[:published], "fsync", step) + calls[published:],
        "the folder of checkpoints is not synced": without(calls, "fsync", ck),
        "what the folder of checkpoints is in is not synced": without(calls, "fsync", "."),
        "a manifest that goes is not synced": without(calls, "fsync", f"step-{STEPS - 2:08}", ("unlink",)),
        "an old one goes first": calls[:published] + gone + [call for call in calls[published:] if call not in gone],
    }
    if not temporary or not gone:
        yield "nothing is renamed or removed"
    yield from history.complaints()
    for name, others in broken.items():
        if len(others) == len(calls) and others == calls:
            yield f"{name}: no call is one of these"
        if not any(History(history.before, others, ck).complaints(dice=20)):
            yield f"{name}, and nothing is seen"


def one_is_always_whole(setting):
    """While `keep` and `keep_every` let checkpoints go."""
    watched = Watched(setting, "one rank", "off", {"every": 5, "keep": 2, "keep_every": 10})
    history = watched.follow(50)
    yield from history.complaints()
    removed = {pathlib.PurePath(call.path).name for call in history.calls if call.what == "rmdir"}
    if removed != {f"step-{step:08}" for step in (5, 15, 25, 35)}:
        yield f"removed were {removed}"
    begin = next(number for number, due in history.due.items() if due)
    for number, how, view in history.views(1):
        found = history.checkpoints(view)
        if number >= begin and not any(map(history.is_whole, found.values())):
            yield f"behind call {number}, {history.calls[number - 1]}, '{how}': none is whole"


def list_checks(all_of_them):
    checks = [(f"checkpoints: a power cut, {name}, {background}", cut(name, background, 0 if all_of_them else 12))
              for name, background in (("one rank", "off"), ("one rank", "direct"), ("eight threads", "off"), ("eight threads", "direct"))
              if all_of_them or (name, background) in (("one rank", "off"), ("eight threads", "direct"))]
    return checks + [("checkpoints: a power cut, syncs that are left out are seen", left_out), ("checkpoints: one is always whole", one_is_always_whole)]
