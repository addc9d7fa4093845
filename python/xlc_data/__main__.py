"""python -m xlc_data tokens|rows|check"""

import argparse
import sys

from ._check import check_folder, read_inputs
from ._failure import Failure
from ._rows import write_rows
from ._tokens import write_tokens


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m xlc_data", description="Prepare training data for xlc programs.")
    commands = parser.add_subparsers(dest="command", required=True)
    tokens = commands.add_parser("tokens", help="write a token file in llm.c's format from text, JSON lines, CSV or folders of "
                                                "datasets")
    tokens.add_argument("inputs", nargs="+", metavar="IN")
    tokens.add_argument("-o", "--output", required=True, metavar="FILE")
    tokens.add_argument("--field", default="text", help="field of a record that contains the text (default: text)")
    tokens.add_argument("--separator", type=int, help="token after each document (default: the tokenizer's end of text, if it has one)")
    rows = commands.add_parser("rows", help="write a folder of NAME.npy from CSV, JSON lines or a folder of datasets")
    rows.add_argument("dataset")
    rows.add_argument("-o", "--output", required=True, metavar="FOLDER")
    rows.add_argument("--max-length", type=int, default=128, help="tokens per row: longer texts are cut, shorter ones padded (default: 128)")
    rows.add_argument("--text", default="text", help="field with the text (default: text)")
    rows.add_argument("--pair", help="field with a second text")
    rows.add_argument("--label", help="field with the class (default: the tokens themselves are the labels)")
    for command in (tokens, rows):
        command.add_argument("--tokenizer", default="bytes", help="bytes, or the name of a tokenizer of the transformers library (default: bytes)")
    check = commands.add_parser("check", help="check that a folder of NAME.npy fits the inputs of a model")
    check.add_argument("folder")
    check.add_argument("model", help="an .onnx file")
    return parser.parse_args(arguments)


def run(options):
    if options.command == "tokens":
        count = write_tokens(options.inputs, options.output, options.tokenizer, options.field, options.separator)
        print(f"{options.output}: {count} tokens")
    elif options.command == "rows":
        count = write_rows(options.dataset, options.output, options.max_length, options.tokenizer, options.text, options.pair, options.label)
        print(f"{options.output}: {count} rows")
    else:
        problems = check_folder(options.folder, list(read_inputs(options.model)))
        print("\n".join(problems) or f"{options.folder}: no problems found", file=sys.stderr if problems else sys.stdout)
        return 1 if problems else 0
    return 0


def main(arguments=None):
    try:
        return run(parse(arguments))
    except (Failure, OSError) as problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
