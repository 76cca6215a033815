# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""Runs, results, comparisons and experiments."""

import pickle
import re
import subprocess

import numpy as np
import pandas
import pytest
from scipy import sparse

import polyhop as ph


def test_diffusion_is_that_of_a_loop_in_numpy(data, net):
    X, y = data
    owner = np.arange(83) % 8
    problem = ph.least_squares(X, y, owner=owner, batch="all")
    run = ph.solve(problem, net, step=ph.constant(value=0.1), algorithm="atc", iterations=40, stop_at_target=False)
    A, W = net.matrix.toarray(), np.zeros((8, 5))
    for _ in range(40):
        G = np.array([X[owner == k].T @ (X[owner == k] @ w - y[owner == k]) / (owner == k).sum() for k, w in enumerate(W)])
        W = A @ (W - 0.1 * G)
    np.testing.assert_allclose(run.models, W, rtol=1e-12)
    assert run.status == "done" and run.traffic["vectors"] == 40 * 2 * len(net.edges)


def test_remembered_gradients_take_the_noise_away(data, net):
    X, y = data
    problem = ph.least_squares(X, y, agents=8)
    far = {}
    for gradient in ("plain", "saga", "lsvrg"):
        run = ph.solve(problem, net, 0.02, "exact-diffusion", 20_000, gradient=gradient, stop_at_target=False)
        far[gradient] = run.curves["excess_risk"].iloc[-1]
    assert far["saga"] < 1e-15 and far["lsvrg"] < 1e-15 < 1e-6 < far["plain"], far


def test_functions_of_ones_own_are_remembered_sample_by_sample(data, net):
    X, y = data
    X, y = X[:80].reshape(8, 10, 5), y[:80].reshape(8, 10)

    def squares(W, agents, batches):
        H, t = (np.array([Z[k][b] for k, b in zip(agents, batches)]) for Z in (X, y))
        r = np.einsum("nbm,nm->nb", H, W) - t
        return (r**2).mean(1) / 2, np.einsum("nb,nbm->nm", r, H) / r.shape[1]

    own = ph.objective(squares, agents=8, dimension=5, samples=10, batch=3)
    built_in = ph.least_squares(X.reshape(80, 5), y.ravel(), owner=np.repeat(range(8), 10), batch=3)
    for gradient in ("saga", "lsvrg"):
        runs = [ph.solve(p, net, 0.02, "exact-diffusion", 50, gradient=gradient) for p in (own, built_in)]
        np.testing.assert_allclose(runs[0].models, runs[1].models, rtol=1e-10, atol=1e-12)


def test_rules_that_use_values_are_refused_with_remembered_gradients(squares, net):
    with pytest.raises(ph.InputError, match="not the gradient of any value"):
        ph.solve(squares, net, "gap", gradient="saga")
    with pytest.raises(ph.InputError, match="leave `gradient` out"):
        ph.solve(squares, net, gradient="saga")
    with pytest.raises(ph.InputError, match="did you mean 'saga'"):
        ph.solve(squares, net, 0.1, gradient="sage")


def test_results_have_frames_arrays_and_figures(squares, net):
    run = ph.solve(squares, net, ph.gap(bound="tight"), iterations=100, record_steps=True, stop_at_target=False)
    assert isinstance(run.curves, pandas.DataFrame) and len(run.curves) == 11
    assert run.curves["iteration"].iloc[-1] == 100
    assert run.steps.shape == (11, 8)
    np.testing.assert_array_equal(run.steps.max(axis=1), run.columns["step_max"])
    assert run.models.shape == run.averaged.shape == (8, 5)
    line = run.plot(x="vectors").get_lines()[0]
    assert line.get_xdata()[-1] == run.traffic["vectors"]
    assert "<svg" in run._repr_html_() and "excess risk" in repr(run)


def test_results_networks_and_choices_can_be_pickled(squares, net):
    run = ph.solve(squares, net, iterations=20)
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again.models, run.models)
    assert str(again) == str(run)
    assert (pickle.loads(pickle.dumps(net)).matrix != net.matrix).nnz == 0
    assert pickle.loads(pickle.dumps(ph.gap(sweeps=3))) == ph.gap(sweeps=3)


