# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""The shape of the source tree: who may include whom, names, headers, the paper's labels, links in the documents.

usage: layout_test.py SOURCE_DIR
"""

import functools
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1]).resolve()
PAPER = SOURCE.parent / "shared" / "paper"

# Each room, and what it may include: rooms, or single headers of a room ("experiment/record.hpp"), and third-party
# headers (by first path component). Public headers include no third party at all, so that users need none to compile.
ROOMS = {
    "core": (set(), {"Eigen", "Random123", "nlohmann", "zip.h"}),
    "graph": ({"core"}, {"Eigen", "fast_float", "fmt", "pugixml.hpp", "zlib.h"}),
    "problem": ({"core"}, {"Eigen", "fast_float", "fmt", "lbfgs.h", "zip.h", "zlib.h"}),
    "network": ({"core", "graph"}, {"metis.h"}),
    "network/mpi": ({"core", "graph", "network"}, {"mpi.h"}),
    "method": ({"core", "graph", "problem", "network"}, {"Eigen", "fmt"}),
    "experiment": ({"core", "graph", "problem", "network", "method"}, {"SQLiteCpp", "fmt", "sqlite3.h", "toml++", "zip.h"}),
    "fit": ({"core", "graph", "problem", "network", "method", "experiment/instance.hpp"}, set()),
    "report": ({"core", "experiment/advice.hpp", "experiment/record.hpp", "experiment/toml_writer.hpp", "fit"}, {"fmt", "zip.h", "zlib.h"}),
    "polyhop.hpp": ({"core", "graph", "problem", "network", "method", "experiment", "fit"}, set()),  # includes what one needs
}
APP_THIRD_PARTY = {"CLI", "fmt"}
# The operating system's own headers, and who may ask it for anything.
SYSTEM = {"fcntl.h", "poll.h", "sched.h", "spawn.h", "sys", "unistd.h"}
SYSTEM_ROOMS = {"core", "experiment", "report", "network/mpi", "apps"}
# The headers that users of polyhop::mpi see; the others of its folder are its own.
MPI_PUBLIC = {"job.hpp"}
# Folders that a room has to itself: their headers are not installed, and only the room's sources include them.
INNER = {"problem/optimum"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LABEL = re.compile(r"\b(?:eq|alg|assump):[A-Za-z0-9_-]+")
CITED = re.compile(r"\[((?:eq|alg|assump):[A-Za-z0-9_-]+)\]")
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|(?:src|href)="([^"]+)\"""")
# What stands at the beginning of a line: a type, a function, a constant.
OWN_NAME = re.compile(r"^(?:struct|class|enum class) (\w+)|^[a-z[](?!amespace|emplate|sing )[^=;(\n]*?\b(\w+)(?:\(| = |\{|;)", re.MULTILINE)
MARKS = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")


@functools.lru_cache(maxsize=None)
def text(path):
    return path.read_text(encoding="utf-8")


@functools.lru_cache(maxsize=None)
def files(*folders, endings=(".hpp", ".cpp", ".py")):
    return sorted(p for folder in folders for p in (SOURCE / folder).rglob("*") if p.suffix in endings)


def includes(path):
    """(kind, header) of each include: kind is < or a quotation mark."""
    return INCLUDE.findall(text(path))


def room_of(path):
    parts = path.relative_to(SOURCE).parts
    if parts[0] != "src":
        return parts[0]
    if len(parts) == 3:
        return "polyhop.hpp"
    return "/".join(parts[2:4]) if parts[3] == "mpi" else parts[2]


def is_inner(path):
    return str(path.parent.relative_to(SOURCE)).removeprefix("src/polyhop/") in INNER


def is_standard(header):
    return "." not in header and "/" not in header


