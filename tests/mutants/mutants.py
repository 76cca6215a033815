#!/usr/bin/env python3
# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Do the tests see small mistakes? Puts many into one build of a copy of the tree, and chooses each in turn.

usage: mutants.py BUILD_DIR [--only TEXT] [--build [TARGET...]] [--table FILE]

The mistakes stand in ROOM.txt beside this script:

    src/polyhop/graph/spectrum.cpp
        agents > 500 ==> agents >= 500
        if («first» < second) return ==> second
        total += part; ==>
            survives: it is counted again by ...

A path at the beginning of a line says which file the indented lines below it are about. Each is a text that stands in one
line of that file, once in the whole file, and what takes its place; « » mark the part that is replaced, where the text
around it is needed to find it. What ends with ; is a statement and may be replaced by nothing, all else is an expression.
`survives:` gives the reason why no test can see it: such a mistake is counted as unseen and needs no test.

A mistake is seen if a test fails that passes without it, crashes or takes ten times as long. The tests of its own room
are asked first, then those of all other rooms, then the command's; a mistake in network/mpi is shown to the ranks' tests,
one in the command to the command's.
Ends with 1 if fewer than 92 of 100 are seen, or if one is unseen without a reason.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
ENOUGH = 0.92
MEMORY = 20 << 30  # a mistake in a size must not take the machine with it
CHOICE = """\
// Which mistake this process makes: the number in POLYHOP_MUTANT.
#pragma once
#include <cstdlib>
namespace polyhop {
inline bool mutant(int number) {
  static const int chosen = [] {
    const char* text = std::getenv("POLYHOP_MUTANT");
    return text == nullptr ? 0 : std::atoi(text);
  }();
  return number == chosen;
}
}  // namespace polyhop
"""

Mutant = collections.namedtuple("Mutant", "number room file before found after replaced reason where")


class BadList(Exception):
    pass


def read_lists(folder=HERE):
    """All mutants, numbered from 1 in the order of files and lines."""
    mutants = []
    for path in sorted(folder.glob("*.txt")):
        file = None
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.name}:{number}"
            if not line.strip() or line.startswith("#"):
                continue
            if not line[0].isspace():
                file = line.strip()
            elif line.strip().startswith("survives:"):
                mutants[-1] = mutants[-1]._replace(reason=line.split("survives:", 1)[1].strip())
            else:
                if " ==>" not in line or file is None:
                    raise BadList(f"{where}: expected `text ==> another`, below the path of a file")
                text, replaced = (part.strip() for part in line.split(" ==>", 1))
                marked = re.fullmatch(r"(.*)«(.+)»(.*)", text)
                before, found, after = marked.groups() if marked else ("", text, "")
                mutants.append(Mutant(len(mutants) + 1, path.stem, file, before, found, after, replaced, None, where))
    return mutants


def places(mutants, source=SOURCE):
    """Where each mutant's text begins and ends in its file: {file: [(begin, end, mutants)]}."""
    spots = collections.defaultdict(lambda: collections.defaultdict(list))
    for mutant in mutants:
        path = source / mutant.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        whole = mutant.before + mutant.found + mutant.after
        if text.count(whole) != 1:
            raise BadList(f"{mutant.where}: `{whole}` stands {text.count(whole)} times in {mutant.file}; it must stand once")
        begin = text.index(whole) + len(mutant.before)
        spots[mutant.file][begin, begin + len(mutant.found)].append(mutant)
    result = {}
    for file, found in spots.items():
        result[file] = [(begin, end, same) for (begin, end), same in sorted(found.items())]
        for (_, end, one), (begin, _, other) in zip(result[file], result[file][1:]):
            if begin < end:
                raise BadList(f"{other[0].where}: overlaps {one[0].where}")
    return result


def mutated(text, spots):
    for begin, end, mutants in reversed(spots):
        code = text[begin:end]
        is_statement = code.endswith((";", "}"))
        for mutant in mutants:
            if is_statement:
                code = f"if (::polyhop::mutant({mutant.number})) {{ {mutant.replaced} }} else {{ {code} }}"
            else:
                code = f"(::polyhop::mutant({mutant.number}) ? ({mutant.replaced}) : ({code}))"
        text = text[:begin] + code + text[end:]
    return f'#include "polyhop/mutant.hpp"\n#line 1\n{text}'


def write_tree(tree, mutants):
    """A copy of the tree with all mistakes in it; a file that is as it should be keeps its time, for the next build."""
    spots = places(mutants)
    listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            capture_output=True, check=True).stdout.decode().split("\0")
    wanted = {"src/polyhop/mutant.hpp": CHOICE.encode()}
    for name in filter(None, listed):
        path = SOURCE / name
        if path.is_file():
            data = path.read_bytes()
            wanted[name] = mutated(data.decode(), spots[name]).encode() if name in spots else data
    for path in [p for p in tree.rglob("*") if p.is_file()]:
        if path.relative_to(tree).as_posix() not in wanted:
            path.unlink()
    for name, data in wanted.items():
        path = tree / name
        if not path.is_file() or path.read_bytes() != data:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if (SOURCE / name).exists():
                path.chmod((SOURCE / name).stat().st_mode)