def test_a_callback_is_told_of_points_and_may_end_the_run(squares, net):
    seen = []

    def callback(point):
        seen.append(point["iteration"])
        return point["iteration"] >= 30

    run = ph.solve(squares, net, iterations=1000, callback=callback, stop_at_target=False)
    assert seen == [0, 10, 20, 30] and run.status == "unfinished"
    np.testing.assert_array_equal(run.columns["iteration"], seen)


def test_a_loop_of_ones_own_is_the_same_run(squares, net):
    whole = ph.solve(squares, net, "gap", iterations=25, record_every=25, stop_at_target=False, seed=3)
    for state in ph.iterate(squares, net, "gap", seed=3):
        if state.iteration == 25:
            break
    np.testing.assert_array_equal(state.models, whole.models)
    np.testing.assert_array_equal(state.averaged, whole.averaged)
    assert state.traffic["vectors"] == whole.traffic["vectors"]


def test_messages_that_are_lost_are_the_same_in_a_run_a_loop_and_a_comparison(squares, net):
    faults = {"drop": 0.3, "exchange": ["models"]}
    options = dict(iterations=30, stop_at_target=False, seed=2)
    run = ph.solve(squares, net, "gap", faults=faults, **options)
    assert not np.array_equal(run.models, ph.solve(squares, net, "gap", **options).models)
    for state in ph.iterate(squares, net, "gap", seed=2, faults=faults):
        if state.iteration == 30:
            break
    np.testing.assert_array_equal(state.models, run.models)
    ranked = ph.compare(squares, net, {"GAP": "gap"}, seeds=[2], iterations=30, faults=faults)
    assert ranked.curves["excess_risk"].iloc[-1] == run.curves["excess_risk"].iloc[-1]
    for wrong, text in (({"drop": 1}, r"faults\.drop"), ({"dorp": 0.1}, r"faults\.dorp"), ({"exchange": ["all"]}, r"faults\.exchange"), (0.1, "faults")):
        with pytest.raises(ph.InputError, match=text):
            ph.solve(squares, net, "gap", faults=wrong)


def test_a_start_is_taken(squares, net):
    start = np.random.default_rng(0).normal(size=(8, 5))
    run = ph.solve(squares, net, iterations=0, start=start)
    np.testing.assert_array_equal(run.models, start)
    run = ph.solve(squares, net, iterations=0, start=start[0])
    np.testing.assert_array_equal(run.models, np.tile(start[0], (8, 1)))


def test_no_result_depends_on_threads(squares, net):
    runs = [ph.solve(squares, net, "gap", iterations=50, threads=t).models for t in (1, 2, 3)]
    assert all((r == runs[0]).all() for r in runs)


def test_comparisons_rank_tune_and_show(squares, net, tmp_path):
    found = ph.compare(squares, net, {"GAP": ph.gap(bound="tight"), "tuned": "tuned",
                                      "ED": {"step": ph.constant(value=0.2), "algorithm": "exact-diffusion"}},
                       seeds=range(2), iterations=300, target=1e-5)
    assert set(found.ranking.index) == {"GAP", "tuned", "ED"}
    assert found.ranking.loc["tuned", "tuning_trials"] > 0 and found.ranking.loc["GAP", "tuning_trials"] == 0
    assert list(found.ranking.loc[["tuned", "GAP"], "tuning_goal"]) == ["iterations-to-target", ""]
    assert len(found.curves.groupby(["method", "seed"])) == 6
    assert found.models["GAP", 1].shape == (8, 5)
    alone = ph.solve(squares, net, ph.gap(bound="tight"), iterations=300, target=1e-5, stop_at_target=False, seed=1)
    np.testing.assert_array_equal(found.models["GAP", 1], alone.models)
    assert len(found.plot().get_lines()) == 4  # three methods and the target
    last = found.curves.groupby(["method", "seed"]).seconds.last()
    for line in found.plot(x="seconds").get_lines()[:-1]:
        assert line.get_xdata()[-1] == pytest.approx(last[line.get_label()].median()), "not those of one seed"
    page = found.report(tmp_path / "page.html").read_text()
    assert "GAP" in page and page.startswith("<!DOCTYPE html>")
    assert "GAP" in str(found) and "the program's own" in page
    again = pickle.loads(pickle.dumps(found))
    assert str(again) == str(found) and again.config == found.config
    np.testing.assert_array_equal(again.models["ED", 0], found.models["ED", 0])
    pandas.testing.assert_frame_equal(again.curves, found.curves)
    again.report(tmp_path / "again.html")
    assert (tmp_path / "again.html").read_text() == page


