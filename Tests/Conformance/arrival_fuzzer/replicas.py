"""Replicas that the program keeps, and runs of it under limits."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from godwit_formats.keyring import Keyring

# 0 done, 1 failed, 3 conflicts, 4 something waits, 11 busy, 12 no key, 13 corrupt, 14 needs a migration (Specs/cli.md).
ANSWERS = (0, 1, 3, 4, 12, 13, 14)


@dataclass
class Run:
    """What a run of the program left. `status` is negative for the signal that ended it, None when it took too long."""

    arguments: tuple[str, ...]
    status: int | None
    seconds: float
    peak_kibibytes: int
    output: str
    error: str

    @property
    def is_answer(self) -> bool:
        traps = ("Fatal error", "AddressSanitizer", "double free", "corrupted", "stack smashing")
        return self.status in ANSWERS and not any(trap in self.error for trap in traps)

    @property
    def objects(self) -> list[dict]:
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]

    def __str__(self) -> str:
        end = "took too long" if self.status is None else f"ended with {self.status}"
        said = (self.error.strip() or self.output.strip())[-600:]
        return (
            f"godwit {' '.join(self.arguments)}: {end} after {self.seconds:.1f} s, {self.peak_kibibytes} KiB: {said}"
        )


@dataclass
class World:
    """A folder with the replicas of one group, each with a home of its own."""

    folder: Path
    program: str
    time_limit: float = 30

    def replica(self, name: str) -> Path:
        return self.folder / name / ".godwit"

    def keyring(self, name: str) -> Keyring:
        return Keyring.of(self.replica(name), self.folder / f"{name}-config" / "godwit" / "machine.key")

    def path(self, name: str) -> Path:
        return self.folder / name

    def run(self, name: str, *arguments: str, given: bytes = b"") -> Run:
        """Runs the program for a replica, with its time and the most memory that it held."""
        environment = {
            "HOME": str(self.folder),
            "XDG_CONFIG_HOME": str(self.folder / f"{name}-config"),
            "PATH": "/usr/bin:/bin",
            "SWIFT_BACKTRACE": "enable=no",
        }
        environment.update({key: value for key, value in os.environ.items() if key.endswith("SAN_OPTIONS")})
        begun = time.monotonic()
        streams = [self.folder / f"{name}.{stream}" for stream in ("in", "out", "err")]
        streams[0].write_bytes(given)
        with open(streams[0], "rb") as source, open(streams[1], "wb") as output, open(streams[2], "wb") as error:
            process = subprocess.Popen(
                [self.program, "-C", str(self.folder / name), *arguments],
                env=environment,
                cwd=self.folder,
                stdin=source,
                stdout=output,
                stderr=error,
            )
            late = threading.Event()

            def stop() -> None:
                late.set()
                process.kill()

            timer = threading.Timer(self.time_limit, stop)
            timer.start()
            _, status, usage = os.wait4(process.pid, 0)
            timer.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        return Run(
            arguments,
            None if late.is_set() else process.returncode,
            time.monotonic() - begun,
            usage.ru_maxrss,
            streams[1].read_text(errors="replace"),
            streams[2].read_text(errors="replace"),
        )

    def must(self, name: str, *arguments: str, given: bytes = b"") -> Run:
        """A run of honest people, which has to succeed."""
        run = self.run(name, *arguments, given=given)
        if run.status != 0:
            raise RuntimeError(f"{name}: {run}")
        return run

    def copy(self, folder: Path) -> World:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        return World(folder, self.program, self.time_limit)

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def founded(folder: Path, program: str) -> World:
    """Alice, and bob, mallory and trent whom she added. She has removed trent since, and nobody knows of it.

    Mallory and trent have written a file each, `NAME.honest`.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, mode=0o700)
    world = World(folder, program)
    world.must("alice", "init", str(folder / "alice"), "--name", "alice")
    world.must("alice", "put", "a", "--as", "a", given=b'{"a": 1}')
    for name in ("bob", "mallory", "trent"):
        (folder / name).mkdir()
        identity = world.must(name, "identity").output
        world.path(f"{name}.identity").write_text(identity)
        invitation = str(world.path(f"{name}.invitation"))
        world.must(
            "alice",
            "-q",
            "member",
            "add",
            str(world.path(f"{name}.identity")),
            "--name",
            name,
            "--trust-first-use",
            "--invitation",
            invitation,
        )
        world.must(name, "-q", "join", invitation, "--trust-first-use")
    world.must("alice", "-q", "export", str(world.path("first")))
    for name in ("bob", "mallory", "trent"):
        world.must(name, "-q", "import", str(world.path("first")))
    world.must("bob", "put", "b", "--as", "b", given=b'{"b": 1}')
    for name in ("mallory", "trent"):
        world.must(name, "-q", "export", "--all", str(world.path(f"{name}.honest")))
    world.must("alice", "-q", "member", "remove", "trent")
    return world
