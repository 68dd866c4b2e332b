"""The options of calibration that **more accepts, for type checkers.

A test compares the names with the library's declarations.
"""

from __future__ import annotations

from typing import Literal, Sequence, TypedDict, Union

from ._types import Adapt, Array, Compat, Condition, Fallback, PathLike, Pooling, Promise, Risk, ScoreName


class AllOptions(TypedDict, total=False):
    """Options under their full names."""

    preset: Literal["none", "paper"]
    randomized: bool
    raps_lambda: float
    raps_kreg: int
    saps_weight: float
    kmeans_clusters: Union[int, Literal["auto"]]
    kmeans_restarts: int
    genann_shape: Literal["ellipse", "circle"]
    genann_radii: Union[int, Literal["auto"]]
    genann_metric: Literal["euclidean", "sqeuclidean", "manhattan"]
    genann_bounds: str
    genann_population: int
    genann_generations: int
    genann_weights: str
    fcc_curves: Union[int, Literal["auto"]]
    fcc_order: int
    fcc_limit: str
    fcc_centre: str
    fcc_variance: str
    fcc_penalty: Union[float, Literal["auto"]]
    fcc_angles: int
    fcc_nodes: int
    fcc_starts: int
    fcc_iterations: int
    field_folds: int
    field_fold_order: str
    place: float
    field_support: Union[bool, Literal["on", "off"]]
    field_rings: Union[bool, Literal["on", "off"]]
    field_mirror: Union[bool, Literal["on", "off"]]
    field_bandwidths: Union[str, Sequence[float]]
    field_bins: int
    mask: Union[Array, PathLike]


class MoreOptions(AllOptions, total=False):
    """Also the method's own options without the method's name."""

    regions: int
    clusters: Union[int, Literal["auto"]]  # kmeans
    restarts: int  # kmeans
    shape: Literal["ellipse", "circle"]  # genann
    radii: Union[int, Literal["auto"]]  # genann
    metric: Literal["euclidean", "sqeuclidean", "manhattan"]  # genann
    bounds: str  # genann
    population: int  # genann
    generations: int  # genann
    weights: str  # genann
    curves: Union[int, Literal["auto"]]  # fcc
    order: int  # fcc
    limit: str  # fcc
    centre: str  # fcc
    variance: str  # fcc
    penalty: Union[float, Literal["auto"]]  # fcc
    angles: int  # fcc
    nodes: int  # fcc
    starts: int  # fcc
    iterations: int  # fcc
    folds: int  # field
    fold_order: str  # field
    support: Union[bool, Literal["on", "off"]]  # field
    rings: Union[bool, Literal["on", "off"]]  # field
    mirror: Union[bool, Literal["on", "off"]]  # field
    bandwidths: Union[str, Sequence[float]]  # field
    bins: int  # field


class CompareOptions(AllOptions, total=False):
    """The options of a comparison, which include the parameters of a calibrator."""

    condition: Condition
    pooling: Pooling
    fallback: Fallback
    min_count: int
    score_function: ScoreName
    quantiles: Sequence[float]
    rungs: int
    split: float
    promise: Promise
    adapt: Adapt
    confidence: float
    risk: Risk
    compat: Compat
    seed: int
    memory: Union[str, int, None]
