"""Runs sessions of hostile files; Tools/fuzz-arrival starts it (Specs/fuzz.md, "What arrives")."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from .chance import LEFT_OUT, Chance
from .replicas import World, founded
from .session import Limits, Session

_SEEDS = Path(__file__).parent / "seeds.txt"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="Tools/fuzz-arrival", description=__doc__)
    parser.add_argument("--files", type=int, default=1_000, help="how many files in all (1000)")
    parser.add_argument("--seed", type=int, default=1, help="the first seed; each is a session (1)")
    parser.add_argument("--seconds", type=float, help="end after the session that is running then")
    parser.add_argument("--batch", type=int, default=20, help="files in an import (20)")
    parser.add_argument("--batches", type=int, default=5, help="imports in a session (5)")
    parser.add_argument("--jobs", type=int, default=1, help="sessions at a time (1)")
    parser.add_argument("--binary", required=True, help="the program")
    parser.add_argument(
        "--asan", action="store_true", help="it has AddressSanitizer: memory is not judged, time is less so"
    )
    parser.add_argument("--no-seeds", action="store_true", help="without the seeds that have found something once")
    parser.add_argument(
        "--without",
        default="",
        help=f"what to leave out while it is not mended, with commas between: {', '.join(LEFT_OUT)}",
    )
    parser.add_argument("--keep", type=Path, default=Path("found-arrival"), help="where files that show a fault go")
    return parser.parse_args()


def seeds_that_found() -> list[int]:
    lines = [line.partition("#")[0].strip() for line in _SEEDS.read_text().splitlines()]
    return [int(line) for line in lines if line]


def play(seed: int, template: World, limits: Limits, options: argparse.Namespace) -> Session:
    Chance.without = frozenset(options.without.split(",")) - {""}
    world = template.copy(template.folder.with_name(f"session-{seed}"))
    session = Session(world, seed, limits, options.batch, options.batches, options.keep)
    try:
        session.play()
    except Exception:
        session.find("fuzzer", traceback.format_exc(limit=-4))
    world.remove()
    return session


def main() -> int:
    options = arguments()
    if unknown := set(options.without.split(",")) - {"", *LEFT_OUT}:
        raise SystemExit(f"there is no {', '.join(unknown)} to leave out: {', '.join(LEFT_OUT)}")
    begun = time.monotonic()
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="fuzz-arrival-", dir=shared if shared.is_dir() else None) as folder:
        template = founded(Path(folder) / "template", options.binary)
        if options.asan:
            template.time_limit = 600
        idle = template.run("bob", "status")
        limits = Limits(idle.peak_kibibytes, 80 if options.asan else 8, not options.asan)
        count = -(-options.files // (options.batch * options.batches))
        seeds = ([] if options.no_seeds else seeds_that_found()) + list(range(options.seed, options.seed + count))
        print(
            f"{len(seeds)} sessions of {options.batch * options.batches} files; idle {idle.peak_kibibytes} KiB",
            flush=True,
        )
        return report(sessions(seeds, template, limits, options, begun), begun, options)


def sessions(seeds: list[int], template: World, limits: Limits, options: argparse.Namespace, begun: float):
    """Sessions as they end, until there is no more time."""

    def is_late() -> bool:
        return options.seconds is not None and time.monotonic() - begun > options.seconds

    if options.jobs == 1:
        for seed in seeds:
            if is_late():
                return
            yield play(seed, template, limits, options)
        return
    with ProcessPoolExecutor(options.jobs) as pool:
        waiting = [pool.submit(play, seed, template, limits, options) for seed in seeds]
        for number, future in enumerate(waiting):
            if is_late():
                for other in waiting[number:]:
                    other.cancel()
            if not future.cancelled():
                yield future.result()


def report(played, begun: float, options: argparse.Namespace) -> int:
    answers: Counter = Counter()
    shapes: Counter = Counter()
    count = accepted = 0
    for session in played:
        count += 1
        accepted += session.accepted
        answers.update(session.answers)
        for finding in session.findings:
            shapes[finding.shape] += 1
            if shapes[finding.shape] <= 3:
                print(f"seed {finding.seed} case {finding.case} {finding.oracle}: {finding.what}\n", flush=True)
    files = count * options.batch * options.batches
    seconds = time.monotonic() - begun
    print(f"{files} files in {count} sessions and {seconds:.0f} s; bob took {accepted} in")
    for answer, times in answers.most_common(40):
        print(f"{times:7} {answer}")
    for shape, times in shapes.most_common():
        print(f"FOUND {times} times {shape}")
    return 1 if shapes else 0


if __name__ == "__main__":
    sys.exit(main())
