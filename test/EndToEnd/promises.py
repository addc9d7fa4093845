"""The properties of a compiled program besides correct numbers: the same bits, the planned bytes, clean ends, no
dependences.

Each check takes the setting and returns complaints; PROMISES names them. Most train gpt2-tiny's loss.onnx, sharded in
small buckets, on a few ranks.
"""

import fnmatch
import json
import os
import pathlib
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

import cases
import compare
import files
import program
import renumber

LAYOUT = ("dp", "stage", "micro_batches", "shard", "pp", "tp", "sequence_parallel", "schedule")
GPT = ("gpt2-tiny", "loss", "sgd")
MLP = ("mlp", "logits", "sgd")


class Skipped(Exception):
    """The check cannot be made here; the text says why."""


def make(setting, name, model=GPT, **layout):
    """A model in a layout; keys of the spec that are not of the layout replace the case's own."""
    fields = {key: layout.pop(key) for key in LAYOUT if key in layout}
    case = cases.Case(*model, **fields)
    return program.Program.of_case(setting, case, program.read_trace(setting, case), name, **layout)


# dp, a name of cases.PRECISIONS, ZeRO stages: each stage meets each dp, each precision meets the stage that has most to shard of what is
# its own (masters and states from 1, gradients from 2, parameters in 3), and one has all four.
SHARDED = [(4, "fp32", (0, 1, 2, 3)), (2, "bf16", (0, 1, 3)), (2, "narrow", (0, 2)), (4, "stochastic", (0, 3)), (4, "crossing", (0, 2))]


def same_bits_in_all_stages(setting):
    """Same dp, one micro-batch, no clipping: sharding changes where things are, not what is computed."""
    for dp, precision, stages in SHARDED:
        reference = None
        for stage in stages:
            trained = make(setting, f"bits-{dp}-{stage}-{precision}", dp=dp, stage=stage, precision=cases.PRECISIONS[precision])
            trained.train(8)
            reference = reference or trained.bits()
            if trained.bits() != reference:
                yield f"{precision}, dp {dp}: stage {stage} differs from stage {stages[0]}"


def small_updates_are_kept(setting):
    """Without a master, updates far below half a unit in the last place are lost by rounding to nearest; by random bits
    parameters move as far as their master would, on average."""
    moved = {}
    for name, precision in (("master", {"compute": "bf16"}),
                            ("nearest", {"compute": "bf16", "master": "none", "rounding": "nearest"}),
                            ("stochastic", {"compute": "bf16", "master": "none"})):
        trained = make(setting, f"small-{name}", MLP, dp=2, precision=precision, optimizer={"type": "sgd", "lr": 3e-4})
        trained.train(1, "--lr", "0", tag="before")
        trained.train(40)
        before, after = trained.parameters("before"), trained.parameters()
        moved[name] = [now - then for key in sorted(before) for now, then in zip(after[key][1], before[key][1])]
    length = sum(step * step for step in moved["master"])
    along = {name: sum(a * b for a, b in zip(steps, moved["master"])) / length for name, steps in moved.items()}
    if not (along["nearest"] < 0.5 and abs(along["stochastic"] - 1) < 0.15):
        yield f"of the way that masters move, parameters go {along['nearest']:.3f} to nearest and {along['stochastic']:.3f} by random bits"


def same_bits_in_two_runs(setting):
    for mesh in (dict(), dict(pp=2, tp=2)):
        trained = make(setting, f"twice-{len(mesh)}", dp=2, stage=3, micro_batches=2, runtime={"threads_per_rank": 2},
                       **mesh)
        for tag in ("first", "second"):
            trained.train(20, tag=tag)
        if trained.bits("first") != trained.bits("second"):
            yield f"two runs of one program differ {mesh}"


def same_bits_with_any_threads(setting):
    """Threads share rows, columns and chunks of sums: which does what changes neither losses nor the norm that clips."""
    for precision in ("fp32", "bf16"):
        reference = None
        for threads in (1, 2, 3):
            trained = make(setting, f"threads-{threads}-{precision}", runtime={"threads_per_rank": threads},
                           precision=cases.PRECISIONS[precision], optimizer={"type": "adamw", "lr": 1e-3, "clip_norm": 0.1})
            if "in parts" not in trained.path.read_bytes().decode("latin-1"):
                yield f"{precision}: no norm is made in parts"
            trained.train(20)
            reference = reference or trained.bits()
            if trained.bits() != reference:
                yield f"{precision}: {threads} threads differ from one"


