"""Makes opticks.txt.bz2: the prose of Newton's Opticks (edition of 1730) in ASCII. Running the example does not need it.

    apt-get download golang-1.19-src && dpkg -x golang-1.19-src_*.deb golang     (Debian 12)
    python3 make_text.py golang/usr/share/go-1.19/src/testdata/Isaac.Newton-Opticks.txt opticks.txt.bz2

Left out are title page, advertisements, footnotes, tables, captions of figures, notes of the transcribers, and the
underscores around italics. Other letters become the nearest ones of ASCII.
"""

import bz2
import pathlib
import re
import sys
import unicodedata

BEGIN = "THE FIRST BOOK OF OPTICKS"
LEFT_OUT = re.compile(r"\[Illustration|^FOOTNOTES:|^\[[A-Z]\] |^ +\*|[|{]|-----", re.MULTILINE)  # in paragraphs that go
LETTERS = str.maketrans({"\u00e6": "ae", "\u00c6": "Ae", "\u00b4": "'", "\u00d7": "x", "\u00b7": ".", "\u2014": "-", "_": ""})


def to_ascii(text):
    return unicodedata.normalize("NFKD", text.translate(LETTERS)).encode("ascii", "ignore").decode()


def main(source, to):
    text = source.read_text(encoding="utf-8")
    paragraphs = re.split(r"\n\s*\n", text[text.index(BEGIN):])
    prose = "\n\n".join(paragraph for paragraph in paragraphs if not LEFT_OUT.search(paragraph))
    prose = re.sub(r"\[Greek:\s+([^]]*)\]|\[[A-Z]\]", r"\1", prose)  # letters in figures; references to footnotes
    to.write_bytes(bz2.compress((to_ascii(prose).strip() + "\n").encode("ascii")))


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
