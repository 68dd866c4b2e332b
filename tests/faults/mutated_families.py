"""Families of damaged inputs: a family is a command, its valid inputs, and an independent computation of its result."""

import json
import shutil
import zipfile
from fractions import Fraction
from pathlib import Path

import mutations
import numpy as np
import reference
from support import run, scene

LEVELS = [25, 50, 75]  # per cent: exact in binary, so that both sides mean the same level


class Unusable(Exception):
    """The reference raises this for inputs that the command must refuse."""


def read_npy(path):
    try:
        return np.load(path, allow_pickle=False)
    except Exception as problem:
        raise Unusable(problem) from None


def probabilities(stored):
    """float32 [N,C,H,W], checked."""
    if stored.ndim != 4 or 0 in stored.shape:
        raise Unusable(f"probabilities of shape {stored.shape}")
    if stored.dtype == np.uint8:
        return stored.astype(np.float32) / np.float32(255)
    if stored.dtype.kind != "f" or stored.dtype.itemsize > 8:
        raise Unusable(f"probabilities of type {stored.dtype}")
    with np.errstate(over="ignore", under="ignore"):
        values = stored.astype(np.float32)
    if not ((values >= 0) & (values <= 1)).all():
        raise Unusable("a probability outside [0, 1]")
    return values


def truth(stored, probs, ignore=(255,)):
    """(member, valid), checked."""
    classes = 2 if probs.shape[1] == 1 else probs.shape[1]
    if stored.dtype.kind not in "iub":
        raise Unusable(f"labels of type {stored.dtype}")
    if stored.ndim == 4:
        if stored.shape != probs.shape or not np.isin(stored, (0, 1)).all():
            raise Unusable("masks that do not fit")
        return reference.members(stored, classes)
    if stored.shape != (probs.shape[0], *probs.shape[2:]):
        raise Unusable(f"labels of shape {stored.shape}")
    stored = stored.astype(np.int64) if stored.dtype != np.uint64 else stored
    if not (np.isin(stored, ignore) | ((stored >= 0) & (stored < classes))).all():
        raise Unusable("a label that is no class")
    return reference.members(stored, classes, ignore)


def group_ids(stored, images):
    if stored.dtype.kind not in "iub" or stored.shape != (images,):
        raise Unusable(f"groups of type {stored.dtype} and shape {stored.shape}")
    return stored


class Family:
    name = ""
    outputs = ()

    def __init__(self, folder, seed=0):
        self.folder = Path(folder)
        self.folder.mkdir()
        self.make(seed)
        self.valid = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.there = set(self.folder.rglob("*"))

    def reset(self):
        for path in set(self.folder.rglob("*")) - self.there:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        for path, content in self.valid.items():
            path.write_bytes(content)

    def leftovers(self):
        return sorted(str(path.relative_to(self.folder)) for path in set(self.folder.rglob("*")) - self.there)

    def targets(self):
        """Files to be damaged, by name within the folder."""
        raise NotImplementedError

    def damage(self, random):
        """Damages one file and says how."""
        name = str(random.choice(self.targets()))
        path = self.folder / name
        kinds = [*mutations.BYTES, *self.special(path)]
        kind = kinds[random.integers(0, len(kinds))]
        path.write_bytes(kind(random, path.read_bytes()))
        return f"{kind.__name__} of {name}"

    def special(self, path):
        """Kinds of damage specific to the format; together they are as frequent as damage to bytes."""
        if path.suffix != ".npy":
            return []
        integers = np.load(path).dtype.kind in "iu" and "prob" not in path.name

        def edited(random, data):
            return mutations.as_npy(mutations.edit_array(random, np.load(path), integers))

        return [edited] * 6 + [mutations.edit_header] * 3

    def run(self):
        return run(*self.args(), cwd=self.folder)

    def spoil(self, result):
        """Changes a correct result into a slightly wrong one."""
        for name in ("curves.npy", "sets.npy"):
            if (path := self.folder / name).exists():
                array = np.load(path)
                if array.dtype == np.uint8:
                    array.flat[-1] ^= 1
                else:
                    array[LEVELS[0] - 1].flat[-1] = np.nextafter(array[LEVELS[0] - 1].flat[-1], np.float32(2))
                np.save(path, array)


