"""The public symbols of the C++ library and who uses them: classes, functions, enums, aliases and constants that a header of
include/kandinsky defines at namespace level."""

import re

import rules

_NAMESPACE = re.compile(r"namespace (?:KANDINSKY_API )?kandinsky \{")
_TYPE = re.compile(r"(?:template <[^{;]*?>\s*)?(?:class|struct|enum class|enum)\s+(?:\[\[\w+\]\]\s*)?(\w+)[^{;(]*\{")
_ALIAS = re.compile(r"using (\w+) =")
_CONSTANT = re.compile(r"inline constexpr [\w:]+ (\w+)")
_FUNCTION = re.compile(r"(\w+)\s*\(")
_PRIVATE = re.compile(r"^  private:.*", re.MULTILINE | re.DOTALL)

# Files that count as users: texts for people, programs on the installed library, the command and the Python package.
USERS = re.compile(r"README\.md|docs/.*\.md|tests/(?:install|api)/.*\.cpp|src/cli/.*\.[ch]pp|python/src/.*\.[ch]pp")


def _declarations(text):
    """The namespace-level declarations of a header, without comments, each as a text."""
    text = re.sub(r"^\s*#.*$", "", rules.without_comments(text), flags=re.MULTILINE)
    found = _NAMESPACE.search(text)
    if not found:
        return
    body, depth, current = text[found.end():text.rindex("}")], 0, ""
    for letter in body:
        current += letter
        depth += {"{": 1, "}": -1}.get(letter, 0)
        ends = depth == 0 and (letter == ";" or (letter == "}" and _is_function(current)))
        if ends:
            yield current.strip()
            current = ""


def _is_function(text):
    """Whether the text before the first brace declares a function, whose body needs no semicolon after it."""
    head = text.split("{")[0]
    return "(" in head and "=" not in head.split("(")[0] and not _TYPE.match(text.strip())


def public_symbols(headers):
    """{name: (header, the texts that declare it)} of {path: text}; overloads are one symbol, forward declarations none."""
    symbols = {}
    for path, text in headers.items():
        for declaration in _declarations(text):
            plain = re.sub(r"\[\[[^\]]*\]\]", "", declaration).strip()
            match = _TYPE.match(plain)
            if not match and re.match(r"(?:class|struct|enum)\b[^{]*;$", plain):
                continue
            match = match or _ALIAS.match(plain) or _CONSTANT.match(plain) or _FUNCTION.search(plain)
            if match:
                visible = _PRIVATE.sub("", plain) if re.match(r"(?:template <[^{;]*?>\s*)?class ", plain) else plain
                symbols.setdefault(match.group(1), (path, []))[1].append(visible)
    return symbols


def users_of(symbols, files):
    """{name: the files, or public symbols with users, that name it}."""
    words = {path: set(re.findall(r"\w+", text if path.endswith(".md") else rules.without_comments(text)))
             for path, text in files.items() if USERS.fullmatch(path)}
    users = {name: {path for path, those in words.items() if name in those} for name in symbols}
    waiting = [name for name in symbols if users[name]]
    while waiting:  # symbols in the declaration of a used symbol count as used
        used = waiting.pop()
        for name in set(re.findall(r"\w+", " ".join(symbols[used][1]))) & symbols.keys() - {used}:
            if not users[name]:
                waiting.append(name)
            users[name].add(used)
    return users
