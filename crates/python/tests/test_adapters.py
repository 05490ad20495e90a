"""The adapters against the packages themselves; skipped with the reason where a package is not installed."""

import doctest
import importlib

import numpy as np
import pytest

import broadphase

MISSING = "{} is not installed: pip install {}"


def package(name, wheel=None):
    return pytest.importorskip(name, reason=MISSING.format(name, wheel or name), exc_type=ImportError)


@pytest.mark.parametrize("name", ["ipctk", "ase"])
def test_examples_of_the_adapters_run(name):
    package(name)
    module = importlib.import_module(f"broadphase.adapters.{name}")
    assert doctest.testmod(module).failed == 0


# --- ipctk ---------------------------------------------------------------------------------------------------------------------------------


def cloth(dim, seed, n=60):
    """Random triangles over vertices on a grid of 1/1024, so that boxes either touch or are clearly apart; and the next positions."""
    rng = np.random.default_rng(seed)
    vertices = rng.integers(0, 1024, (n, dim)) / 1024
    order = np.argsort(vertices[:, 0])
    faces = order[np.arange(n - 2)[:, None] + np.arange(3)].astype(np.int32)
    edges = np.unique(np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1), axis=0)
    return vertices, vertices + rng.integers(-64, 65, (n, dim)) / 1024, edges.astype(np.int32), faces


FIELDS = {"vv": ("vertex0_id", "vertex1_id"), "ev": ("edge_id", "vertex_id"), "ee": ("edge0_id", "edge1_id"), "fv": ("face_id", "vertex_id"), "ef": ("edge_id", "face_id"), "ff": ("face0_id", "face1_id")}
METHODS = {"vv": "vertex_vertex", "ev": "edge_vertex", "ee": "edge_edge", "fv": "face_vertex", "ef": "edge_face", "ff": "face_face"}


def ids(kind, candidates):
    rows = [tuple(getattr(one, field) for field in FIELDS[kind]) for one in candidates]
    if kind in ("vv", "ee", "ff"):
        rows = [tuple(sorted(row)) for row in rows]
    assert len(rows) == len(set(rows)), "each candidate once"
    return set(rows)


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("inflation", [0.0, 1 / 64])
def test_ipctk_candidates_equal_brute_force(dim, swept, inflation):
    ipctk = package("ipctk")
    from broadphase.adapters.ipctk import BroadPhase

    now, then, edges, faces = cloth(dim, 1)
    ours, theirs = BroadPhase(), ipctk.BruteForce()
    vertices = (now, then) if swept else (now,)
    for structure in (ours, theirs):
        structure.build(*map(np.asfortranarray, vertices), edges, faces, inflation)
    for kind, method in METHODS.items():
        found, expected = (ids(kind, getattr(s, f"detect_{method}_candidates")()) for s in (ours, theirs))
        assert found == expected, kind
        assert expected or kind not in ("ev", "ee"), kind
    ours.clear()
    assert ours.detect_edge_edge_candidates() == [] and ours.name() == "broadphase"


def test_ipctk_uses_the_adapter_for_its_own_candidates(dim):
    ipctk = package("ipctk")
    ipctk.set_num_threads(1)  # its threads would wait for the interpreter, which waits for them, to call a filter written in Python
    from broadphase.adapters.ipctk import BroadPhase

    now, then, edges, faces = cloth(dim, 2)
    mesh = ipctk.CollisionMesh(np.asfortranarray(now), edges, faces)
    if hasattr(mesh, "can_collide"):
        mesh.can_collide = ipctk.CollisionFilter(lambda i, j: (i + j) % 3 != 0) if hasattr(ipctk, "CollisionFilter") else (lambda i, j: (i + j) % 3 != 0)
    results = []
    for structure in (BroadPhase(workers=2), ipctk.BruteForce()):
        candidates = ipctk.Candidates()
        candidates.build(mesh, np.asfortranarray(now), np.asfortranarray(then), 1 / 128, structure)
        results.append({kind: ids(kind, getattr(candidates, f"{kind}_candidates")) for kind in ("ev", "ee", "fv")})
    assert results[0] == results[1]
    assert any(results[0].values())


