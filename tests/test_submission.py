"""What was handed in is opened safely, copied, and searched by name."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from grader.errors import Ambiguous, Missing, UsageError
from grader.submission import copying as module
from grader.submission.opening import open_submission
from tests.conftest import raises


def _folder(tmp_path: Path, **files: str) -> Path:
    folder = tmp_path / "alice"
    folder.mkdir()
    for name, text in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "students"),
    [
        ("students: [alice, 00123, 4.10, alice]", ("alice", "00123", "4.10")),
        ("students: [no, alice]", ()),
        ("students: alice", ()),
        ("students: [[alice]]", ()),
        ("students: []", ()),
    ],
)
def test_a_group_is_named_by_ids_as_they_are_written(tmp_path: Path, text: str, students: tuple[str, ...]) -> None:
    with open_submission(_folder(tmp_path, **{"submission.yaml": text})) as opened:
        assert opened.students == students
        assert any("'students' is not what it should be" in note for note in opened.notes) is not bool(students)


@pytest.mark.parametrize("place", ["attention.py", "src/attention.py", "a5/src/attention.py", "Attention.py"])
def test_a_file_is_found_wherever_it_lies(tmp_path: Path, place: str) -> None:
    with open_submission(_folder(tmp_path, **{place: "x = 1", "notes.txt": ""})) as opened:
        assert opened.find("attention.py") == place
        assert (opened.folder / place).read_text() == "x = 1"
        assert opened.name == "alice"


def test_two_that_fit_are_both_named(tmp_path: Path) -> None:
    with (
        open_submission(_folder(tmp_path, **{"a/attention.py": "x = 1", "b/attention.py": "x = 2"})) as opened,
        pytest.raises(Ambiguous, match=r"a/attention\.py and b/attention\.py") as caught,
    ):
        opened.find("attention.py")
    assert caught.value.code == "several_files"


def test_litter_and_other_peoples_code_do_not_count(tmp_path: Path) -> None:
    litter = {"__pycache__/attention.py": "", ".git/attention.py": "", "env/pyvenv.cfg": "", "env/lib/attention.py": ""}
    with open_submission(_folder(tmp_path, **{"attention.py": ""}, **litter)) as opened:
        assert opened.files == ("attention.py",)
        assert opened.notes == ("env is a virtual environment and was left out",)


def test_a_folder_called_env_or_a_name_with_a_colon_is_the_students(tmp_path: Path) -> None:
    with open_submission(_folder(tmp_path, **{"env/attention.py": "", "notes 12:30.txt": ""})) as opened:
        assert opened.files == ("notes 12:30.txt", "env/attention.py")


def test_submission_yaml_says_where_and_who(tmp_path: Path) -> None:
    text = "rubric: dl-hw3\nstudent: 00123\nfiles: {attention.py: my/own.py, gone.py: nowhere.py}\n"
    files = {"submission.yaml": text, "my/own.py": "", "attention.py": ""}
    with open_submission(_folder(tmp_path, **files)) as opened:
        assert (opened.rubric, opened.name, opened.find("attention.py")) == ("dl-hw3", "alice", "my/own.py")
        assert any("says the student is" in note for note in opened.notes)
        with raises(Missing, "wrongly_declared"):
            opened.find("gone.py")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rubric: [", "submission.yaml:2: not YAML"),
        ("rubrik: x", "'rubrik'"),
        ("files: {a.py: 3}", "'files' is not what it should be"),
        ("- - - " * 2500, "nested more than 20 deep"),
        ("x: " + "[" * 15000, "nested more than 20 deep"),
        ("a" * 20000, "longer than 16384 bytes"),
        ("[1, 2]", "should hold 'rubric:'"),
        ("a: &x 1\nb: *x", "submission.yaml:2"),
    ],
)
def test_a_broken_submission_yaml_is_noted_and_the_rest_goes_on(tmp_path: Path, text: str, said: str) -> None:
    with open_submission(_folder(tmp_path, **{"submission.yaml": text, "a.py": ""})) as opened:
        assert said in opened.notes[0]
        assert "it was ignored" in opened.notes[0]
        assert opened.find("a.py") == "a.py"


def test_links_and_pipes_are_left_out_and_said(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("42")
    folder = _folder(tmp_path, **{"a.py": ""})
    (folder / "stolen.txt").symlink_to(secret)
    (folder / "others").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe")
    with open_submission(folder) as opened:
        assert opened.files == ("a.py",)
        assert not list(opened.folder.rglob("secret.txt"))
        assert sorted(note.split()[0] for note in opened.notes) == ["others", "pipe", "stolen.txt"]


def test_what_student_code_writes_never_reaches_what_was_handed_in(tmp_path: Path) -> None:
    folder = _folder(tmp_path, **{"a.py": "old"})
    with open_submission(folder) as opened:
        (opened.folder / "a.py").write_text("new")
    assert (folder / "a.py").read_text() == "old"


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_an_archive_is_as_good_as_a_folder(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"alice{ending}"
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("hw/attention.py", "x = 1")
            archive.writestr("__MACOSX/hw/attention.py", "junk")
    else:
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo("hw/attention.py")
            info.size = 5
            archive.addfile(info, io.BytesIO(b"x = 1"))
    with open_submission(path) as opened:
        assert opened.name == "alice"
        assert opened.find("attention.py") == "hw/attention.py"


@pytest.mark.parametrize(
    "name", ["../escaped.py", "/etc/escaped.py", "a/../../escaped.py", "..\\escaped.py", "C:/x.py"]
)
def test_archives_that_point_outside_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "bad.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(UsageError, match="points outside the archive"), open_submission(path):
        pass


def test_links_in_archives_are_left_out(tmp_path: Path) -> None:
    zipped, tarred = tmp_path / "a.zip", tmp_path / "a.tar.gz"
    with zipfile.ZipFile(zipped, "w") as archive:
        info = zipfile.ZipInfo("link.py")
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with tarfile.open(tarred, "w:gz") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE):
            member = tarfile.TarInfo(f"odd{kind.decode()}")
            member.type, member.linkname = kind, "/etc/passwd"
            archive.addfile(member)
    for path, count in ((zipped, 1), (tarred, 4)):
        with open_submission(path) as opened:
            assert opened.files == ()
            assert len(opened.notes) == count + 1  # and that nothing was handed in


def test_bombs_are_stopped_while_they_unfold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_BYTES", 2**20)
    monkeypatch.setattr(module, "MAX_FILES", 50)
    large, many = tmp_path / "large.zip", tmp_path / "many.zip"
    with zipfile.ZipFile(large, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros", bytes(2**24))
    with zipfile.ZipFile(many, "w") as archive:
        for number in range(60):
            archive.writestr(f"{number}.py", "")
    with pytest.raises(UsageError, match="more than 1 MiB"), open_submission(large):
        pass
    with pytest.raises(UsageError, match="more than 50 files"), open_submission(many):
        pass


@pytest.mark.parametrize("name", [".", "", "a/" * 40 + "x", "x" * 400, "twice"])
def test_names_nobody_would_give_are_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / "odd.zip"
    with zipfile.ZipFile(path, "w") as archive:
        info = zipfile.ZipInfo()
        info.filename = name
        archive.writestr(info, "x")
        if name == "twice":
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr("twice", "y")
    with (
        pytest.raises(UsageError, match=r"is not a usable name, or|is in it twice|cannot be opened"),
        open_submission(path),
    ):
        pass


@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_an_archive_damaged_anywhere_is_one_line_or_still_whole(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"hw{ending}"
    text = "".join(f"line {number}\n" for number in range(200)).encode()
    if ending == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("attention.py", text)
    else:
        with tarfile.open(path, "w:gz") as archive:
            info = tarfile.TarInfo("attention.py")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text))
    whole = path.read_bytes()
    for place in range(0, len(whole), 7):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        with contextlib.suppress(UsageError), open_submission(path) as opened:
            contents = [(opened.folder / file).read_bytes() for file in opened.files]
            assert contents == [text], f"damaged at byte {place} and not noticed"


def test_a_gigantic_tar_header_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "pax.tar.gz"
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT, pax_headers={"comment": "x" * 2**23}) as archive:
        archive.addfile(tarfile.TarInfo("a.py"))
    with pytest.raises(UsageError, match="larger than any real one"), open_submission(path):
        pass


def test_many_links_are_counted_and_summed_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = _folder(tmp_path, **{"a.py": ""})
    for number in range(50):
        (folder / f"link{number}").symlink_to("a.py")
    with open_submission(folder) as opened:
        assert len(opened.notes) == 21
        assert opened.notes[-1] == "30 more were left out"
    monkeypatch.setattr(module, "MAX_FILES", 40)
    with pytest.raises(UsageError, match="more than 40 files"), open_submission(folder):
        pass


def _zipped(path: Path, **files: str) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "zip"])
def test_everything_is_taken_up_to_the_bounds_and_not_beyond(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, packed: bool
) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 33)
    monkeypatch.setattr(module, "MAX_BYTES", 6)

    def opened(number: int, files: dict[str, str]) -> tuple[str, ...]:
        (tmp_path / str(number)).mkdir()
        made = _zipped(tmp_path / f"{number}.zip", **files) if packed else _folder(tmp_path / str(number), **files)
        with open_submission(made) as submission:
            return submission.files

    deep, long = "d/" * 30 + "x", "/".join(["n" * 149, "m" * 150])
    right: list[dict[str, str]] = [
        {"a": "123", "b": "456"},
        {deep: "x"},
        {long: "x"},
        {str(number): "" for number in range(33)},
    ]
    wrong = [
        ({"a": "123", "b": "4567"}, "more than 0 MiB"),
        ({"d/" + deep: "x"}, "too long or too deep"),
        ({long + "m": "x"}, "too long or too deep"),
        ({str(number): "" for number in range(34)}, "more than 33 files"),
    ]
    for number, files in enumerate(right):
        assert sorted(opened(number, files)) == sorted(files)
    for number, (files, said) in enumerate(wrong, len(right)):
        with pytest.raises(UsageError, match=said):
            opened(number, files)


def test_a_path_that_is_passed_over_may_be_as_long_as_a_file_system_has_them(tmp_path: Path) -> None:
    litter = "__MACOSX/" + "x" * (4096 - len("__MACOSX/"))
    with open_submission(_zipped(tmp_path / "long.zip", **{"a.py": "", litter: ""})) as opened:
        assert opened.files == ("a.py",)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_that_is_in_an_archive_twice_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twice.zip", "w") as archive:
        for name in ("a.py", "b.py", "b.py"):
            archive.writestr(name, "")
    with pytest.raises(UsageError, match=r"'b\.py' is in it twice"), open_submission(tmp_path / "twice.zip"):
        pass


@pytest.mark.parametrize("name", ["work.ipynb", "work.zip"])
def test_a_folder_may_be_called_like_a_notebook_or_an_archive(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "a.py").touch()
    with open_submission(tmp_path / name) as opened:
        assert opened.files == ("a.py",)


def test_twenty_notes_are_told_one_by_one(tmp_path: Path) -> None:
    folder = _folder(tmp_path, **{"a.py": ""})
    for number in range(20):
        (folder / f"link{number}").symlink_to("a.py")
    with open_submission(folder) as opened:
        assert len(opened.notes) == 20
        assert all("is a link or no ordinary file and was left out" in note for note in opened.notes)
    (folder / "link20").symlink_to("a.py")
    with open_submission(folder) as opened:
        assert opened.notes[20:] == ("1 more were left out",)


@pytest.mark.parametrize("content", [b"", b"not an archive", b"PK\x03\x04 cut short"])
@pytest.mark.parametrize("ending", [".zip", ".tar.gz"])
def test_a_broken_archive_is_one_line(tmp_path: Path, content: bytes, ending: str) -> None:
    path = tmp_path / f"broken{ending}"
    path.write_bytes(content)
    with pytest.raises(UsageError, match="the archive cannot be opened"), open_submission(path):
        pass


def test_a_missing_folder_names_its_neighbours_and_a_file_its_folder(tmp_path: Path) -> None:
    folder = _folder(tmp_path, **{"attention.py": ""})
    with pytest.raises(UsageError, match=r"no such submission; .* holds alice"), open_submission(tmp_path / "alicia"):
        pass
    with pytest.raises(UsageError, match=r"is a file; give the folder"), open_submission(folder / "attention.py"):
        pass


def test_pages_are_of_parts_however_they_are_spelled(tmp_path: Path) -> None:
    (tmp_path / "submission.yaml").write_text("pages: {1.B.ii: 3, ' 2.10': [2, 1, 2]}\n")
    with open_submission(tmp_path) as opened:
        assert opened.pages == {"1.b.ii": (3,), "2.10": (2, 1)}
