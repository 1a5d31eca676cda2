"""Compares what runs of the program with --json printed with the schemas of Specs/cli.

usage: json_lines.py SCHEMAS LOG

LOG has a line for each run: {"arguments": [...], "lines": [...]}, as tests of the command line write it to the file that
GODWIT_JSON_LOG names. A reader must ignore members that it does not know; here one that the schema does not name is an
error, for then the schema lacks it.
"""

import json
import pathlib
import sys

import jsonschema
import referencing


def strict(schema):
    """The same schema, of which no object may have other members."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {name: strict(item) for name, item in schema.items()}
    if isinstance(schema.get("properties"), dict):
        closed["additionalProperties"] = False
    return closed


class Schemas:
    def __init__(self, folder):
        files = {path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))}
        for schema in files.values():
            jsonschema.Draft202012Validator.check_schema(schema)
        resources = [
            (f"{name}.json", referencing.Resource.from_contents(strict(schema))) for name, schema in files.items()
        ]
        registry = referencing.Registry().with_resources(resources)
        self.validators = {
            name: jsonschema.Draft202012Validator(strict(schema), registry=registry)
            for name, schema in files.items()
            if name != "common"
        }

    def name(self, arguments):
        """The schema of a run: that of its verb, of its verb and second word, or of its verb and an option."""
        words = [word for word in arguments if not word.startswith("-")]
        for verb, second in zip(words, words[1:] + [""]):
            if f"{verb}-{second}" in self.validators:
                return f"{verb}-{second}"
            if any(name == verb or name.startswith(f"{verb}-") for name in self.validators):
                options = [f"{verb}-{word[2:]}" for word in arguments if word.startswith("--")]
                return next((option for option in options if option in self.validators), verb)
        return None


def main():
    schemas = Schemas(pathlib.Path(sys.argv[1]))
    used, problems, count = set(), [], 0
    for run in map(json.loads, pathlib.Path(sys.argv[2]).read_text().splitlines()):
        # A sync file on the standard output is none.
        lines = [line for line in run["lines"] if line.startswith("{")]
        if not lines:
            continue
        name = schemas.name(run["arguments"])
        if name not in schemas.validators:
            problems.append(f"{' '.join(run['arguments'])}: there is no schema for it")
            continue
        used.add(name)
        for line in lines:
            count += 1
            for error in schemas.validators[name].iter_errors(json.loads(line)):
                problems.append(f"{name}: {error.json_path}: {error.message[:300]}")
    problems += [f"{name}: no test prints a line of it" for name in sorted(set(schemas.validators) - used)]
    for problem in problems:
        print(problem)
    print(f"{count} lines of {len(used)} schemas, {len(problems)} problems")
    return 1 if problems or not count else 0


sys.exit(main())