# --- newton --------------------------------------------------------------------------------------------------------------------------------


def shapes(rng, n, worlds):
    lower = (rng.random((n, 3)) * 6).astype(np.float32)
    upper = lower + rng.random((n, 3)).astype(np.float32) * 2
    lower[0], upper[0] = 1e8, -1e8  # an empty box
    return {
        "lower": lower,
        "upper": upper,
        "gap": (rng.random(n) * 0.3).astype(np.float32),
        "group": rng.integers(-2, 3, n).astype(np.int32),
        "world": rng.integers(-1, worlds, n).astype(np.int32),
        "flags": rng.choice([0, 2, 3], n, p=[0.1, 0.45, 0.45]).astype(np.int32),
        "body": rng.integers(-1, n // 3, n).astype(np.int32),
        "kinematic": rng.choice([0, 2], n // 3).astype(np.int32),
        "way": (rng.random((n, 3)) - 0.5).astype(np.float32),
    }


@pytest.fixture(scope="module")
def newton():
    package("warp", "warp-lang")
    newton = package("newton")
    import warp

    warp.config.quiet = True
    return newton


def launch(structure, s, *, gap, swept, bodies, filters, kinematic, room=20_000):
    import warp as wp

    array = lambda values, dtype: wp.array(values, dtype=dtype, device="cpu")  # noqa: E731
    pairs, count = wp.zeros(room, dtype=wp.vec2i, device="cpu"), wp.zeros(1, dtype=int, device="cpu")
    structure.launch(
        array(s["lower"], wp.vec3), array(s["upper"], wp.vec3), array(s["gap"], float) if gap else None, array(s["group"], int),
        array(s["world"], int), len(s["lower"]) - 3, pairs, count, "cpu",
        filter_pairs=array(filters, wp.vec2i) if len(filters) else None,
        shape_body=array(s["body"], int) if bodies else None, body_flags=array(s["kinematic"], int) if bodies else None,
        include_static_kinematic_pairs=kinematic, shape_displacement=array(s["way"], wp.vec3) if swept else None,
    )
    total = int(count.numpy()[0])
    rows = pairs.numpy()[: min(total, room)]
    return total, {tuple(row) for row in rows.tolist()}


@pytest.mark.parametrize("swept", [False, True])
@pytest.mark.parametrize("bodies", [False, True])
def test_newton_pairs_equal_its_own(newton, swept, bodies):
    from broadphase.adapters.newton import BroadPhase

    rng = np.random.default_rng(3)
    s = shapes(rng, 150, 3)
    ours, theirs = BroadPhase(s["world"], s["flags"]), newton.geometry.BroadPhaseSAP(s["world"], s["flags"], device="cpu")
    for frame in range(3):
        s["lower"] += s["way"]
        s["upper"] += s["way"]
        filters = np.unique(np.sort(rng.integers(0, 150, (200, 2)), axis=1), axis=0).astype(np.int32)
        for gap in (False, True):
            options = {"gap": gap, "swept": swept, "bodies": bodies, "filters": filters, "kinematic": frame % 2 == 0}
            found, expected = launch(ours, s, **options), launch(theirs, s, **options)
            assert found == expected and found[0] > 10


def test_newton_learns_of_pairs_that_do_not_fit(newton):
    from broadphase.adapters.newton import BroadPhase

    s = shapes(np.random.default_rng(4), 150, 1)
    options = {"gap": False, "swept": False, "bodies": False, "filters": [], "kinematic": True}
    everything = launch(BroadPhase(s["world"], s["flags"]), s, **options)
    total, rows = launch(BroadPhase(s["world"], s["flags"]), s, **options, room=10)
    assert total == everything[0] > 10 and len(rows) == 10 and rows < everything[1]


def test_newton_simulates_with_it(newton):
    import warp as wp
    from broadphase.adapters.newton import BroadPhase

    builder = newton.ModelBuilder()
    builder.add_ground_plane()
    rng = np.random.default_rng(5)
    for position in rng.random((40, 3)) * [2, 2, 2]:
        body = builder.add_body(xform=wp.transform(wp.vec3(*position), wp.quat_identity()))
        builder.add_shape_sphere(body, radius=0.2)
    model = builder.finalize(device="cpu")
    counts = []
    for ours in (False, True):
        pipeline = newton.CollisionPipeline(model, broad_phase="sap")
        if ours:
            pipeline.broad_phase = BroadPhase(model.shape_world, model.shape_flags)
        contacts = pipeline.contacts()
        pipeline.collide(model.state(), contacts)
        number = int(contacts.rigid_contact_count.numpy()[0])
        pairs = contacts.rigid_contact_shape0.numpy()[:number], contacts.rigid_contact_shape1.numpy()[:number]
        counts.append(sorted(zip(*(each.tolist() for each in pairs))))
    assert counts[0] == counts[1] and len(counts[0]) > 40


# --- ASE -----------------------------------------------------------------------------------------------------------------------------------


def structures():
    from ase import Atoms
    from ase.build import bulk

    rng = np.random.default_rng(6)
    yield bulk("Cu", cubic=True) * (2, 3, 2)
    yield bulk("Cu")  # one atom, many images
    yield bulk("NaCl", "rocksalt", a=5.6) * (2, 2, 1)
    skew = Atoms("CHO" * 20, positions=rng.normal(size=(60, 3)) * 6, cell=[[5, 0, 0], [2, 6, 0], [-1, 1.5, 7]], pbc=[True, False, True])
    yield skew
    yield Atoms("H3", positions=[[0, 0, 0], [0, 0, 1], [0, 0, 9]])
    yield Atoms(cell=[3, 3, 3], pbc=True)


def rows(found):
    return sorted(map(tuple, np.column_stack([found[0], found[1], found[2]]).tolist())) if len(found[0]) else []


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("cutoff", [2.7, 5.3, {("C", "H"): 3.0, ("Na", "Cl"): 3.0, ("Cu", "Cu"): 4.0, ("H", "H"): 1.5}, "natural"])
def test_ase_lists_equal_its_own(cutoff, own):
    package("ase")
    from ase.neighborlist import natural_cutoffs, neighbor_list
    from broadphase.adapters.ase import neighbor_list as ours

    for atoms in structures():
        limit = natural_cutoffs(atoms, mult=1.5) if cutoff == "natural" else cutoff
        if cutoff == "natural" and not len(atoms):
            continue
        expected, found = neighbor_list("ijS", atoms, limit, own), ours("ijS", atoms, limit, own)
        assert rows(found) == rows(expected), atoms
        assert (np.diff(found[0]) >= 0).all()
        i, j, distance, vector, shift = ours("ijdDS", atoms, limit, own)
        np.testing.assert_allclose(vector, atoms.positions[j] - atoms.positions[i] + shift @ atoms.cell.array)
        np.testing.assert_allclose(distance, np.linalg.norm(vector, axis=1) if len(vector) else [])


@pytest.mark.parametrize("bothways", [False, True])
def test_ase_neighbor_objects_use_it(bothways):
    package("ase")
    from ase.neighborlist import NeighborList, NewPrimitiveNeighborList
    from broadphase.adapters.ase import PrimitiveNeighborList

    for atoms in structures():
        if not len(atoms):
            continue
        lists = []
        for primitive in (PrimitiveNeighborList, NewPrimitiveNeighborList):
            found = NeighborList([1.6] * len(atoms), skin=0.2, sorted=True, self_interaction=True, bothways=bothways, primitive=primitive)
            assert found.update(atoms) and not found.update(atoms)
            lists.append([{(j, *shift) for j, shift in zip(found.get_neighbors(i)[0].tolist(), found.get_neighbors(i)[1].tolist())} for i in range(len(atoms))])
        assert lists[0] == lists[1]


def test_ase_arguments_are_checked():
    package("ase")
    from ase.build import bulk
    from broadphase.adapters.ase import neighbor_list

    with pytest.raises(ValueError, match="quantities"):
        neighbor_list("ijx", bulk("Cu"), 3.0)
    with pytest.raises(ValueError, match="cutoff"):
        neighbor_list("ij", bulk("Cu"), [1.0, 2.0])
    assert broadphase.__version__
