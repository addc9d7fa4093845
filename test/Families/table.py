"""Prints docs/Families.md from the results of check.py: table.py results.json MODELS [VERSION...]."""

import collections
import json
import pathlib
import re
import sys

import check

HEADER = """# Model families compared with PyTorch

Small models of many families, as PyTorch's exporters write them, are compiled and trained by `xlc` in seven compositions and
compared with PyTorch's float64 run. This page is printed by `scripts/families`, which makes the models (`test/Families`) and
requires PyTorch; the tests of `scripts/test` do not require it.

If the program is right, a cell holds the largest relative error of loss / gradient norm over all steps. A program is right if its
losses are within 5e-6 and its norms within 5e-5 of float64 (or within three times the error of PyTorch's own float32, if that is
larger), and if the names, shapes and values of all parameters equal PyTorch's. Under Adam up to 12 elements may be outside of the
tolerance of their tensor, since a gradient near zero becomes a step of the size of the learning rate. Otherwise the cell holds one
of these words:

| word | meaning |
|---|---|
| refused | exit code 1 to 3 and a message, which is in the last column |
| operator | refused, since an operator is not supported yet (recurrent networks, EmbeddingBag); the message names it |
| — | the composition does not fit the model: pp with fewer than two units, tp that does not divide the heads |
| exporter | the model in the file differs from the model that PyTorch trains; the last column gives the reason |
| chaos | PyTorch's own float32 run is more than 1 % away from float64 (batch norms of very few values), so no comparison is possible |
| warned | the run differs from PyTorch's, and a warning in the last column names the information that the file has lost |
| **wrong**, **internal** | a defect |
| (empty) | not run yet; under `reference`, a file without a reference, since it draws random numbers by other operators than dropout |

If rows of a batch are combined (batch norm, contrastive losses, a root of a mean), a run with a cut batch has
`loss: {scope: micro_batch}` and is compared with PyTorch with the same cut. Compositions: """

FORMS = {"loss": "`torch.onnx.export`", "loss-unoptimized": "`optimize=False`", "loss-torchscript": "`dynamo=False`",
         "logits": "logits, loss of the spec", "loss-xlc": "`xlc_export`", "loss-xlc-torchscript": "`xlc_export`, `dynamo=False`"}

# Refusals of another issue: operators that are to come.
OPERATOR = re.compile(r"operator that is not supported")
# Sound refusals of a composition, not of a file.
INADMISSIBLE = re.compile(r"needs \d+ units, but the model has|tp = \d+ does not divide|tp = \d+ .*heads")


CHAOS = 1e-2  # of the loss, relative


def is_chaotic(models, key):
    """Whether PyTorch's run in float32 tells nothing about the cell."""
    family, form, name = key.split("|")
    composition = next(each for each in [*check.COMPOSITIONS, check.REFERENCE] if each.name == name)
    trace = json.loads(check.trace_of(check.Cell(family, form, composition), models / family).read_text())
    # A parameter that is not a number in float32 has no distance.
    return check.worst(trace["loss_float32"], trace["loss"]) > CHAOS or any(x != x for x in trace["parameter_difference"].values())


def classify(result):
    if result["outcome"] == "refused" and INADMISSIBLE.search(result["said"]):
        return "inadmissible"
    if result["outcome"] == "refused" and OPERATOR.search(result["said"]):
        return "operator"
    if result["outcome"] in ("wrong", "warned", "refused") and result["fault"]:
        return "exporter"
    if result["outcome"] in ("agrees", "differs", "not compared"):
        return result["outcome"]
    return "chaos" if result.get("is_chaotic") and result["outcome"] in ("right", "wrong", "warned") else result["outcome"]


def text_of(result):
    return {"right": lambda: f"{result['loss']:.0e} / {result['norm']:.0e}".replace("e-0", "e-"), "inadmissible": lambda: "—",
            "wrong": lambda: "**wrong**", "internal": lambda: "**internal**"}.get(kind := classify(result), lambda: kind)()


def reason_of(result):
    kind = classify(result)
    if kind == "exporter":
        return result["fault"]
    if kind == "wrong":
        return result["complaints"][0]
    if kind == "warned":
        return result["warning"][:160] + " ..." * (len(result["warning"]) > 160)
    if kind in ("refused", "operator", "internal"):
        errors = [line for line in result["said"].splitlines() if "error" in line] or result["said"].splitlines()[-1:]
        text = re.sub(r"^\S*(\.onnx|\.yaml)(:\d+:\d+)?: (error: )?", "", errors[0]) if errors else ""
        return (text[:160] + " ...") if len(text) > 160 else text
    return ""