def curves_differ(folder, probs, member, pooling, groups, pixelwise):
    """Compares curves.npy, [100,C,H,W], with the reference at some levels."""
    grid = probs.shape[2:]
    regions = np.arange(np.prod(grid)).reshape(grid) if pixelwise else np.zeros(grid, int)
    calibrator = reference.Reference(probs, member, regions, pooling, groups)
    curves = np.load(folder / "curves.npy")
    for level in LEVELS:
        expected = calibrator.score_thresholds(1 - Fraction(level, 100))
        if not np.array_equal(curves[level - 1], expected):
            return f"thresholds at {level} % are others than numpy's"
    return None


class Arrays(Family):
    """calibrate on .npy files; the kind of probabilities and the rule vary with the seed."""

    def make(self, seed):
        self.pixelwise, self.pooling = bool(seed % 2), ["groups", "pixels"][seed // 2 % 2]
        probs, labels = scene(4, 1 + seed % 3, (2, 3), seed)
        kind = [np.float32, np.float16, np.float64, np.uint8][seed % 4]
        np.save(self.folder / "probs.npy", np.round(probs * 255).astype(kind) if kind == np.uint8 else probs.astype(kind))
        np.save(self.folder / "labels.npy", labels.astype([np.uint8, np.int32, np.int64][seed % 3]))
        np.save(self.folder / "groups.npy", np.array([5, 5, 1, 9]))
        self.name = f"calibrate on arrays of {np.dtype(kind).name}, {'pixel' if self.pixelwise else 'image'}, {self.pooling}"

    def targets(self):
        return ["probs.npy", "probs.npy", "labels.npy", "groups.npy"]

    def args(self):
        return ["calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--groups", "groups.npy", "-q", "--score", "lac", "--method",
                "pixel" if self.pixelwise else "image", "--pooling", self.pooling, "--fallback", "none", "-o", "out.kcal", "--curves",
                "curves.npy"]

    def compare(self, _):
        probs = probabilities(read_npy(self.folder / "probs.npy"))
        member, _ = truth(read_npy(self.folder / "labels.npy"), probs)
        groups = group_ids(read_npy(self.folder / "groups.npy"), len(probs))
        return curves_differ(self.folder, probs, member, self.pooling, groups, self.pixelwise)


class Archive(Family):
    """calibrate on a .npz with probabilities and labels, stored or deflated."""

    def make(self, seed):
        probs, labels = scene(4, 3, (2, 3), seed)
        self.packed = bool(seed % 2)
        (np.savez_compressed if self.packed else np.savez)(self.folder / "data.npz", probs=probs, labels=labels)
        self.name = f"calibrate on a {'deflated' if self.packed else 'stored'} .npz"

    def targets(self):
        return ["data.npz"]

    def special(self, path):
        def edited(random, data):
            arrays = dict(np.load(path))
            name = str(random.choice(list(arrays)))
            arrays[name] = mutations.edit_array(random, arrays[name], name == "labels")
            (np.savez_compressed if self.packed else np.savez)(path, **arrays)
            return path.read_bytes()

        def edited_header(random, data):
            with zipfile.ZipFile(path) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
            name = str(random.choice(list(members)))
            members[name] = mutations.edit_header(random, members[name])
            with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if self.packed else zipfile.ZIP_STORED) as archive:
                for member, content in members.items():
                    archive.writestr(member, content)
            return path.read_bytes()

        return [edited] * 5 + [edited_header] * 4

    def args(self):
        return ["calibrate", "--probs", "data.npz:probs", "--labels", "data.npz:labels", "-q", "--method", "image", "--score", "lac", "-o",
                "out.kcal", "--curves", "curves.npy"]

    def compare(self, _):
        try:
            with np.load(self.folder / "data.npz", allow_pickle=False) as archive:
                stored, labels = archive["probs"], archive["labels"]
        except Exception as problem:
            raise Unusable(problem) from None
        probs = probabilities(stored)
        return curves_differ(self.folder, probs, truth(labels, probs)[0], "groups", None, False)


