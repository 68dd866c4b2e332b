"""Groups have names: in .npy and .npz arrays of strings, in .csv files, with arrays and with folders. A name that is a number is that number."""

import json

import numpy as np
import pytest
from support import Room, scene

PATIENTS = ["Mueller, A.", 'the "second"', "Zoe", "\u00c5sa", "17", "007"]


def fnv(name):
    """The number of a group by its definition (docs/files.md)."""
    if name.isdigit() and str(int(name)) == name:
        return int(name)
    value = 14695981039346656037
    for byte in name.encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return value >> 1


@pytest.fixture
def grouped(tmp_path):
    room = Room(tmp_path)
    probs, labels = scene(18, seed=4)
    names = [PATIENTS[i % 6] for i in range(18)]
    room.save("p.npy", probs)
    room.save("y.npy", labels)
    room.save("numbers.npy", np.array([fnv(name) for name in names], np.int64))
    room.names = names
    for side, arrays in [("P", probs), ("Y", labels)]:
        (tmp_path / side).mkdir()
        for i, one in enumerate(arrays):
            np.save(tmp_path / side / f"image{i:02}.npy", one)
    return room


def thresholds(room, groups, probs="p.npy", labels="y.npy"):
    room.does("calibrate", "--probs", probs, "--labels", labels, "--groups", groups, "-m", "kmeans", "--kmeans-clusters", "3",
              "--promise", "split", "-o", "a.kcal", "--curves", "c.npy")  # fmt: skip
    return room.load("c.npy")


def csv_field(name):
    return '"' + name.replace('"', '""') + '"' if set(name) & set(',"') else name


@pytest.mark.parametrize("kind", ["U", ">U", "S", "npz", "npz with others", "csv", "csv with a heading"])
def test_names_give_what_their_numbers_give(grouped, kind):
    expected = thresholds(grouped, "numbers.npy")
    file = "names.npy"
    if kind.startswith("csv"):
        file = "names.csv"
        heading = "group\r\n" if "heading" in kind else ""
        (grouped.folder / file).write_text(heading + "".join(csv_field(name) + "\n" for name in grouped.names), encoding="utf-8")
    elif kind.startswith("npz"):
        file = "names.npz"
        others = {"probs": np.zeros(3)} if "others" in kind else {}
        np.savez_compressed(grouped.folder / file, patients=np.array(grouped.names), **others)
        np.testing.assert_array_equal(thresholds(grouped, "names.npz:patients"), expected)
    elif kind == "S":
        grouped.save(file, np.array([name.encode() for name in grouped.names]))
    else:
        grouped.save(file, np.array(grouped.names).astype(kind.replace("U", "U20")))
    np.testing.assert_array_equal(thresholds(grouped, file), expected)


def test_a_table_names_the_files_of_a_folder_in_any_order(grouped):
    expected = thresholds(grouped, "numbers.npy")
    lines = [f"image{i:02},{csv_field(name)}\n" for i, name in enumerate(grouped.names)]
    (grouped.folder / "table.csv").write_text("name,group\n" + "".join(lines[::-1]), encoding="utf-8")
    np.testing.assert_array_equal(thresholds(grouped, "table.csv", "P", "Y"), expected)
    (grouped.folder / "short.csv").write_text("name,group\n" + "".join(lines[1:]), encoding="utf-8")
    words = ("--groups", "short.csv", "-m", "image", "-o", "b.kcal")
    grouped.refuses(3, ["short.csv has no group for image00"], "calibrate", "--probs", "P", "--labels", "Y", *words)
    grouped.refuses(2, ["names files", "one group per line"], "calibrate", "--probs", "p.npy", "--labels", "y.npy", *words)


def test_what_is_no_list_of_groups_is_refused(grouped):
    words = ("calibrate", "--probs", "p.npy", "--labels", "y.npy", "-m", "image", "-o", "b.kcal", "--groups")
    grouped.save("two.npy", np.array([grouped.names, grouped.names]))
    grouped.refuses(3, ["two.npy", "one name for each image"], *words, "two.npy")
    (grouped.folder / "bad.csv").write_text("a\nb,c\n")
    grouped.refuses(3, ["bad.csv: line 2", "NAME,GROUP"], *words, "bad.csv")
    (grouped.folder / "few.csv").write_text("a\nb\n")
    grouped.refuses(3, ["few.csv has 2 groups"], *words, "few.csv")
    np.savez(grouped.folder / "two.npz", groups=np.array([grouped.names, grouped.names]))
    grouped.refuses(3, ["two.npz:groups", "one name for each image"], *words, "two.npz")
    whole = (grouped.folder / "names.npy")
    np.save(whole, np.array(grouped.names))
    whole.write_bytes(whole.read_bytes()[:-4])
    grouped.refuses(3, ["one name for each image"], *words, "names.npy")


def test_group_by_beside_groups_is_refused(grouped):
    grouped.refuses(2, ["--group-by has no effect: groups are given"], "calibrate", "--probs", "P", "--labels", "Y", "--groups",
                    "numbers.npy", "--group-by", "image(.)", "-o", "b.kcal")  # fmt: skip


def test_groups_by_file_do_not_shift_after_a_file_without_annotation(grouped):
    """Image 1 has no annotation, so it is not read; the groups of later files stay theirs."""
    labels = np.load(grouped.folder / "y.npy")
    labels[1] = 0
    np.save(grouped.folder / "Y" / "image01.npy", labels[1])
    table = "".join(f"image{i:02},{csv_field(name)}\n" for i, name in enumerate(grouped.names))
    (grouped.folder / "table.csv").write_text(table, encoding="utf-8")
    made = {}
    for groups in ("table.csv", "numbers.npy"):
        grouped.does("calibrate", "--probs", "P", "--labels", "Y", "--only-annotated", "--groups", groups, "-m", "image", "-o", "a.kcal", "--curves", "c.npy")
        made[groups] = (json.loads(grouped.does("inspect", "a.kcal", "--json").out)["data"], grouped.load("c.npy"))
    assert made["table.csv"][0]["images"] == 17
    assert made["numbers.npy"][0] == made["table.csv"][0]  # with the fingerprint, which depends on the groups
    np.testing.assert_array_equal(made["numbers.npy"][1], made["table.csv"][1])


def test_groups_that_could_be_of_images_or_of_files_are_refused(tmp_path):
    """Two volumes, of which one has two annotated slices and the other none: two images and two files."""
    room = Room(tmp_path)
    for side in "PY":
        (tmp_path / side).mkdir()
    for name, annotated in [("a", 1), ("b", 0)]:
        probs, labels = scene(2, seed=annotated)
        np.savez(tmp_path / "P" / f"{name}.npz", probabilities=probs.transpose(1, 0, 2, 3))
        np.savez(tmp_path / "Y" / f"{name}.npz", labels=labels * annotated)
    words = ("calibrate", "--probs", "P", "--labels", "Y", "--only-annotated", "-m", "image", "-o", "a.kcal", "--groups")
    room.save("g.npy", np.array([1, 2]))
    room.refuses(3, ["g.npy has 2 groups", "as many images as files", "NAME,GROUP"], *words, "g.npy")
    room.save("g.npy", np.array([1, 1]))
    room.does(*words, "g.npy")
    (tmp_path / "g.csv").write_text("a,1\nb,2\n")
    room.does(*words, "g.csv")
    (tmp_path / "twice.csv").write_text("a,1\nb,2\na,3\n")
    room.refuses(3, ["twice.csv: line 3 gives a the group 3, but an earlier line 1"], *words, "twice.csv")
