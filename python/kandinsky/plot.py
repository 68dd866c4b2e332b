"""Pictures with matplotlib (``pip install kandinsky[plot]``). Every function draws on `ax`, or creates it, and returns it."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Union

import numpy as np

from .calibrator import Calibrator
from .comparison import Comparison
from .errors import Error, UsageError
from .evaluation import Evaluation

Results = Union[Comparison, Evaluation]


def _axes(ax: Any, figsize: Any = None) -> Any:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as problem:
        raise _NeedsMatplotlib("plots need matplotlib; install it with: pip install kandinsky[plot]") from problem
    return plt.subplots(figsize=figsize, constrained_layout=True)[1]


class _NeedsMatplotlib(Error, ImportError):
    pass


def _row_of(results: Results, cls: Optional[int], method: Optional[str] = None) -> List[Dict[str, Any]]:
    """The rows of one class, by default the last reported class, because class 0 is often the background."""
    rows = results.rows
    shown = [row["class"] for row in rows]
    if not shown:
        raise UsageError("there is no result to draw")
    wanted = shown[-1] if cls is None else "all" if "all" in shown else cls
    if wanted not in shown:
        raise UsageError(f"class {cls} is not among the results, which have {sorted(set(shown))}")
    return [row for row in rows if row["class"] == wanted and method in (None, row["method"])]


def _plane(cls: Any) -> int:
    return 0 if cls == "all" else int(cls)


def _panel(ax: Any, values: np.ndarray, label: str, colorbar: bool, **options: Any) -> Any:
    image = ax.imshow(values, interpolation="nearest", **options)
    ax.set_xticks([])
    ax.set_yticks([])
    if colorbar:
        ax.figure.colorbar(image, ax=ax, label=label, shrink=0.85)
    return image


def _legend(ax: Any, **options: Any) -> None:
    """Puts the legend beside the axes."""
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1.02, 1), borderaxespad=0, **options)


def plot_partition(calibrator: Calibrator, cls: Optional[int] = None, *, ax: Any = None, cmap: Any = None) -> Any:
    """Draws the regions of pixels that share their scores, or the score thresholds of a soft method such as `field`.

    Thresholds that depend on the image (``adapt="image"``) are those of an image with b = 0 (docs/adapt.md).

    Parameters
    ----------
    calibrator : Calibrator
        Calibrated.
    cls : int, optional
        The class whose regions are shown; default: the last class.
    ax : matplotlib axes, optional
    cmap : colormap, optional

    Returns
    -------
    matplotlib axes
    """
    regions = calibrator.regions_
    which = len(regions) - 1 if cls is None or len(regions) == 1 else cls
    if not 0 <= which < len(regions):
        raise UsageError(f"there is no class {cls}; the calibrator has classes 0 to {len(regions) - 1}")
    ax = _axes(ax)
    name = "all classes" if len(regions) == 1 else f"class {which}"
    if "smooth" in calibrator.meta_["strata"][which]:
        options = calibrator.meta_["options"]
        if options.get("adapt", "none") == "none":
            limits, what, more = calibrator.score_thresholds(alpha=0.1), "score threshold", ""
        else:
            limits, more = np.array(calibrator._fitted().limits(0.1)), " for b = 0"
            what = "probability threshold" if options["score"] == "lac" else "score threshold"
        shown = np.ma.masked_invalid(limits[which])
        _panel(ax, shown, f"{what} at alpha 0.1{more}", True, cmap=cmap or "viridis")
        ax.set_title(f"{calibrator.methods_[which]}, {name}: no regions, {what}s{more}")
        return ax
    count = int(regions[which].max()) + 1
    few = count <= 10
    _panel(
        ax,
        regions[which],
        "region",
        False,
        cmap=cmap or ("tab10" if few else "viridis"),
        vmin=-0.5 if few else None,
        vmax=9.5 if few else None,
    )
    ax.set_title(f"{calibrator.methods_[which]}, {name}: {count} region{'' if count == 1 else 's'}")
    return ax


def plot_ce_map(
    results: Results,
    cls: Optional[int] = None,
    *,
    method: Optional[str] = None,
    ax: Any = None,
    vmax: Optional[float] = None,
    cmap: Any = "magma_r",
) -> Any:
    """Draws the coverage error of every pixel; white pixels have no test sample.

    Parameters
    ----------
    results : Evaluation or Comparison
    cls : int, optional
        Default: the last class reported.
    method : str, optional
        Method of a comparison; default: the best one for that class.
    ax : matplotlib axes, optional
    vmax : float, optional
        Upper end of the colour scale; use the same for plots that you compare.

    Returns
    -------
    matplotlib axes
    """
    if isinstance(results, Comparison):
        rows = _row_of(results, cls)
        judged = [row for row in rows if row["mean_ce"] is not None]
        name = method or min(judged or rows, key=lambda row: row["mean_ce"] or 0)["method"]
        if name not in results.ce_maps:
            raise UsageError(f"method '{name}' is not in this comparison, which has {', '.join(results.methods)}")
        row, maps = next(row for row in rows if row["method"] == name), results.ce_maps[name]
    else:
        row = _row_of(results, cls)[0]
        maps = results.ce_map
    values = maps[_plane(row["class"])]
    ax = _axes(ax)
    _panel(ax, values, "coverage error", True, cmap=cmap, vmin=0, vmax=vmax)
    mean = "no test sample" if row["mean_ce"] is None else f"mean {row['mean_ce']:.4f}, floor {row['floor']:.4f}"
    ax.set_title(f"{row['method']}, class {row['class']}: {mean}")
    return ax


def plot_coverage(results: Results, cls: Optional[int] = None, *, ax: Any = None) -> Any:
    """Draws measured coverage against the chosen level. On the diagonal it is right, below the diagonal it is too low.

    Parameters
    ----------
    results : Evaluation or Comparison
    cls : int, optional
        Default: the last class reported.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    rows = _row_of(results, cls)
    ax = _axes(ax)
    _diagonal(ax, "right")
    for row in rows:
        ax.plot(results.levels, [np.nan if v is None else v for v in row["coverage"]], ".-", lw=1, label=row["method"])
    ax.set(xlabel="level 1 - alpha", ylabel="coverage", title=f"coverage, class {rows[0]['class']}")
    _legend(ax)
    return ax


