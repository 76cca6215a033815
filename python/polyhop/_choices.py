# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Rules and algorithms as functions, made from the engine's tables: a new one needs no line here."""

import inspect
import keyword
import numbers
import textwrap
import types

from . import _engine
from ._messages import refused


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
    """The default of an option as TOML writes it, for a signature."""
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


def signature(options, first=(), main=""):
    """`main`: the option that can be given without its name."""
    listed = [inspect.Parameter(python_name(o["name"]), inspect.Parameter.POSITIONAL_OR_KEYWORD if o["name"] == main
                                else inspect.Parameter.KEYWORD_ONLY, default=_default(o["default"]))
              for o in sorted(options, key=lambda o: o["name"] != main)]
    return inspect.Signature([*first, *listed])


class Table(types.SimpleNamespace):
    """Functions by name; prints as a list with their summaries."""

    def __repr__(self):
        width = max(map(len, vars(self)), default=0)
        summaries = {name: function.__doc__.splitlines()[0] for name, function in sorted(vars(self).items())}
        return "\n".join(textwrap.fill(text, 80, initial_indent=f"{name:<{width}}  ", subsequent_indent=" " * (width + 2))
                         for name, text in summaries.items())


def _chooser(entry, key, read):
    names = {python_name(o["name"]): o["name"] for o in entry["options"]}
    main = entry.get("constant", "")

    def choose(*unnamed, **options):
        if len(unnamed) > (1 if main else 0) or (unnamed and python_name(main) in options):
            raise TypeError(f"{choose.__name__}() takes {'one value without a name, ' + main if main else 'options by name'}; "
                            f"it has {', '.join(f'{name}=' for name in names) or 'none'}")
        if unnamed:
            options[python_name(main)] = unnamed[0]
        given = {names.get(name, name): value for name, value in options.items() if value is not None}
        read({key: entry["name"], **given})  # rejects at once what does not fit
        return Choice(key, entry["name"], given)

    choose.__name__ = choose.__qualname__ = python_name(entry["name"])
    choose.__module__ = "polyhop"
    choose.__doc__ = f"{entry['summary']}\n\nCosts {entry['cost']}.\n\n{described(entry['options'])}".rstrip()
    choose.__signature__ = signature(entry["options"], main=main)
    return choose


_KINDS = {"rules": ("rule", _engine.read_rule), "algorithms": ("name", _engine.read_algorithm)}


def _table(kind):
    return Table(**{python_name(e["name"]): _chooser(e, *_KINDS[kind]) for e in _engine.tables()[kind]})


#: Every rule and every algorithm, including registered ones.
rules, algorithms = _table("rules"), _table("algorithms")


def add(kind, name):
    """Adds what was registered under a name to the "rules" or "algorithms"."""
    entry = next(e for e in _engine.tables()[kind] if e["name"] == name)
    setattr({"rules": rules, "algorithms": algorithms}[kind], python_name(name), _chooser(entry, *_KINDS[kind]))


def _name_of(cls, argument):
    """The name under which a class was registered."""
    if getattr(cls, "polyhop_name", None) is None:
        raise refused(argument, f"{cls.__name__} has no name yet; register it with @polyhop.rule or @polyhop.algorithm")
    return cls.polyhop_name


def as_value(choice, argument="step"):
    """What the engine reads, from a name, a dict, or the result of a function such as `gap`; your own class becomes its
    name, a number a constant step."""
    if isinstance(choice, Choice):
        return choice.as_dict()
    if isinstance(choice, type):
        return _name_of(choice, argument)
    if isinstance(choice, dict):
        return {key: _name_of(value, argument) if isinstance(value, type) else value for key, value in choice.items()}
    if argument == "step" and isinstance(choice, numbers.Real) and not isinstance(choice, bool):
        return {"rule": "constant", "value": float(choice)}
    if inspect.isfunction(choice):
        raise refused(argument, f"found the function {choice.__name__}, expected what it makes: {choice.__name__}(...)")
    if hasattr(type(choice), "polyhop_name"):
        # An object holds what one block of agents needs; the engine makes one per block.
        key, cls = ("rule" if argument == "step" else "name"), type(choice)
        options = [f", {name!r}: {getattr(choice, name, 'VALUE')!r}" for name in list(inspect.signature(cls).parameters)]
        raise refused(argument, f"found an object of {cls.__name__}, expected the class: pass {cls.__name__}, or "
                                f"{{{key!r}: {cls.polyhop_name!r}{''.join(options)}}}")
    return choice
