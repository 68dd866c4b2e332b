"""Volumes: slices as the command makes them, MONAI's transform, DICOM segmentations. make test-integrations has MONAI and highdicom."""

import json
import os
import subprocess

import kandinsky
import numpy as np
import pytest
from kandinsky.volumes import from_slices, predict_volume, to_slices

NAMES = ["background", "inner part", "outer"]


def turned(random):
    """A signed permutation of the axes with steps and an origin, slightly turned."""
    matrix = np.eye(4)
    matrix[:3, :3] = np.eye(3)[random.permutation(3)] * random.choice([-1, 1], 3) @ np.diag(random.uniform(0.5, 3, 3))
    matrix[:3, 3] = random.uniform(-50, 50, 3)
    return matrix


def volume(random, shape=(9, 11, 6), classes=3):
    logits = random.normal(size=(classes, *shape)) * 2
    probs = np.exp(logits)
    return (probs / probs.sum(0)).astype(np.float32)


@pytest.mark.parametrize("axis", ["axial", "coronal", "sagittal"])
def test_volumes_become_slices_and_volumes_again(axis):
    random = np.random.default_rng(1)
    for _ in range(20):
        probs, affine = volume(random), turned(random)
        slices = to_slices(probs, affine, axis)
        assert np.array_equal(from_slices(slices, affine, axis), probs)
        assert slices.shape[1] == 3
    plain = to_slices(probs, None, "axial")
    assert np.array_equal(plain[2, :, 5, 3], probs[:, 3, 5, 2])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """NIfTI cases of different sizes and axes, a calibrator that the command made of them, and its sets and p-values."""
    nibabel = pytest.importorskip("nibabel", reason="nibabel is not installed: make test-integrations")
    folder, random = tmp_path_factory.mktemp("files"), np.random.default_rng(5)
    for name in ["probs", "labels"]:
        (folder / name).mkdir()
    for case in range(8):
        probs, affine = volume(random, tuple(random.integers(6, 11, 3))), turned(random)
        truth = (probs.cumsum(0) < random.uniform(size=probs.shape[1:])).sum(0).clip(0, 2).astype(np.uint8)
        nibabel.save(nibabel.Nifti1Image(probs.transpose(1, 2, 3, 0), affine), folder / "probs" / f"case_{case}.nii.gz")
        nibabel.save(nibabel.Nifti1Image(truth, affine), folder / "labels" / f"case_{case}.nii.gz")
    command = os.environ["KANDINSKY_COMMAND"]
    for axis in ["axial", "sagittal"]:
        for words in [["calibrate", "--probs", "probs", "--labels", "labels", "--grid", "8x9", "--axis", axis, "--promise", "none", "-o",
                       f"{axis}.kcal"],
                      ["predict", f"{axis}.kcal", "--probs", "probs", "--alpha", "0.2", "-o", f"sets_{axis}", "--pvalues", f"p_{axis}"]]:  # fmt: skip
            done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, check=False)
            if "cannot read NIfTI" in done.stderr:
                pytest.skip("the command was built without libnifti")
            assert done.returncode == 0, done.stderr
    return folder


def loaded(files, *parts):
    import nibabel

    image = nibabel.load(files.joinpath(*parts))
    return np.asarray(image.dataobj), image.affine


@pytest.mark.parametrize("axis", ["axial", "sagittal"])
def test_volumes_have_the_sets_and_p_values_of_the_command(files, axis):
    calibrator = kandinsky.Calibrator.load(files / f"{axis}.kcal")
    for case in range(8):
        probs, affine = loaded(files, "probs", f"case_{case}.nii.gz")
        sets, _ = loaded(files, f"sets_{axis}", f"case_{case}.nii.gz")
        p, _ = loaded(files, f"p_{axis}", f"case_{case}.nii.gz")
        probs = np.asarray(probs).transpose(3, 0, 1, 2)
        assert np.array_equal(predict_volume(calibrator, probs, 0.2, affine=affine), sets.transpose(3, 0, 1, 2).astype(bool))
        assert np.array_equal(predict_volume(calibrator, probs, None, affine=affine), p.transpose(3, 0, 1, 2))
    with pytest.raises(kandinsky.UsageError, match="was made from"):
        predict_volume(calibrator, probs, 0.2, axis="coronal")


def test_another_size_without_a_record_is_refused():
    scenes = kandinsky.make_scenes("medical", images=12, grid=(8, 9))
    calibrator = kandinsky.Calibrator("image").fit(scenes.probs, scenes.labels)
    with pytest.raises(kandinsky.DataError, match="slices are 9 x 11"):
        predict_volume(calibrator, np.ones((scenes.probs.shape[1], 11, 9, 2), np.float32) / 3)