def build(folder, targets):
    tree, binary = folder / "tree", folder / "build"
    # Expressions that were chosen to be wrong may be silly too.
    subprocess.run(["cmake", "-S", tree, "-B", binary, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DPOLYHOP_UNITY=ON",
                    "-DPOLYHOP_WERROR=OFF", "-DPOLYHOP_BUILD_PYTHON=OFF", "-DCMAKE_CXX_FLAGS=-w"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", binary, *(["--target", *targets] if targets else []), "--", "--quiet"], check=True)
    return binary


Test = collections.namedtuple("Test", "name label command environment folder expected")


def read_tests(binary):
    listed = json.loads(subprocess.run(["ctest", "--show-only=json-v1"], cwd=binary, capture_output=True, check=True).stdout)
    tests = []
    for entry in listed["tests"]:
        properties = {p["name"]: p["value"] for p in entry["properties"]}
        environment = dict(item.split("=", 1) for item in properties.get("ENVIRONMENT", []))
        for change in properties.get("ENVIRONMENT_MODIFICATION", []):
            name, rest = change.split("=", 1)
            environment[name] = rest.split(":", 1)[1]
        tests.append(Test(entry["name"], properties.get("LABELS", [""])[0], entry["command"], environment,
                          properties["WORKING_DIRECTORY"], properties.get("PASS_REGULAR_EXPRESSION", [None])[0]))
    return tests


def order_of(mutant, tests):
    """The tests that may see a mistake, the likeliest first."""
    word = pathlib.Path(mutant.file).stem.split("_")[0]

    def rank(test):
        if test.name == f"unit.{mutant.room}" or (mutant.room == "apps" and test.label == "cli" and word in test.name):
            return 0
        last = 4 if mutant.room != "apps" else 1
        return {"unit": 1, "property": 2, "example": 3, "cli": last}.get(test.label, 9)

    if mutant.room == "mpi":
        return sorted((t for t in tests if t.label == "mpi"), key=lambda t: not t.name.endswith("4_ranks"))
    chosen = [t for t in tests if rank(t) < 9 and (mutant.room != "apps" or t.label == "cli")]
    return sorted(chosen, key=rank)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def passes(test, number, seconds):
    """Whether a test passes within so many seconds in a process that makes this mistake."""
    environment = {**os.environ, **test.environment, "POLYHOP_MUTANT": str(number), "GTEST_FAIL_FAST": "1"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(test.command, cwd=test.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=output, start_new_session=True, preexec_fn=limit_memory)
        try:
            code = process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if test.expected is None:
            return code == 0
        output.seek(0)
        return re.search(test.expected, output.read().decode(errors="replace")) is not None


def shown(mutant):
    return f"{mutant.file.removeprefix('src/polyhop/')}: {mutant.before}{mutant.found}{mutant.after} ==> {mutant.replaced or '(nothing)'}"


def table(mutants, seen):
    """A Markdown table of the counts per room, and the list of what no test saw."""
    rooms = collections.Counter(m.room for m in mutants)
    caught = collections.Counter(m.room for m in mutants if seen[m.number])
    lines = ["| room | mistakes | seen |", "|---|---:|---:|"]
    lines += [f"| {room} | {rooms[room]} | {caught[room]} |" for room in sorted(rooms)]
    lines += [f"| all | {len(mutants)} | {sum(caught.values())} ({sum(caught.values()) / len(mutants):.0%}) |"]
    unseen = [m for m in mutants if not seen[m.number]]
    if unseen:
        lines += ["", "Unseen:", ""]
        lines += [f"- `{shown(m)}`: {m.reason or 'no reason given'}." for m in unseen]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Do the tests see small mistakes?")
    parser.add_argument("folder", type=pathlib.Path, metavar="BUILD_DIR", help="for the copy of the tree and its build")
    parser.add_argument("--only", default="", metavar="TEXT", help="only mistakes whose place or text has this in it")
    parser.add_argument("--build", nargs="*", metavar="TARGET", help="only build, all or some targets")
    parser.add_argument("--table", type=pathlib.Path, metavar="FILE", help="write the counts there, as Markdown")
    arguments = parser.parse_args()
    folder = arguments.folder.resolve()
    everything = read_lists()
    write_tree(folder / "tree", everything)
    binary = build(folder, arguments.build)
    mutants = [m for m in everything if arguments.only in f"{m.where} {shown(m)}"]
    if arguments.build is not None:
        print(f"mutants: {len(mutants)} mistakes built in {folder / 'build'}; POLYHOP_MUTANT=number chooses one")
        for mutant in mutants:
            print(f"{mutant.number:4} {mutant.where} {shown(mutant)}")
        return

    tests = read_tests(binary)
    # What fails without any mistake can see none, and is asked that when it is first needed.
    took = {}
    locks = collections.defaultdict(threading.Lock)

    def seconds(test):
        with locks[test.name]:
            if test.name not in took:
                start = time.monotonic()
                if not passes(test, 0, 900):
                    raise BadList(f"{test.name} fails without any mistake")
                took[test.name] = time.monotonic() - start
        return took[test.name]

    def first_failure(mutant):
        if mutant.reason:
            return None
        return next((t.name for t in order_of(mutant, tests) if not passes(t, mutant.number, 10 * seconds(t) + 20)), None)

    seen = {}
    for is_mpi in (False, True):  # ranks need all processors
        chosen = [m for m in mutants if (m.room == "mpi") == is_mpi]
        with concurrent.futures.ThreadPoolExecutor(1 if is_mpi else os.cpu_count()) as pool:
            for mutant, name in zip(chosen, pool.map(first_failure, chosen)):
                seen[mutant.number] = name
                print(f"{mutant.where}: {'seen by ' + name if name else 'UNSEEN'}: {shown(mutant)}", flush=True)
    counts = table(mutants, seen)
    print(counts)
    if arguments.table:
        arguments.table.write_text(counts, encoding="utf-8")
    unexplained = sum(1 for m in mutants if not seen[m.number] and not m.reason)
    few = sum(map(bool, seen.values())) < ENOUGH * len(mutants)
    if unexplained or few:
        sys.exit(f"mutants: {unexplained} unseen without a reason" + (f"; fewer than {ENOUGH:.0%} seen" if few else ""))


if __name__ == "__main__":
    try:
        main()
    except BadList as error:
        sys.exit(f"mutants: {error}")
