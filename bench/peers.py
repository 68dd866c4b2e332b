"""The benchmark's tasks with other tools: peers.py TASK SIDE FOLDER IMAGES THREADS does one task in this process and prints its
seconds.

The time includes reading the arrays (not for `partition` and `numpy, as released`) but not imports. Each tool gets the data in its usual form.
"""
import json
import sys
import time

import numpy as np

LEVELS = np.linspace(0, 1, 100)


def load(folder, name, count=None):
    probs, labels = np.load(f"{folder}/{name}_probs.npy", mmap_mode="r"), np.load(f"{folder}/{name}_labels.npy", mmap_mode="r")
    return np.array(probs[:count]), np.array(labels[:count])


def curves_by_torch(folder, count):
    """As in the released code: half-precision scores, NaN where the label is another, all sorted at once.

    The steps of torch.nanquantile, written out because it refuses more than 16 million values.
    """
    import torch

    start = time.perf_counter()
    probs, labels = load(folder, "cal", count)
    batches = []
    for begin in range(0, len(probs), 50):
        score = 1 - torch.from_numpy(probs[begin:begin + 50])
        label = torch.from_numpy(labels[begin:begin + 50])
        for c in range(score.shape[1]):
            score[:, c][label != c] = float("nan")
        batches.append(score)
    scores = torch.cat(batches).float()
    ordered = torch.sort(scores.movedim(0, -1).contiguous(), dim=-1).values
    last = (~ordered.isnan()).sum(-1, keepdim=True) - 1
    curves = []
    for level in LEVELS:
        rank = level * last.clamp(min=0)
        below = rank.floor().long()
        low = ordered.gather(-1, below)
        high = ordered.gather(-1, torch.minimum(below + 1, last.clamp(min=0)))
        curves.append(torch.lerp(low, high, (rank - below).float())[..., 0])
    curves = torch.stack(curves)
    return time.perf_counter() - start, float(curves[50].nan_to_num().sum())


