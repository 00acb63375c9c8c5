"""URDF files as such: missing, broken, of another kind, in other encodings."""

import re

import pytest

from nsopt.robots import load_urdf
from tests.robots.test_urdf import link

pytestmark = pytest.mark.unit


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape("none.urdf")):
        load_urdf(tmp_path / "none.urdf")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<robot name="r">\n<link name="a">\n</robot>', "broken XML at line 3, column"),
        ("", "broken XML at line 1"),
        ("<sdf/>", "holds a <robot>, got <sdf>"),
        ('<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:macro/></robot>', "xacro macros"),
        (
            '<!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><robot name="&b;"/>',
            "declares a document type, <!DOCTYPE r ...>: leave it out",
        ),
        (
            '<!DOCTYPE robot SYSTEM "file:///dev/null"><robot/>',
            "declares a document type, <!DOCTYPE robot ...>: leave it out",
        ),
    ],
)
def test_other_files_are_refused(tmp_path, text, message):
    path = tmp_path / "other.urdf"
    path.write_text(text)
    with pytest.raises(ValueError, match=f"^other.urdf: .*{message}"):
        load_urdf(path)


ENCODED = '<?xml version="1.0" encoding="{}"?><robot name="r">' + link("\u00e9") + "</robot>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_that_xml_knows_are_read(tmp_path, encoding):
    path = tmp_path / "robot.urdf"
    path.write_bytes(ENCODED.format(encoding).encode(encoding))
    assert [body.name for body in load_urdf(path).bodies] == ["\u00e9"]


@pytest.mark.parametrize(
    ("stated", "used", "message"),
    [
        ("klingon", "utf-8", "unknown encoding: klingon: save it as UTF-8"),
        ("shift_jis", "utf-8", "multi-byte encodings are not supported: save it as UTF-8"),
        ("utf-8", "utf-32", "broken XML at line 1"),
        ("utf-8", "iso-8859-1", "broken XML at line 1"),
    ],
)
def test_other_encodings_are_refused(tmp_path, stated, used, message):
    path = tmp_path / "robot.urdf"
    path.write_bytes(ENCODED.format(stated).encode(used))
    with pytest.raises(ValueError, match=f"^robot.urdf: {message}"):
        load_urdf(path)