def plot_feature_coverage(
    results: Results, cls: Optional[int] = None, *, feature: str = "doubt", label: Optional[str] = None, ax: Any = None
) -> Any:
    """Draws how coverage at alpha follows a feature of the model's outputs, in tenths of the images.

    Draw a second result into the same axes to see what ``adapt="image"`` changes.

    Parameters
    ----------
    results : Evaluation or Comparison
    cls : int, optional
        Default: the last class reported.
    feature : {"doubt", "area", "inside", "stray", "root", "fourth"}
        docs/adapt.md defines them; the last tenth by doubt looks hardest.
    label : str, optional
        Replaces the method's name in the legend; for several methods it is put before the name.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    rows = _row_of(results, cls)
    known = rows[0]["image_coverage"]["by_feature"]
    if feature not in known:
        raise UsageError(f"feature is '{feature}', but must be one of {', '.join(known)}")
    fresh = ax is None
    ax = _axes(ax)
    if fresh:
        ax.axhline(1 - results.alpha, color="0.6", lw=1, ls="--", label="asked for")
    for row in rows:
        tenths = row["image_coverage"]["by_feature"][feature]
        seen = [i for i, images in enumerate(tenths["images"]) if images > 0]
        value, coverage = ([tenths[key][i] for i in seen] for key in ("value", "coverage"))
        name = row["method"] if label is None else label if len(rows) == 1 else f"{label}, {row['method']}"
        ax.plot(value, coverage, ".-", lw=1, label=name)
    ax.set(xlabel=feature, ylabel="mean coverage of the images", title=f"single images, class {rows[0]['class']}")
    _legend(ax)
    return ax


def _diagonal(ax: Any, label: str) -> None:
    ax.plot([0, 1], [0, 1], color="0.6", lw=1, ls="--", label=label)
    ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")


def plot_reliability(results: Results, cls: Optional[int] = None, *, ax: Any = None) -> Any:
    """Draws the calibration of the probabilities: share of pixels with the class against its probability.

    Parameters
    ----------
    results : Evaluation or Comparison
    cls : int, optional
        Default: the last class reported.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    bins = _reliability(results)
    if cls is None:
        shown = _row_of(results, None)[0]["class"]
        cls = len(bins) - 1 if shown == "all" else int(shown)
    if cls not in bins:
        raise UsageError(f"class {cls} is not among the results, which have {sorted(bins)}")
    count, confidence, accuracy, ece = bins[cls]
    seen = count > 0
    ax = _axes(ax)
    _diagonal(ax, "calibrated")
    ax.bar(
        (np.arange(len(count))[seen] + 0.5) / len(count),
        accuracy[seen],
        width=1 / len(count),
        color="C0",
        alpha=0.35,
        edgecolor="white",
    )
    ax.plot(confidence[seen], accuracy[seen], "o-", ms=4, lw=1, color="C0", label="measured")
    ax.set(xlabel="probability", ylabel="share with the class", title=f"class {cls}: ECE {ece:.4f}")
    _legend(ax)
    return ax


