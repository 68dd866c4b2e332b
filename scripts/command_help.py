"""The program's help as data, from which the reference page, the man page and the completions are made."""

import re
import subprocess
from dataclasses import dataclass, field

COLUMN = 30  # where descriptions begin


@dataclass
class Option:
    names: list  # ["-o", "--output"]; one word without dashes for a positional
    value: str  # "FILE.npy", "" for a flag
    default: str
    required: bool
    text: str
    words: list = field(default_factory=list)  # the allowed values, if the program lists them

    @property
    def long(self):
        return next((name for name in self.names if name.startswith("--")), self.names[0])

    @property
    def shown_value(self):
        """The name of the value, with short names for types."""
        return {"UINT": "N", "INT": "N", "FLOAT": "X", "INT ...": "N ..."}.get(self.value, self.value)


@dataclass
class Command:
    name: str  # "" for the program itself
    summary: str
    usage: str
    sections: dict = field(default_factory=dict)  # title -> [Option]
    examples: str = ""  # as printed, without the first line's indentation
    example_note: str = ""

    def options(self):
        return [one for title, options in self.sections.items() if title != "Positionals" for one in options]


def help_of(program, *words):
    done = subprocess.run([program, *words, "--help"], check=True, capture_output=True, text=True)
    return done.stdout


def version_of(program):
    return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.split()[1]


def parse_option(head, text):
    """`head` is for example '-o,--output FILE.kcal REQUIRED' or '--min-count UINT:NONNEGATIVE=1'."""
    first, _, rest = head.strip().partition(" ")
    rest = rest.strip()
    required = rest.endswith("REQUIRED")
    rest = rest.removesuffix("REQUIRED").strip()
    value, _, default = rest.partition("=")
    text = " ".join(text.split())
    words = re.search(r":\{([^}]*)\}", value)
    span = re.search(r" in \[(\S+) - (\S+)\]", value)
    if span:
        text += f" ({span.group(1)} to {span.group(2)})"
    value = re.sub(r":\{[^}]*\}| in \[[^\]]*\]|:[A-Z][A-Z_]*", "", value).strip()
    return Option(first.split(","), value, default.removesuffix(" ..."), required, text, words.group(1).split(",") if words else [])


def entries(lines):
    """(head, text) of each entry of a section; texts are beside the heads or below them."""
    out = []
    at = 0
    while at < len(lines):
        line, at = lines[at], at + 1
        below = at < len(lines) and lines[at].startswith(" " * COLUMN)
        if len(line) > COLUMN and line[COLUMN - 1] == " " and not below:
            out.append((line[:COLUMN], line[COLUMN:]))
            continue
        text = []
        while at < len(lines) and lines[at].startswith(" " * COLUMN):
            text.append(lines[at].strip())
            at += 1
        out.append((line, " ".join(text)))
    return out


def parse(name, text):
    lines = text.splitlines()
    usage = next(line for line in lines if line.startswith("Usage: "))
    command = Command(name, lines[0], usage.removeprefix("Usage: "))
    at = lines.index(usage) + 1
    while at < len(lines):
        line, at = lines[at], at + 1
        if not line:
            continue
        body = []
        while at < len(lines) and lines[at].startswith("  "):
            body.append(lines[at])
            at += 1
        title = line.removesuffix(":")
        if title.startswith("Example"):
            command.example_note = (re.search(r"\((.*)\)", title) or ["", ""])[1]
            command.examples = "\n".join(one[2:] for one in body)
        elif title == "Subcommands" or title.startswith("Start with") or not body:
            continue
        else:
            command.sections[title] = [parse_option(*one) for one in entries(body)]
    return command


def program_help(program):
    """The program and its commands, in the program's order."""
    text = help_of(program)
    listed = text.split("Subcommands:\n")[1].split("\n\n")[0].splitlines()
    names = [head.split()[0] for head, _ in entries(listed)]
    return parse("", text), [parse(name, help_of(program, name)) for name in names]


def shared_sections(commands):
    """Sections of two commands or more, to be printed only once: title -> the longest list of options.

    Commands may lack some of the options; the others must be identical.
    """
    seen = {}
    for command in commands:
        for title, options in command.sections.items():
            if title not in ("Options", "Positionals"):
                seen.setdefault(title, []).append(options)
    longest = {title: max(found, key=len) for title, found in seen.items() if len(found) > 1}
    return {title: every for title, every in longest.items() if all(one in every for own in seen[title] for one in own)}


def lacking(command, title, shared):
    """The long names of a shared section's options that a command does not have."""
    return [one.long for one in shared[title] if one not in command.sections[title]]
