"""Random calls of calibrate and predict, the same in every language: inputs, and options with an effect, in the command's words."""

from dataclasses import dataclass

import numpy as np
from support import scene

LEARNING = ("kmeans", "genann", "fcc", "field")
METHODS = ("image", "pixel", "mask", *LEARNING)
# Values of the methods' options, none of them a default. Searches end early.
OWN = {
    "kmeans": {"kmeans-clusters": ("2", "3"), "kmeans-restarts": ("3", "7")},
    "genann": {"genann-radii": ("2", "3"), "genann-generations": ("3", "5"), "genann-population": ("20",), "genann-shape": ("circle",)},
    "fcc": {"fcc-curves": ("2", "3"), "fcc-starts": ("1", "2"), "fcc-iterations": ("4",), "fcc-order": ("2", "3")},
    "field": {"field-bins": ("16", "40"), "place": ("0.3", "0.8"), "field-support": ("off",), "field-mirror": ("off",), "field-folds": ("3",)},
}  # fmt: skip
SCORES = {"near": {}, "lac": {}, "margin": {}, "aps": {}, "raps": {"raps-lambda": ("0.3",), "raps-kreg": ("2",)}, "saps": {"saps-weight": ("0.7",)}}


@dataclass
class Call:
    """Options of calibrate and of predict; a flag without a value is True."""

    calibrate: dict
    predict: dict
    arrays: dict  # probs, labels, test and, where they are given, groups and mask

    def words(self):
        return words_of(self.calibrate)


def words_of(options):
    return [word for name, value in options.items() for word in ([f"--{name}"] if value is True else [f"--{name}", value])]


def call_of(seed):
    """The call of a seed. Consecutive seeds have different methods and scores."""
    random = np.random.default_rng(seed)

    def one_of(*values):
        return str(random.choice(values))

    def some(own):
        return {name: one_of(*values) for name, values in own.items() if random.integers(2)}

    probs, labels = scene(14, grid=(6, 5), seed=seed)
    labels[random.random(labels.shape) < 0.05] = 255
    arrays = {"probs": probs, "labels": labels, "test": scene(3, grid=(6, 5), seed=seed + 1000)[0]}
    method, score = METHODS[seed % len(METHODS)], list(SCORES)[seed % len(SCORES)]
    pooling = one_of("groups", "groups", "pixels")
    options = {"method": method, "pooling": pooling, "condition": one_of("class", "none"), "seed": one_of(0, 5, 99),
               "score": score, "ignore": one_of("255", "1,255")}  # fmt: skip
    if score in ("aps", "raps", "saps") and random.integers(2):
        options["randomized"] = True
    options |= some(SCORES[score]) | some({"rungs": ("40", "300"), "memory": ("2M",)})
    if method in LEARNING:
        options["promise"] = one_of("none", "split", *(["loo"] if pooling == "groups" else []))
        options |= some({"split": ("0.3", "0.6")}) if options["promise"] == "split" else {}
    own = OWN.get(method, {})
    options |= {name: values[0] for name, values in own.items() if method in ("genann", "fcc")} | some(own)
    if method in ("kmeans", "genann", "fcc"):
        options |= some({"quantiles": ("0.5,0.9",)})
    if method != "field":
        fallback = one_of("none", "image", "auto")
        options |= {"fallback": fallback} if fallback != "auto" else {}
        if fallback == "image" or (fallback == "auto" and pooling == "pixels"):
            options |= some({"min-count": ("3", "20")})
    if method == "mask":
        arrays["mask"] = (np.arange(30).reshape(6, 5) // 8).astype(np.uint8)
    if random.integers(2):
        arrays["groups"] = (np.arange(14) // 2 * 7 - 3).astype(np.int64)
    logits = one_of("none", "sigmoid", "softmax")
    if logits != "none":
        options["logits"] = logits
        for name in ("probs", "test"):
            arrays[name] = np.log(arrays[name] / (1 - arrays[name])) if logits == "sigmoid" else np.log(arrays[name])
    return Call(options, {"alpha": one_of("0.05", "0.2", "0.5"), **some({"empty": ("keep", "fill")})}, arrays)