def check_changes_nothing(setting):
    """--check poisons what is not live; a program that read it would get other losses."""
    for stage in (0, 3):
        trained = make(setting, f"check-{stage}", dp=2, stage=stage, micro_batches=2, pp=1 + stage // 3, tp=1 + stage // 3)
        trained.train(10, tag="plain")
        trained.train(10, "--check", tag="checked")
        if trained.bits("plain") != trained.bits("checked"):
            yield f"stage {stage}: --check changes what is computed"


def bytes_are_as_planned(setting):
    """Arenas and messages, counted where memory is mapped and read, for every stage and for hybrid sharding."""
    for layout in ([dict(dp=4, stage=stage) for stage in range(4)] + [dict(dp=4, stage=3, shard=2)] +
                   [dict(dp=2, stage=stage, pp=2, micro_batches=2) for stage in (0, 3)] +
                   [dict(dp=2, stage=stage, pp=2, tp=2, micro_batches=2, sequence_parallel=stage == 3)
                    for stage in (1, 3)]):
        trained = make(setting, "bytes-" + "-".join(map(str, layout.values())), **layout)
        trained.train(3, "--stats", trained.folder / "run.stats")
        yield from (f"{layout}: {complaint}" for complaint in compare.compare_stats(trained.stats()))
        if trained.stats()["arena"]["used"] == 0:
            yield f"{layout}: no arena was counted"


def faults_end_the_job(setting):
    """A rank that fails stops the others within a second: exit 5, one message with rank, step and action."""
    trained = make(setting, "fault", dp=4, stage=3)
    trained.train(2, "--profile", trained.folder / "trace.json")
    events = json.loads((trained.folder / "trace.json").read_text())["traceEvents"]
    action = next(event["name"] for event in events if event.get("cat") == "run" and "update" in event["name"])
    begin = time.monotonic()
    said = trained.train(1000, "--inject-fault", f"1:3:{action}", expect=5)
    steps = len(trained.log())
    if time.monotonic() - begin > 2:  # three steps of milliseconds, and the second
        yield f"took {time.monotonic() - begin:.1f} s to end after a fault in step 3"
    if "rank 1" not in said or "step 3" not in said or action not in said:
        yield f"the message names not all of rank 1, step 3 and '{action}': {said[-300:]}"
    if steps not in (2, 3):  # rank 0 may have ended step 3 before rank 1 fails in it
        yield f"{steps} steps were finished before a fault in step 3"
    said = program.run([trained.path, "--steps", "3", "--inject-fault", "1:3:nothing"], expect=1)
    if "there is no action 'nothing'" not in said:
        yield f"an action that does not exist: {said[-300:]}"


COMPOSED = dict(dp=2, pp=2, tp=2, stage=3, micro_batches=2, sequence_parallel=True)


def composed_runs_give_the_same_bits(setting):
    for schedule in ("1f1b", "zb-v"):
        trained = make(setting, f"composed-twice-{schedule}", schedule=schedule, **COMPOSED)
        for tag in ("first", "second"):
            trained.train(10, tag=tag)
        if trained.bits("first") != trained.bits("second"):
            yield f"{schedule}: two runs of one program differ"


def composed_faults_end_the_job(setting):
    """A fault at actions all over the step, on each rank in turn: the whole program ends within a second, with one message."""
    trained = make(setting, "composed-fault", **COMPOSED)
    trained.train(2, "--profile", trained.folder / "trace.json")
    events = json.loads((trained.folder / "trace.json").read_text())["traceEvents"]
    draw = random.Random(5)
    for rank in range(8):
        names = sorted({event["name"] for event in events if event["pid"] == rank and
                        event.get("cat") in ("run", "transfer")})  # what a unit exchanges inside has no fault of its own
        action = draw.choice(names)
        begin = time.monotonic()
        said = trained.train(1000, "--inject-fault", f"{rank}:2:{action}", expect=5)
        if time.monotonic() - begin > 2:  # two steps of milliseconds, and the second
            yield f"rank {rank}, '{action}': took {time.monotonic() - begin:.1f} s to end"
        if said.count("error:") != 1 or f"rank {rank}" not in said or action not in said:
            yield f"rank {rank}, '{action}': {said[-300:]}"


def faults_in_compositions_end_the_job(setting):
    """A rank that fails where others wait for it, in a transfer or in a collective inside a unit: the whole job ends
    within a second, with one message."""
    trained = make(setting, "fault-stages", dp=1, stage=0, pp=2, tp=2, micro_batches=2)
    trained.train(2, "--profile", trained.folder / "trace.json")
    events = json.loads((trained.folder / "trace.json").read_text())["traceEvents"]
    for rank, kind in ((0, "transfer"), (3, "transfer"), (1, "run")):
        label = next(event["name"] for event in events if event.get("cat") == kind and event["pid"] == rank)
        begin = time.monotonic()
        said = trained.train(1000, "--inject-fault", f"{rank}:3:{label}", expect=5)
        if time.monotonic() - begin > 2:
            yield f"took {time.monotonic() - begin:.1f} s to end after a fault at '{label}'"
        if said.count("error:") != 1 or f"rank {rank}, step 3, action '{label}'" not in said:
            yield f"not one message with rank {rank}, step 3 and '{label}': {said[-300:]}"


STREAMED = ([dict(dp=1, stage=0, micro_batches=3)] + [dict(dp=4, stage=stage, micro_batches=2) for stage in (1, 3)] +
            [dict(dp=4, stage=2, shard=2), dict(dp=1, stage=0, pp=4, micro_batches=6), dict(dp=1, stage=0, tp=4),
             dict(dp=2, pp=2, stage=2, micro_batches=4, schedule="zb-h1"), COMPOSED, dict(COMPOSED, schedule="zb-v")])


# Messages have windows: their bytes to themselves for longer.
WINDOWS = {"threads_per_rank": 1, "overlap": "threads"}


def streams_give_the_same_bits(setting):
    """Streams on threads of their own, and windows, change when things happen and where they lie, not what is computed or
    moved; and what is held is what was planned."""
    for number, layout in enumerate(STREAMED):
        plain, windowed = make(setting, f"streams-{number}", **layout), make(setting, f"windows-{number}", **layout, runtime=WINDOWS)
        plain.train(5, tag="inline")
        for trained, orders in ((plain, ("threads",)), (windowed, ("threads", "inline"))):
            for order in orders:
                trained.train(5, "--overlap", order, "--stats", trained.folder / "run.stats", tag=order)
                if plain.bits("inline") != trained.bits(order):
                    yield f"{layout}, {trained.folder.name}, {order}: other bits than inline"
                yield from (f"{layout}, {order}: {complaint}" for complaint in compare.compare_stats(trained.stats()))


# Small, so that a program is interpreted in milliseconds; together they have hundreds of dependencies.
DEPENDENT = [dict(dp=2, stage=stage, micro_batches=count) for stage in (2, 3) for count in range(4, 17, 2)]


def each_dependency_is_needed(setting):
    """Every number behind `after` is left out once: VerifyStreams must reject the program, and one that is interpreted in
    an order that it then allows computes something else, reads what is not there, or stands still."""
    dropped = seen = 0
    for number, layout in enumerate(DEPENDENT):
        case = cases.Case(*MLP, **layout)
        folder = setting.scratch / f"dependencies-{number}"
        folder.mkdir()
        batch = {"global": case.dp * case.micro_batches, "micro": 1}
        spec = program.spec_of(setting, case, program.read_trace(setting, case)) | {"batch": batch}
        if number % 2:
            spec["runtime"] = WINDOWS
        (folder / "spec.yaml").write_text(program.to_text(spec))
        program.run([setting.xlc, "plan", setting.models / case.folder / f"{case.model}.onnx", "--spec",
                     folder / "spec.yaml", "--dump-phases", folder])
        whole, partitioned = next(folder.glob("*Differentiate.mlir")), next(folder.glob("*Memory.mlir"))
        counted = program.run([pathlib.Path(setting.xlc).parent / "xlc-opt", partitioned, "-o", os.devnull,
                               f"--xlc-test-drop-dependencies=reference={whole}"])
        counts = [int(digits) for digits in re.findall(r"\d+", counted)]
        dropped, seen = dropped + counts[0], seen + counts[2]
        if counts[1] < counts[0]:
            yield f"{layout}: VerifyStreams takes {counts[0] - counts[1]} programs that lack one of {counts[0]} dependencies"
    if dropped < 500:
        yield f"only {dropped} dependencies in {len(DEPENDENT)} programs"
    if seen < 0.95 * dropped:
        yield f"{dropped} dependencies were left out, random orders saw {seen} of them"


def faults_on_streams_end_the_job(setting):
    """The same where the thread of a stream fails while the computations of its rank go on."""
    trained = make(setting, "streams-fault", **COMPOSED)
    trained.train(2, "--overlap", "threads", "--profile", trained.folder / "trace.json")
    events = json.loads((trained.folder / "trace.json").read_text())["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    draw = random.Random(7)
    for rank in range(8):
        on = {event["name"]: rows[event["tid"]] for event in events if event.get("ph") == "X" and event["pid"] == rank
              and rows[event["tid"]] != "compute"}
        action = draw.choice(sorted(on))
        begin = time.monotonic()
        said = trained.train(1000, "--overlap", "threads", "--inject-fault", f"{rank}:2:{action}", expect=5)
        if time.monotonic() - begin > 2:
            yield f"rank {rank}, '{action}' on {on[action]}: took {time.monotonic() - begin:.1f} s to end"
        if said.count("error:") != 1 or f"rank {rank}, step 2, action '{action}'" not in said:
            yield f"rank {rank}, '{action}' on {on[action]}: {said[-300:]}"


def roomy_zero_moves_no_more_than_stage_1(setting):
    """Where memory is plenty, `auto` keeps gathered parameters and whole gradients: PyTorch's losses, stage 1's bytes."""
    case = cases.Case(*GPT, dp=2, stage=3, micro_batches=2)
    trace = program.read_trace(setting, case)
    for mesh in (dict(), dict(pp=2, tp=2, schedule="zb-h1")):
        moved = []
        for stage in (1, 3):
            trained = make(setting, f"roomy-{len(mesh)}-{stage}", dp=2, stage=stage, micro_batches=2,
                           zero=cases.SMALL_BUCKETS, cluster={"device_memory": "1GiB"}, **mesh)
            trained.train(trace["steps"], "--check", "--stats", trained.folder / "run.stats")
            complaints = [*compare.compare_steps(trained.log(), trace), *compare.compare_stats(trained.stats())]
            yield from (f"{mesh}, stage {stage}: {complaint}" for complaint in complaints)
            moved.append([trained.stats()[kind]["used"] for kind in ("all_gather", "reduce_scatter")])
        if moved[0] != moved[1]:
            yield f"{mesh}: stage 1 gathers and reduces {moved[0]} bytes over dp, stage 3 {moved[1]}"


def examples_train(setting):
    """Every spec of examples/gpt2, from one rank to eight, learns what expected.json says, or one of its own."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "examples" / "gpt2"
    for spec in sorted(folder.glob("*.yaml")):
        path = setting.scratch / f"example-{spec.stem}"
        model = folder / {"logits": "logits.onnx", "dropout": "loss-dropout.onnx"}.get(spec.stem, "loss.onnx")
        program.run([setting.xlc, "compile", model, "--spec", spec, "-o", path])
        program.run([path, "--steps", "20", "--log", f"{path}.jsonl"])
        own = folder / f"expected-{spec.stem}.json"
        program.run([sys.executable, folder.parent / "compare.py", f"{path}.jsonl", own if own.exists() else folder / "expected.json",
                     next((name for name in ("all-bf16", "bf16", "fp16") if name in spec.stem), "fp32")])
    first, second, log, checkpoints = (setting.scratch / name for name in ("example-zero3", "example-tp2", "example-resumed.jsonl", "example-checkpoints"))
    program.run([first, "--steps", "10", "--log", log, "--checkpoint-dir", checkpoints])
    program.run([second, "--steps", "20", "--log", log, "--resume", checkpoints / "step-00000010"])
    program.run([sys.executable, folder.parent / "compare.py", log, folder / "expected.json"])
    return []


def non_finite_loss_ends_with_7(setting):
    trained = make(setting, "overflow", dp=2, optimizer={"type": "sgd", "lr": 1.0e+30})
    said = trained.train(20, expect=7)
    if "is not finite" not in said:
        yield f"the message does not say so: {said[-300:]}"


def interrupt_saves(setting):
    """Ctrl-C ends after the step, --save is honoured, and the shell sees the signal."""
    trained = make(setting, "interrupt", dp=2, stage=2)
    log = trained.folder / "run.jsonl"
    code, seconds = trained.interrupt_when(lambda process: log.exists() and log.read_text().count("\n") >= 5)
    if code != -signal.SIGINT:
        yield f"exit code {code}"
    if seconds > 5:
        yield f"took {seconds:.1f} s to end"
    steps = len(trained.log())
    saved = trained.bits()
    trained.train(steps)
    if trained.bits() != saved:
        yield f"what was saved after {steps} steps is not what {steps} steps give"


def runs_with_only_its_libraries(setting):
    """With its bundle, in a chroot with the C library: no oneDNN, no C++ library, no LLVM, no Python, no /proc, no locale, no temporary
    folder."""
    if os.geteuid() != 0:
        raise Skipped("only root may chroot")
    trained = make(setting, "chroot", dp=2, stage=3, flags=["--bundle"])
    trained.train(3, tag="outside")
    root = trained.folder / "root"
    libraries = re.findall(r"(/\S+)", program.run(["ldd", trained.path]))
    names = sorted(pathlib.Path(library).name for library in libraries)
    if names != ["ld-linux-x86-64.so.2", "libc.so.6", "libm.so.6"]:
        yield f"the program is linked with {names}"
    for library in libraries:
        target = root / library.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.realpath(library), target)
    shutil.copy(trained.path, root / "train")
    shutil.copytree(f"{trained.path}.libs", root / "train.libs")
    shutil.copy(f"{trained.path}.safetensors", root / "train.safetensors")
    for name in ("input_ids", "labels"):
        shutil.copy(setting.models / "gpt2-tiny" / f"{name}.npy", root)
    program.run(["chroot", root, "/train", "--steps", "3", "--data", "/", "--log", "/inside.jsonl",
                 "--save", "/inside.safetensors"])
    inside = [step["loss"] for step in files.read_log(root / "inside.jsonl")]
    if inside != trained.losses("outside"):
        yield "the losses in the chroot differ"


def memory_is_constant(setting):
    """Resident bytes after step 10 and long after are the same, but for a page or two of the C library."""
    for model, steps in ((MLP, 1000), (GPT, 200)):
        trained = make(setting, f"long-{model[0]}", model, dp=2, stage=3)
        early, late = trained.resident_bytes_after(10, steps)
        if late > early + 65536:
            yield f"{model[0]}: {early} bytes resident after 10 steps, {late} after {steps}"


def steps_allocate_nothing_large(setting):
    """40 steps more are not one allocation above 4 kB more; what is allocated before the first step is counted too."""
    compiler = next(filter(None, map(shutil.which, ("clang++-22", "g++", "c++"))), None)
    if not compiler:
        raise Skipped("there is no C++ compiler")
    counter = setting.scratch / "CountAllocations.so"
    source = pathlib.Path(__file__).parent / "CountAllocations.cpp"
    program.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", counter])
    trained = make(setting, "allocations", dp=2, stage=3, micro_batches=2, runtime={"threads_per_rank": 2})
    counts = []
    for steps in (2, 42):
        said = program.run(["env", f"LD_PRELOAD={counter}", trained.path, "--steps", steps,
                            "--log", trained.folder / "run.jsonl", "--save", trained.folder / "run.safetensors"])
        counts.append(int(re.search(r"allocations above 4096 bytes: (\d+)", said).group(1)))
    if counts[0] == 0 or counts[0] != counts[1]:
        yield f"{counts[0]} allocations above 4 kB in a run of 2 steps, {counts[1]} in one of 42"


def bad_data_is_refused(setting):
    """Before step 1, with file, row and column: exit 1."""
    trained = make(setting, "data", dp=2)
    ids = trained.folder / "input_ids.npy"
    descr, shape, values = files.read_npy(setting.models / "gpt2-tiny" / "input_ids.npy")
    wrong = values[:]
    wrong[3 * shape[1] + 5] = 256
    whole = (setting.models / "gpt2-tiny" / "input_ids.npy").read_bytes()
    for words, write in [
            ("row 3, column 5: id 256 is outside the table", lambda: files.write_npy(ids, descr, shape, wrong)),
            ("the shape is", lambda: files.write_npy(ids, descr, (shape[0] * 2, shape[1] // 2), values)),
            ("the elements are floats", lambda: files.write_npy(ids, "<f4", shape, [1.0] * len(values))),
            ("rows, but a step needs", lambda: files.write_npy(ids, descr, (1, shape[1]), values[:shape[1]])),
            ("bytes of elements, but the file has", lambda: ids.write_bytes(whole[:-8])),
            ("not an .npy file", lambda: ids.write_bytes(b"hello")),
            ("cannot be read", lambda: ids.unlink()),
    ]:
        write()
        said = program.run([trained.path, "--steps", "1", "--data", f"input_ids={ids}"], expect=1)
        if words not in said or "input_ids.npy" not in said:
            yield f"'{words}' and the file's name are expected, the program says: {said[-300:]}"


def saved_parameters_go_on(setting):
    """20 steps, then --init and 20 more without momentum are 40 steps; the data wraps around. A master in sixteen bits would
    not be."""
    for precision in ("fp32", "bf16"):
        trained = make(setting, f"init-{precision}", dp=2, stage=3, optimizer={"type": "sgd", "lr": 0.1}, precision=precision)
        trained.train(40, tag="whole")
        trained.train(20, tag="half")  # the data has 20 batches
        trained.train(20, "--init", trained.folder / "half.safetensors", tag="rest")
        if trained.losses("whole") != trained.losses("half") + trained.losses("rest"):
            yield f"{precision}: 40 steps differ from 20 and 20 more"


def init_takes_floats_of_any_type(setting):
    """What is rounded already is the same in a narrower file: bfloat16 in float16's range is exact in all four."""
    trained = make(setting, "init-types", dp=2, stage=3)
    trained.train(1, "--lr", "0", tag="initial")
    rounded = {name: (shape, [struct.unpack("<f", b"\0\0" + struct.pack("<f", value)[2:])[0] if abs(value) > 1e-4 else 0.0
                              for value in values])
               for name, (shape, values) in trained.parameters("initial").items()}
    bits = set()
    for dtype in ("F32", "F64", "BF16", "F16"):
        path = trained.folder / f"{dtype}.safetensors"
        program.state_dict.write(path, {name: (dtype, shape, values) for name, (shape, values) in rounded.items()})
        trained.train(3, "--init", path)
        bits.add(str(trained.bits()))
    if len(bits) != 1:
        yield f"{len(bits)} different runs from the same values in four types"
    program.state_dict.write(path, {name: ("I32", shape, [0] * len(values)) for name, (shape, values) in rounded.items()})
    said = program.run([trained.path, "--steps", "1", "--init", path], expect=1)
    if "has type I32, but the program needs F32" not in said:
        yield f"integers: {said[-300:]}"


def random_values_do_not_depend_on_the_layout(setting):
    """init: random is keyed by element: without a step, every layout saves the same parameters."""
    reference = None
    for layout in (dict(dp=1), dict(dp=4, stage=0), dict(dp=4, stage=3), dict(dp=3, stage=3, batch={"micro": 1}),
                   dict(dp=1, tp=4), dict(dp=2, stage=3, pp=2, tp=2)):
        fields = {"batch": {"micro": 2}} | layout
        trained = make(setting, f"random-{fields['dp']}-{fields.get('stage', 0)}-{fields.get('tp', 1)}", init={"from": "random", "seed": 3},
                       **{**fields, "optimizer": {"type": "sgd", "lr": 0.0}})
        trained.train(1)
        reference = reference or trained.parameters()
        if trained.parameters() != reference:
            yield f"{layout} begins with other parameters"


def installed_prefix_works(setting):
    """`cmake --install` gives a folder that needs neither the build tree nor the sources."""
    prefix = setting.scratch / "prefix"
    program.run(["cmake", "--install", setting.xlc.parents[1], "--prefix", prefix])
    example = prefix / "share" / "xlc" / "examples" / "mlp"
    train = setting.scratch / "installed"
    program.run([prefix / "bin" / "xlc", "compile", example / "logits.onnx", "--spec", example / "zero3.yaml", "-o", train])
    program.run([train, "--steps", "20", "--log", f"{train}.jsonl"])
    program.run(["python3", example.parent / "compare.py", f"{train}.jsonl", example / "expected.json"])
    for tool in ("xlc", "xlc-opt"):
        program.run([prefix / "bin" / tool, "--version"])
    if not (prefix / "share" / "doc" / "xlc" / "docs" / "Spec.md").exists():
        yield "the documents are not installed"


def plan_of(setting, folder, model, spec):
    """What a plan costs, without the names in it."""
    path = folder / "spec.yaml"
    path.write_text("".join(f"{key}: {program.to_yaml(value)}\n" for key, value in spec.items()))
    command = [setting.xlc, "plan", model, "--spec", path, "--json"]
    report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    for group in report["groups"]:
        del group["memory"]["peak"]
    return report["groups"], report["traffic_of_all_ranks"]


def parameter_names(setting, model, spec, folder):
    """In the order of @forward, which without a signature is that of use."""
    path = folder / "names.yaml"
    path.write_text("".join(f"{key}: {program.to_yaml(value)}\n" for key, value in spec.items()))
    said = program.run([setting.xlc, "plan", model, "--spec", path, "--stop-after=Import"])
    return re.findall(r'graph\.param = "([^"]*)"', said)


def names_do_not_matter(setting):
    """A copy with numbers for names and without metadata: the same bytes, traffic and losses."""
    further = cases.FURTHER + [("cnn", "logits-torchscript-train", "sgd"), ("cnn", "logits-unoptimized", "sgd")]
    chosen = {(folder, model): trace for folder, model, trace in further
              if "torchscript" in model or "unoptimized" in model}
    for (folder, model), trace_name in chosen.items():
        case = cases.Case(folder, model, trace_name, dp=2, stage=3)
        trace = program.read_trace(setting, case)
        spec = program.spec_of(setting, case, trace)
        scratch = setting.scratch / f"numbers-{folder}-{model}-{trace_name}"
        scratch.mkdir()
        copy, numbers = renumber.renumber((setting.models / folder / f"{model}.onnx").read_bytes())
        (scratch / "numbers.onnx").write_bytes(copy)
        for data in (setting.models / folder).glob("*.data"):
            shutil.copy(data, scratch)
        renamed = json.loads(json.dumps(spec, default=str))
        renamed["data"]["train"] = {numbers.get(name, name): path for name, path in spec["data"]["train"].items()}
        for key in ("logits", "labels"):
            if "loss" in spec:
                renamed["loss"][key] = numbers.get(spec["loss"][key], spec["loss"][key])
        if "trainable" in spec:  # patterns of names: the copy's names are those at the same places
            copied = {key: value for key, value in renamed.items() if key != "trainable"}
            pairs = zip(parameter_names(setting, setting.models / folder / f"{model}.onnx", spec, scratch),
                        parameter_names(setting, scratch / "numbers.onnx", copied, scratch))
            patterns = [pattern.strip('"') for pattern in spec["trainable"]]
            excluded = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
            renamed["trainable"] = ['"*"'] + [f'"!{new}"' for old, new in pairs
                                              if any(fnmatch.fnmatch(old, pattern) for pattern in excluded)]
        found = []
        for tag, path, text in (("names", setting.models / folder / f"{model}.onnx", spec),
                                ("numbers", scratch / "numbers.onnx", renamed)):
            trained = program.Program(setting, f"{scratch.name}/{tag}", path, text)
            trained.train(2)
            found.append((plan_of(setting, trained.folder, path, text), trained.losses()))
        if found[0][0] != found[1][0]:
            yield f"{folder}/{model}: the plans differ: {found[0][0]} and {found[1][0]}"
        if any(compare.relative(one, other) > 1e-6 for one, other in zip(found[0][1], found[1][1])):
            yield f"{folder}/{model}: losses differ: {found[0][1]} and {found[1][1]}"


def named(*checks):
    return [(check.__name__.replace("_", " "), check) for check in checks]


PROMISES = named(
    same_bits_in_all_stages,
    small_updates_are_kept,
    same_bits_in_two_runs,
    same_bits_with_any_threads,
    check_changes_nothing,
    bytes_are_as_planned,
    composed_runs_give_the_same_bits,
    streams_give_the_same_bits,
    each_dependency_is_needed,
    roomy_zero_moves_no_more_than_stage_1,
    examples_train,
    non_finite_loss_ends_with_7,
    bad_data_is_refused,
    saved_parameters_go_on,
    init_takes_floats_of_any_type,
    random_values_do_not_depend_on_the_layout,
    names_do_not_matter,
)
# Some measure time or memory.
ONE_AT_A_TIME = named(
    faults_end_the_job,
    composed_faults_end_the_job,
    faults_in_compositions_end_the_job,
    faults_on_streams_end_the_job,
    interrupt_saves,
    runs_with_only_its_libraries,
    memory_is_constant,
    steps_allocate_nothing_large,
    installed_prefix_works,
)