def test_monai_gets_the_sets_of_the_command_with_the_geometry(files):
    monai = pytest.importorskip("monai", reason="MONAI is not installed: make test-integrations")
    from kandinsky.monai import KandinskySetsd
    from monai.transforms import Compose, EnsureChannelFirstd, LoadImaged

    load = Compose([LoadImaged("pred", image_only=True), EnsureChannelFirstd("pred", channel_dim=-1)])
    sets_of = KandinskySetsd("pred", files / "axial.kcal", alpha=0.2)
    p_of = KandinskySetsd("pred", kandinsky.Calibrator.load(files / "axial.kcal"), output="p_values", output_postfix="p")
    certain = KandinskySetsd("pred", files / "axial.kcal", 0.2, output="certain", output_postfix="")
    for case in range(8):
        name = f"case_{case}.nii.gz"
        item = p_of(sets_of(load({"pred": str(files / "probs" / name)})))
        sets, affine = loaded(files, "sets_axial", name)
        p, _ = loaded(files, "p_axial", name)
        assert isinstance(item["pred_sets"], monai.data.MetaTensor)
        assert np.array_equal(item["pred_sets"].numpy(), sets.transpose(3, 0, 1, 2)) and item["pred_sets"].numpy().dtype == np.uint8
        assert np.allclose(item["pred_sets"].affine, affine) and item["pred_sets"].meta["filename_or_obj"]
        assert np.array_equal(item["pred_p"].numpy(), p.transpose(3, 0, 1, 2))
        alone = sets.sum(3) == 1
        assert np.array_equal(certain(item)["pred"].numpy()[0], np.where(alone, sets.argmax(3), 3))
    plain = sets_of({"pred": item["pred"].as_tensor(), "other": 1})  # no affine: as stored
    assert not isinstance(plain["pred_sets"], monai.data.MetaTensor) and plain["other"] == 1


def test_monai_refuses_what_makes_no_sense(files):
    pytest.importorskip("monai", reason="MONAI is not installed: make test-integrations")
    from kandinsky.monai import KandinskySetsd

    with pytest.raises(kandinsky.UsageError, match="output is 'masks'"):
        KandinskySetsd("pred", files / "axial.kcal", output="masks")
    with pytest.raises(kandinsky.DataError, match="decollate_batch"):
        KandinskySetsd("pred", files / "axial.kcal")({"pred": np.ones((2, 3, 4, 4, 4), np.float32)})
    with pytest.raises(KeyError):
        KandinskySetsd("pred", files / "axial.kcal")({"image": 1})
    with pytest.raises(kandinsky.UsageError, match="one level"):
        KandinskySetsd("pred", files / "axial.kcal", alpha=[0.1, 0.2])
    with pytest.raises(kandinsky.UsageError, match="calibrator is of type int"):
        KandinskySetsd("pred", 3)
    for item, said in [({"pred": "case.nii.gz"}, "of type str, but must be an array or a tensor: load"), (np.ones((3, 4, 4)), "must be a dict")]:
        with pytest.raises(ValueError, match=said):
            KandinskySetsd("pred", files / "axial.kcal")(item)
    assert KandinskySetsd("pred", files / "axial.kcal", allow_missing_keys=True)({"image": 1}) == {"image": 1}


def series_of(folder, shape, orientation=(1, 0, 0, 0, 1, 0)):
    """A small MR series as a scanner would write it: one file a slice."""
    import pydicom
    from pydicom.dataset import FileMetaDataset
    from pydicom.uid import ExplicitVRLittleEndian, MRImageStorage, generate_uid

    folder.mkdir()
    columns, rows, slices = shape
    study, one, frame = generate_uid(), generate_uid(), generate_uid()
    normal = np.cross(orientation[:3], orientation[3:])
    for k in range(slices):
        image = pydicom.Dataset()
        image.file_meta = FileMetaDataset()
        image.file_meta.TransferSyntaxUID, image.file_meta.MediaStorageSOPClassUID = ExplicitVRLittleEndian, MRImageStorage
        image.SOPClassUID, image.SOPInstanceUID = MRImageStorage, generate_uid()
        image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID
        image.PatientID, image.PatientName, image.PatientBirthDate, image.PatientSex = "1", "A^B", "", ""
        image.StudyInstanceUID, image.SeriesInstanceUID, image.FrameOfReferenceUID = study, one, frame
        image.StudyID, image.StudyDate, image.StudyTime, image.AccessionNumber, image.ReferringPhysicianName = "1", "", "", "", ""
        image.Modality, image.SeriesNumber, image.InstanceNumber = "MR", 1, slices - k
        image.ImageOrientationPatient = [float(x) for x in orientation]
        image.ImagePositionPatient = [float(x) for x in np.array([-10.0, 5.0, 7.0]) + 2.5 * k * normal]
        image.PixelSpacing, image.SliceThickness = [1.5, 1.25], 2.5
        image.Rows, image.Columns, image.SamplesPerPixel, image.PhotometricInterpretation = rows, columns, 1, "MONOCHROME2"
        image.BitsAllocated, image.BitsStored, image.HighBit, image.PixelRepresentation = 16, 16, 15, 0
        image.PixelData = np.zeros((rows, columns), np.uint16).tobytes()
        image.save_as(folder / f"{slices - k:03}.dcm", enforce_file_format=True)


