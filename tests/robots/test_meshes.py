"""Vertices of meshes and shapes of links, against numbers written into their files."""

import struct

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from nsopt.robots import link_vertices, mesh_vertices

CORNERS = np.array([(0, 0, 0), (2, 0, 0), (0, 3, 0), (0.5, 0.25, 4)], dtype=float)
FACES = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]


def as_binary_stl():
    # Some programs begin binary files like those of text.
    triangles = [struct.pack("<12fH", 0, 0, 0, *CORNERS[list(face)].ravel(), 0) for face in FACES]
    return b"solid tetrahedron".ljust(80) + struct.pack("<I", len(FACES)) + b"".join(triangles)


def as_text_stl():
    lines = ["solid tetrahedron"]
    for face in FACES:
        lines += ["facet normal 0 0 0", "outer loop"]
        lines += [f"  vertex {x:e} {y:e} {z:e}" for x, y, z in CORNERS[list(face)]]
        lines += ["endloop", "endfacet"]
    return "\n".join([*lines, "endsolid"]).encode()


def as_obj():
    lines = ["# a tetrahedron", "vn 0 0 1", *(f"v {x} {y} {z} 1.0" for x, y, z in CORNERS)]
    return "\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES)]).encode()


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.STL", as_binary_stl()), ("a.stl", as_text_stl()), ("a.obj", as_obj())],
    ids=["binary", "text", "obj"],
)
def test_vertices_are_read_once_each(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    points = mesh_vertices(tmp_path / name, scale=1e-3)
    assert points == pytest.approx(CORNERS[np.lexsort(CORNERS.T[::-1])] * 1e-3, abs=0)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        ("a.stl", as_binary_stl()[5:-7], r"a.stl: a binary STL file of \d+ triangles has \d+ b"),
        ("a.stl", as_text_stl().replace(b"2.0", b"x"), "a.stl: line 6 must hold three numbers"),
        ("a.obj", b"v 1 2", "a.obj: line 1 must hold three numbers, got 'v 1 2'"),
        ("a.obj", b"v 1 2 inf", "a.obj has a vertex that is not finite"),
        ("a.stl", b"solid nothing", "a.stl has no vertices"),
        ("a.ply", b"ply", "a.ply: meshes are read in .stl, .obj, .dae: convert it"),
    ],
)
def test_other_files_are_refused(tmp_path, name, data, says):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ValueError, match=says):
        mesh_vertices(tmp_path / name)


def robot_file(folder, *shapes):
    """A robot of one link with shapes, beside its package of meshes."""
    (folder / "robot" / "meshes").mkdir(parents=True)
    (folder / "robot" / "urdf").mkdir()
    (folder / "robot" / "meshes" / "a b.stl").write_bytes(as_binary_stl())
    path = folder / "robot" / "urdf" / "robot.urdf"
    path.write_text(f'<robot name="r"><link name="arm">{"".join(shapes)}</link></robot>')
    return path


def collision(solid, origin=""):
    return f"<collision>{origin}<geometry>{solid}</geometry></collision>"


@pytest.mark.parametrize(
    "name", ["package://robot/meshes/a%20b.stl", "../meshes/a b.stl", "file://../meshes/a b.stl"]
)
def test_meshes_of_links_are_scaled_turned_and_moved(tmp_path, name):
    mesh = collision(
        f'<mesh filename="{name}" scale="0.1 0.1 -0.1"/>',
        f'<origin xyz="1 2 3" rpy="0 0 {np.pi / 2}"/>',
    )
    points = link_vertices(robot_file(tmp_path, mesh), "arm")
    x, y, z = CORNERS.T * 0.1
    expected = np.column_stack([1 - y, 2 + x, 3 - z])
    for point in expected:
        assert np.linalg.norm(points - point, axis=1).min() < 1e-7  # single precision
    assert len(points) == len(expected)


def test_points_of_boxes_cylinders_and_spheres_enclose_them_closely(tmp_path):
    """In any direction the points reach as far as the solid or a little, at most 19 %, farther."""
    solids = {
        '<box size="0.2 0.4 0.6"/>': (lambda n: np.abs(n) @ [0.1, 0.2, 0.3], 1 + 1e-12),
        '<cylinder radius="0.1" length="0.5"/>': (
            lambda n: 0.1 * np.hypot(n[:, 0], n[:, 1]) + 0.25 * np.abs(n[:, 2]),
            1 / np.cos(np.pi / 16) + 1e-9,
        ),
        '<sphere radius="0.3"/>': (lambda n: 0.3 * np.ones(len(n)), 1.19),
    }
    n = np.random.default_rng(4).normal(size=(500, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    for k, (solid, (reach, most)) in enumerate(solids.items()):
        points = link_vertices(robot_file(tmp_path / str(k), collision(solid)), "arm")
        farther = (n @ points.T).max(axis=1) / reach(n)
        assert farther.min() > 1 - 1e-12
        assert farther.max() < most
    facets = ConvexHull(points).equations
    assert -facets[:, 3].max() == pytest.approx(0.3)  # the last, the sphere, is touched


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ("", "link 'arm' has no <collision>: take visual=True"),
        (collision(""), "<collision> of link 'arm' has no shape in its <geometry>"),
        (collision('<box size="1 2"/>'), "size in <box> of .* must be 3 finite numbers, got '1 2'"),
        (collision("<sphere/>"), "<sphere> of <collision> of link 'arm' has no radius"),
        (collision("<cone/>"), "is a <cone>: state a mesh, box, cylinder or sphere"),
        (collision('<mesh filename="http://a/b.stl"/>'), "mesh 'http://a/b.stl' of .* is no file"),
    ],
)
def test_shapes_that_are_not_stated_well_are_refused(tmp_path, shape, says):
    with pytest.raises(ValueError, match=f"robot.urdf: .*{says}"):
        link_vertices(robot_file(tmp_path, shape), "arm")


def test_what_is_missing_is_told(tmp_path):
    path = robot_file(tmp_path, collision('<mesh filename="package://robot/c.stl"/>'))
    with pytest.raises(FileNotFoundError, match=r"no mesh 'package://robot/c\.stl' of <collision>"):
        link_vertices(path, "arm")
    with pytest.raises(ValueError, match="no link 'leg': one of arm"):
        link_vertices(path, "leg")
    with pytest.raises(FileNotFoundError, match="no mesh at"):
        mesh_vertices(tmp_path / "c.stl")
