"""DICOM: makes segmentation objects (certain, possible, p-values) from a series and a network's probabilities.

Needs highdicom. The series here is synthetic; read_series("folder") reads a real series.
"""

from pathlib import Path

import highdicom
import numpy as np
import pydicom
from pydicom.uid import ExplicitVRLittleEndian, MRImageStorage, generate_uid

import kandinsky
from kandinsky import dicom

COLUMNS, ROWS, SLICES, NAMES = 40, 32, 6, ["background", "organ", "lesion"]
SERIES = {"StudyInstanceUID": generate_uid(), "SeriesInstanceUID": generate_uid(), "FrameOfReferenceUID": generate_uid()}


def image(position):
    """The attributes of one slice that are needed here, as a scanner writes them."""
    one = pydicom.Dataset()
    one.file_meta = pydicom.dataset.FileMetaDataset()
    one.file_meta.TransferSyntaxUID, one.SOPClassUID, one.SOPInstanceUID = ExplicitVRLittleEndian, MRImageStorage, generate_uid()
    one.file_meta.MediaStorageSOPClassUID, one.file_meta.MediaStorageSOPInstanceUID = one.SOPClassUID, one.SOPInstanceUID
    values = {**SERIES, "Modality": "MR", "PatientID": "1", "PatientName": "A^B", "SeriesNumber": 1, "InstanceNumber": position + 1,
              "ImageOrientationPatient": [1, 0, 0, 0, 1, 0], "ImagePositionPatient": [-20, -16, 2 * position],
              "PixelSpacing": [1, 1], "SliceThickness": 2, "Rows": ROWS, "Columns": COLUMNS, "SamplesPerPixel": 1,
              "PhotometricInterpretation": "MONOCHROME2", "BitsAllocated": 16, "BitsStored": 16, "HighBit": 15, "PixelRepresentation": 0,
              "PixelData": bytes(2 * ROWS * COLUMNS), "StudyID": "1", "StudyDate": "", "StudyTime": "", "AccessionNumber": "",
              "PatientBirthDate": "", "PatientSex": "", "ReferringPhysicianName": ""}  # fmt: skip
    for key, value in values.items():
        setattr(one, key, value)
    return one


def slices(patient):
    return kandinsky.make_scenes("medical", images=SLICES, first=patient * SLICES, grid=(ROWS, COLUMNS))


Path("series").mkdir(exist_ok=True)
for position in range(SLICES):
    image(position).save_as(f"series/{position}.dcm", enforce_file_format=True)

calibrator = kandinsky.Calibrator("image")
series = dicom.read_series("series")
affine = dicom.series_affine(series)
for patient in range(24):  # slices turned to RAS+, as save_segmentations() reads them
    one = slices(patient)
    turned = kandinsky.volumes.to_slices(one.probs.transpose(1, 3, 2, 0), affine)
    truth = kandinsky.volumes.to_slices(one.labels[None].transpose(0, 3, 2, 1), affine)[:, 0]
    calibrator.partial_fit(np.ascontiguousarray(turned), np.ascontiguousarray(truth), groups=[patient] * SLICES)
calibrator.calibrate()
print(calibrator.guarantee_)
files = dicom.save_segmentations("out", calibrator, series, slices(24).probs.transpose(1, 3, 2, 0), NAMES, alpha=0.1)
for file in files:
    read = highdicom.seg.segread(file)
    print(f"{file}: {read.SegmentationType}, {read.number_of_segments} segments, {read.NumberOfFrames} frames")
