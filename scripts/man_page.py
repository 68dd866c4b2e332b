#!/usr/bin/env python3
"""Prints man/kandinsky.1 from the program's own helps: scripts/man_page.py build/bin/kandinsky > man/kandinsky.1"""

import sys

from command_help import lacking, program_help, shared_sections, version_of

DESCRIPTION = """\
.SH DESCRIPTION
.B kandinsky
turns the probability maps of a segmentation model into prediction sets: for each pixel of a new image the classes that cannot
be ruled out at an error level alpha.
It learns thresholds from labelled images
.RB ( calibrate ),
applies them
.RB ( predict ),
and measures what they are worth
.RB ( evaluate ", " compare ", " report ).
Try
.B kandinsky demo
first: it makes its own data.
.PP
Arrays are numpy's: probabilities [N,C,H,W] as float16/32/64 in [0, 1] or uint8 (p * 255), labels [N,H,W] as integers."""

ENDING = """\
.SH EXIT STATUS
.TS
tab(|);
l l.
0|done
1|internal fault
2|wrong usage
3|bad input data
4|file system
.TE
.PP
An error is one line on standard error: what, where, what to do. No partial output file is left behind.
.SH FILES
.TP
.I *.kcal
A calibrator: a zip archive of numpy arrays and meta.json, which numpy.load opens.
.SH SEE ALSO
The folder docs of the sources: guide.md (a tour), concepts.md (what is promised), cli.md (these options as tables)."""


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return "\\&" + text if text[:1] in (".",) else text


def option(one):
    value = f" \\fI{escaped(one.shown_value)}\\fR" if one.value else ""
    names = ", ".join(f"\\fB{escaped(name)}\\fR" for name in one.names)
    ending = " (required)" if one.required else f" (default: {one.default})" if one.default else ""
    return [".TP", names + value, escaped((one.text + ending).strip())]


def command_part(command, shared):
    yield f".SS {escaped(command.usage.removeprefix('kandinsky '))}"
    yield escaped(command.summary) + "."
    for title, options in command.sections.items():
        if title in shared:
            continue
        if title not in ("Options", "Positionals"):
            yield ".PP"
            yield f"\\fI{escaped(title)}\\fR"
        for one in options:
            if one.long != "--help":
                yield from option(one)
    also = [title for title in command.sections if title in shared]
    if also:
        yield ".PP"
        yield "Also, below: " + escaped("; ".join(also)) + "."
    if command.examples:
        yield ".PP"
        yield f"Example{escaped(f' ({command.example_note})') if command.example_note else ''}:"
        yield ".PP"
        yield ".nf"
        yield from (f"    {escaped(line)}" for line in command.examples.splitlines())
        yield ".fi"


def page(program):
    root, commands = program_help(program)
    shared = shared_sections(commands)
    yield "'\\\" t"
    yield '.\\" Made by scripts/man_page.py from the helps of the program; "make reference" makes it again.'
    yield f'.TH KANDINSKY 1 "" "kandinsky {version_of(program)}" "User Commands"'
    yield ".SH NAME"
    yield "kandinsky \\- " + escaped(root.summary[0].lower() + root.summary[1:].rstrip("."))
    yield ".SH SYNOPSIS"
    yield ".B kandinsky"
    yield ".I COMMAND"
    yield ".RI [ OPTIONS ]"
    yield ".br"
    yield ".B kandinsky \\-\\-version"
    yield ".br"
    yield ".B kandinsky"
    yield ".I COMMAND"
    yield ".B \\-\\-help"
    yield from DESCRIPTION.replace("-", "\\-").splitlines()
    yield ".SH COMMANDS"
    for command in commands:
        yield from command_part(command, shared)
    if shared:
        yield ".SH OPTIONS OF SEVERAL COMMANDS"
    for title in shared:
        owners = [command for command in commands if title in command.sections]
        yield f".SS {escaped(title)}"
        lists = [command.name + "".join(f" (without {', '.join(missing)})" for missing in [lacking(command, title, shared)] if missing)
                 for command in owners]
        yield "Of " + escaped(", ".join(lists)) + "."
        for one in shared[title]:
            yield from option(one)
    yield from ENDING.splitlines()


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM > man/kandinsky.1")
    print("\n".join(page(sys.argv[1])))


if __name__ == "__main__":
    main()