def test_rows_kept_of_every_sample_are_told_on_a_terminal(net, capsys, monkeypatch):
    def halves(w, agents, batches):
        return 0.5 * (w ** 2).sum(axis=1), w.copy()

    problem = ph.objective(halves, agents=8, dimension=100, samples=10, batch=1)
    remark = "' remembers its samples' last gradients, which takes "
    ph.solve(problem, net, iterations=1)
    assert capsys.readouterr().err == "", "nobody reads it"
    monkeypatch.setattr("polyhop._solve.is_watched", lambda: True)
    ph.solve(problem, net, 0.1, iterations=1)
    assert capsys.readouterr().err == ""
    ph.solve(problem, net, 0.1, gradient="saga", iterations=1)
    assert capsys.readouterr().err == "'saga" + remark + "64 kB per run.\n"
    ph.solve(problem, net, iterations=1)
    assert capsys.readouterr().err.startswith("'auto" + remark)
    next(ph.iterate(problem, net))
    assert capsys.readouterr().err.startswith("'auto" + remark)
    ph.compare(problem, net, {"plain": 0.1, "mine": {"step": 0.1, "gradient": "saga"}}, seeds=2, iterations=2, progress=True)
    told = capsys.readouterr().err
    assert told.count(remark) == 1 and told.index("'mine" + remark) < told.index("1/4")


EXPERIMENT = """
name = "small"
seeds = [0, 1]
iterations = 60
[graph]
topology = "ring"
agents = 6
[problem]
dimension = 4
samples = 5
[[method]]
name = "GAP"
step = "gap"
[[method]]
step = "auto"
"""


def test_files_give_the_bits_of_the_command(tmp_path, command):
    file = tmp_path / "small.toml"
    file.write_text(EXPERIMENT)
    subprocess.run([command, "run", file, "-o", tmp_path / "command"], check=True, capture_output=True)
    ours = ph.run(file, tmp_path / "python", progress=False)
    theirs = ph.load(tmp_path / "command")
    assert list(ours.models) == list(theirs.models) and len(ours.models) == 4
    for key in ours.models:
        np.testing.assert_array_equal(ours.models[key], theirs.models[key])
    timeless = [c for c in ours.curves.columns if c != "seconds"]
    pandas.testing.assert_frame_equal(ours.curves[timeless], theirs.curves[timeless])
    written = pandas.read_csv(tmp_path / "command" / "curves.csv")
    assert set(written.columns) == set(ours.curves.columns)
    # The same store: the command finds nothing left to do, and Python reads what it wrote.
    again = subprocess.run([command, "run", file, "-o", tmp_path / "python"], check=True, capture_output=True, text=True)
    assert pandas.read_csv(tmp_path / "python" / "curves.csv").shape == written.shape, again.stderr