def print_counts(results):
    """Right of what can be: all cells but those of other operators; and of these, but where the exporter is at fault."""
    print("| form | cells | right | refused | warned | exporter | operator | wrong | internal | right | right of what the exporter wrote |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for form, title in FORMS.items():
        kinds = collections.Counter(classify(result) for key, result in results.items()
                                    if key.split("|")[1] == form and key.split("|")[2] != check.REFERENCE.name)
        cells = sum(kinds.values()) - kinds["inadmissible"] - kinds["chaos"]
        known = max(cells - kinds["operator"], 1)
        written = max(known - kinds["exporter"], 1)
        if cells:
            print(f"| {title} | {cells} | {kinds['right']} | {kinds['refused']} | {kinds['warned']} | {kinds['exporter']} | "
                  f"{kinds['operator']} | "
                  f"{kinds['wrong']} | {kinds['internal']} | {100 * kinds['right'] / known:.0f} % | "
                  f"{100 * kinds['right'] / written:.0f} % |")
    print("\nBoth percentages exclude the cells with an operator that is not supported yet.")


def print_references(results):
    """What the files' references say, beside what one rank does."""
    print("""\n## References

The column `reference` holds the result of `xlc plan` for the reference beside the file ([Export.md](Export.md)): PyTorch's loss and gradients on other
rows than those of the run. `differs` with a right dp1 is a false alarm; `agrees` with a wrong dp1 is a missed fault.

| form | agrees | differs | not compared | refused | false alarms | missed |
|---|---|---|---|---|---|---|""")
    for form, title in FORMS.items():
        cells = {key: result for key, result in results.items() if key.split("|")[1:] == [form, check.REFERENCE.name]}
        kinds = collections.Counter(result["outcome"] for result in cells.values())
        alarms = sum(check.is_false_alarm(results, key) for key in cells)
        missed = sum(result["outcome"] == "agrees"
                     and results.get(f"{key.rsplit('|', 1)[0]}|{check.COMPOSITIONS[0].name}", {}).get("outcome") == "wrong"
                     for key, result in cells.items())
        if cells:
            print(f"| {title} | {kinds['agrees']} | {kinds['differs']} | {kinds['not compared']} | {kinds['refused']} | {alarms} | {missed} |")


def print_gpus(paths):
    """What check.py --target cuda has found, by precision."""
    print("""\n## On simulated GPUs

`check.py --target cuda` compiles the files of `xlc_export` for GPUs, and trains them on simulated GPUs, with streams in random order. In float32 the
criterion of a cell is that given above. In sixteen bits losses must be within 2 % of float64 and norms within 20 %, or within the effect
of rounding to float32 multiplied by the ratio of the precisions (2^16, 2^13); float16 has a loss scale of 256, at which some gradients overflow.

| precision | composition | cells | right | refused | exporter | operator | — | overflow | wrong | internal |
|---|---|---|---|---|---|---|---|---|---|---|""")
    for path in paths:
        by_composition = collections.defaultdict(collections.Counter)
        for key, result in json.loads(path.read_text()).items():
            by_composition[key.split("|")[2]][classify(result)] += 1
        for name, kinds in by_composition.items():
            print(f"| {path.stem.removeprefix('gpus-')} | {name} | {sum(kinds.values())} | "
                  + " | ".join(str(kinds[kind]) for kind in ("right", "refused", "exporter", "operator", "inadmissible", "overflow", "wrong", "internal")) + " |")


def main(path, models, versions):
    models = pathlib.Path(models)
    results = {key: result | {"is_chaotic": is_chaotic(models, key)} for key, result in json.loads(pathlib.Path(path).read_text()).items()
               if (models / key.split("|")[0] / "trace.json").exists()}
    names = [composition.name for composition in check.COMPOSITIONS]
    columns = [*names, check.REFERENCE.name]
    print(HEADER + ", ".join(f"`{name}`" for name in names) + ".\n\nMade with " + ", ".join(versions) + ".\n")
    print_counts(results)
    print_references(results)
    if gpus := sorted(pathlib.Path(path).parent.glob("gpus-*.json"), reverse=True):
        print_gpus(gpus)
    print("\n## Cell by cell\n\n| family | form | " + " | ".join(columns) + " | why |\n|---|---|" + "---|" * (len(columns) + 1))
    rows = collections.defaultdict(dict)
    for key, result in results.items():
        family, form, name = key.split("|")
        rows[family, form][name] = result
    for (family, form), row in sorted(rows.items(), key=lambda item: (item[0][0], list(FORMS).index(item[0][1]))):
        reasons = dict.fromkeys(filter(None, (reason_of(result) for result in row.values())))
        why = "; ".join(list(reasons)[:2]).replace("|", "\\|")
        print(f"| {family} | {FORMS[form]} | " + " | ".join(text_of(row[name]) if name in row else "" for name in columns)
              + f" | {why} |")
    print("\n## Models that the exporters do not export\n")
    for folder in sorted(models.iterdir()):
        if (folder / "forms.json").exists():
            for form, row in json.loads((folder / "forms.json").read_text()).items():
                if "error" in row:
                    error = re.sub(r'"[^"]*/site-packages/', '"', " ".join(row["error"].split()))
                    print(f"- {folder.name}, {FORMS[form]}: {error[:140]}{' ...' if len(error) > 140 else ''}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
