#!/usr/bin/env python3
"""Prints docs/cli.md from the program's own helps: scripts/cli_reference.py build/bin/kandinsky > docs/cli.md"""

import re
import sys

from command_help import lacking, program_help, shared_sections

INTRODUCTION = """# The command, option by option

<!-- Made by scripts/cli_reference.py from the program's helps; `make reference` makes it again. -->

{summary}

`kandinsky COMMAND --help` prints the same. Values in capitals are yours to fill in: `FILE` a path, `N` a whole number, `X` a
number, `TEXT` what the last column says. Exit codes: 0 done, 1 internal fault, 2 wrong usage, 3 bad input data, 4 file system or out
of memory, 5 an alarm of `monitor --fail-on-alarm`.

| command | what it does |
| --- | --- |"""


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def link(title):
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def table(options):
    yield "| option | default | what it does |"
    yield "| --- | --- | --- |"
    for one in options:
        value = f" {one.shown_value}" if one.value else ""
        head = ", ".join(f"`{name}{value}`" for name in one.names)
        default = "**required**" if one.required else f"`{one.default}`" if one.default else ""
        yield f"| {head} | {default} | {cell(one.text)} |"


def positionals(options):
    for one in options:
        yield f"`{one.names[0]}` ({one.value.removesuffix(' ...')}{', one or more' if one.value.endswith('...') else ''}): {one.text}"


def section(command, title, shared):
    without = ", ".join(f"`{name}`" for name in lacking(command, title, shared))
    return f"[{title}](#{link(title)})" + (f" without {without}" if without else "")


def command_page(command, shared):
    yield f"## {command.name}"
    yield ""
    yield command.summary + "."
    yield ""
    yield f"    {command.usage}"
    for title, options in command.sections.items():
        if title in shared:
            continue
        yield ""
        if title == "Positionals":
            yield from positionals(options)
            continue
        if title != "Options":
            yield f"### {command.name}: {title}"
            yield ""
        yield from table([one for one in options if one.long != "--help"])
    also = [title for title in command.sections if title in shared]
    if also:
        yield ""
        yield "And: " + ", ".join(section(command, title, shared) for title in also) + "."
    if command.examples:
        yield ""
        yield f"Example{f' ({command.example_note})' if command.example_note else ''}:"
        yield ""
        yield from (f"    {line}" for line in command.examples.splitlines())
    yield ""


def page(program):
    root, commands = program_help(program)
    shared = shared_sections(commands)
    yield INTRODUCTION.format(summary=root.summary)
    for command in commands:
        yield f"| [{command.name}](#{link(command.name)}) | {cell(command.summary)} |"
    yield ""
    for command in commands:
        yield from command_page(command, shared)
    if shared:
        yield "## Options that several commands share"
        yield ""
    for title in shared:
        owners = [command for command in commands if title in command.sections]
        yield f"### {title}"
        yield ""
        yield "Of " + ", ".join(f"`{command.name}`" for command in owners) + "."
        yield ""
        yield from table(shared[title])
        yield ""


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM > docs/cli.md")
    print("\n".join(page(sys.argv[1])).rstrip("\n"))


if __name__ == "__main__":
    main()
