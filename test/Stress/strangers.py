"""Who connects to a job over TCP (lib/Runtime/Tcp), of programs on simulated GPUs: strangers, and ranks that say what none says.

A false rank 0 learns from a true rank 1 what a rank says of itself, and a false rank 1 says it to a true rank 0.
"""

import hmac
import os
import resource
import signal
import socket
import struct
import subprocess
import time

HELLO, CHALLENGE, PROOF, WELCOME, START, MESSAGE, NOTE, GATHER, GATHERED = 0, 1, 2, 3, 5, 6, 7, 11, 12
HEADER = struct.Struct("<8sIiiIQ")
SPEC = "dp: {ranks}\nbatch: {{global: 16, micro: 4}}\nloss: {{type: cross_entropy, logits: logits, labels: y}}\ndata: {{train: .}}\n"


def find_port():
    """One whose next is free."""
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1] - 1


class Peer:
    """One end of a connection."""

    def __init__(self, connection):
        self.connection = connection
        self.connection.settimeout(20)

    def say(self, kind, sender, to, tag=0, data=b""):
        self.connection.sendall(HEADER.pack(b"xlc 3", kind, sender, to, tag, len(data)) + data)

    def hear(self):
        """(kind, sender, tag, bytes)"""
        _, kind, sender, _, tag, size = HEADER.unpack(self.take(HEADER.size))
        return kind, sender, tag, self.take(size)

    def await_kind(self, kind):
        while self.hear()[0] != kind:
            pass

    def take(self, size):
        data = b""
        while len(data) < size:
            some = self.connection.recv(size - len(data))
            if not some:
                raise EOFError
            data += some
        return data


def proof(side, job, rank, own, zero, secret=b""):
    return hmac.digest(secret, b"xlc " + struct.pack("<IIi", side, job, rank) + own + zero, "sha256")


class Hosts:
    """A program of two ranks with GPUs, and the environment that torchrun gives to ranks on several hosts."""

    def __init__(self, bench, ranks=2):
        self.bench, self.ranks, self.port = bench, ranks, find_port()
        (bench.folder / "s.yaml").write_text(SPEC.format(ranks=ranks))
        bench.compile("--target", "cuda", "--simulator-image", "kernels.so")

    def start(self, rank, *options, limit="", **variables):
        told = {"RANK": rank, "WORLD_SIZE": self.ranks, "LOCAL_RANK": rank, "LOCAL_WORLD_SIZE": 1, "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": self.port, "TORCHELASTIC_RUN_ID": "strangers", "XLC_SIMULATE_DEVICES": self.ranks,
                "XLC_SIMULATE_IMAGE": self.bench.folder / "kernels.so", "XLC_CUDA_LIBRARIES": self.bench.xlc.parents[1] / "lib" / "simulated", **variables}
        words = ["sh", "-c", f'{f"ulimit {limit};" if limit else ""} exec "$0" "$@"', "./train", "--steps", "2", *options]
        return subprocess.Popen(words, cwd=self.bench.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**os.environ, **{name: str(value) for name, value in told.items()}})

    def connect(self):
        deadline = time.monotonic() + 10
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self.port + 1), timeout=10)
            except ConnectionRefusedError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def learn(self, *options):
        """(the job's number, what rank 1 says of itself), from a rank 1 of the same options."""
        with socket.create_server(("127.0.0.1", self.port + 1)) as door:
            process = self.start(1, *options)
            peer = Peer(door.accept()[0])
            _, rank, job, own = peer.hear()
            zero = bytes(16)
            peer.say(CHALLENGE, 0, rank, data=zero)
            peer.hear()
            peer.say(WELCOME, 0, rank, data=proof(0, job, rank, own, zero))
            peer.say(START, 0, rank)
            kind, _, _, opening = peer.hear()
            assert kind == GATHER
            process.kill()
            process.communicate()
            peer.connection.close()
        return job, opening

    def pretend(self, job):
        """A false rank 1, once all have come."""
        peer = Peer(self.connect())
        own = os.urandom(16)
        peer.say(HELLO, 1, 0, job, own)
        _, _, _, zero = peer.hear()
        peer.say(PROOF, 1, 0, data=proof(1, job, 1, own, zero))
        peer.await_kind(START)
        return peer


def end(process, code, says="", seconds=20):
    """What a process said, that ended with this code, in time."""
    begin = time.monotonic()
    shown, said = process.communicate(timeout=60)
    assert process.returncode == code and says in said and time.monotonic() - begin < seconds, \
        f"{process.returncode} after {time.monotonic() - begin:.1f} s in place of {code}: {shown}{said}"
    return said


def a_burst_of_connections(bench):
    """Rank 0 is stopped for a moment, and rank 1 comes with two hundred strangers behind it: they train."""
    hosts = Hosts(bench)
    zero = hosts.start(0, "--timeout", "10")
    hosts.connect().close()
    zero.send_signal(signal.SIGSTOP)
    one = hosts.start(1, "--timeout", "10")
    time.sleep(0.5)
    strangers = [hosts.connect() for _ in range(200)]
    zero.send_signal(signal.SIGCONT)
    end(one, 0)
    end(zero, 0)
    for stranger in strangers:
        stranger.close()


