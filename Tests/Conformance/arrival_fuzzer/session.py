"""A session: files come to three replicas, and three oracles judge what they do."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from godwit_formats.container import open_container
from godwit_formats.writing import Author

from .cases import Case, Generator
from .chance import Chance
from .replicas import Run, World

_MEBIBYTE = 1_024  # in KiB, as peaks are measured
_COMMANDS = [
    ["verify"],
    ["compact"],
    ["status", "--json"],
    ["missing", "--json"],
    ["conflicts", "--json"],
    ["limbo", "--json"],
    ["log", "--json"],
    ["tables"],
    ["member", "list"],
    ["member", "incarnations"],
    ["migrate", "--dry-run"],
    ["migrate", "--status"],
]


def generalized(text: str) -> str:
    """Without numbers and names, so that the same is said alike."""
    text = re.sub(
        r"(table|column|index|key column|transaction|after batch) [^ ,:]+( [^ ,:]{1,3}(?= ))?", r"\1 #", text
    )
    return re.sub(r"/\S+|[0-9a-f]{6,}|\d+|“[^”]*”|\"[^\"]*\"", "#", text)


@dataclass
class Limits:
    """What one file may cost: twenty times an honest one, some seconds at least; 64 MiB and 64 times its size."""

    idle_kibibytes: int
    seconds: float = 8
    checks_memory: bool = True

    def memory(self, size: int) -> int:
        return self.idle_kibibytes + 64 * _MEBIBYTE + 64 * size // 1_024

    def broken(self, run: Run, files: list[Case]) -> str | None:
        """What is wrong with a run that took these files in."""
        if not run.is_answer:
            return "signal" if run.status is not None else "no end"
        if run.seconds > self.seconds:
            return "too slow"
        if self.checks_memory and run.peak_kibibytes > self.memory(
            max((len(case.file) for case in files), default=0)
        ):
            return "too much memory"
        return None


@dataclass
class Finding:
    seed: int
    case: int | None
    oracle: str
    what: str

    @property
    def shape(self) -> str:
        """The same for findings that are likely to have one cause."""
        return f"{self.oracle}: {generalized(self.what)[:200]}"


@dataclass
class Session:
    """One seed's files. Findings name the case; `answers` counts what readers said."""

    world: World
    seed: int
    limits: Limits
    batch_size: int
    batch_count: int
    keep: Path
    findings: list[Finding] = field(default_factory=list)
    answers: Counter = field(default_factory=Counter)
    accepted: int = 0

    def find(self, oracle: str, what: str, case: Case | None = None, before: World | None = None) -> None:
        """Notes a finding, and keeps the replicas: as they were before the case, or as they are."""
        finding = Finding(self.seed, case.number if case else None, oracle, what)
        self.findings.append(finding)
        kept = self.keep / (f"{self.seed}-{case.number}" if case else f"{self.seed}")
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            (before or self.world).copy(kept)
        if case:
            (kept / "hostile.godwit-sync").write_bytes(case.file)

    def play(self) -> None:
        authors = {}
        for name in ("mallory", "trent"):
            keyring = self.world.keyring(name)
            honest = self.world.path(f"{name}.honest").read_bytes()
            container, _ = open_container(honest, keyring.body.identity)
            authors[name] = Author(keyring.body.identity, container)
        generator = Generator(self.seed, authors)
        chance = Chance(f"{self.seed}:readers")
        for batch in range(self.batch_count):
            generator.continued.clear()
            numbers = range(batch * self.batch_size, (batch + 1) * self.batch_size)
            cases = [generator.case(number) for number in numbers]
            if not self._arrive(generator, chance, cases):
                return
            if not self._write(chance) or not self._exchange(generator, f"after batch {batch}"):
                return
        self._remove(generator)

    # What one accepts

    def _arrive(self, generator: Generator, chance: Chance, cases: list[Case]) -> bool:
        """Bob gets all of the files, alice some in another order. False when nothing can be said any more."""
        taken = self._import("bob", cases)
        if taken is None:
            return False
        for case in cases:
            if case.number in taken:
                generator.accepted(case)
        self.accepted += len(taken)
        again = chance.some(cases, len(cases) // 2)
        if self._import("alice", again) is None:
            return False
        looked_at = chance.some(cases, 3)
        for command in (["verify"], ["inspect"], ["inspect", "--contents"]):
            self._look(command, looked_at)
        for case in cases:
            if case.kind == "stateFile" and case.author != "stranger":
                self._rejoin(case)
        return True

    def _look(self, command: list[str], cases: list[Case]) -> None:
        """What only looks at files obeys the same limits."""
        for case in cases:
            path = self.world.path("looked-at")
            path.write_bytes(case.file)
            run = self.world.run("bob", *command, str(path))
            if broken := self.limits.broken(run, [case]):
                self.find("limits", f"{broken} of {command} by a {case.kind} of {case.author}: {run}", case)

    def _rejoin(self, case: Case) -> None:
        """Loads a state file into a copy of bob, whose commands then answer; the copy goes."""
        copy = self.world.copy(self.world.folder.with_name(f"{self.world.folder.name}-rejoined"))
        copy.path("state").write_bytes(case.file)
        for arguments in (
            ["import", "--rejoin", "state"],
            ["verify"],
            ["put", "a", "--as", "n"],
            ["export", "--all", "out"],
        ):
            run = copy.run("bob", *arguments, given=b'{"a": 1}')
            self._count(run)
            if broken := self.limits.broken(run, [case]):
                self.find("limits", f"{broken} of a rejoin by a {case.kind} of {case.author}: {run}", case)
                break
            if run.status != 0:
                if arguments[0] != "import":
                    self.find("rejoin", f"by a {case.kind} of {case.author}: {run}", case)
                break
        copy.remove()

    def _import(self, name: str, cases: list[Case]) -> set[int] | None:
        """The numbers of the cases that were taken in; None after a failure that ends the session."""
        files = []
        for case in cases:
            path = self.world.path(f"{case.number}.godwit-sync")
            path.write_bytes(case.file)
            files.append(str(path))
        before = self.world.copy(self.world.folder.with_name(self.world.folder.name + "-before"))
        run = self.world.run(name, "import", "--json", *files)
        self._count(run)
        if self.limits.broken(run, cases) and not self._blame(before, name, cases):
            self.find("limits", f"only several files together: {run}")
        before.remove()
        for file in files:
            Path(file).unlink()
        if not run.is_answer:
            return None
        done = {Path(report["file"]).name for report in run.objects if "file" in report}
        return {case.number for case in cases if f"{case.number}.godwit-sync" in done}

    def _blame(self, before: World, name: str, cases: list[Case]) -> bool:
        """Takes in one file after another, to see which one it was."""
        found = False
        for case in cases:
            earlier = before.copy(before.folder.with_name(f"{before.folder.name}-blamed"))
            run = before.run(name, "import", "--json", str(before.path(f"{case.number}.godwit-sync")))
            if broken := self.limits.broken(run, [case]):
                self.find("limits", f"{broken} of {name} by a {case.kind} of {case.author}: {run}", case, earlier)
                found = True
            earlier.remove()
            if not run.is_answer:
                break
        return found

    def _count(self, run: Run) -> None:
        for line in run.error.splitlines():
            if line.startswith("godwit: error:"):
                self.answers[generalized(line)[15:110]] += 1

    def _write(self, chance: Chance) -> bool:
        """Honest people continue writing."""
        for name in ("bob", "alice"):
            key = chance.one(["a", "b", "c"])
            document = chance.one([b'{"a": 1, "b": ["x"], "d": 2}', b'{"a": 3}', b'{"c": {"x": [1]}, "b": ["y"]}'])
            if chance.happens(0.2):
                run = self.world.run(name, "-q", "rm", chance.one(["a", "b", "c"]), key)
            else:
                members = ["--counter", "a", "--set", "b"] if chance.happens(0.5) else []
                run = self.world.run(
                    name, "-q", "put", chance.one(["a", "b", "c"]), "--as", key, *members, given=document
                )
            if not run.is_answer:
                self.find("limits", f"a write of {name}: {run}")
                return False
        return True

    # All accept

    def _exchange(self, generator: Generator, when: str) -> bool:
        """Honest people exchange all they have, and then have the same."""
        for sender, reader in (("bob", "alice"), ("alice", "bob")):
            file = self.world.path(f"{sender}.all")
            for arguments in (["-q", "export", "--all", str(file)], ["import", "--json", str(file)]):
                run = self.world.run(sender if "export" in arguments else reader, *arguments)
                if run.status != 0:
                    self.find("one answer", f"{when}, {sender} to {reader}: {run}")
                    return False
            if sender == "bob":
                identity = generator.authors["mallory"].identity
                try:
                    generator.learn(open_container(file.read_bytes(), identity)[0])
                except Exception:  # sealed to others since the removal, or a state_file of what nobody decodes
                    pass
        return self._agree(when)

    def _agree(self, when: str) -> bool:
        runs = [self.world.run(name, "verify", "--digest-only") for name in ("alice", "bob")]
        if any(run.status != 0 for run in runs) or runs[0].output != runs[1].output:
            self.find("one answer", f"{when}, alice and bob differ: {runs[0]} / {runs[1]}")
            return False
        return True

    # After the attacker is removed

    def _remove(self, generator: Generator) -> None:
        # By its ID: it may have another name by now.
        replica = generator.authors["mallory"].identity.replica.hex()
        run = self.world.run("alice", "-q", "member", "remove", replica)
        if run.status != 0:
            self.find("removal", str(run))
            return
        if not self._exchange(generator, "after the removal") or not self._exchange(generator, "after it once more"):
            return
        for name in ("alice", "bob"):
            folder = self.world.folder
            commands = [
                *_COMMANDS,
                ["export", "--state", str(folder / "state")],
                ["export", "--all", str(folder / "everything")],
                ["verify", str(folder / "everything")],
                ["inspect", str(folder / "state")],
                ["backup", str(folder / f"{name}.backup")],
                ["restore", str(folder / f"{name}.backup"), "--discard-unsent"],
                ["verify"],
            ]
            for command in commands:
                run = self.world.run(name, *command)
                if run.status not in ((0, 4) if command[0] == "missing" else (0,)):
                    self.find("removal", f"{name}: {run}")
            if (self.world.folder / f"{name}.backup").exists():
                (self.world.folder / f"{name}.backup").unlink()
