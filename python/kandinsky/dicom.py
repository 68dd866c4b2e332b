"""Sets as DICOM segmentations, with highdicom. Import this module by name; it needs highdicom and pydicom.

Certain and possible masks are BINARY segmentations, p-values are FRACTIONAL. A class is certain at a pixel whose set contains
only this class, and possible where the set contains it. Class 0, the background, has no segment.
"""

from __future__ import annotations

import os
from typing import Any, List, Optional, Sequence, Union

import highdicom
import numpy as np
import pydicom
from highdicom.seg import Segmentation, SegmentDescription
from pydicom.sr.codedict import codes

from ._core import version as _version
from ._types import Empty, PathLike
from .calibrator import Calibrator, opened
from .errors import DataError, UsageError
from .volumes import predict_volume

__all__ = ["read_series", "save_segmentations", "segmentation", "series_affine"]

_WHAT = {"certain": "is certain", "possible": "is possible", "p_values": "p-value"}


def read_series(folder: PathLike) -> List[Any]:
    """The images of one series, in the order of their positions along the normal of their planes."""
    files = [os.path.join(os.fspath(folder), name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    images = [pydicom.dcmread(file) for file in files if os.path.isfile(file) and pydicom.misc.is_dicom(file)]
    images = [image for image in images if "PixelData" in image and "ImagePositionPatient" in image]
    if not images:
        raise DataError(f"{os.fspath(folder)} has no DICOM images of a series")
    if len({image.SeriesInstanceUID for image in images}) > 1:
        raise DataError(f"{os.fspath(folder)} has images of several series; put each series into its own folder")
    images.sort(key=_height)
    return images


def _height(image: Any) -> float:
    row, column = np.array(image.ImageOrientationPatient, float).reshape(2, 3)
    return float(np.cross(row, column) @ np.array(image.ImagePositionPatient, float))


def series_affine(series: Sequence[Any]) -> np.ndarray:
    """The 4 x 4 matrix from (column, row, slice) of a series to millimetres in RAS+, as in NIfTI."""
    first, last = series[0], series[-1]
    along_row, along_column = np.array(first.ImageOrientationPatient, float).reshape(2, 3)
    down, across = map(float, first.PixelSpacing)
    start, end = (np.array(image.ImagePositionPatient, float) for image in (first, last))
    thickness = float(getattr(first, "SliceThickness", None) or 1)
    step = (end - start) / (len(series) - 1) if len(series) > 1 else np.cross(along_row, along_column) * thickness
    affine = np.eye(4)
    affine[:3, 0], affine[:3, 1], affine[:3, 2], affine[:3, 3] = along_row * across, along_column * down, step, start
    return np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine  # DICOM's axes point left and back


def _on_series(volume: np.ndarray, affine: Optional[Any], series: Sequence[Any]) -> np.ndarray:
    """A volume [C,x,y,z] as [C,column,row,slice] of the series. Axes are turned by the affine; nothing is resampled."""
    shape = (int(series[0].Columns), int(series[0].Rows), len(series))
    if affine is not None:
        between = np.linalg.inv(np.asarray(affine, float)) @ series_affine(series)
        turn, offset = np.rint(between[:3, :3]), np.rint(between[:3, 3])
        order = np.abs(turn).argmax(0)  # for each axis of the series, the axis of the volume
        near = np.allclose(between[:3, :3], turn, atol=1e-2) and np.allclose(between[:3, 3], offset, atol=0.05)
        if not near or sorted(order) != [0, 1, 2] or not (np.abs(turn).sum(0) == 1).all():
            raise DataError("the volume has other voxels than the series: resample it to the series first")
        backwards = [turn[order[a], a] < 0 for a in range(3)]
        starts = [offset[order[a]] == (volume.shape[1 + order[a]] - 1 if backwards[a] else 0) for a in range(3)]
        if not all(starts):
            raise DataError("the volume begins at another voxel than the series: crop or pad it to the series first")
        volume = volume.transpose(0, *(1 + one for one in order))
        volume = volume[(slice(None), *(slice(None, None, -1 if back else 1) for back in backwards))]
    if volume.shape[1:] != shape:
        raise DataError(f"the volume has {' x '.join(map(str, volume.shape[1:]))} voxels, but the series {' x '.join(map(str, shape))} "
                        f"(columns, rows, slices)")  # fmt: skip
    return volume


def segmentation(
    series: Sequence[Any],
    volume: np.ndarray,
    kind: str,
    class_names: Sequence[str],
    *,
    affine: Optional[Any] = None,
    description: str = "",
    series_number: int = 900,
) -> Segmentation:
    """A segmentation object of a volume [C,x,y,z]: `kind` "certain" or "possible" for sets (BINARY), "p_values" for p-values
    (FRACTIONAL, rounded to 1/255: for display, not for a comparison with alpha).

    Without an affine the volume's axes are those of the series: columns, rows, slices, in the order of :func:`read_series`. With an
    affine (of a NIfTI file) they are turned to the series; a volume with other voxels is refused.
    """
    if kind not in _WHAT:
        raise UsageError(f"kind is {kind!r}, but must be 'certain', 'possible' or 'p_values'")
    volume = np.asarray(volume)
    if volume.ndim != 4 or len(class_names) != volume.shape[0]:
        raise UsageError(f"there are {len(class_names)} class names, but the volume has shape {list(volume.shape)} [C,x,y,z]")
    volume = _on_series(volume, affine, series)
    if kind == "p_values":
        planes = volume.astype(np.float32)
    else:
        planes = volume.astype(bool)
        if kind == "certain":
            planes = planes & (planes.sum(0) == 1)
    frames = np.ascontiguousarray(planes[1:].transpose(3, 2, 1, 0))  # slice, row, column, segment
    whose = highdicom.AlgorithmIdentificationSequence(
        name="kandinsky", version=_version, family=codes.DCM.ArtificialIntelligence)  # fmt: skip
    segments = [
        SegmentDescription(
            segment_number=c,
            segment_label=f"{name} {_WHAT[kind]}"[:64],
            segmented_property_category=codes.SCT.AnatomicalStructure,
            segmented_property_type=highdicom.sr.CodedConcept(str(c), "99KANDINSKY", name[:64]),
            algorithm_type="AUTOMATIC",
            algorithm_identification=whose,
        )
        for c, name in enumerate(class_names) if c > 0
    ]  # fmt: skip
    binary = kind != "p_values"
    return Segmentation(
        source_images=list(series),
        pixel_array=frames.astype(np.uint8) if binary else frames,
        segmentation_type="BINARY" if binary else "FRACTIONAL",
        segment_descriptions=segments,
        series_instance_uid=highdicom.UID(),
        series_number=series_number,
        sop_instance_uid=highdicom.UID(),
        instance_number=1,
        manufacturer="kandinsky",
        manufacturer_model_name="kandinsky",
        software_versions=_version,
        device_serial_number="0",
        content_label=kind.upper(),
        content_description=description[:64] or None,
        series_description=f"kandinsky: {kind.replace('_', '-')} {description}"[:64].strip(),
        omit_empty_frames=False,
        **({} if binary else {"fractional_type": "PROBABILITY", "max_fractional_value": 255}),
    )


def save_segmentations(
    folder: PathLike,
    calibrator: Union[Calibrator, PathLike],
    series: Union[Sequence[Any], PathLike],
    probs: np.ndarray,
    class_names: Sequence[str],
    alpha: float = 0.1,
    *,
    affine: Optional[Any] = None,
    axis: Optional[str] = None,
    empty: Empty = "auto",
) -> List[str]:
    """Writes certain.dcm, possible.dcm and p_values.dcm of one case into a folder, and returns their paths.

    `calibrator`: a Calibrator or its `.kcal` file. `series`: the result of :func:`read_series`, its folder, or pydicom's images in the
    order of their positions. `probs`: [C,x,y,z], on the voxels of the series (columns, rows, slices), or with the `affine` of a
    NIfTI file.
    """
    calibrator = opened(calibrator)
    if isinstance(series, (str, os.PathLike)):
        series = read_series(series)
    if len(series) == 0:
        raise UsageError("series is empty, but must be the images of a series: read_series(FOLDER)")
    where = series_affine(series) if affine is None else affine
    sets = predict_volume(calibrator, probs, alpha, affine=where, axis=axis, empty=empty)
    p_values = predict_volume(calibrator, probs, None, affine=where, axis=axis)
    os.makedirs(folder, exist_ok=True)
    names = []
    for number, (kind, volume) in enumerate([("certain", sets), ("possible", sets), ("p_values", p_values)]):
        text = "" if kind == "p_values" else f"alpha {alpha:g}"
        made = segmentation(series, volume, kind, class_names, affine=affine, description=text, series_number=900 + number)
        names.append(os.path.join(os.fspath(folder), f"{kind}.dcm"))
        made.save_as(names[-1])
    return names