class Predicting(Family):
    """predict with damaged probabilities."""

    name = "predict on arrays"

    def make(self, seed):
        probs, labels = scene(9, 3, (2, 3), seed)
        np.save(self.folder / "probs.npy", probs)
        np.save(self.folder / "labels.npy", labels)
        done = run("calibrate", "--probs", "probs.npy", "--labels", "labels.npy", "--method", "image", "--score", "lac", "-q", "-o",
                   "cal.kcal", cwd=self.folder)
        assert done.code == 0, done
        self.reference = reference.Reference(probs, reference.members(labels, 3)[0], np.zeros((2, 3), int), "groups")

    def targets(self):
        return ["probs.npy"]

    def args(self):
        return ["predict", "cal.kcal", "--probs", "probs.npy", "--alpha", "0.25", "--empty", "keep", "-q", "-o", "sets.npy"]

    def compare(self, _):
        probs = probabilities(read_npy(self.folder / "probs.npy"))
        if reference.two_classes(probs).shape[1:] != (3, 2, 3):
            raise Unusable(f"probabilities of shape {probs.shape} for another grid")
        sets = np.load(self.folder / "sets.npy")
        return None if np.array_equal(sets, self.reference.sets(probs, Fraction(1, 4))) else "other sets than numpy's"


class Calibrators(Predicting):
    """predict with a damaged calibrator, which its checksum should reveal."""

    name = "predict with a damaged calibrator"

    def targets(self):
        return ["cal.kcal"]

    def special(self, path):
        def rewritten(random, data):
            """One member replaced by an edited one, in a well-formed archive without the checksum."""
            with zipfile.ZipFile(path) as archive:
                members = {name: archive.read(name) for name in archive.namelist()}
                comment = archive.comment
            name = str(random.choice(list(members)))
            members[name] = random.choice(mutations.BYTES)(random, members[name])
            with zipfile.ZipFile(path, "w") as archive:
                for member, content in members.items():
                    archive.writestr(member, content)
                if random.integers(0, 2):
                    archive.comment = comment
            return path.read_bytes()

        return [rewritten] * 3


class Inspecting(Calibrators):
    name = "inspect a damaged calibrator"

    def args(self):
        return ["inspect", "cal.kcal", "--json"]

    def spoil(self, result):
        result.out += " "

    def compare(self, result):
        if not hasattr(self, "said"):
            damaged = (self.folder / "cal.kcal").read_bytes()
            self.reset()
            self.said = self.run().out
            (self.folder / "cal.kcal").write_bytes(damaged)
        return None if result.out == self.said else "it says something else than of the undamaged one"


class Evaluating(Predicting):
    """evaluate with damaged probabilities or labels."""

    name = "evaluate on arrays"

    def spoil(self, result):
        path = self.folder / "out.json"
        found = json.loads(path.read_text())
        found["results"][0]["coverage"][3] += 0.001
        path.write_text(json.dumps(found))

    def targets(self):
        return ["probs.npy", "labels.npy"]

    def args(self):
        return ["evaluate", "cal.kcal", "--probs", "probs.npy", "--labels", "labels.npy", "--alpha", "0.25", "-q",
                "--bootstrap", "0", "--json", "out.json"]

    def compare(self, _):
        probs = probabilities(read_npy(self.folder / "probs.npy"))
        if reference.two_classes(probs).shape[1:] != (3, 2, 3):
            raise Unusable(f"probabilities of shape {probs.shape} for another grid")
        member, valid = truth(read_npy(self.folder / "labels.npy"), probs)
        with np.errstate(invalid="ignore", divide="ignore"):
            levels = [1 - level for level in reference.LEVELS]
            covered = np.stack([self.reference.sets(probs, level).astype(bool) for level in levels])
        results = json.loads((self.folder / "out.json").read_text())["results"]
        for c, found in enumerate(results):
            there = member[:, c]
            if there.sum() == 0:
                continue
            expected = (covered[:, :, c] & there).sum(axis=(1, 2, 3)) / there.sum()
            if not np.allclose(found["coverage"], expected, rtol=0, atol=1e-9):
                return f"another coverage of class {c} than numpy's"
        sets = self.reference.sets(probs, Fraction(1, 4)).astype(bool)
        size = reference.filled(sets, reference.two_classes(probs)).sum(axis=1)[valid]
        if len(size) and not np.isclose(results[0]["set_size"], size.mean()):
            return "another size of sets than numpy's"
        return None


def families(folder):
    from mutated_folders import folder_families

    made = [Arrays(folder / f"arrays{seed}", seed) for seed in range(6)]
    made += [Archive(folder / f"archive{seed}", seed) for seed in range(2)]
    made += [kind(folder / kind.__name__) for kind in (Predicting, Calibrators, Inspecting, Evaluating)]
    return made + folder_families(folder)