@pytest.mark.parametrize("orientation", [(1, 0, 0, 0, 1, 0), (0, 1, 0, 0, 0, -1)], ids=["axial", "sagittal"])
def test_dicom_segmentations_read_back(tmp_path, orientation):
    highdicom = pytest.importorskip("highdicom", reason="highdicom is not installed: make test-integrations")
    pydicom = pytest.importorskip("pydicom")
    from kandinsky import dicom

    scenes = kandinsky.make_scenes("medical", images=30, grid=(16, 20))
    grid = {(1, 0, 0, 0, 1, 0): (20, 16, 5), (0, 1, 0, 0, 0, -1): (16, 5, 20)}[orientation]  # columns, rows, slices
    calibrator = kandinsky.Calibrator("image").fit(scenes.probs, scenes.labels)
    random = np.random.default_rng(0)
    probs = volume(random, grid)
    series_of(tmp_path / "series", grid, orientation)
    series = dicom.read_series(tmp_path / "series")
    assert [float(one.ImagePositionPatient[2]) for one in series] == sorted(float(one.ImagePositionPatient[2]) for one in series)
    affine = dicom.series_affine(series)
    sets, p = predict_volume(calibrator, probs, 0.1, affine=affine), predict_volume(calibrator, probs, None, affine=affine)
    calibrator.save(tmp_path / "cal.kcal")
    with pytest.raises(kandinsky.UsageError, match="series is empty"):
        dicom.save_segmentations(tmp_path / "out", calibrator, [], probs, NAMES)
    names = dicom.save_segmentations(tmp_path / "out", tmp_path / "cal.kcal", tmp_path / "series", probs, NAMES)
    assert [name.rsplit("/", 1)[1] for name in names] == ["certain.dcm", "possible.dcm", "p_values.dcm"]
    uids = [one.SOPInstanceUID for one in series]
    wanted = {"certain": sets & (sets.sum(0) == 1), "possible": sets, "p_values": p}
    for name in names:
        kind = name.rsplit("/", 1)[1][:-4]
        raw = pydicom.dcmread(name)
        assert raw.SegmentationType == ("FRACTIONAL" if kind == "p_values" else "BINARY") and raw.Modality == "SEG"
        assert raw.StudyInstanceUID == series[0].StudyInstanceUID and raw.PatientID == "1"
        read = highdicom.seg.segread(name)
        assert [read.get_segment_description(c).segment_label.split(" ")[0] for c in (1, 2)] == ["inner", "outer"]
        pixels = read.get_pixels_by_source_instance(source_sop_instance_uids=uids, rescale_fractional=kind == "p_values")
        frames = wanted[kind][1:].transpose(3, 2, 1, 0).astype(float)
        if kind == "p_values":
            assert np.abs(pixels - frames).max() <= 0.5 / 255 + 1e-6
        else:
            assert np.array_equal(pixels, frames)


def test_a_nifti_volume_finds_its_series(tmp_path):
    pytest.importorskip("highdicom", reason="highdicom is not installed: make test-integrations")
    from kandinsky import dicom

    grid = (6, 5, 4)
    series_of(tmp_path / "series", grid)
    series, sets = dicom.read_series(tmp_path / "series"), np.random.default_rng(0).random((3, *grid)) < 0.5
    affine = dicom.series_affine(series)
    plain = dicom.segmentation(series, sets, "possible", NAMES)
    # As a converter may store it: the second axis backwards, then the first and the third exchanged.
    flip = np.diag([1.0, -1.0, 1.0, 1.0])
    flip[1, 3] = grid[1] - 1
    stored, where = sets[:, :, ::-1].transpose(0, 3, 2, 1), (affine @ flip)[:, [2, 1, 0, 3]]
    again = dicom.segmentation(series, stored, "possible", NAMES, affine=where)
    assert np.array_equal(plain.pixel_array, again.pixel_array)
    moved, backwards = where + _shift(where), where @ np.diag([-1, 1, 1, 1])
    for wrong, said in [(where + np.diag([0.2, 0, 0, 0]), "resample"), (moved, "begins at another"), (backwards, "begins at another")]:
        with pytest.raises(kandinsky.DataError, match=said):
            dicom.segmentation(series, stored, "possible", NAMES, affine=wrong)
    with pytest.raises(kandinsky.UsageError, match="2 class names"):
        dicom.segmentation(series, sets, "possible", NAMES[:2])
    with pytest.raises(kandinsky.UsageError, match="kind is 'outer'"):
        dicom.segmentation(series, sets, "outer", NAMES)
    with pytest.raises(kandinsky.DataError, match="no DICOM images"):
        dicom.read_series(tmp_path)


def _shift(affine):
    """One voxel along the first axis."""
    out = np.zeros((4, 4))
    out[:3, 3] = affine[:3, 0]
    return out


def test_a_bundle_names_the_transform_in_json(files):
    pytest.importorskip("monai", reason="MONAI is not installed: make test-integrations")
    from monai.bundle import ConfigParser

    parser = ConfigParser(json.loads(json.dumps({"post": {
        "_target_": "kandinsky.monai.KandinskySetsd", "keys": "pred", "calibrator": str(files / "axial.kcal"), "alpha": 0.2}})))
    assert parser.get_parsed_content("post").alpha == 0.2