def _reliability(results: Results) -> Dict[int, Any]:
    if isinstance(results, Comparison):
        return {
            c: (np.asarray(n), np.asarray(p), np.asarray(a), ece)
            for c, (n, p, a, ece) in enumerate(results._reliability)
        }
    out: Dict[int, Any] = {}
    for row in results.rows:
        listed = row["reliability"] if row["class"] == "all" else [row["reliability"]]
        first = 0 if row["class"] == "all" else row["class"]
        for c, one in enumerate(listed, first):
            n, p, a = (np.asarray(one[key], np.float64) for key in ("count", "confidence", "accuracy"))
            with np.errstate(invalid="ignore"):
                out[c] = n, p, a, float(np.nansum(n * np.abs(p - a)) / max(1.0, n.sum()))
    return out


def plot_violin(results: Results, cls: Optional[int] = None, *, ax: Any = None) -> Any:
    """Draws the distribution of the coverage error over pixels: a violin per method, with mean and [0.05, 0.95] quantiles.

    Parameters and result are those of :func:`plot_coverage`.
    """
    rows = [row for row in _row_of(results, cls) if row["mean_ce"] is not None]
    if not rows:
        raise UsageError("no pixel has a test sample of this class, so there is nothing to draw")
    plane = _plane(rows[0]["class"])
    maps = results.ce_maps if isinstance(results, Comparison) else {rows[0]["method"]: results.ce_map}
    values = [maps[row["method"]][plane] for row in rows]
    values = [one[np.isfinite(one)] for one in values]
    ax = _axes(ax, (1.2 + 1.1 * len(rows), 3.6))
    places = np.arange(1, len(rows) + 1)
    for body in ax.violinplot(values, places, showextrema=False, widths=0.85)["bodies"]:
        body.set_alpha(0.5)
    ax.vlines(places, [np.quantile(v, 0.05) for v in values], [np.quantile(v, 0.95) for v in values], color="0.3", lw=1)
    ax.plot(places, [v.mean() for v in values], "o", color="0.1", ms=4, label="mean")
    ax.axhline(rows[0]["floor"], color="0.6", lw=1, ls="--", label="floor")
    ax.set_xticks(places, [row["method"] for row in rows])
    ax.set(ylabel="coverage error", title=f"class {rows[0]['class']}", ylim=(0, None))
    _legend(ax)
    return ax
