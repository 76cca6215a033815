# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Error messages for wrong arguments."""

import functools
import inspect
import os

import numpy as np

from . import _engine


def refused(argument, message):
    """The InputError "argument: message", for the caller to raise."""
    error = _engine.InputError(f"{argument}: {message}")
    error.argument = argument
    return error


def shown(found, most=60):
    """An argument as a message shows it: its text, or its type if the text is long."""
    text = repr(found)
    return text if len(text) <= most and "\n" not in text else f"an object of type {type(found).__name__}"


def is_integer(value):
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def path_of(argument, value, expected):
    """The path as text."""
    try:
        return os.fspath(value)
    except TypeError:
        raise refused(argument, f"found {shown(value)}, expected {expected}") from None


def check_threads(threads):
    if not is_integer(threads) or threads < 0:
        raise refused("threads", f"found {shown(threads)}, expected an integer >= 0; 0 leaves the choice to polyhop")


def unknown_keyword(function, name, known, hints=()):
    """The TypeError for an unknown keyword."""
    hint = dict(hints).get(name)
    return TypeError(f"{function}() has no argument {name!r}{f'; {hint}' if hint else _engine.suggestion(name, list(known))}")


def no_attribute(module, name, names):
    """The AttributeError for a name that a module lacks, with the nearest that it has."""
    near = "" if name.startswith("_") else _engine.suggestion(name, list(names))
    return AttributeError(f"module {module!r} has no attribute {name!r}{near if near.endswith('?') else ''}")


def suggesting(function=None, *, hints=()):
    """Decorates a function so that a misspelt keyword gets a suggestion. `hints`: {keyword of another library: what to
    write here}."""
    if function is None:
        return functools.partial(suggesting, hints=hints)
    known = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def call(*arguments, **keywords):
        for name in keywords:
            if name not in known:
                named = type(arguments[0]).__name__ if function.__name__ == "__init__" else function.__name__
                raise unknown_keyword(named, name, known, hints)
        return function(*arguments, **keywords)

    return call


def check_call(argument, function, example):
    """Rejects what cannot be called like `example`, such as "f(W, agents, batches)"."""
    if not callable(function):
        raise refused(argument, f"found {shown(function)}, expected a function {example}")
    try:
        parameters = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions do not tell
        return
    try:
        parameters.bind(*[None] * (example.count(",") + 1))
    except TypeError:
        raise refused(argument, f"is called as {example}, but it takes {parameters}") from None
