"""Ranks that hold the same elements compare them before a checkpoint becomes valid: one flipped bit ends the run, with
a message that names rank and tensor."""

import cases
import program

RUNS = {"dp 4": ({"dp": 4}, "rank 2 holds different elements of '{}' than ranks 0, 1, 3"), "tp 2": ({"tp": 2}, "ranks 0, 1 hold different elements of '{}'")}
NAMES = ("model.transformer.ln_f.weight", "m/model.transformer.ln_f.weight", "v/model.transformer.ln_f.bias")  # tp does not split them


def find_flips(name, options=()):
    """Complaints of a run with a checkpoint every third step, a bit of which flips in step 6: in one before, rounding may take it away."""
    def check(setting):
        fields, words = RUNS[name]
        case = cases.Case("gpt2-tiny", "loss", "adamw", **fields)
        checkpoints = setting.scratch / name.replace(" ", "-") / "ck"
        made = program.Program.of_case(setting, case, program.read_trace(setting, case), name.replace(" ", "-"),
                                       checkpoint={"dir": checkpoints, "every": 3, "keep": 0})
        made.train(7, *options)  # nothing is said where nothing is wrong
        rank = fields.get("dp", 2) // 2
        for tensor in NAMES:
            for folder in sorted(checkpoints.glob("step-*"))[1:]:
                program.run(["rm", "-r", folder])
            said = made.train(7, *options, "--resume", "auto", "--inject-fault", f"{rank}:6:{tensor}=flip", expect=5)
            if f"error: the checkpoint of step 6 was not written: {words.format(tensor)}" not in said:
                yield f"a bit of '{tensor}' on rank {rank} flips: {said[-400:]}"
            left = sorted(path.name for path in checkpoints.glob("step-*"))
            if left != ["step-00000003"]:
                yield f"then there are {left}"
    return check


def list_checks(all_of_them):
    return [("checkpoints: a flipped bit of a replica, dp 4", find_flips("dp 4")), ("checkpoints: a flipped bit of a replica, tp 2", find_flips("tp 2", ("--processes",)))] \
        if all_of_them else [("checkpoints: a flipped bit of a replica, dp 4", find_flips("dp 4"))]
