#!/usr/bin/env python3
"""Prints completions/kandinsky.bash from the program's own helps:
scripts/completions.py build/bin/kandinsky > completions/kandinsky.bash"""

import re
import sys

from command_help import program_help

SCRIPT = """\
# Completion of the kandinsky command for bash.
# Made by scripts/completions.py from the program's helps; `make reference` makes it again.
#
# bash: installed where bash-completion looks; or `source` this file.
# zsh:  autoload -U +X bashcompinit && bashcompinit && source kandinsky.bash

_kandinsky() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}} words=
    COMPREPLY=()  # left empty where a file or a number is wanted: the shell then offers files
    # --method=kme arrives as three words: --method, =, kme.
    if [[ $current == "=" ]]; then
        current=
    elif [[ $previous == "=" && $COMP_CWORD -gt 2 ]]; then
        previous=${{COMP_WORDS[COMP_CWORD-2]}}
    fi
    if [[ $COMP_CWORD -eq 1 ]]; then
        words="{commands} --help --version"
    fi
    case "$command $previous" in
{values}
    esac
    if [[ -z $words && $current == -* ]]; then
        case $command in
{options}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$current"))
}}
complete -o default -F _kandinsky kandinsky"""

WORD = r"[a-z][a-z0-9_]*"


def choices(one):
    """The words an option takes, as its help lists them; none where the help lists no words."""
    if one.words or one.value != "TEXT":
        return one.words
    text = re.sub(r" \([^)]*\)", "", one.text)
    found = re.findall(rf"'({WORD})'", text)
    if not found:
        found = re.findall(rf"(?:^|; )({WORD}): ", text)
        found = found if len(found) > 1 else []
    if not found:
        listed = re.search(rf"(?:^|: )({WORD}(?:, (?!or ){WORD})*(?:,? or {WORD})?)(?=$|;|:|,? with )", text)
        found = [word for word in re.findall(WORD, listed.group(1) if listed else "") if word != "or"]
        found = found if len(found) > 1 else []
    if found and re.fullmatch(WORD, one.default) and one.default not in found:
        found.insert(0, one.default)
    return list(dict.fromkeys(found))


def page(program):
    _, commands = program_help(program)
    values, options = [], []
    for command in commands:
        words = {}
        for one in command.options():
            if choices(one):
                words.setdefault(" ".join(choices(one)), []).extend(one.names)
        for listed, names in words.items():
            pattern = " | ".join(f'"{command.name} {name}"' for name in names)
            values.append(f'        {pattern}) words="{listed}" ;;')
        taking = [name for one in command.options() if one.value and not choices(one) for name in one.names]
        if taking:
            values.append("        " + " | ".join(f'"{command.name} {name}"' for name in taking) + ") return ;;")
        names = " ".join(name for one in command.options() for name in one.names)
        options.append(f'            {command.name}) words="{names}" ;;')
    return SCRIPT.format(commands=" ".join(one.name for one in commands), values="\n".join(values), options="\n".join(options))


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PROGRAM > completions/kandinsky.bash")
    print(page(sys.argv[1]))


if __name__ == "__main__":
    main()
