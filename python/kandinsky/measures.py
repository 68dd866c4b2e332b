"""The measures of one class, as attributes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

import numpy as np

from ._types import Floats

Interval = Tuple[float, float]
_NAN = float("nan")


def _number(value: Optional[float]) -> float:
    return _NAN if value is None else float(value)


def _numbers(values: Optional[List[Optional[float]]]) -> Floats:
    return np.asarray([_number(one) for one in values or []], np.float64)


@dataclass(frozen=True, eq=False)
class Reliability:
    """Confidence and accuracy in bins of equal width."""

    count: Floats  #: pixels in the bin
    confidence: Floats  #: mean probability in the bin
    accuracy: Floats  #: share of pixels that have the class


@dataclass(frozen=True, eq=False)
class LevelSets:
    """The contents of the sets at each level of the coverage error, before filling."""

    set_size: Floats
    false_classes: Floats
    empty_share: Floats
    single_share: Floats
    single_right: Floats
    full_share: Floats


@dataclass(frozen=True, eq=False)
class FeatureCoverage:
    """The images in tenths by one feature of the model's outputs, ascending; NaN if a tenth is empty."""

    images: Floats  #: in the tenth
    value: Floats  #: mean of the feature
    coverage: Floats  #: mean coverage of the images


@dataclass(frozen=True, eq=False)
class ImageCoverage:
    """How coverage at alpha varies from image to image."""

    images: int  #: with at least one sample
    below: float  #: share of images covered less than 1 - alpha
    spread: float  #: mean of abs(coverage - (1 - alpha)) over images
    far_below: float  #: share of images covered more than 0.1 less than 1 - alpha
    hardest: float  #: mean coverage of the tenth of the images that look hardest
    quantiles: Dict[str, float]  #: over images, by level
    by_feature: Dict[str, FeatureCoverage]  #: docs/adapt.md defines the features


@dataclass(frozen=True)
class Intervals:
    """90 % bootstrap intervals over test groups."""

    resamples: int
    mean_ce: Interval
    coverage_at_alpha: Interval
    false_share: Interval
    set_size: Interval
    false_classes: Interval
    empty_share: Interval
    single_share: Interval
    single_right: Interval
    full_share: Interval
    ece: Interval
    mean_ce_bias: float


@dataclass(frozen=True, eq=False)
class ClassResult:
    """Every measure of one method and one class; NaN without data. docs/definitions.md defines them."""

    method: str
    cls: Union[int, Literal["all"]]  #: "all" with ``condition="none"``
    regions: int
    mean_ce: float  #: mean coverage error over pixels
    q05: float
    q95: float
    floor: float  #: the mean coverage error of a perfect calibrator with these test images
    pixels: int
    pixels_without_data: int
    set_size: float  #: at alpha, after filling
    false_share: float  #: at alpha, after filling
    false_discovery: float  #: after filling, mean over groups; what ``risk="precision"`` bounds
    false_classes: float  #: after filling
    empty_share: float  #: before any set was filled
    filled_share: float
    single_share: float  #: after filling
    single_right: float  #: after filling
    full_share: float  #: after filling
    coverage: Floats  #: at the levels of the coverage error
    coverage_at_alpha: float
    place_error: float
    weighted_ce: float
    ce_30: float
    floor_30: float
    pixels_30: int
    worst_region_coverage: float
    worst_block_coverage: float
    worst_size_coverage: float
    images_below: float
    ece: float
    smooth_ece: float
    filled_coverage: float
    false_shares: Floats  #: at the levels of the coverage error, before any set was filled
    region_coverage: Tuple[Floats, ...]  #: at the levels, of each region
    seconds: Dict[str, float]
    samples: Optional[int] = None  #: test samples; None in a comparison
    image_coverage: Optional[ImageCoverage] = None
    level_sets: Optional[LevelSets] = None
    reliability: Tuple[Reliability, ...] = ()  #: of the class, or of every class with ``condition="none"``
    intervals: Optional[Intervals] = None  #: with a bootstrap
    mean_ce_sd: Optional[float] = None  #: over the draws of a comparison
    draws: Optional[Floats] = None
    chosen: Optional[str] = None  #: the method that `auto` chose

    @classmethod
    def of(cls, row: Dict[str, Any]) -> "ClassResult":
        """From a row of the command's JSON."""
        given: Dict[str, Any] = {"cls": row["class"], **_parts(row)}
        for field in fields(cls):
            if field.name in given:
                continue
            value = row.get(field.name)
            if field.name in _OPTIONAL and value is None:
                continue
            kind = str(field.type)
            given[field.name] = _number(value) if kind == "float" else _numbers(value) if kind == "Floats" else value
        return cls(**given)


_OPTIONAL = {"samples", "mean_ce_sd", "draws", "chosen"}


def _parts(row: Dict[str, Any]) -> Dict[str, Any]:
    """The parts of a row that are separate records."""
    bins = row.get("reliability", [])
    out: Dict[str, Any] = {
        "region_coverage": tuple(_numbers(one["coverage"]) for one in row["region_coverage"]),
        "reliability": tuple(
            Reliability(**{key: _numbers(one[key]) for key in ("count", "confidence", "accuracy")})
            for one in (bins if isinstance(bins, list) else [bins])
        ),
    }
    if "image_coverage" in row:
        images = row["image_coverage"]
        quantiles = {level: _number(value) for level, value in images["quantiles"].items()}
        shares = {key: _number(images[key]) for key in ("below", "spread", "far_below", "hardest")}
        features = {
            name: FeatureCoverage(**{key: _numbers(values) for key, values in one.items()})
            for name, one in images["by_feature"].items()
        }
        out["image_coverage"] = ImageCoverage(
            images=images["images"], quantiles=quantiles, by_feature=features, **shares
        )
    if "level_sets" in row:
        out["level_sets"] = LevelSets(**{key: _numbers(values) for key, values in row["level_sets"].items()})
    out["intervals"] = None
    if "bootstrap" in row:
        found = row["bootstrap"]
        given: Dict[str, Any] = {"resamples": found["resamples"], "mean_ce_bias": _number(found["mean_ce_bias"])}
        given.update({f.name: tuple(map(_number, found[f.name])) for f in fields(Intervals) if f.name not in given})
        out["intervals"] = Intervals(**given)
    if row.get("draws") is not None:
        out["draws"] = _numbers(row["draws"])
    return out