class Layout(unittest.TestCase):
    def refuse(self, faults):
        if faults:
            self.fail("\n" + "\n".join(faults))

    def named(self, path):
        return str(path.relative_to(SOURCE))

    def test_every_folder_is_a_room(self):
        folders = {p.name for p in (SOURCE / "src" / "polyhop").iterdir() if p.is_dir()}
        self.assertLessEqual(folders, set(ROOMS), "a new room needs a line in ROOMS and in src/polyhop/CMakeLists.txt")

    def test_rooms_include_only_along_the_arrows(self):
        faults = []
        for path in files("src", endings=(".hpp", ".cpp")):
            room = room_of(path)
            for kind, header in includes(path):
                if header.startswith("polyhop/"):
                    other = room_of(SOURCE / "src" / header)
                    if kind != '"':
                        faults.append(f"{self.named(path)}: <{header}> should stand in quotation marks")
                    allowed = ROOMS[room][0]
                    if other != room and other not in allowed and header.removeprefix("polyhop/") not in allowed:
                        faults.append(f"{self.named(path)}: {room} may not include {header}")
                    serves = room == other and (path.suffix == ".cpp" or is_inner(path))
                    if is_inner(SOURCE / "src" / header) and not serves:
                        faults.append(f"{self.named(path)}: {header} is for the sources of {other} alone")
                    if not (SOURCE / "src" / header).exists():
                        faults.append(f"{self.named(path)}: there is no {header}")
                elif kind == '"':
                    faults.append(f'{self.named(path)}: "{header}" should be "polyhop/<room>/<file>.hpp"')
        self.refuse(faults)

    def test_rooms_include_only_their_third_parties(self):
        faults = []
        for path in files("src", "apps", endings=(".hpp", ".cpp")):
            room = room_of(path)
            allowed = APP_THIRD_PARTY if room == "apps" else ROOMS[room][1]
            is_own = is_inner(path) or (room == "network/mpi" and path.name not in MPI_PUBLIC)
            if path.suffix == ".hpp" and room != "apps" and not is_own:
                allowed = set()
            if room in SYSTEM_ROOMS and path.suffix == ".cpp":
                allowed = allowed | SYSTEM
            for kind, header in includes(path):
                if kind == "<" and not is_standard(header) and header.split("/")[0] not in allowed:
                    what = "a public header" if path.suffix == ".hpp" else room
                    faults.append(f"{self.named(path)}: {what} may not include <{header}>")
        self.refuse(faults)

    def test_rows_are_worked_on_by_the_verbs_of_blocks(self):
        # What rows are made of, and where they stand, is known in core and problem alone; MPI moves them as they are.
        faults = []
        for path in files("src", endings=(".hpp", ".cpp")):
            room = room_of(path)
            if room in ("core", "problem"):
                continue
            text = path.read_text(encoding="utf-8")
            if re.search(r"\bkernels::", text) or '"polyhop/core/kernels.hpp"' in text:
                faults.append(f"{self.named(path)} calls kernels; core/block.hpp has the verbs")
            if room in ("method", "network") and re.search(r"\.row\([^;]*\)\.data\(\)", text):
                faults.append(f"{self.named(path)} takes the address of a row; core/block.hpp has the verbs")
        self.refuse(faults)

    def test_threads_start_in_the_runtimes_and_the_experiment_only(self):
        faults = [
            self.named(path)
            for path in files("src", endings=(".hpp", ".cpp"))
            if ("<", "thread") in includes(path)
            and room_of(path) not in ("experiment", "network/mpi")
            and not (room_of(path) == "network" and path.name.startswith("thread"))
            and not (room_of(path) == "core" and path.name == "machine.cpp")  # counts the cores
        ]
        self.refuse(faults)

    def test_names_that_a_source_has_to_itself_are_its_own_in_the_room(self):
        # Builds with POLYHOP_UNITY compile a room as one source, where another's function could be taken for one's own.
        owners = {}
        for path in files("src", "apps", endings=(".cpp",)):
            for part in re.findall(r"^namespace \{$(.*?)^\}  // namespace$", text(path), re.MULTILINE | re.DOTALL):
                for name in {a or b for a, b in OWN_NAME.findall(part)}:
                    owners.setdefault((room_of(path), name), []).append(self.named(path))
        self.refuse([f"{' and '.join(paths)}: both have a {name}" for (_, name), paths in owners.items() if len(paths) > 1])

    def test_every_source_names_its_licence(self):
        spdx = ["SPDX-FileCopyrightText: The polyhop authors", "SPDX-License-Identifier: Apache-2.0"]
        faults = []
        for path in files("src", "apps", "tests", "bench"):
            lines = [line for line in text(path).splitlines()[:3] if not line.startswith("#!")]
            if [line.lstrip("/# ") for line in lines[:2]] != spdx:
                faults.append(f"{self.named(path)}: the two SPDX lines are missing")
            if path.suffix == ".hpp" and text(path).splitlines()[2:3] != ["#pragma once"]:
                faults.append(f"{self.named(path)}: #pragma once should be the third line")
        self.refuse(faults)

    def test_files_are_named_in_snake_case(self):
        good = re.compile(r"_?[a-z][a-z0-9_]*\.(hpp|cpp|py)")
        found = files("src", "apps", "tests", "bench")
        self.refuse([self.named(p) for p in found if not good.fullmatch(p.name)])

    def test_every_oracle_has_its_program(self):
        stems = {kind: {p.stem.removesuffix(kind) for p in files("tests/property") if p.stem.endswith(kind)}
                 for kind in ("_oracle", "_dump")}
        self.assertEqual(stems["_oracle"], stems["_dump"], "X_oracle.py runs only where X_dump.cpp stands beside it")

    def test_no_unfinished_work_is_left(self):
        found = files("src", "apps", "tests", "bench", "cmake", endings=(".hpp", ".cpp", ".py", ".cmake", ".sh"))
        self.refuse([f"{self.named(p)}: {m.group()}" for p in found for m in MARKS.finditer(text(p))])

    def test_every_cited_label_is_in_the_paper_map(self):
        cited = {}
        for path in files("src", "apps", "tests"):
            for label in CITED.findall(text(path)):
                cited.setdefault(label, self.named(path))
        page = SOURCE / "docs" / "paper-map.md"
        if not page.exists():
            self.skipTest("docs/paper-map.md is not written yet")
        mapped = set(LABEL.findall(text(page)))
        lacking = [label for label in cited if label not in mapped]
        self.refuse([f"{cited[label]}: docs/paper-map.md lacks [{label}]" for label in lacking])
        if not PAPER.exists():
            return
        # A label of our own stands in a line of the map that says so.
        lines = [line for line in text(page).splitlines() if re.search(r"\bours\b", line)]
        ours = {label for line in lines for label in LABEL.findall(line)}
        published = {label for tex in PAPER.glob("*.tex") for label in re.findall(r"\\label\{([^}]+)\}", text(tex))}
        strange = sorted(mapped - ours - published)
        self.refuse([f"the paper has no [{label}], and the map does not call it ours" for label in strange])

    def test_links_in_the_documents_lead_somewhere(self):
        faults = []
        pages = sorted(SOURCE.glob("*.md")) + files("docs", "examples", endings=(".md",))
        for page in pages:
            prose = re.sub(r"```.*?```|`[^`\n]*`", "", text(page), flags=re.DOTALL)
            for link in (a or b for a, b in LINK.findall(prose)):
                target = link.split("#")[0]
                if target and not re.match(r"[a-z]+:", target) and not (page.parent / target).exists():
                    faults.append(f"{self.named(page)}: {link} is not there")
        self.refuse(faults)

    def test_every_place_tells_the_same_version(self):
        places = {
            "CMakeLists.txt": r"^project\(polyhop VERSION (\S+)",
            "CHANGELOG.md": r"^## \[([^]]+)\]",  # the newest stands first
            "CITATION.cff": r"^version: (\S+)",
            "docs/polyhop.1": r'^\.TH .*"polyhop ([^"]+)"',
        }
        versions = {}
        for place, pattern in places.items():
            found = re.search(pattern, text(SOURCE / place), re.MULTILINE)
            self.assertIsNotNone(found, f"{place} tells no version")
            versions[place] = found.group(1)
        self.assertEqual(len(set(versions.values())), 1, versions)

    def test_every_mistake_of_the_mutants_has_its_place(self):
        sys.path.insert(0, str(SOURCE / "tests" / "mutants"))
        import mutants

        listed = mutants.read_lists()
        self.assertGreaterEqual(len(listed), 150)
        mutants.places(listed, SOURCE)  # raises where a text does not stand in its file, once


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
