"""Works out what must come of the histories in rules/ by the rules of merge.md alone: whole contexts in place of row states, no
database, no forgetting. Steps that no program could take, for it does not see the row or the value is taken, are left out.

python3 rules.py rules/*.json    writes each file anew, with its outcome
"""
import json, re, sys

KEYS = ["id", "a", "b", "u", "n"]


class Row:
    def __init__(self):
        self.cells, self.sums, self.touches, self.deletes = {}, {}, {}, []

    def is_alive(self):
        return any(not any(context.get(o, 0) >= s for context in self.deletes) for o, s in self.touches.items())


class Replica:
    def __init__(self):
        self.held, self.clock, self.log, self.rows, self.wall = {}, 0, [], {}, 1_700_000_000_000

    def apply(self, record):
        origin, number, stamp, context, operations = record
        if self.held.get(origin, 0) >= number:
            return
        assert self.held.get(origin, 0) == number - 1 and all(self.held.get(o, 0) >= s for o, s in context.items())
        self.held[origin], self.clock = number, max(self.clock, stamp)
        self.log.append(record)
        seen = {**context, origin: number}
        for kind, key, values, added in operations:
            row = self.rows.setdefault(key, Row())
            if kind == "delete":
                row.deletes.append(seen)
                continue
            row.touches[origin] = number
            if kind == "insert":
                row.sums = {(o, s): n for (o, s), n in row.sums.items() if seen.get(o, 0) < s}
            row.sums[origin, number] = row.sums.get((origin, number), 0) + added
            for column, value in values.items():
                if column not in row.cells or (stamp, origin) >= row.cells[column][1]:
                    row.cells[column] = (value, (stamp, origin))

    def shown(self):
        """The rows by key, and the keys of those that wait: of equal values the least key holds it."""
        living = {key: row for key, row in self.rows.items() if row.is_alive()}
        waiting = {k for k in living for o in living if o < k and living[o].cells["u"][0] == living[k].cells["u"][0]}
        line = lambda key, row: [key] + [row.cells[c][0] for c in "abu"] + [sum(row.sums.values())]
        return {key: line(key, row) for key, row in living.items() if key not in waiting}, waiting

    def can(self, kind, key, values):
        shown, waiting = self.shown()
        if key in waiting or (key in shown) == (kind == "insert"):
            return False
        return not any(other != key and row[3] == values.get("u") for other, row in shown.items())


def run(vector):
    replicas = {name: Replica() for name in vector["replicas"]}
    steps = []
    for step in vector["steps"]:
        if "on" in step:
            replica = replicas[step["on"]]
            operations = []
            for entry in step["write"]:
                kind = next(k for k in ("insert", "update", "delete") if k in entry)
                values = dict(entry.get("values", {}))
                key = values.pop("id") if kind == "insert" else entry["key"][0]
                added = values.pop("n", 0) if kind == "insert" else entry.get("add", {}).get("n", 0)
                operations.append((kind, key, values, added))
            if not all(replica.can(*operation[:3]) for operation in operations):
                continue
            if not step.get("sameTime"):
                for other in replicas.values():
                    other.wall += 10
            stamp = max(replica.clock + 1, replica.wall << 16)
            number = replica.held.get(step["on"], 0) + 1
            replica.apply((step["on"], number, stamp, dict(replica.held), operations))
        elif "clock" in step:
            replicas[step["clock"]].wall += step["advance"]
        elif "send" in step:
            for record in list(replicas[step["send"]].log):
                replicas[step["to"]].apply(record)
        elif "exchange" in step:
            for _ in replicas:
                for sender in replicas.values():
                    for receiver in replicas.values():
                        for record in list(sender.log):
                            receiver.apply(record)
        elif "expect" in step:
            outcomes = [replica.shown() for replica in replicas.values()]
            assert all(outcome == outcomes[0] for outcome in outcomes)
            shown, waiting = outcomes[0]
            limbo = {"row": [[key] for key in sorted(waiting)]} if waiting else {}
            step = {"expect": {"rows": {"row": [shown[key] for key in sorted(shown)]}, "limbo": limbo}}
        else:
            raise SystemExit(f"an unknown step: {step}")
        steps.append(step)
    return steps


for path in sys.argv[1:]:
    with open(path) as file:
        text = file.read()
    head = text[: text.index(' "steps": [')]
    steps = run(json.loads(text))
    with open(path, "w") as file:
        file.write(head + ' "steps": [\n' + ",\n".join("  " + json.dumps(step) for step in steps) + "]}\n")
