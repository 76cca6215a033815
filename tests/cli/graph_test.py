# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""graph_test.py POLYHOP: what `polyhop graph` says of networks, and what it draws."""

import json
import pathlib
import re
import xml.etree.ElementTree

import networkx
import numpy

import _polyhop
from _polyhop import CommandTest

INTERFACE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "interface.md"
SVG = "{http://www.w3.org/2000/svg}"


class Graph(CommandTest):
    def described(self, *arguments):
        return json.loads(self.done("graph", *arguments, "--json").stdout)

    def refused(self, *arguments, says, code=3):
        result = self.polyhop("graph", *arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertIn(says, result.stderr)

    def test_a_ring_as_anyone_can_check(self):
        said = self.described("--topology", "ring", "--agents", "20")
        self.assertEqual((said["agents"], said["links"]), (20, 20))
        self.assertEqual(said["degree"], {"min": 2, "mean": 2.0, "max": 2,
                                          "histogram": [{"low": 2, "high": 2, "agents": 20}]})
        self.assertEqual(said["diameter"], {"low": 10, "high": 10})
        self.assertEqual((said["two_hop"]["mean"], said["two_hop"]["max"]), (5, 5))
        gaps = {trial["rule"]: trial["spectral_gap"] for trial in said["weights"]}
        # A circulant of 1/3, 1/3, 1/3.
        self.assertAlmostEqual(gaps["metropolis"], 1 - (1 + 2 * numpy.cos(2 * numpy.pi / 20)) / 3, places=10)
        self.assertAlmostEqual(gaps["lazy"], gaps["metropolis"] / 2, places=10)
        self.assertIsNone(gaps["uniform"])

    def test_a_network_of_one_agent_is_told_in_the_singular(self):
        text = self.done("graph", "--topology", "complete", "--agents", "1").stdout
        self.assertTrue(text.startswith("complete: 1 agent, 0 links\n"))
        self.assertIn("1 agent on average, at most 1", text)
        self.assertNotRegex(text, r"\b1 [a-z]+s\b")

    def test_a_grid_like_networkx(self):
        said = self.described("--topology", "grid", "--rows", "4", "--columns", "6")
        graph = networkx.grid_2d_graph(4, 6)
        near = [len(networkx.single_source_shortest_path_length(graph, k, cutoff=2)) for k in graph]
        self.assertEqual(said["links"], graph.number_of_edges())
        self.assertEqual(said["diameter"]["low"], networkx.diameter(graph))
        self.assertEqual(said["two_hop"]["max"], max(near))
        self.assertAlmostEqual(said["two_hop"]["mean"], numpy.mean(near), places=12)

    def test_the_network_of_an_experiment(self):
        said = self.described("e.toml")
        self.assertEqual((said["agents"], said["links"]), (4, 3))
        self.assertEqual(said["two_hop"]["dimension"], 3)
        said = self.described("e.toml", "--set", "graph.agents=7", "--dimension", "9")
        self.assertEqual((said["agents"], said["two_hop"]["dimension"]), (7, 9))
        self.assertEqual(self.described("e.toml", "--agents", "6", "--topology", "star")["links"], 5)

    def test_every_key_of_graph_is_a_flag(self):
        help_text = self.done("graph", "--help").stdout
        table = INTERFACE.read_text().split("### `[graph]`")[1].split("###")[0]
        keys = re.findall(r"^\| `(\w+)`", table, re.MULTILINE)
        self.assertIn("topology", keys)
        for key in keys:
            self.assertIn(f"--{key} ", help_text)
        self.assertRegex(help_text, r"--agents INTEGER +number of agents; .* \(>= 1\)\n")

    def test_the_seed_draws_the_graph(self):
        random = ("--topology", "erdos-renyi", "--agents", "30", "--probability", "0.2")
        first, again, other = (self.described(*random, "--seed", seed) for seed in "112")
        self.assertEqual(first, again)
        self.assertNotEqual(first["degree"], other["degree"])

    def test_crowded_networks_get_a_hint_for_gap(self):
        crowded = self.done("graph", "--topology", "complete", "--agents", "30").stdout
        self.assertIn('damping = "rows"', crowded)
        sparse = self.done("graph", "--topology", "ring", "--agents", "30").stdout
        self.assertNotIn("damping", sparse)

    def test_the_number_of_features_is_a_guess_where_nobody_said_it(self):
        ring = ("--topology", "ring", "--agents", "6")
        text = self.done("graph", *ring).stdout
        self.assertIn("neighbours       2 each\n", text)
        self.assertIn("(if M = 100; --dimension says otherwise)", text)
        self.assertIn("(M = 7)", self.done("graph", *ring, "--dimension", "7").stdout)
        self.assertIn("(M = 3)", self.done("graph", "e.toml").stdout)

    def test_negative_weights_are_told(self):
        said = self.described("--topology", "star", "--agents", "4")
        negative = {trial["rule"]: trial["negative"] for trial in said["weights"]}
        self.assertTrue(negative["best-constant"])
        self.assertFalse(negative["metropolis"])

    def test_better_weights_are_named(self):
        said = " ".join(self.done("graph", "--topology", "erdos-renyi", "--agents", "8", "--probability", "0.4",
                                  "--seed", "1").stdout.split())
        self.assertIn("has negative weights, which gap rejects", said)
        self.assertRegex(said, r'Hint: weights = "fastest-mixing" halves disagreement [\d.]+ times as fast as the chosen rule')

    def test_a_graph_file_starts_from_the_current_folder(self):
        (self.folder / "sub").mkdir()
        self.put("sub/e.toml", _polyhop.EXPERIMENT)
        self.put("g.txt", "0 1\n1 2\n2 0\n")
        self.assertEqual(self.described("--topology", "file", "--file", "g.txt")["links"], 3)
        changed = ("--topology", "file", "--file", "g.txt", "--agents", "3")
        self.assertEqual(self.described("sub/e.toml", *changed)["links"], 3)

    def test_the_drawing_has_every_agent_and_link(self):
        self.done("graph", "--topology", "torus", "--rows", "4", "--columns", "5", "--draw", "net.svg")
        root = xml.etree.ElementTree.parse(self.folder / "net.svg").getroot()
        agents = [c for c in root.iter(SVG + "circle") if c.find(SVG + "title") is not None]
        self.assertEqual(len(agents), 20)
        links = next(root.iter(SVG + "path")).get("d")
        self.assertEqual(len(re.findall("M", links)), 40)
        self.assertIn("torus: 20 agents, 40 links", "".join(root.itertext()))
        before = (self.folder / "net.svg").read_bytes()
        self.done("graph", "--topology", "torus", "--rows", "4", "--columns", "5", "--draw", "net.svg")
        self.assertEqual((self.folder / "net.svg").read_bytes(), before)

    def test_a_thousand_agents_are_drawn_and_no_more(self):
        tree = ("--topology", "binary-tree", "--draw", "net.svg", "--agents")
        self.done("graph", *tree, "1000")
        (self.folder / "net.svg").unlink()
        self.refused(*tree, "1001", says="--draw: networks of at most 1000 agents are drawn")
        self.assertFalse((self.folder / "net.svg").exists())

    def test_bad_networks(self):
        self.refused(says="no network: give an experiment FILE, or --topology")
        self.refused("--topology", "rng", "--agents", "4", says="graph.topology: unknown name \"rng\"; did you mean 'ring'?")
        self.refused("--topology", "ring", says="graph.agents: missing")
        self.refused("ring", says="there is no file 'ring'; to describe a network of that topology, write --topology ring")
        self.refused("--topology", "ring", "--agents", "4", "--radius", "1", says="does not use this key")
        self.refused("--topology", "ring", "--agents", "0", says="graph.agents: found 0, expected an integer >= 1")
        self.refused("--set", "name=x", says="name: without a FILE only keys of graph can be set")
        self.refused("nowhere.toml", says="nowhere.toml: cannot open the file")
        self.refused("e.toml", "--draw", "no/such/net.svg", says="--draw: ")
        self.refused("e.toml", "--draw", "net.jpg", says="polyhop: --draw: found 'net.jpg', expected a name that ends in .svg")
        self.refused("e.toml", "--agents", "0", says="polyhop: --agents 0: graph.agents: found 0")
        self.refused("e.toml", "--topolgy", "ring", says="did you mean '--topology'?", code=2)

    def test_colours_only_where_asked_for(self):
        self.assertNotIn("\x1b", self.done("graph", "e.toml").stdout)
        self.assertIn("\x1b[1m", self.done("graph", "e.toml", "--color", "always").stdout)
        self.refused("e.toml", "--color", "pink", says="--color", code=2)

    def test_a_large_network_is_described_in_time(self):
        said = self.described("--topology", "random-regular", "--agents", "20000", "--degree", "6")
        self.assertEqual(said["links"], 60000)
        self.assertGreater(said["weights"][0]["spectral_gap"], 0.1)
        self.assertIn("not tried above", said["weights"][1]["remark"])

    def test_a_gap_that_is_too_small_to_tell_is_only_bounded(self):
        text = self.done("graph", "--topology", "ring", "--agents", "20000").stdout
        self.assertRegex(text, r"spectral gap +at most [0-9.]+e-0[67] with metropolis")
        said = self.described("--topology", "ring", "--agents", "20000")["weights"][0]
        truth = 2 / 3 * (1 - numpy.cos(2 * numpy.pi / 20000))
        self.assertLess(abs(said["spectral_gap"] - truth), said["tolerance"])


if __name__ == "__main__":
    _polyhop.main()