def test_experiments_take_settings_dicts_and_folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = ph.run({"name": "mine", "iterations": 20, "graph": {"topology": "ring", "agents": 4},
                    "problem": {"dimension": 3, "samples": 4}, "method": [{"step": "gap"}]},
                   settings={"iterations": 10, "graph.agents": 5}, progress=False)
    assert found.folder == "out/mine" and (tmp_path / "out/mine/experiment.sqlite").exists()
    assert found.curves["iteration"].max() == 10 and found.models[found.methods[0], 0].shape == (5, 3)
    assert ph.load("out/mine/experiment.sqlite").config["iterations"] == 10
    (tmp_path / "mine.toml").write_text('name = "mine"\n[graph]\ntopology = "ring"\nagents = 4\n[problem]\ndimension = 3\n'
                                        'samples = 4\n[[method]]\nname = "GAP"\nstep = "gap"\n')
    other = ph.run("mine.toml", "out/other", settings={"iterations": 10, "graph.topology": "star", "method.GAP.name": "own"},
                   progress=False)
    assert other.config["graph"]["topology"] == "star" and other.methods == ["own"]
    with pytest.raises(ph.InputError, match=r'settings\["graph.topology"\]: .*unknown name "rign"'):
        ph.run("mine.toml", "out/other", settings={"graph.topology": "rign"}, progress=False)
    with pytest.raises(ph.InputError, match="holds the experiment 'mine'"):
        ph.run({"name": "other", "iterations": 20, "graph": {"topology": "ring", "agents": 4},
                "problem": {"dimension": 3, "samples": 4}, "method": [{"step": "gap"}]}, "out/mine", progress=False)


def test_errors_name_the_argument_and_the_file(tmp_path, squares, net):
    with pytest.raises(ph.InputError, match="did you mean 'gap'") as error:
        ph.solve(squares, net, "gep")
    assert error.value.argument == "step.rule" and isinstance(error.value, ValueError)
    for wrong in ("extra", {"algorithm": "gap"}):
        with pytest.raises(ph.InputError, match="is an algorithm, not a rule|is a rule, not an algorithm"):
            ph.compare(squares, net, {"wrong": wrong})
    with pytest.raises(ph.InputError, match="sweeps"):
        ph.gap(sweeps=-1)
    file = tmp_path / "bad.toml"
    file.write_text(EXPERIMENT.replace('"ring"', '"rong"'))
    with pytest.raises(ph.InputError, match=r"bad.toml:6: graph.topology: .*did you mean 'ring'"):
        ph.run(file, tmp_path / "out")
    with pytest.raises(ph.InputError, match="missing.toml"):
        ph.run(tmp_path / "missing.toml")
    with pytest.raises(ph.InputError):
        ph.load(tmp_path / "nothing")


def test_a_number_is_a_constant_step(squares, net):
    expected = ph.solve(squares, net, ph.constant(value=0.1), iterations=20).models
    for step in (0.1, np.float64(0.1), ph.constant(0.1)):
        np.testing.assert_array_equal(ph.solve(squares, net, step, iterations=20).models, expected)
    state = next(s for s in ph.iterate(squares, net, 0.1) if s.iteration == 20)
    np.testing.assert_array_equal(state.models, expected)
    found = ph.compare(squares, net, {"a": 0.1, "b": {"step": 0.1}}, iterations=20)
    for method in "ab":
        np.testing.assert_array_equal(found.models[method, 0], expected)
    assert set(ph.compare(squares, net, [0.1, "gap"], iterations=20).methods) == {"0.1", "gap"}
    assert ph.decay(0.5) == ph.decay(value=0.5)
    with pytest.raises(ph.InputError, match="value"):
        ph.solve(squares, net, -0.1)


def test_a_number_of_seeds_counts_from_0(squares, net):
    assert ph.compare(squares, net, ["gap"], seeds=3, iterations=5).seeds == [0, 1, 2]
    assert ph.compare(squares, net, ["gap"], seeds=np.array([4, 2]), iterations=5).seeds == [4, 2]


def test_columns_of_very_different_sizes_are_told_where_a_run_fails(data, net):
    X, y = data
    raw = X * [1, 1, 1, 1, 1e6]
    told = ph.solve(ph.least_squares(raw, y, agents=8), net, "gap", iterations=20)
    assert "columns of X differ in size by a factor of 1.3e+06: standardise them, or use DecentralizedRidge" in told.message
    assert told.message in " ".join(str(told).split())
    slightly = ph.solve(ph.least_squares(X * [1, 1, 1, 1, 40], y, agents=8), net, "gap", iterations=20)
    assert re.search(r"columns of X differ in size by a factor of \d\d:", slightly.message), slightly.message
    sparse_one = ph.solve(ph.logistic(sparse.csr_matrix(raw), y > 0, agents=8, l2=1e-3), net, "gap", iterations=20)
    assert "use DecentralizedLogisticRegression" in sparse_one.message
    easy = ph.least_squares(raw, y, agents=8)
    assert "columns" not in ph.solve(easy, net, iterations=20, target=1e30).message  # it got there
    assert "columns" not in ph.solve(ph.least_squares(X, y, agents=8), net, iterations=20, target=1e-30).message
    assert pickle.loads(pickle.dumps(told)).message == told.message


