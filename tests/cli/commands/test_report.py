"""`report`, --report, --figures and --class-names from the outside. A program built without the page says so."""

import json
import re

import numpy as np
import pytest
from PIL import Image
from support import Room, expect_refusal, page_array, page_data, run

SMALL = ["--images", "10", "--test-images", "8", "--size", "40x24"]
WITHOUT = "built without reports"


@pytest.fixture(scope="module")
def room(tmp_path_factory):
    """A room with two calibrators."""
    room = Room(tmp_path_factory.mktemp("report"))
    room.calibrate("--method", "kmeans", output="kmeans.kcal")
    room.calibrate("--method", "image", output="image.kcal")
    return room


@pytest.fixture(scope="module")
def has_page(room):
    result = room.run("report", "image.kcal", "--probs", "probs.npy", "--labels", "labels.npy", "-o", "probe.html")
    if result.code != 0:
        expect_refusal(result, 2, WITHOUT, "KANDINSKY_WEB=ON", "npm")
        assert not (room.folder / "probe.html").exists()
    return result.code == 0


INPUT = ["--probs", "probs.npy", "--labels", "labels.npy"]


def test_the_page_carries_the_numbers_of_evaluate(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    room.does("report", "kmeans.kcal", "image.kcal", *INPUT, "-o", "r.html")
    data = page_data(room.folder / "r.html")
    assert [method["name"] for method in data["methods"]] == ["kmeans", "image"]
    for method in data["methods"]:
        wanted = json.loads(room.does("evaluate", f"{method['name']}.kcal", *INPUT, "--json", "-").out)
        for own, row in zip(method["strata"], wanted["results"], strict=True):
            for key in ["mean_ce", "q05", "q95", "floor", "samples", "coverage", "coverage_at_alpha", "false_share"]:
                assert own[key] == row[key]
            assert own["slider_false_share"][4::5] == pytest.approx(row["false_shares"])
        for name in ("set_size", "false_classes", "single_share", "single_right", "full_share", "empty_share"):
            assert method[name] == wanted["results"][0][name]
        held = wanted["results"][0]["level_sets"]
        for name in ("set_size", "false_classes"):
            assert method[f"slider_{name}"][4::5] == pytest.approx(held[name])
        for name in ("single", "empty", "full"):
            assert method[f"slider_{name}"][4::5] == pytest.approx(held[f"{name}_share"])


CAL = ["--cal-probs", "probs.npy", "--cal-labels", "labels.npy"]


def test_outlines_on_the_page_equal_those_of_the_command(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    room.does("outline", *CAL, *INPUT, "--alpha", "0.4", "--share", "0.8", "--save", "rule.json", "-o", "codes.npy", "--json", "o.json")
    room.does("report", "image.kcal", *INPUT, "--outline", "rule.json", "-o", "o.html")
    data, wanted = page_data(room.folder / "o.html"), json.loads((room.folder / "o.json").read_text())
    own = data["outlines"]
    assert own["guarantee"] == wanted["rule"]["guarantee"] and own["test"] == wanted["test"] and len(own["examples"]) == len(data["examples"])
    for example, codes in zip(data["examples"], own["examples"]):
        np.testing.assert_array_equal(page_array(codes), room.load("codes.npy")[example["image"]])
    room.does("report", "image.kcal", *INPUT, "-o", "o.html")
    assert page_data(room.folder / "o.html")["outlines"] is None
    room.does("outline", *CAL, "--spacing", "1,2", "--alpha", "0.4", "--save", "mm.json")
    expect_refusal(room.run("report", "image.kcal", *INPUT, "--outline", "mm.json", "-o", "no.html"), 2, "mm.json is in millimetres", "--contours")
    (room.folder / "bad.json").write_text("{}")
    expect_refusal(room.run("report", "image.kcal", *INPUT, "--outline", "bad.json", "-o", "no.html"), 3, "bad.json is not a rule of 'kandinsky outline'")
    assert not (room.folder / "no.html").exists()


def test_the_curves_of_the_pixel_and_of_the_image_are_shown_beside_other_methods(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    room.does("report", "kmeans.kcal", *INPUT, "-o", "without.html")
    assert page_data(room.folder / "without.html")["references"] == {"own": None, "image": None}
    room.does("report", "kmeans.kcal", "image.kcal", *INPUT, *CAL, "-o", "with.html")
    data = page_data(room.folder / "with.html")
    assert data["references"]["image"] == {"method": 1}
    assert len(data["references"]["own"]["strata"]) == len(data["classes"])
    assert [one["what"] for one in data["provenance"]["inputs"]] == ["calibration", "test"]
    # The same curves as in a report that has the method itself.
    both = [word for kind in ["cal", "test"] for what in ["probs", "labels"] for word in (f"--{kind}-{what}", f"{what}.npy")]
    room.does("compare", *both, "--methods", "kmeans,image", "--score", "lac", "--report", "c.html")
    assert page_data(room.folder / "c.html")["references"] == data["references"]
    room.does("compare", *both, "--methods", "kmeans,image", "--figures", "only-figures")


def test_calibration_images_have_no_effect_without_a_page(room):
    for option, file in [("--cal-probs", "probs.npy"), ("--cal-labels", "labels.npy"), ("--cal-groups", "groups.npy")]:
        room.refuses(2, [f"{option} has no effect", "page"], "report", "kmeans.kcal", *INPUT, "--figures", "f", option, file)


def test_calibration_images_of_a_report_must_be_those_of_its_calibrators(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    probs = np.load(room.folder / "probs.npy")
    labels = np.load(room.folder / "labels.npy")
    room.save("fewer_probs.npy", probs[1:])
    room.save("fewer_labels.npy", labels[1:])
    room.save("groups.npy", np.arange(len(probs)) // 2)
    page = ["report", "kmeans.kcal", *INPUT, "-o", "f.html"]
    room.refuses(2, ["--cal-probs", "--cal-labels", "both"], *page, "--cal-probs", "probs.npy")
    room.refuses(2, ["--cal-groups", "only with"], *page, "--cal-groups", "groups.npy")
    fewer = ["--cal-probs", "fewer_probs.npy", "--cal-labels", "fewer_labels.npy"]
    room.refuses(3, ["fewer_probs.npy", "not the images", "kmeans.kcal", f"{len(probs)} images"], *page, *fewer)
    room.refuses(3, ["not the images"], *page, *CAL, "--cal-groups", "groups.npy")
    room.does("calibrate", "--probs", "fewer_probs.npy", "--labels", "fewer_labels.npy", "--method", "image", "-o", "fewer.kcal")
    room.refuses(3, ["kmeans.kcal", "fewer.kcal", "different images"], "report", "kmeans.kcal", "fewer.kcal", *INPUT, *CAL, "-o", "f.html")


def test_names_stay_inside_the_data(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    names = "</script><script>alert(1)</script>,<!--,a'b\"c"
    room.does("report", "image.kcal", *INPUT, "-o", "n.html", "--class-names", names, "--title", "<b>")
    text = (room.folder / "n.html").read_text(encoding="utf-8")
    assert "alert(1)</script>" not in text
    assert page_data(room.folder / "n.html")["classes"] == names.split(",")


def test_the_same_input_makes_the_same_file_with_any_number_of_threads(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    pages = []
    for threads in ["1", "3"]:
        room.does("report", "kmeans.kcal", *INPUT, "-o", "same.html", "--threads", threads)
        pages.append((room.folder / "same.html").read_bytes())
    assert pages[0] == pages[1]


def test_compare_and_demo_write_it_too(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    both = [f"--{kind}-{what}" for kind in ["cal", "test"] for what in ["probs", "labels"]]
    files = [word for flag in both for word in (flag, "probs.npy" if "probs" in flag else "labels.npy")]
    room.does("compare", *files, "--methods", "image,kmeans", "--report", "c.html", "--sample", "3", "--draws", "2")
    assert page_data(room.folder / "c.html")["draws"] == 2
    for rule in ("fill", "keep"):
        room.does("compare", *files, "--methods", "image", "--report", f"{rule}.html", "--empty", rule)
        assert [one["empty"] for one in page_data(room.folder / f"{rule}.html")["methods"]] == [rule]
    printed = room.does("demo", "-o", "made", *SMALL).out
    assert "report.html" in printed and page_data(room.folder / "made" / "report.html")["grid"] == [24, 40]


def test_a_program_without_the_page_still_runs_the_demo_and_says_how_to_get_it(room, has_page):
    printed = room.does("demo", "-o", "plain", *SMALL).out
    assert ("npm" in printed) == (not has_page)
    assert (room.folder / "plain" / "report.html").exists() == has_page


def test_figures_need_no_page(room):
    room.does("report", "kmeans.kcal", "image.kcal", *INPUT, "--figures", "figures", "--classes", "1")
    names = sorted(path.name for path in (room.folder / "figures").iterdir())
    assert {"ce_kmeans_class1.png", "ce_image_class1.png", "coverage_class1.svg", "violins_class1.svg"} <= set(names)
    assert not any("class0" in name for name in names)
    for name in names:
        start = (room.folder / "figures" / name).read_bytes()[:8]
        assert start == b"\x89PNG\r\n\x1a\n" if name.endswith(".png") else start.startswith(b"<svg"), name


def test_wrong_use_is_refused(room, has_page):
    room.refuses(2, ["nothing to write"], "report", "image.kcal", *INPUT)
    room.refuses(2, ["--class-names has no effect"], "report", "image.kcal", *INPUT, "--figures", "f", "--class-names", "a,b")
    if has_page:
        room.refuses(2, ["--class-names", "2", "3"], "report", "image.kcal", *INPUT, "-o", "r.html", "--class-names", "a,b")
    room.refuses(2, ["image.kcal", "twice"], "report", "image.kcal", "image.kcal", *INPUT, "--figures", "f")
    room.refuses(2, ["--classes", "7"], "report", "image.kcal", *INPUT, "--figures", "f", "--classes", "7")
    room.calibrate("--method", "image", "--condition", "none", output="pooled.kcal")
    room.refuses(2, ["--condition"], "report", "image.kcal", "pooled.kcal", *INPUT, "--figures", "f")
    room.refuses(4, ["absent.kcal"], "report", "absent.kcal", *INPUT, "--figures", "f")
    room.refuses(4, ["pooled.kcal"], "report", "image.kcal", *INPUT, "--figures", "pooled.kcal")


def test_the_map_of_letters_comes_when_asked_for(room):
    both = [f"--{kind}-{what}" for kind in ["cal", "test"] for what in ["probs", "labels"]]
    files = [word for flag in both for word in (flag, "probs.npy" if "probs" in flag else "labels.npy")]
    plain = room.does("compare", *files, "--methods", "image").out
    drawn = room.does("compare", *files, "--methods", "image", "--map", "--classes", "1").out
    assert "+-------+" not in plain and "coverage error of image, class 1" in drawn
    picture = [line for line in drawn.splitlines() if re.fullmatch(r"  \|.*\|", line)]
    assert len(picture) == 3 and all(len(line) == 2 + 9 for line in picture)


def test_data_of_another_shape_are_refused(room):
    room.save("other.npy", np.full((4, 3, 6, 7), 0.5, np.float32))
    result = run("report", "image.kcal", "--probs", "other.npy", "--labels", "labels.npy", "--figures", "f", cwd=room.folder)
    assert result.code == 3


def test_photos_lie_under_the_sets(room, has_page):
    if not has_page:
        pytest.skip(f"this program was {WITHOUT}")
    images, height, width = room.labels.shape
    photos = np.random.default_rng(3).integers(0, 256, (images, height, width, 3), dtype=np.uint8)
    room.save("photos.npy", photos)
    room.save("planes.npy", np.moveaxis(photos, -1, 1))
    for name in ["probs", "labels", "pictures"]:
        (room.folder / name).mkdir()
    for i in range(images):
        np.save(room.folder / "probs" / f"im{i}.npy", room.probs[i])
        np.save(room.folder / "labels" / f"im{i}.npy", room.labels[i])
        Image.fromarray(photos[i]).save(room.folder / "pictures" / f"im{i}.png")
    names = sorted(f"im{i}" for i in range(images))
    for words, order in [
        ([*INPUT, "--photos", "photos.npy"], range(images)),
        ([*INPUT, "--photos", "planes.npy"], range(images)),
        (["--probs", "probs", "--labels", "labels", "--photos", "pictures"], [int(name[2:]) for name in names]),
    ]:
        room.does("report", "image.kcal", *words, "-o", "p.html")
        for example in page_data(room.folder / "p.html")["examples"]:
            np.testing.assert_array_equal(page_array(example["photo"]), photos[list(order)[example["image"]]])
    room.does("report", "image.kcal", *INPUT, "-o", "p.html")
    assert all(example["photo"] is None for example in page_data(room.folder / "p.html")["examples"])
    room.refuses(2, ["pictures", "by name"], "report", "image.kcal", *INPUT, "--photos", "pictures", "-o", "q.html")
    room.save("few.npy", photos[:-1])
    room.refuses(3, ["few.npy", f"[{images}, 3,"], "report", "image.kcal", *INPUT, "--photos", "few.npy", "-o", "q.html")
    assert not (room.folder / "q.html").exists()
