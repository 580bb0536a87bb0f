# SPDX-License-Identifier: MIT
"""What the tests of the mount share: a mount that ends whatever happens, clients
in processes of their own, and lines of TAP.

Nothing of a test outlives it, be it interrupted, killed or hung: a janitor, a
process that never touches the mount, ends the server as soon as the test has
ended or has taken too long. A client that waits for the server then gets
ENOTCONN.
"""

import contextlib
import ctypes
import os
import random
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SECONDS = float(os.environ.get("BERTH_TORTURE_SECONDS", "1"))
# Beyond what the test is meant to take.
PATIENCE = 80

# Where FUSE cannot be used at all.
CANNOT = re.compile("not permitted|/dev/fuse|fusermount3")

# Each of the server's threads keeps a buffer of a megabyte, and they are started
# one by one as there is work: it may grow by that without a leak.
THREADS_KEEP = 24 << 20

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG = 1
MNT_DETACH = 2


class Skip(Exception):
    """The reason why this test cannot run here."""


class Tap:
    """ok() lines, and at last the plan."""

    def __init__(self):
        self.number = self.failures = 0

    def ok(self, good, name, detail=""):
        self.number += 1
        self.failures += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}", flush=True)
        if detail and not good:
            print(f"# {detail}", flush=True)
        return good

    def equal(self, got, wanted, name):
        return self.ok(got == wanted, name, f"{got!r} is not {wanted!r}")

    def fails(self, wanted, name, call, *args):
        """The call raises one of these errnos."""
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        try:
            call(*args)
        except OSError as error:
            return self.ok(error.errno in wanted, name, f"errno {error.errno} is none of {wanted}")
        return self.ok(False, name, "it did not fail")


def is_mounted(directory):
    with open("/proc/self/mounts", encoding="utf-8") as table:
        return any(line.split()[1] == directory for line in table)


def until(true, seconds=10):
    """Poll what tells nobody when it becomes true."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def detach(directory):
    """Of mounts on top of each other, all."""
    while is_mounted(directory) and libc.umount2(directory.encode(), MNT_DETACH) == 0:
        pass
    if is_mounted(directory):
        subprocess.run(["fusermount3", "-uzq", directory], check=False)


def janitor(read_end, folder, seconds):
    """Told of servers, a number a line, until its test ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    test = os.getppid()
    end = time.monotonic() + seconds
    told = b""
    hung = False
    while True:
        ready, _, _ = select.select([read_end], [], [], max(0, end - time.monotonic()))
        if not ready:
            print(f"# hung: not done in {seconds:.0f} s; ending the server", flush=True)
            hung = True
            break
        bytes_read = os.read(read_end, 4096)
        if not bytes_read:
            break
        told += bytes_read
    for pid in map(int, told.split()):
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/cmdline", "rb") as words:
                if folder.encode() in words.read():
                    os.kill(pid, signal.SIGKILL)
    for name in os.listdir(folder):
        detach(os.path.join(folder, name))
    if hung and os.getppid() == test:
        os.kill(test, signal.SIGTERM)
    if not any(is_mounted(os.path.join(folder, name)) for name in os.listdir(folder)):
        shutil.rmtree(folder, ignore_errors=True)


class Place:
    """A folder for mounts, and the janitor who tidies up behind them."""

    def __init__(self, berth):
        self.berth = os.path.abspath(berth)
        with open(self.berth, "rb") as file:
            self.watched = re.search(rb"__[at]san_init|valgrind", file.read()) is not None
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="berth-"))
        read_end, self.pipe = os.pipe()
        sys.stdout.flush()
        self.janitor = os.fork()
        if self.janitor == 0:
            try:
                os.close(self.pipe)
                janitor(read_end, self.folder, 3 * SECONDS + PATIENCE)
            finally:
                os._exit(0)
        os.close(read_end)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self.pipe)
        os.waitpid(self.janitor, 0)

    def mount(self, *words, name="dir", **popen):
        return Mount(self, os.path.join(self.folder, name), words, popen)


