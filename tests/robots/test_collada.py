"""Vertices of COLLADA files, against numbers written into them and against coal."""

import re
import sys
from importlib import metadata

import numpy as np
import pytest

from nsopt.robots import link_vertices, mesh_vertices

pytest.importorskip("collada")

CORNERS = np.array([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0.5, 0.25, 4)])
FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))
UNUSED = (9, 9, 9)
"""A vertex of no triangle."""

UNIT = '<unit meter="0.1"/>'
LOOKS = """
<library_effects><effect id="e"><profile_COMMON>
  <newparam sid="s"><sampler2D><source>none</source></sampler2D></newparam>
  <technique sid="c"><phong/></technique>
</profile_COMMON></effect></library_effects>
"""
"""Of a material whose picture is missing."""

TWO = """
<node>
  <matrix>0 -1 0 10  1 0 0 20  0 0 1 30  0 0 0 1</matrix>
  <node><scale>1 1 -1</scale><instance_geometry url="#g"/></node>
</node>
<node><instance_geometry url="#g"/></node>
"""
"""A mesh twice: mirrored in z, turned by a quarter about z and moved; and as it is."""


def collada_file(nodes=TWO, unit=UNIT, looks=LOOKS):
    """A tetrahedron placed by nodes, whose file calls y the axis that is up."""
    places = " ".join(f"{x:g}" for x in (*CORNERS.ravel(), *UNUSED))
    corners = " ".join(str(k) for face in FACES for k in face)
    return f"""<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset>{unit}<up_axis>Y_UP</up_axis></asset>{looks}
<library_geometries><geometry id="g"><mesh>
  <source id="p">
    <float_array id="a" count="15">{places}</float_array>
    <technique_common><accessor source="#a" count="5" stride="3">
      <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>
    </accessor></technique_common>
  </source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/><p>{corners}</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>"""


def ordered(points):
    return np.unique(np.round(points, 6), axis=0)


@pytest.mark.parametrize(("unit", "metres"), [(UNIT, 0.1), ("", 1.0)], ids=["decimetres", "none"])
def test_vertices_are_placed_by_the_scene_in_its_unit(tmp_path, unit, metres):
    (tmp_path / "a.dae").write_text(collada_file(unit=unit))
    x, y, z = CORNERS.T
    turned = np.column_stack([10 - y, 20 + x, 30 - z])
    expected = np.concatenate([CORNERS, turned]) * metres * 2
    points = mesh_vertices(tmp_path / "a.dae", scale=2.0)
    assert ordered(points) == pytest.approx(ordered(expected), abs=1e-5)


def test_a_link_scales_them_further(tmp_path):
    (tmp_path / "a.dae").write_text(collada_file('<node><instance_geometry url="#g"/></node>'))
    mesh = '<collision><geometry><mesh filename="a.dae" scale="1 2 3"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="arm">{mesh}</link></robot>')
    points = link_vertices(tmp_path / "r.urdf", "arm")
    assert ordered(points) == pytest.approx(ordered(CORNERS * (0.1, 0.2, 0.3)), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("<COLLADA", "a.dae: cannot be read as COLLADA (unclosed token"),
        (collada_file().replace("#v", "#w"), "a.dae: cannot be read as COLLADA ("),
        (collada_file().replace("<scene>", "<extra>").replace("</scene>", "</extra>"), "a <scene>"),
        (collada_file("<node/>"), "a.dae has no vertices"),
    ],
    ids=["cut", "broken", "no scene", "empty"],
)
def test_broken_files_are_refused(tmp_path, text, says):
    (tmp_path / "a.dae").write_text(text)
    with pytest.raises(ValueError, match=re.escape(says)):
        mesh_vertices(tmp_path / "a.dae")


def test_without_pycollada_the_remedy_is_named(tmp_path, monkeypatch):
    (tmp_path / "a.dae").write_text(collada_file())
    monkeypatch.setitem(sys.modules, "collada", None)
    with pytest.raises(ImportError, match=re.escape("pip install nsopt[meshes]")):
        mesh_vertices(tmp_path / "a.dae")


def test_meshes_of_robots_are_those_that_coal_reads():
    """Among them a file in a unit it does not state, and one whose picture is missing."""
    coal = pytest.importorskip("coal")
    files = metadata.files("example-robot-data") or ()
    chosen = {"ring_big.dae", "arm_2_collision.dae", "anymal_foot.dae", "HeadRoll.dae"}
    found = {str(x.locate()) for x in files if x.name in chosen}
    assert {x.rpartition("/")[2] for x in found} == chosen
    for path in sorted(found):
        ours, others = mesh_vertices(path), coal.MeshLoader().load(path).vertices()
        for corner in (np.min, np.max):
            assert corner(ours, axis=0) == pytest.approx(corner(others, axis=0), abs=1e-6)
