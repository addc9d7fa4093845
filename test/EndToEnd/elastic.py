"""Starts processes as `torchrun --no-python --nproc-per-node N --max-restarts R -- COMMAND` does on one host, for who has no PyTorch.

    elastic.py N R COMMAND...

Where a rank fails, the others get SIGTERM, and all are started again, at most R times. A SIGTERM is passed on, and ends it. What each
generation ended with is written to stdout, in one line.
"""

import os
import signal
import subprocess
import sys
import time

PATIENCE = 30  # seconds between SIGTERM and SIGKILL


def start(count, generation, command):
    def variables(rank):
        return {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": count, "GROUP_RANK": 0, "ROLE_RANK": rank,
                "ROLE_WORLD_SIZE": count, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29400 + os.getpid() % 1000,
                "TORCHELASTIC_RUN_ID": f"xlc-{os.getpid()}", "TORCHELASTIC_RESTART_COUNT": generation}
    return [subprocess.Popen(command, env={**os.environ, **{name: str(value) for name, value in variables(rank).items()}})
            for rank in range(count)]


def end(ranks):
    for rank in ranks:
        if rank.poll() is None:
            rank.terminate()
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(rank.poll() is None for rank in ranks):
        time.sleep(0.01)
    for rank in ranks:
        rank.kill()
        rank.wait()


def main():
    count, restarts, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    asked = []
    signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
    for generation in range(restarts + 1):
        ranks = start(count, generation, command)
        while not asked and not any(rank.poll() for rank in ranks) and any(rank.poll() is None for rank in ranks):
            time.sleep(0.01)
        end(ranks)
        codes = [rank.returncode for rank in ranks]
        print(f"generation {generation}: {codes}", flush=True)
        if asked or not any(codes):
            break
    return 128 + asked[0] if asked else any(codes)


if __name__ == "__main__":
    sys.exit(main())
