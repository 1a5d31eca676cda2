"""Writes a program's manual pages (man(7)) from what it says of itself.

    manual.py PROGRAM FOLDER

A page for the program and each of its commands in section 1, and for godwit one for each topic of `help` in section 7. A
command that another program carries out has that program's page. The date is
SOURCE_DATE_EPOCH's, so that the same program gives the same pages.
"""

import datetime
import json
import os
import pathlib
import re
import subprocess
import sys

# The commands of godwit that programs of their own carry out.
OTHERS = ["godwit-agent", "godwit-ui"]

TOPICS = {
    "formats": "what Godwit's files are, and how to read them without it",
    "keys": "which keys there are, and what opens a keyring",
    "sync": "how changes come from one machine to another",
}


def escaped(text):
    """Text as roff has it: a line that begins with a dot or an apostrophe is no request."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", r"\\&", text, flags=re.MULTILINE)


def option_names(argument):
    names = [("-" if n["kind"] == "short" else "--") + n["name"] for n in argument.get("names", [])]
    return sorted(names, key=lambda name: (name.startswith("--"), name))


def synopsis(argument):
    value = argument.get("valueName", "")
    if argument["kind"] == "positional":
        text = f"\\fI{escaped(value)}\\fR"
    else:
        text = f"\\fB{escaped(option_names(argument)[-1])}\\fR"
        if argument["kind"] == "option":
            text += f" \\fI{escaped(value)}\\fR"
    text += " ..." if argument["isRepeating"] else ""
    return f"[{text}]" if argument["isOptional"] else text


def described(argument):
    """A tagged paragraph."""
    if argument["kind"] == "positional":
        tag = f"\\fI{escaped(argument['valueName'])}\\fR"
    else:
        tag = ", ".join(f"\\fB{escaped(name)}\\fR" for name in option_names(argument))
        if argument["kind"] == "option":
            tag += f" \\fI{escaped(argument['valueName'])}\\fR"
    text = argument.get("abstract", "")
    if argument.get("defaultValue") and "(default:" not in text:
        text += f" (default: {argument['defaultValue']})"
    return [".TP", tag, escaped(text)]


def paragraphs(discussion):
    """What a command says of itself, its examples as they stand."""
    lines, is_example = [], False
    for line in discussion.splitlines():
        if line.strip() == "Examples:":
            lines += [".SH EXAMPLES"]
        elif line.startswith("  "):
            lines += ([] if is_example else [".nf", ".RS 4"]) + [escaped(line[2:])]
            is_example = True
            continue
        elif line.strip():
            lines += [escaped(line)]
        elif not is_example:
            lines += [".PP"]
        if is_example:
            lines += [".RE", ".fi"] if not line.startswith("  ") else []
            is_example = False
    return lines + ([".RE", ".fi"] if is_example else [])


class Manual:
    def __init__(self, program, folder):
        self.program = program
        self.folder = pathlib.Path(folder)
        seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        self.date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d")
        self.version = self.run("--version").splitlines()[0]
        self.commands = []

    def run(self, *arguments):
        return subprocess.run([self.program, *arguments], check=True, capture_output=True, text=True).stdout

    def write(self, name, section, body):
        head = [f'.TH "{name.upper()}" "{section}" "{self.date}" "{self.version}" "Godwit Manual"', ".nh", ".ad l"]
        (self.folder / f"{name}.{section}").write_text("\n".join(head + body) + "\n", encoding="utf-8")

    def command(self, command, above=()):
        words = [*above, command["commandName"]]
        name = "-".join(words)
        shown = [a for a in command.get("arguments", []) if a.get("shouldDisplay", True)]
        below = [c for c in command.get("subcommands", []) if c.get("shouldDisplay", True)]
        body = [".SH NAME", f"{escaped(name)} \\- {escaped(command.get('abstract', ''))}", ".SH SYNOPSIS"]
        parts = [f"\\fB{escaped(' '.join(words))}\\fR", *map(synopsis, shown)]
        body += [" ".join(parts + (["\\fIcommand\\fR"] if below else []))]
        said = paragraphs(command.get("discussion", ""))
        place = said.index(".SH EXAMPLES") if ".SH EXAMPLES" in said else len(said)
        if said[:place]:
            body += [".SH DESCRIPTION", *said[:place]]
        if shown:
            body += [".SH OPTIONS", *(line for argument in shown for line in described(argument))]
        if below:
            body += [".SH COMMANDS"]
            for each in below:
                body += [".TP", f"\\fB{escaped(name + '-' + each['commandName'])}\\fR(1)", escaped(each["abstract"])]
        body += said[place:]
        others = [".".join(("-".join(above), "1"))] if above else []
        others += [] if above else ["godwit.1"] if name in OTHERS else [f"godwit-{topic}.7" for topic in TOPICS]
        seen = [f"\\fB{escaped(page)}\\fR({section})" for page, section in (o.rsplit(".", 1) for o in others)]
        body += [".SH SEE ALSO", ", ".join(seen)] if seen else []
        if not above or name not in OTHERS:
            self.write(name, 1, body)
        for each in below:
            self.command(each, words)

    def topic(self, topic, abstract):
        body = [".SH NAME", f"godwit\\-{topic} \\- {escaped(abstract)}", ".SH DESCRIPTION", ".nf"]
        text = self.run("help", topic)
        # A command of the same name has a page of its own, and what it says of itself comes first.
        if topic in self.commands:
            text = text.removeprefix(self.run(topic, "--help")).lstrip("\n")
        body += [escaped(line) for line in text.splitlines()]
        self.write(f"godwit-{topic}", 7, body + [".fi", ".SH SEE ALSO", "\\fBgodwit\\fR(1)"])


def main():
    program, folder = sys.argv[1:]
    manual = Manual(program, folder)
    command = json.loads(manual.run("--experimental-dump-help"))["command"]
    manual.command(command)
    if command["commandName"] in OTHERS:
        return
    manual.commands = [each["commandName"] for each in command["subcommands"]]
    for topic, abstract in TOPICS.items():
        manual.topic(topic, abstract)


main()