def reading_alone(folder, count):
    """The least that any calibration needs: every byte is read once, by one thread."""
    start = time.perf_counter()
    total = 0
    for part in ("probs", "labels"):
        flat = np.load(f"{folder}/cal_{part}.npy", mmap_mode="r")[:count].reshape(-1).view(np.uint8)
        total += int(flat[:flat.size // 8 * 8].view(np.uint64).sum(dtype=np.uint64))
    return time.perf_counter() - start, float(total % 1000)


def curves_by_numpy(folder, count):
    """The curves of curves_by_torch, row by row of the image, so that memory stays low."""
    start = time.perf_counter()
    probs, labels = load(folder, "cal", count)
    curves = np.empty((len(LEVELS),) + probs.shape[1:], np.float32)
    for y in range(probs.shape[2]):
        score = 1 - probs[:, :, y].astype(np.float32)
        for c in range(score.shape[1]):
            score[:, c][labels[:, y] != c] = np.nan
        score.sort(axis=0)
        last = np.maximum((~np.isnan(score)).sum(0) - 1, 0)
        for q, level in enumerate(LEVELS):
            rank = level * last
            below = rank.astype(np.int64)
            low = np.take_along_axis(score, below[None], 0)[0]
            high = np.take_along_axis(score, np.minimum(below + 1, last)[None], 0)[0]
            curves[q, :, y] = low + (high - low) * (rank - below)
    return time.perf_counter() - start, float(np.nan_to_num(curves[50]).sum())


def pooled(folder, count):
    """All pixels as one sample: [pixel, class] and [pixel]."""
    probs, labels = load(folder, "cal", count)
    return probs.transpose(0, 2, 3, 1).reshape(-1, probs.shape[1]).astype(np.float32), labels.reshape(-1).astype(np.int64)


def image_by_numpy(folder, count):
    start = time.perf_counter()
    probs, labels = load(folder, "cal", count)
    thresholds = [np.quantile(1 - probs[:, c][labels == c].astype(np.float32), LEVELS, method="higher") for c in (0, 1)]
    return time.perf_counter() - start, float(thresholds[1][90])


def image_by_torchcp(folder, count):
    import torch
    from torchcp.classification.predictor import ClassConditionalPredictor
    from torchcp.classification.score import LAC

    start = time.perf_counter()
    probs, labels = (torch.from_numpy(a) for a in pooled(folder, count))
    predictor = ClassConditionalPredictor(LAC(score_type="identity"), device="cpu")
    for alpha in 1 - LEVELS[1:-1]:
        predictor.calculate_threshold(probs, labels, float(alpha))
    return time.perf_counter() - start, float(predictor.q_hat[1])


def image_by_mapie(folder, count):
    from mapie.classification import SplitConformalClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Known(ClassifierMixin, BaseEstimator):
        """The probabilities are the features."""
        classes_, fitted_, n_features_in_ = np.array([0, 1]), True, 2

        def fit(self, x, y):
            return self

        def predict_proba(self, x):
            return np.stack([1 - x[:, 1], x[:, 1]], 1)  # sums to 1 exactly, as required

        def predict(self, x):
            return (x[:, 1] > 0.5).astype(int)

        def __sklearn_is_fitted__(self):
            return True

    start = time.perf_counter()
    probs, labels = pooled(folder, count)
    probs = probs.astype(np.float64)
    mapie = SplitConformalClassifier(Known(), confidence_level=list(LEVELS[1:-1]), prefit=True)
    mapie.conformalize(probs, labels)
    mapie.predict_set(probs[:10])
    return time.perf_counter() - start, 0.0


def errors_by_numpy_loop(folder, count, share=16):
    """As in the released code: pixel by pixel, level by level. Runs a share of the rows and multiplies the time."""
    probs, labels = load(folder, "test", count)
    curves = np.load(f"{folder}/curves.npy", mmap_mode="r")
    start = time.perf_counter()
    total = 0.0
    rows = range(0, probs.shape[2], share)
    for c in range(probs.shape[1]):
        score = 1 - probs[:, c]
        for y in rows:
            for x in range(probs.shape[3]):
                own = score[labels[:, y, x] == c, y, x]
                if len(own) == 0:
                    continue
                error = 0.0
                for i in range(20):
                    error += abs(np.mean(own <= curves[(i + 1) * 5 - 1, c, y, x]) - (i + 0.5) / 20)
                total += error / 20
    seconds = time.perf_counter() - start
    return seconds * probs.shape[2] / len(rows), total


def errors_by_numpy(folder, count):
    """The same without loops over pixels."""
    start = time.perf_counter()
    probs, labels = load(folder, "test", count)
    curves = np.load(f"{folder}/curves.npy", mmap_mode="r")
    total = 0.0
    for c in range(probs.shape[1]):
        score, member = 1 - probs[:, c].astype(np.float32), labels == c
        n = member.sum(0)
        error = np.zeros(n.shape)
        for i in range(20):
            covered = ((score <= curves[(i + 1) * 5 - 1, c]) & member).sum(0)
            error += np.abs(covered / np.maximum(n, 1) - (i + 0.5) / 20)
        total += error.sum()
    return time.perf_counter() - start, float(total)


def kmeans_by_sklearn(folder, count):
    from sklearn.cluster import KMeans

    points = np.load(f"{folder}/points.npy")
    start = time.perf_counter()
    found = KMeans(n_clusters=4, n_init=10, random_state=0).fit(points)
    return time.perf_counter() - start, float(found.inertia_)


def read_by_numpy(folder, count):
    start = time.perf_counter()
    probs = np.load(f"{folder}/cal_probs.npy").astype(np.float32)
    return time.perf_counter() - start, float(probs[-1, 0, 0, 0])


TASKS = {
    ("calibrate", "torch, as released"): curves_by_torch,
    ("calibrate", "numpy"): curves_by_numpy,
    ("calibrate", "reading"): reading_alone,
    ("pooled", "numpy"): image_by_numpy,
    ("pooled", "torchcp"): image_by_torchcp,
    ("pooled", "mapie"): image_by_mapie,
    ("evaluate", "numpy, as released"): errors_by_numpy_loop,
    ("evaluate", "numpy"): errors_by_numpy,
    ("partition", "scikit-learn"): kmeans_by_sklearn,
    ("read", "numpy"): read_by_numpy,
}


def main():
    task, side, folder, count = sys.argv[1:5]
    if side.startswith("torch"):
        import torch

        torch.set_num_threads(int(sys.argv[5]))
    start, cpu = time.perf_counter(), time.process_time()
    seconds, check = TASKS[task, side](folder, int(count))
    # Both clocks also run during imports, and a task may extrapolate its seconds. CPU seconds are therefore the task's seconds
    # times the measured ratio of CPU to wall time.
    share = (time.process_time() - cpu) / (time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "cpu": seconds * share, "check": check}))


if __name__ == "__main__":
    main()
