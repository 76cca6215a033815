# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""predict_test.py POLYHOP: what `polyhop predict`, `evaluate` and `data` say, on models that numpy wrote."""

import csv
import io
import json
import os
import zipfile

import numpy
from sklearn import datasets, metrics

import _polyhop
from _polyhop import CommandTest

SAMPLES = 40
CLASSES = ["red", "green, dark", "blue"]
BUNDLED = {"breast-cancer": datasets.load_breast_cancer, "wine": datasets.load_wine, "digits": datasets.load_digits}


def npy(array):
    out = io.BytesIO()
    numpy.save(out, array)
    return out.getvalue()


def model(loss, weights, intercept, classes=(), features=(), target="", **changes):
    """The bytes of a model file; `changes` replace entries of the metadata, or arrays by their bytes."""
    arrays = {"weights": npy(numpy.atleast_2d(weights)), "intercept": npy(numpy.atleast_1d(intercept))}
    said = {"kind": "polyhop model", "version": 1, "loss": loss, "delta": 1.0, "l2": 0.0, "features": list(features),
            "target": target, "classes": list(classes), "provenance": [["data", "numpy"]]}
    for key, value in changes.items():
        (arrays if key in arrays else said)[key] = value
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(name + ".npy", content)
        archive.writestr("metadata.json", json.dumps(said))
    return out.getvalue()


def table(header, columns):
    out = io.StringIO()
    writer = csv.writer(out)
    if header:
        writer.writerow(header)
    writer.writerows(zip(*columns))
    return out.getvalue()


