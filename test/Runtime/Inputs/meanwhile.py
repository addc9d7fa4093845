"""Runs a program, and does something when it has shown its first step; prints what it said on stderr and how it ended.

    meanwhile.py cut:FILE:SIZE -- COMMAND...            FILE becomes that short
    meanwhile.py patch:FILE:OFFSET:HEX -- COMMAND...    bytes of FILE are overwritten
    meanwhile.py signal:NAME,NAME -- COMMAND...         the program gets these signals
"""

import os
import signal
import subprocess
import sys


def change(action, process):
    kind, *words = action.split(":")
    if kind == "cut":
        os.truncate(words[0], int(words[1]))
    elif kind == "patch":
        with open(words[0], "r+b") as file:
            file.seek(int(words[1]))
            file.write(bytes.fromhex(words[2]))
    else:
        for name in words[0].split(","):
            process.send_signal(getattr(signal, "SIG" + name))


def main():
    action, command = sys.argv[1], sys.argv[3:]
    # Whoever runs the tests may ignore SIGHUP (nohup), which the program would inherit.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        first = process.stdout.readline()
        change(action, process)
        try:
            rest, said = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            sys.exit("it did not end")
    print(said, end="")
    print("steps shown" if first else "no step was shown")
    print("code", process.returncode)


if __name__ == "__main__":
    main()
