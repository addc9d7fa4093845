#!/usr/bin/env python3
"""Writes a shared library that has the symbols of another, with their versions, and nothing behind them: programs are linked with it, and
find the real one where they run. Private symbols are left out.

    cmake/library_stub.py LIBRARY STUB CLANG READELF
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SYMBOL = re.compile(r"^ *\d+: [0-9a-f]+ +(\d+) (FUNC|IFUNC|OBJECT|NOTYPE|TLS) +(GLOBAL|WEAK) +DEFAULT +(\d+|ABS) ([^@\s]+)(@@?)(\S+)$", re.MULTILINE)
PRIVATE = "GLIBC_PRIVATE"


def write_source(symbols):
    """In assembly: what is called is a byte of code; what is read has its size, which a copy of it would need."""
    lines = []
    for number, (size, kind, binding, _, name, at, version) in enumerate(symbols):
        section = ".text" if kind in ("FUNC", "IFUNC", "NOTYPE") else ".data"
        word = "function" if section == ".text" else "object"
        lines += [section, f".{'weak' if binding == 'WEAK' else 'globl'} s{number}", f".type s{number}, @{word}",
                  f"s{number}: .skip {max(1, int(size)) if word == 'object' else 1}", f".size s{number}, {size}",
                  f'.symver s{number}, "{name}{at}{version}", remove']
    return "\n".join(lines) + "\n"


def main():
    library, stub, clang, readelf = sys.argv[1:]
    said = subprocess.run([readelf, "--dyn-syms", "--wide", library], check=True, capture_output=True, text=True).stdout
    symbols = [each for each in SYMBOL.findall(said) if each[6] != PRIVATE and each[1] != "TLS" and each[3] != "ABS"]
    if not symbols:
        sys.exit(f"{library}: error: has no symbols with versions")
    versions = sorted({each[6] for each in symbols})
    with tempfile.TemporaryDirectory() as work:
        source, script = pathlib.Path(work) / "stub.s", pathlib.Path(work) / "versions"
        source.write_text(write_source(symbols))
        script.write_text("".join(f"{version} {{}};\n" for version in versions))
        subprocess.run([clang, "-fuse-ld=lld", "-nostdlib", "-shared", f"-Wl,--version-script={script}",
                        f"-Wl,-soname={pathlib.Path(library).name}", "-Wl,-s", "-o", stub, source], check=True)


if __name__ == "__main__":
    main()
