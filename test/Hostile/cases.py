"""What a case of the corpus is: a file, and what must become of it, written down before it is tried.

    accept(name, bytes)             the file is good: exit code 0
    refuse(name, bytes, word)       exit code 1, and a message that names the file and has the word
    overflow(name, bytes)           the file is good, but what it computes is not finite: exit code 7
"""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    content: bytes
    code: int
    word: str
    suffix: str = ""    # of the file's name; else that of its kind
    beside: tuple = ()  # (suffix, bytes) of files of the same stem


def accept(name, content):
    return Case(name, content, 0, "")


def refuse(name, content, word):
    return Case(name, content, 1, word)


def overflow(name, content):
    return Case(name, content, 7, "not finite")