def test_what_a_run_prints(squares, net, bowls):
    missed = ph.solve(squares, net, "gap", iterations=20, target=1e-30)
    assert str(missed).startswith("atc gap ended after its 20 iterations, target 1e-30 missed: excess risk ")
    assert "ended after its 20 iterations, target 1e-30 missed" in repr(missed)
    reached = ph.solve(squares, net, "gap", iterations=20, target=1e3, stop_at_target=False)
    assert "ended after its 20 iterations, target 1000 reached" in str(reached)
    early = ph.solve(squares, net, "gap", iterations=20, target=1e3)
    assert "reached its target after 0 iterations" in str(early)
    unknown = ph.solve(ph.objective(bowls[0], 8, 3), net, "gap", iterations=20, reference="none")
    assert "ended after its 20 iterations: risk" in str(unknown)
    for run in (missed, reached, early, unknown):
        assert max(map(len, str(run).splitlines())) <= 80
        assert [line.split()[0] for line in str(run).splitlines() if re.match("  [a-z]", line)][0] == "agents"


def test_a_function_that_gives_no_number_at_the_start_is_told(net):
    for value in (np.nan, np.inf):
        run = ph.solve(ph.objective(lambda W, a, b: (np.full(len(W), value), 2 * W), 8, 3, check=False), net, reference="none")
        assert f"the objective's value is {value} at the first models" in run.message


def test_what_a_loop_prints(squares, net):
    state = next(iter(ph.iterate(squares, net, 0.1)))
    assert re.fullmatch(r"<polyhop.State: after 1 iterations: 8 x 5 models, at most [\d.]+ apart, steps 0.1 to 0.1, "
                        rf"{2 * len(net.edges)} vectors sent>", repr(state))


def test_a_comparison_on_unlike_columns_says_what_to_do(squares, net):
    x = np.random.default_rng(0).normal(size=(48, 3)) * [1, 1e4, 1]
    wide = ph.least_squares(x, x @ [1, 1e-4, 1], agents=8, batch="all")
    found = ph.compare(wide, net, {"GAP": "gap"}, iterations=20)
    for made in (found, pickle.loads(pickle.dumps(found))):
        assert "The columns of X differ in size by a factor of 9.8e+03: standardise them" in " ".join(str(made).split())
    assert "standardise" in found._repr_html_()
    assert "standardise" not in str(ph.compare(wide, net, {"auto": "auto"}, iterations=20)), "it got there all the same"
    assert "standardise" not in str(ph.compare(squares, net, {"GAP": "gap"}, iterations=5))


def test_a_comparison_is_as_wide_as_the_terminal(squares, net, monkeypatch):
    found = ph.compare(squares, net, ["gap", "polyak"], seeds=2, iterations=20, target=1e-2)
    widths = {}
    for columns in (80, 200):
        monkeypatch.setenv("COLUMNS", str(columns))
        widths[columns] = max(map(len, str(found).splitlines()))
        to_target, at_end = (part.splitlines()[0].split() for part in str(found).split("\n\n")[2:5:2])
        assert to_target[:4] == ["#", "method", "iterations", "vectors"] and at_end[:2] == ["method", "last"]
        assert "averaged" in at_end and "…" not in str(found)
    assert widths[80] <= 80 < widths[200] <= 200 and "seconds" in str(found)
    assert list(found.ranking.columns[:4]) == ["iterations", "vectors", "final_risk", "final_risk_averaged"]
    assert set(found.ranking.recommended) <= {"last", "averaged"}
    assert {"reached", "seconds_high", "tuning_trials"} < set(found.ranking.columns)
    with pytest.raises(ph.InputError, match="y: there is no column 'risk'.*excess_risk"):
        found.plot(y="risk")