class Predict(CommandTest):
    def setUp(self):
        super().setUp()
        random = numpy.random.default_rng(7)
        self.x = numpy.round(random.normal(size=(SAMPLES, 3)), 3)
        self.w = random.normal(size=(3, 3))
        self.b = random.normal(size=3)
        self.z = self.x @ self.w.T + self.b
        self.kinds = [CLASSES[c] for c in random.integers(0, 3, size=SAMPLES)]
        self.names = ["a", "b", "c"]
        self.put("line.npz", model("least-squares", self.w[0], self.b[0], features=self.names, target="y"))
        self.put("three.npz", model("softmax", self.w, self.b, CLASSES, self.names, "kind"))
        self.put("two.npz", model("logistic", self.w[0], self.b[0], ["no", "yes"], self.names, "answer"))
        self.put("x.csv", table(self.names, self.x.T))
        self.put("kinds.csv", table(["kind", *self.names], [self.kinds, *self.x.T]))

    def predicted(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.done("predict", *arguments).stdout)))

    def evaluated(self, *arguments):
        return json.loads(self.done("evaluate", *arguments, "--json").stdout)

    def refused(self, *arguments, says, code=3):
        before = self.listing()
        result = self.polyhop(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, "")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, result.stderr)
        self.assertEqual(self.listing(), before)

    def test_the_order_of_model_and_data(self):
        for command in ("predict", "evaluate"):
            self.refused(command, "x.csv", "line.npz",
                         says=["x.csv: is not a model: `polyhop fit DATA -o model.npz` writes one",
                               "; the order is MODEL DATA"])
            self.assertNotIn("order", self.polyhop(command, "x.csv", "x.csv").stderr)

    def test_what_is_not_a_model_is_named_with_what_to_do(self):
        writes = "`polyhop fit DATA -o model.npz` writes one"
        for command in ("predict", "evaluate"):
            self.refused(command, "lime.npz", "x.csv", says="lime.npz: there is no such model; did you mean 'line.npz'?")
            self.refused(command, "unheard-of", "x.csv", says="unheard-of: there is no such model; " + writes)
            self.refused(command, "no/line.npz", "x.csv", says="there is no folder 'no'")
            self.refused(command, ".", "x.csv", says="is a folder, expected a model: " + writes)
        self.refused("predict", "line.npz", "x.csv", "-o", "no/p.csv",
                     says="-o: cannot write 'no/p.csv': there is no folder 'no'; make it with mkdir -p no")

    def test_rows_that_lack_a_value_are_skipped_on_request(self):
        self.put("gaps.csv", "a,b,c,y\n1,2,3,4\n1,,3,4\n1,2,3,NA\n4,5,6,7\n")
        self.refused("evaluate", "line.npz", "gaps.csv", says=["values are missing in 2 of 4 rows", "--skip-missing"])
        result = self.done("evaluate", "line.npz", "gaps.csv", "--skip-missing", "--json")
        self.assertEqual(json.loads(result.stdout)["samples"], 2)
        self.assertIn("skipped 2 rows with missing values", result.stderr)
        self.refused("predict", "line.npz", "gaps.csv", says="fill it in, or leave the row out: --skip-missing\n")
        result = self.done("predict", "line.npz", "gaps.csv", "--skip-missing")
        self.assertEqual(len(result.stdout.splitlines()), 1 + 3, "predictions need no target")
        self.assertIn("skipped 1 row with missing values", result.stderr)

    def test_numbers_as_numpy_computes_them(self):
        found = [float(row["prediction"]) for row in self.predicted("line.npz", "x.csv")]
        numpy.testing.assert_allclose(found, self.z[:, 0], rtol=1e-13, atol=1e-14)

    def test_counts_are_positive(self):
        self.put("counts.npz", model("poisson", self.w[0], self.b[0]))
        found = [float(row["prediction"]) for row in self.predicted("counts.npz", "x.csv")]
        numpy.testing.assert_allclose(found, numpy.exp(self.z[:, 0]), rtol=1e-12)

    def test_classes_go_by_their_names_and_probabilities_on_request(self):
        rows = self.predicted("three.npz", "x.csv", "--probabilities")
        self.assertEqual([row["prediction"] for row in rows], [CLASSES[c] for c in self.z.argmax(axis=1)])
        e = numpy.exp(self.z - self.z.max(axis=1, keepdims=True))
        found = [[float(row[f"p({name})"]) for name in CLASSES] for row in rows]
        numpy.testing.assert_allclose(found, e / e.sum(axis=1, keepdims=True), rtol=1e-12, atol=1e-15)
        self.assertEqual(list(self.predicted("three.npz", "x.csv")[0]), ["prediction"])
        two = self.predicted("two.npz", "x.csv", "--probabilities")
        self.assertEqual([row["prediction"] for row in two], numpy.where(self.z[:, 0] > 0, "yes", "no").tolist())
        numpy.testing.assert_allclose([float(row["p(yes)"]) for row in two], 1 / (1 + numpy.exp(-self.z[:, 0])))

    def test_columns_may_stand_in_any_order_with_others_among_them(self):
        plain = self.done("predict", "three.npz", "x.csv").stdout
        self.put("mixed.csv", table(["c", "extra", "a", "b"], [self.x[:, 2], range(SAMPLES), self.x[:, 0], self.x[:, 1]]))
        self.assertEqual(self.done("predict", "three.npz", "mixed.csv").stdout, plain)
        self.assertEqual(self.done("predict", "three.npz", "kinds.csv").stdout, plain)  # the target of training
        self.put("other.csv", table(["colour", *self.names], [self.kinds, *self.x.T]))
        self.assertEqual(self.done("predict", "three.npz", "other.csv", "--target", "colour").stdout, plain)
        self.put("bare.csv", table([], [*self.x.T, self.kinds]))
        self.assertEqual(self.done("predict", "three.npz", "bare.csv", "--target", "4").stdout, plain)

    def test_other_formats(self):
        plain = self.done("predict", "three.npz", "x.csv").stdout
        numpy.savez(self.folder / "x.npz", X=self.x)
        self.assertEqual(self.done("predict", "three.npz", "x.npz").stdout, plain)
        lines = [f"{n % 2} " + " ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for n, row in enumerate(self.x.tolist())]
        self.put("x.svm", "\n".join(lines) + "\n")
        self.assertEqual(self.done("predict", "three.npz", "x.svm").stdout, plain)

    def test_output_to_a_file_and_as_json(self):
        plain = self.done("predict", "three.npz", "x.csv", "--probabilities").stdout
        said = self.done("predict", "three.npz", "x.csv", "--probabilities", "-o", "p.csv").stdout
        self.assertEqual(said, "Written: p.csv\n")
        self.assertEqual((self.folder / "p.csv").read_text(), plain)
        rows = list(csv.reader(io.StringIO(plain)))[1:]
        said = json.loads(self.done("predict", "three.npz", "x.csv", "--probabilities", "--json").stdout)
        self.assertEqual((said["samples"], said["classes"]), (SAMPLES, CLASSES))
        self.assertEqual(said["predictions"], [row[0] for row in rows])
        self.assertEqual(said["probabilities"], [[float(cell) for cell in row[1:]] for row in rows])
        both = json.loads(self.done("predict", "line.npz", "x.csv", "--json", "-o", "both.csv").stdout)
        numpy.testing.assert_allclose(both["predictions"], self.z[:, 0])
        self.assertTrue((self.folder / "both.csv").exists())
        dash = ("predict", "line.npz", "x.csv", "-o", "-")
        self.assertEqual(self.done(*dash).stdout, (self.folder / "both.csv").read_text())
        self.assertEqual(json.loads(self.done(*dash, "--json").stdout), both)

    def test_predictions_without_a_meaning_are_refused(self):
        self.refused("predict", "line.npz", "x.csv", "--probabilities", says="--probabilities")
        self.put("few.csv", table(["a", "B"], self.x.T[:2]))
        self.refused("predict", "line.npz", "few.csv", says=["few.csv", "has no column 'b'"])
        self.put("bare.csv", table([], self.x.T[:2]))
        self.refused("predict", "line.npz", "bare.csv", says=["bare.csv", "2 features", "on 3"])
        self.put("words.csv", table(self.names, [self.kinds, *self.x.T[:2]]))
        self.refused("predict", "line.npz", "words.csv", says="words.csv:2:")
        self.refused("predict", "line.npz", "nowhere.csv", says=["no file", "nowhere.csv"])
        self.refused("predict", "line.npz", "wines", says=["no file", "did you mean 'wine'"])
        self.refused("predict", "line.npz", says="DATA", code=2)
        self.refused("predict", "line.npz", "x.csv", "--probabilties", says="--probabilities", code=2)

    def test_outputs_are_opened_before_the_work(self):
        self.refused("predict", "missing.npz", "x.csv", "-o", "nowhere/p.csv", says=["-o", "nowhere/p.csv"])
        self.refused("predict", "missing.npz", "x.csv", "-o", "p.csv", says="missing.npz")
        self.put("p.csv", "old")
        self.refused("predict", "line.npz", "nowhere.csv", "-o", "p.csv", says="nowhere.csv")

    def test_bad_models_are_told(self):
        whole = (self.folder / "three.npz").read_bytes()
        self.put("cut.npz", whole[: len(whole) // 2])
        os.mkdir(self.folder / "folder.npz")
        self.put("empty.npz", b"")
        self.put("text.npz", "hello\n")
        good = {"loss": "softmax", "weights": self.w, "intercept": self.b, "classes": CLASSES}
        self.put("newer.npz", model(**good, version=3))
        self.put("loss.npz", model(**{**good, "loss": "softmaxx"}))
        self.put("rows.npz", model(**{**good, "weights": self.w[:2]}))
        self.put("classes.npz", model(**{**good, "classes": CLASSES[:2]}))
        self.put("nan.npz", model(**{**good, "intercept": self.b * numpy.nan}))
        header = npy(self.w).replace(b"(3, 3)", b"(9999999999, 9999999999)")[: len(npy(self.w))]
        with zipfile.ZipFile(self.folder / "forged.npz", "w") as archive:
            with zipfile.ZipFile(self.folder / "three.npz") as source:
                for name in source.namelist():
                    archive.writestr(name, header if name == "weights.npy" else source.read(name))
        numpy.savez(self.folder / "arrays.npz", weights=self.w, intercept=self.b)
        for name, says in [("cut", ""), ("folder", ""), ("empty", ""), ("text", ""), ("newer", "format 3"),
                           ("loss", "did you mean 'softmax'"), ("rows", "2 rows instead of 3"), ("classes", "3 rows"),
                           ("nan", "not finite"), ("forged", "weights"), ("arrays", "polyhop fit"), ("absent", "")]:
            with self.subTest(name=name):
                self.refused("predict", f"{name}.npz", "x.csv", says=[f"{name}.npz", says])
                self.refused("evaluate", f"{name}.npz", "kinds.csv", says=[f"{name}.npz", says])

    def test_classes_are_evaluated_as_scikit_learn_does(self):
        said = self.evaluated("three.npz", "kinds.csv")
        truth = [CLASSES.index(kind) for kind in self.kinds]
        found = self.z.argmax(axis=1)
        e = numpy.exp(self.z - self.z.max(axis=1, keepdims=True))
        self.assertEqual((said["samples"], said["loss"]), (SAMPLES, "softmax"))
        self.assertAlmostEqual(said["metrics"]["accuracy"], metrics.accuracy_score(truth, found))
        self.assertAlmostEqual(said["metrics"]["log_loss"], metrics.log_loss(truth, e / e.sum(axis=1, keepdims=True)))
        self.assertEqual(said["metrics"]["mean_loss"], said["metrics"]["log_loss"])
        self.assertEqual(said["confusion"], metrics.confusion_matrix(truth, found).tolist())
        self.assertEqual([c["name"] for c in said["classes"]], CLASSES)
        self.assertEqual([c["samples"] for c in said["classes"]], [self.kinds.count(name) for name in CLASSES])
        numpy.testing.assert_allclose([c["recall"] for c in said["classes"]],
                                      metrics.recall_score(truth, found, average=None))
        text = self.done("evaluate", "three.npz", "kinds.csv").stdout
        for word in ("accuracy", "log-loss", "precision", "green, dark", "true \\ predicted", f"{SAMPLES} samples"):
            self.assertIn(word, text)

    def test_two_classes_and_numbers(self):
        answers = numpy.where(numpy.random.default_rng(1).random(SAMPLES) < 0.5, "no", "yes")
        self.put("answers.csv", table([*self.names, "answer"], [*self.x.T, answers]))
        said = self.evaluated("two.npz", "answers.csv")
        self.assertAlmostEqual(said["metrics"]["auc"], metrics.roc_auc_score(answers == "yes", self.z[:, 0]))
        y = self.z[:, 0] + numpy.arange(SAMPLES) / SAMPLES
        self.put("y.csv", table([*self.names, "y"], [*self.x.T, y.tolist()]))
        said = self.evaluated("line.npz", "y.csv")["metrics"]
        self.assertAlmostEqual(said["rmse"], metrics.mean_squared_error(y, self.z[:, 0], squared=False))
        self.assertAlmostEqual(said["r2"], metrics.r2_score(y, self.z[:, 0]))
        self.assertAlmostEqual(said["mean_loss"], said["rmse"] ** 2 / 2)
        self.assertRegex(self.done("evaluate", "line.npz", "y.csv").stdout, rf"RMSE +{said['rmse']:.4g} ")

    def test_what_is_not_defined_is_null(self):
        self.put("same.csv", table([*self.names, "y"], [[1, 2], [0, 1], [3, 3], [5, 5]]))
        self.assertIsNone(self.evaluated("line.npz", "same.csv")["metrics"]["r2"])
        self.assertIn("not defined", self.done("evaluate", "line.npz", "same.csv").stdout)

    def test_a_label_that_training_never_saw_is_told_with_file_and_line(self):
        self.put("new.csv", table(["kind", *self.names], [["red", "pink"], *self.x.T[:, :2]]))
        self.refused("evaluate", "three.npz", "new.csv", says=["new.csv:3:", "pink", "red"])

    def test_evaluating_needs_targets(self):
        self.refused("evaluate", "three.npz", "x.csv", says=["x.csv", "kind"])
        self.put("other.csv", table(["colour", *self.names], [self.kinds, *self.x.T]))
        self.assertEqual(self.evaluated("three.npz", "other.csv", "--target", "colour")["metrics"],
                         self.evaluated("three.npz", "kinds.csv")["metrics"])


class Data(CommandTest):
    def installed(self):
        return {entry["name"]: entry for entry in json.loads(self.done("data", "--json").stdout)}

    def test_the_list_says_what_is_there(self):
        sets = self.installed()
        self.assertLessEqual({"wine", "digits", "diabetes", "breast-cancer", "fashion-mnist"}, set(sets))
        self.assertEqual((sets["wine"]["samples"], sets["wine"]["features"], sets["wine"]["classes"]), (178, 13, 3))
        self.assertRegex(self.done("data").stdout, r"diabetes .* 442 +10 +- ")
        self.assertTrue(sets["wine"]["installed"])  # with scikit-learn, which this test uses
        text = self.done("data").stdout
        for name, entry in sets.items():
            self.assertRegex(text, rf"(?m)^{name} .*{entry['package']} +{'installed' if entry['installed'] else 'missing'}$")

    def test_a_set_as_csv_holds_what_scikit_learn_has(self):
        for name, load in BUNDLED.items():
            with self.subTest(name=name):
                rows = list(csv.reader(io.StringIO(self.done("data", name).stdout)))[1:]
                ours = numpy.array([row[:-1] for row in rows], dtype=float)
                there = load()
                numpy.testing.assert_array_equal(ours, there.data)
                self.assertEqual(len({row[-1] for row in rows}), len(there.target_names))

    def test_a_written_set_is_read_back_as_itself(self):
        self.done("data", "wine", "-o", "wine.csv")
        weights = numpy.random.default_rng(3).normal(size=(3, 13))
        with open(self.folder / "wine.csv", encoding="utf-8") as file:
            classes = sorted({line.rstrip("\n").split(",")[-1] for line in file} - {"target"})
        self.put("m.npz", model("softmax", weights, numpy.zeros(3), classes))
        said = [self.done("evaluate", "m.npz", data, "--json").stdout for data in ("wine", "wine.csv")]
        self.assertEqual(json.loads(said[0])["metrics"], json.loads(said[1])["metrics"])
        predicted = [self.done("predict", "m.npz", data, "--target", "target").stdout for data in ("wine", "wine.csv")]
        self.assertEqual(predicted[0], predicted[1])

    def test_a_dash_is_the_standard_output(self):
        self.assertEqual(self.done("data", "wine", "-o", "-").stdout, self.done("data", "wine").stdout)
        self.assertNotIn("-", self.listing())

    def test_what_is_not_there_is_told(self):
        for arguments, says in [(("data", "wines"), "did you mean 'wine'"), (("data", "-o", "x.csv"), "NAME"),
                                (("data", "wine", "-o", "nowhere/x.csv"), "nowhere/x.csv"),
                                (("data", "wine", "--json"), "--json")]:
            result = self.polyhop(*arguments)
            self.assertEqual(result.returncode, 3, result.stderr)
            self.assertEqual(result.stdout, "")
            self.assertIn(says, result.stderr)
        for name, entry in self.installed().items():
            if not entry["installed"]:
                result = self.polyhop("data", name)
                self.assertEqual(result.returncode, 3)
                self.assertIn("apt install " + entry["package"], result.stderr)


if __name__ == "__main__":
    _polyhop.main()
