"""NIfTI files of the tests, written by nibabel, which is the reference; and a fixture of six patients. Modules that import this
module are skipped where python3-nibabel is missing, and their tests where the command was built without libnifti."""

import numpy as np
import pytest
from support import Room, run, scene

nib = pytest.importorskip("nibabel", reason="python3-nibabel is missing: NIfTI tests skipped")
# Options that read the folders of `volumes`.
FOLDERS = ("--probs", "probs", "--labels", "labels", "--grid", "8x9", "--only-annotated")


@pytest.fixture(autouse=True)
def needs_nifti(tmp_path_factory):
    folder = tmp_path_factory.mktemp("probe")
    (folder / "a.nii").write_bytes(b"x")
    if "this build cannot read NIfTI" in run("collect", "--labels", folder, "-o", folder / "out", cwd=folder).err:
        pytest.skip("this build has no libnifti: NIfTI tests skipped")


def affine(random, turn):
    """A signed permutation of the axes, turned by up to `turn` radians, with steps and an origin."""
    permutation = np.eye(3)[random.permutation(3)] * random.choice([-1, 1], 3)
    a, b, c = random.uniform(-turn, turn, 3)
    rotation = np.eye(3)
    for i, j, angle in [(0, 1, a), (1, 2, b), (0, 2, c)]:
        step = np.eye(3)
        step[[i, j], [i, j]] = np.cos(angle)
        step[i, j], step[j, i] = -np.sin(angle), np.sin(angle)
        rotation = rotation @ step
    matrix = np.eye(4)
    matrix[:3, :3] = rotation @ permutation @ np.diag(random.uniform(0.3, 4, 3))
    matrix[:3, 3] = random.uniform(-90, 90, 3)
    return matrix


def save_nifti(path, array, matrix=None, endian="<", slope=None, version=1):
    kind = nib.Nifti1Image if version == 1 else nib.Nifti2Image
    header = kind.header_class(endianness=endian)
    header.set_data_dtype(array.dtype.newbyteorder(endian))
    image = kind(array, np.eye(4) if matrix is None else matrix, header)
    if slope:
        image.header.set_slope_inter(*slope)
    nib.save(image, path)


def in_slices(volume, axis):
    """A canonical volume [x,y,z,...] as images [slice,row,column,...]."""
    order = {"axial": (2, 1, 0), "coronal": (1, 2, 0), "sagittal": (0, 2, 1)}[axis]
    return volume.transpose(*order, *range(3, volume.ndim))


def centred(plane, height, width, pad):
    """The last two axes cropped or padded around their centre."""
    for axis, size in [(-2, height), (-1, width)]:
        have = plane.shape[axis]
        if have > size:
            start = (have - size) // 2
            plane = plane.take(range(start, start + size), axis)
        else:
            before = (size - have) // 2
            edges = [(0, 0)] * plane.ndim
            edges[axis] = (before, size - have - before)
            plane = np.pad(plane, edges, constant_values=pad)
    return plane


@pytest.fixture
def volumes(tmp_path):
    """Six patients of different sizes and axes: probs/NAME.nii.gz [x,y,z,3] and labels/NAME.nii.gz."""
    room = Room(tmp_path)
    random = np.random.default_rng(3)
    for folder in ["probs", "labels", "npz"]:
        (tmp_path / folder).mkdir()
    room.cases = {}
    for case in range(6):
        x, y, z = random.integers(5, 9), random.integers(6, 11), random.integers(3, 6)
        probs, labels = scene(z, 3, (y, x), seed=10 + case)
        labels[0] = 0  # a slice without annotation
        matrix = affine(random, 0.1)
        volume, truth = probs.transpose(3, 2, 0, 1), labels.transpose(2, 1, 0)
        name = f"patient_{case + 1:03}"
        save_nifti(tmp_path / "probs" / f"{name}.nii.gz", volume, matrix)
        save_nifti(tmp_path / "labels" / f"{name}.nii.gz", truth, matrix)
        np.savez_compressed(tmp_path / "npz" / f"{name}.npz", probabilities=volume.transpose(3, 2, 1, 0))
        room.cases[name] = (volume, truth, matrix)
    return room