def strangers_take_all_descriptors(bench):
    """Silent connections make room for the ranks."""
    hosts = Hosts(bench)
    zero = hosts.start(0, "--timeout", "10", limit="-n 24")
    strangers = [hosts.connect() for _ in range(40)]
    time.sleep(0.5)
    one = hosts.start(1, "--timeout", "10")
    end(one, 0)
    end(zero, 0)
    for stranger in strangers:
        stranger.close()


def seconds_of(process):
    """Of processors that a process has taken."""
    fields = open(f"/proc/{process.pid}/stat", encoding="utf-8").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def no_descriptor_for_ranks(bench):
    """Rank 0 waits without work, and says what it waits for."""
    hosts = Hosts(bench)
    zero = hosts.start(0, "--timeout", "3")
    with hosts.connect() as stranger:  # rank 0 has closed its end when this one reads the end
        stranger.sendall(b"GET / HTTP/1.1\r\n".ljust(HEADER.size))
        while stranger.recv(4096):
            pass
    lowest = max(int(name) for name in os.listdir(f"/proc/{zero.pid}/fd"))
    resource.prlimit(zero.pid, resource.RLIMIT_NOFILE, (lowest + 1, 4096))
    one = hosts.start(1, "--timeout", "10")
    time.sleep(2)
    used = seconds_of(zero)
    said = end(zero, 1, "error: not all 2 ranks joined within 3 s (--timeout): rank 1 is missing")
    assert used < 1, f"{used} s were taken"
    assert "Too many open files" in said, said
    one.kill()
    one.communicate()


def one_that_floods(bench):
    """Four gigabytes of messages that nobody waits for end the job, and take no memory."""
    hosts = Hosts(bench)
    job, opening = hosts.learn()
    for meets in (False, True):
        zero = hosts.start(0)
        peer = hosts.pretend(job)
        if meets:
            peer.say(GATHER, 1, 0, data=opening)
            peer.await_kind(GATHERED)
        try:
            for _ in range(40):
                peer.say(MESSAGE, 1, 0, 20000, bytes(100 << 20))
        except OSError:
            pass
        end(zero, 5, " MiB of messages without a receiver; the limit is 128 MiB")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss >> 10
    assert peak < 1024, f"{peak} MiB"


def one_that_says_how_the_job_ends(bench):
    """A failure of another rank is one, whatever code it says."""
    hosts = Hosts(bench)
    job, opening = hosts.learn()
    for code, expected in ((0, 5), (255, 5), (7, 7)):
        zero = hosts.start(0)
        peer = hosts.pretend(job)
        peer.say(GATHER, 1, 0, data=opening)
        peer.await_kind(GATHERED)
        peer.say(NOTE, 1, 0, 0, struct.pack("<I", code) + b"error: it is over\0")
        end(zero, expected, "error: it is over")


def texts_without_an_end(bench):
    """What a rank finds wrong is printed as far as it reaches."""
    hosts = Hosts(bench)
    job, opening = hosts.learn()
    zero = hosts.start(0)
    hosts.pretend(job).say(GATHER, 1, 0, data=b"x" * len(opening))
    said = end(zero, 1)
    assert said.count("x") == 1024 and len(said) < 1100, said


def one_that_says_nothing(bench):
    """Who has come and is stopped is waited for as --timeout says."""
    hosts = Hosts(bench)
    job, _ = hosts.learn()
    zero = hosts.start(0, "--timeout", "2")
    peer = hosts.pretend(job)
    end(zero, 1, "error: not all 2 ranks joined within 2 s (--timeout): rank 1 connected, but sent nothing", seconds=6)
    peer.connection.close()


def ranks_that_were_told_other_secrets(bench):
    """They do not meet, and know why; those of one secret train."""
    hosts = Hosts(bench)
    for secret, other in (("one", "other"), ("one", ""), ("", "other")):
        zero, one = hosts.start(0, "--timeout", "2", XLC_JOB_SECRET=secret), hosts.start(1, "--timeout", "2", XLC_JOB_SECRET=other)
        end(one, 1, "error: rank 1 was refused: its XLC_JOB_SECRET differs from that of rank 0; ")
        end(zero, 1, "rank 1 is missing; rank 1 was refused: its XLC_JOB_SECRET differs from that of rank 0; ")
    zero, one = hosts.start(0, XLC_JOB_SECRET="one"), hosts.start(1, XLC_JOB_SECRET="one")
    end(one, 0)
    end(zero, 0)


def a_host_that_has_no_address(bench):
    """That is said at once, and once more at the end."""
    hosts = Hosts(bench)
    begin = time.monotonic()
    one = hosts.start(1, "--timeout", "3", MASTER_ADDR="no.such.host.invalid")
    first = one.stderr.readline()
    assert "note: rank 1 cannot find rank 0 yet: 'no.such.host.invalid' (MASTER_ADDR) cannot be resolved: " in first, first
    assert time.monotonic() - begin < 2, f"after {time.monotonic() - begin:.1f} s"
    end(one, 1, "error: not all 2 ranks joined within 3 s (--timeout): rank 0 at no.such.host.invalid:")
