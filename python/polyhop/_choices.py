# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Rules and algorithms as functions, made from the engine's tables: a new one needs no line here."""

import inspect
import keyword

from . import _engine


class Choice:
    """A rule or an algorithm with its options, as a file would name it. Made by functions such as `polyhop.gap`."""

    def __init__(self, key, name, options):
        self._key, self.name, self.options = key, name, dict(options)

    def as_dict(self):
        return {self._key: self.name, **self.options}

    def __repr__(self):
        return f"{python_name(self.name)}({', '.join(f'{k}={v!r}' for k, v in self.options.items())})"

    def __eq__(self, other):
        return isinstance(other, Choice) and self.as_dict() == other.as_dict()

    def __hash__(self):
        return hash(repr(self))


def python_name(name):
    name = name.replace("-", "_")
    return name + "_" if keyword.iskeyword(name) else name


def _default(text):
    """The default of an option, for a signature: what TOML would write."""
    if text in ("-", "required"):
        return None if text == "-" else inspect.Parameter.empty
    if text in ("true", "false"):
        return text == "true"
    if text.startswith('"'):
        return text[1:-1]
    for read in (int, float):
        try:
            return read(text)
        except ValueError:
            pass
    return text


def described(options):
    """The options as lines of a docstring."""
    lines = []
    for option in options:
        kind = f"{option['type']} {option['constraint']}".strip()
        default = "" if option["default"] in ("-", "required") else f", default {option['default']}"
        lines.append(f"    {python_name(option['name'])}: {kind}{default}\n        {option['help']}")
    return "\n".join(lines)


def signature(options, first=()):
    keywords = [inspect.Parameter(python_name(o["name"]), inspect.Parameter.KEYWORD_ONLY, default=_default(o["default"]))
                for o in options]
    return inspect.Signature([*first, *keywords])


def _chooser(entry, key, read):
    names = {python_name(o["name"]): o["name"] for o in entry["options"]}

    def choose(**options):
        given = {names.get(name, name): value for name, value in options.items() if value is not None}
        read({key: entry["name"], **given})  # refuses what does not fit, at once
        return Choice(key, entry["name"], given)

    choose.__name__ = choose.__qualname__ = python_name(entry["name"])
    choose.__module__ = "polyhop"
    choose.__doc__ = f"{entry['summary']}\n\nCosts {entry['cost']}.\n\n{described(entry['options'])}".rstrip()
    choose.__signature__ = signature(entry["options"])
    return choose


def make_rules():
    return {python_name(e["name"]): _chooser(e, "rule", _engine.read_rule) for e in _engine.tables()["rules"]}


def make_algorithms():
    return {python_name(e["name"]): _chooser(e, "name", _engine.read_algorithm)
            for e in _engine.tables()["algorithms"]}


def as_value(choice):
    """What the engine reads: a name, a dict, or what a function such as `gap` made; a class of one's own by its name."""
    if isinstance(choice, Choice):
        return choice.as_dict()
    name = getattr(choice, "polyhop_name", None)
    if isinstance(choice, type):
        if name is None:
            raise _engine.InputError(f"{choice.__name__} has no name yet; register it with @polyhop.rule or @polyhop.algorithm")
        return name
    return choice
