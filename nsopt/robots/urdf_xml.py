"""URDF files as XML, checked before their numbers are read."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from xml.parsers.expat import ErrorString, ExpatError, ParserCreate

TYPES = ("revolute", "continuous", "prismatic", "fixed", "planar", "floating")  # types of joints
NUMBERS: dict[str, dict[str, int]] = {
    "origin": {"xyz": 3, "rpy": 3},
    "mass": {"value": 1},
    "inertia": dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1),
    "axis": {"xyz": 3},
    "limit": dict.fromkeys(("lower", "upper", "velocity", "effort"), 1),
    "dynamics": {"damping": 1, "friction": 1},
    "mimic": {"multiplier": 1, "offset": 1},
    "mesh": {"scale": 3},
    "box": {"size": 3},
    "cylinder": {"radius": 1, "length": 1},
    "sphere": {"radius": 1},
}
"""How many numbers each attribute of each tag has."""
REQUIRED = ("mass", "inertia")  # tags of <inertial> that must be there, with all their attributes
DEEPEST = 100  # tags one in another, at most
OF_LINKS = ("visual", "collision", "inertial", "material")
OF_JOINTS = ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic")
"""Tags that are read, or say nothing of dynamics; others are counted by `count_foreign_tags`."""
WITHOUT_EFFECT = ("xacro:property", "xacro:arg")
"""Tags of xacro that may be left in an expanded file."""


def parse(path: Path) -> ET.Element:
    """Return the robot element of a file, with every link and joint checked by itself."""
    if not path.is_file():
        raise FileNotFoundError(f"no URDF file at {str(path)!r}: check the path")
    try:  # prefixes of names need not be declared, as by ElementTree's own parser
        target, parser = _Robot(), ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = target.start
        parser.EndElementHandler = target.end
        parser.CharacterDataHandler = target.data
        parser.StartDoctypeDeclHandler = target.doctype
        with path.open("rb") as file:
            parser.ParseFile(file)
        robot = target.close()
    except ExpatError as error:
        reason = ErrorString(error.code)
        where = f"line {error.lineno}, column {error.offset}"
        raise ValueError(f"broken XML at {where}: {reason}") from None
    except _RefusedError:
        raise
    except (LookupError, ValueError) as error:  # of the declared encoding
        raise ValueError(f"{error}: save it as UTF-8, as its first line should say") from None
    if robot.tag != "robot":
        raise ValueError(f"a URDF file holds a <robot>, got <{robot.tag}>")
    _check_expanded(robot)
    for element in robot:
        if element.tag in ("link", "joint") and not element.get("name"):
            raise ValueError(f"a <{element.tag}> has no name: give it one")
    for kind in ("link", "joint"):
        for name, times in Counter(x.get("name", "") for x in robot.findall(kind)).items():
            if times > 1:
                raise ValueError(f"{times} {kind}s are named {name!r}: rename all but one")
    for link in robot.findall("link"):
        _check_link(link)
    links = {link.get("name", "") for link in robot.findall("link")}
    for joint in robot.findall("joint"):
        _check_joint(joint, links)
    _check_root(robot)
    return robot


def count_foreign_tags(robot: ET.Element) -> Counter[str]:
    """Return how often each tag occurs that a mechanism cannot represent."""
    count: Counter[str] = Counter()
    for element in robot:
        if element.tag == "link":
            count.update(f"{e.tag} of a link" for e in element if e.tag not in OF_LINKS)
        elif element.tag == "joint":
            count.update(f"{e.tag} of a joint" for e in element if e.tag not in OF_JOINTS)
            if element.get("type") == "fixed" and element.find("mimic") is not None:
                count["mimic of a fixed joint"] += 1
            if element.get("type") == "floating":
                count["floating joint (its link is free in the world)"] += 1
        elif element.tag != "material":
            count[element.tag] += 1
    return count


def _check_expanded(robot: ET.Element) -> None:
    """Refuse macros that xacro has yet to expand; its leftovers that have no effect may stay."""
    for element in robot.iter():
        tag = element.tag
        if tag in WITHOUT_EFFECT:
            continue
        stated = [x for name, x in element.items() if name != "filename"]  # of meshes, not read
        if tag.startswith("xacro:") or any("${" in x for x in stated):
            raise ValueError(
                f"holds xacro macros, at <{tag}>: expand them first, xacro FILE > robot.urdf"
            )


class _RefusedError(ValueError):
    """XML that is no URDF file."""


class _Robot(ET.TreeBuilder):
    """Builds the tree of a file, but refuses the declaration in which entities are defined.

    Entities may expand without bound, or name other files. Tags one in another without bound are
    refused too: deleting such a tree can end the process.
    """

    depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> ET.Element:
        self.depth += 1
        if self.depth > DEEPEST:
            raise _RefusedError(f"<{tag}> is inside {DEEPEST} other tags: no robot needs that many")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ET.Element:
        self.depth -= 1
        return super().end(tag)

    def doctype(self, name: str, *identifiers: object) -> None:
        del identifiers
        raise _RefusedError(f"declares a document type, <!DOCTYPE {name} ...>: leave it out")


def _check_single(what: str, element: ET.Element, tags: Iterable[str]) -> None:
    """Refuse tags that are there twice: which of them counts?"""
    count = Counter(child.tag for child in element)
    for tag in tags:
        if count[tag] > 1:
            raise ValueError(f"{what} has {count[tag]} <{tag}> tags: leave one of them")


def _check_link(link: ET.Element) -> None:
    what = f"link {link.get('name')!r}"
    _check_single(what, link, ("inertial",))
    inertial = link.find("inertial")
    if inertial is None:
        return
    _check_single(f"<inertial> of {what}", inertial, ("origin", *REQUIRED))
    for tag in REQUIRED:
        if inertial.find(tag) is None:
            raise ValueError(f"<inertial> of {what} has no <{tag}>: state it, or leave out both")
    for element in inertial:
        check_numbers(what, element)
    mass = float(inertial.find("mass").get("value", ""))  # type: ignore[union-attr]
    if mass < 0:
        raise ValueError(f"mass of {what} must not be negative, got {mass:g}: give zero or more")


def _check_joint(joint: ET.Element, links: set[str]) -> None:
    what, kind = f"joint {joint.get('name')!r}", joint.get("type")
    if kind not in TYPES:
        raise ValueError(f"type of {what} must be one of {', '.join(TYPES)}, got {kind!r}")
    _check_single(what, joint, OF_JOINTS)
    for tag in ("parent", "child"):
        element = joint.find(tag)
        name = None if element is None else element.get("link")
        if name is None:
            raise ValueError(f'{what} has no {tag}: add <{tag} link="..."/>')
        if name not in links:
            raise ValueError(f"{tag} {name!r} of {what} is no link of the file: add or rename it")
    for element in joint:
        check_numbers(what, element)
    axis = joint.find("axis")
    xyz = [] if axis is None else axis.get("xyz", "1 0 0").split()
    if kind not in ("fixed", "floating") and xyz and not any(float(x) for x in xyz):
        raise ValueError(f"axis of {what} has no length: give a direction, such as 0 0 1")


def check_numbers(what: str, element: ET.Element) -> None:
    """Refuse attributes of an element of ``what`` that are not the finite numbers they must be."""
    for name, size in NUMBERS.get(element.tag, {}).items():
        text = element.get(name)
        if text is None:
            if element.tag in REQUIRED:
                raise ValueError(f"<{element.tag}> of {what} has no {name}: state it, 0 if none")
            continue
        try:
            values = [_number(x) for x in text.split()]
        except ValueError:
            values = []
        bad = any(math.isnan(x) or (math.isinf(x) and element.tag != "limit") for x in values)
        if len(values) != size or bad:
            needed = "a finite number" if size == 1 else f"{size} finite numbers"
            raise ValueError(f"{name} in <{element.tag}> of {what} must be {needed}, got {text!r}")


def _number(text: str) -> float:
    """Return a number as XML Schema writes it; Python alone would take 1_0 for 10."""
    if not text.isascii() or "_" in text:
        raise ValueError
    return float(text)


def _check_root(robot: ET.Element) -> None:
    links = [link.get("name", "") for link in robot.findall("link")]
    if not links:
        raise ValueError("has no links: is this the right file?")
    children = {child.get("link") for child in robot.findall("joint/child")}
    roots = [name for name in links if name not in children]
    if len(roots) > 1:
        raise ValueError(
            f"links {', '.join(map(repr, roots))} are children of no joint, one "
            "may be: join the others to it"
        )