class Mount:
    """A mount, served in the foreground by the process self.server."""

    def __init__(self, place, directory, words, popen):
        self.place = place
        self.dir = directory
        os.makedirs(directory, exist_ok=True)
        self.said = tempfile.TemporaryFile(mode="w+")
        popen.setdefault("stderr", self.said)
        self.server = subprocess.Popen([place.berth, "mount", "-f", *words, directory], **popen)
        self.pid = self.server.pid
        os.write(place.pipe, f"{self.pid}\n".encode())
        until(lambda: is_mounted(directory) or self.server.poll() is not None)
        if self.server.returncode is not None:
            self.said.seek(0)
            said = self.said.read().strip()
            raise Skip(said) if CANNOT.search(said) else RuntimeError(said)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # After a failure the janitor does it.
        if kind is None and self.server.poll() is None:
            self.end()

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def umount(self):
        return subprocess.run(
            [self.place.berth, "umount", self.dir], stderr=subprocess.PIPE, text=True, check=False
        )

    def end(self):
        """Unmount; the server is to end well, and soon."""
        done = self.umount()
        if done.returncode:
            raise RuntimeError(done.stderr)
        status = self.server.wait(20)
        if status:
            raise RuntimeError(f"the server ended with status {status}")

    def memory(self):
        """Bytes of it that the server uses."""
        with open(f"/proc/{self.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

    def memory_within(self, limit):
        """Whether it uses no more than that, where only berth keeps memory: the
        sanitizers keep what was freed, and so does valgrind; where MAP_NORESERVE is
        refused, the C library has one heap instead of arenas, with holes in it."""
        return self.place.watched or "BERTH_WITHOUT" in os.environ or self.memory() < limit

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def used(self):
        """Inodes and blocks that are taken."""
        st = os.statvfs(self.dir)
        return st.f_files - st.f_ffree, st.f_blocks - st.f_bfree

    def comes_back_to(self, used):
        """The kernel tells of the last uses on its own time."""
        return until(lambda: self.used() == used)


class Crew:
    """Processes that are killed at the latest when the block ends."""

    def __init__(self, place):
        self.place = place
        self.pids = set()
        self.last_ended = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for pid in list(self.pids):
            self.kill(pid)

    def start(self, work, *args):
        sys.stdout.flush()
        parent = os.getpid()
        pid = os.fork()
        if pid:
            self.pids.add(pid)
            return pid
        status = 1
        try:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != parent:
                os._exit(1)
            os.close(self.place.pipe)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            work(*args)
            status = 0
        except BaseException:
            print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
        finally:
            sys.stdout.flush()
            os._exit(status)

    def kill(self, pid, how=signal.SIGKILL):
        os.kill(pid, how)
        return self.wait(pid)

    def wait(self, pid):
        """As waitstatus_to_exitcode() has it: 0 is good, signals are below."""
        _, status = os.waitpid(pid, 0)
        self.pids.discard(pid)
        return os.waitstatus_to_exitcode(status)

    def wait_all(self):
        return [self.wait(pid) for pid in list(self.pids)]

    def one_ended(self):
        """Has another one ended? Then self.last_ended is (pid, exit code)."""
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid:
            self.pids.discard(pid)
            self.last_ended = pid, os.waitstatus_to_exitcode(status)
        return pid


def seeded():
    """A stream of random numbers; it says how to have the same again."""
    seed = int(os.environ.get("BERTH_SEED") or time.time_ns() % 1000000007)
    print(f"# seed {seed}, repeat with: BERTH_SEED={seed} BERTH_TORTURE_SECONDS={SECONDS:g} {' '.join(sys.argv)}")
    return random.Random(seed)


def run(test):
    """test(place, tap) with the program of the command line; then exit."""

    def interrupted(*_):
        sys.exit(1)

    signal.signal(signal.SIGTERM, interrupted)
    signal.signal(signal.SIGHUP, interrupted)
    tap = Tap()
    try:
        if not os.path.exists("/dev/fuse"):
            raise Skip("there is no /dev/fuse")
        with Place(sys.argv[1]) as place:
            test(place, tap)
    except Skip as reason:
        print(f"1..0 # SKIP {reason}")
        sys.exit(77)
    print(f"1..{tap.number}")
    sys.exit(1 if tap.failures or not tap.number else 0)
