"""Neighbor lists of ASE, for any cell, any periodic boundaries and any cutoffs.

>>> from ase.build import bulk
>>> from broadphase.adapters.ase import neighbor_list
>>> atoms = bulk("Cu", cubic=True) * (3, 3, 3)
>>> i, d = neighbor_list("id", atoms, 2.6)
>>> len(i) // len(atoms)
12

``PrimitiveNeighborList`` goes into ASE's own object: ``ase.neighborlist.NeighborList(cutoffs, primitive=PrimitiveNeighborList)``.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import ase.neighborlist
import numpy as np
import numpy.typing as npt
from ase.data import atomic_numbers
from ase.geometry import complete_cell

import broadphase

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


def neighbor_list(
    quantities: str, a: Any, cutoff: Any, self_interaction: bool = False, max_nbins: float = 1e6, *, workers: int = 1
) -> Any:
    """As ``ase.neighborlist.neighbor_list``; neighbors of an atom come in another order."""
    return primitive_neighbor_list(
        quantities, a.pbc, a.get_cell(complete=True), a.positions, cutoff, numbers=a.numbers, self_interaction=self_interaction, workers=workers
    )


def primitive_neighbor_list(
    quantities: str,
    pbc: Any,
    cell: Any,
    positions: Any,
    cutoff: Any,
    numbers: Any = None,
    self_interaction: bool = False,
    use_scaled_positions: bool = False,
    max_nbins: float = 1e6,
    *,
    workers: int = 1,
) -> Any:
    """As ``ase.neighborlist.primitive_neighbor_list``; neighbors of an atom come in another order."""
    if unknown := set(quantities) - set("ijdDS"):
        raise ValueError(f"quantities are i, j, d, D and S, not {''.join(sorted(unknown))}")
    pbc, cell = np.broadcast_to(pbc, 3).astype(bool), complete_cell(np.asarray(cell, dtype=np.float64))
    positions = np.asarray(positions, dtype=np.float64).reshape(-1, 3)
    if use_scaled_positions:
        positions = positions @ cell
    radii, limit = _radii(cutoff, numbers, len(positions))
    i, j, shift = _images(pbc, cell, positions, radii, workers)
    vectors = positions[j] - positions[i] + shift @ cell
    distances = np.sqrt((vectors * vectors).sum(axis=1))
    keep = distances < limit(i, j)
    if not self_interaction:
        keep &= (i != j) | (shift != 0).any(axis=1)
    i, j, shift, vectors, distances = i[keep], j[keep], shift[keep], vectors[keep], distances[keep]
    found = {"i": i, "j": j, "d": distances, "D": vectors, "S": shift}
    answers = tuple(found[quantity] for quantity in quantities)
    return answers[0] if len(answers) == 1 else answers


def _radii(cutoff: Any, numbers: Any, count: int) -> tuple[_Floats, Any]:
    """A radius for each atom, such that neighbors' balls overlap, and the cutoff of a pair."""
    if isinstance(cutoff, dict):
        table = np.full((120, 120), -1.0)
        for (a, b), value in cutoff.items():
            a, b = (atomic_numbers[x] if isinstance(x, str) else x for x in (a, b))
            table[a, b] = table[b, a] = value
        numbers = np.asarray(numbers)
        return np.full(count, max(table.max(), 0.0) / 2), lambda i, j: table[numbers[i], numbers[j]]
    if np.isscalar(cutoff):
        return np.full(count, float(cutoff) / 2), lambda i, j: float(cutoff)  # type: ignore[arg-type]
    radii = np.asarray(cutoff, dtype=np.float64)
    if radii.shape != (count,):
        raise ValueError(f"cutoff: expected a number, a dictionary or {count} radii, got shape {radii.shape}")
    return radii, lambda i, j: radii[i] + radii[j]


def _images(pbc: Any, cell: _Floats, positions: _Floats, radii: _Floats, workers: int) -> tuple[_Ints, _Ints, _Ints]:
    """All pairs of an atom and an image of an atom whose balls overlap, itself included, sorted; and the shift between the two."""
    if not len(positions):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
    fractions = np.linalg.solve(cell.T, positions.T).T
    wrap = np.where(pbc, np.floor(fractions), 0).astype(np.int64)
    inside, fractions = positions - wrap @ cell, fractions - wrap
    # How far, in cells, a ball reaches along each axis: the distance of two opposite faces of the cell is one.
    reach = 2 * radii.max() * np.linalg.norm(np.linalg.inv(cell), axis=0) + 1e-9
    ghosts, owners, shifts = [], [], []
    for shift in product(*(range(-int(np.ceil(r)), int(np.ceil(r)) + 1) if p else (0,) for r, p in zip(reach, pbc))):
        moved = fractions + shift
        near = (~pbc | ((moved >= -reach) & (moved <= 1 + reach))).all(axis=1)
        ghosts.append(inside[near] + np.array(shift) @ cell)
        owners.append(np.flatnonzero(near))
        shifts.append(np.broadcast_to(shift, (near.sum(), 3)))
    ghost, owner, by = np.concatenate(ghosts), np.concatenate(owners), np.concatenate(shifts)
    grown = radii[:, None] * (1 + 1e-9) + 1e-12 * np.abs(ghost).max()  # the exact test follows
    a = (inside - grown, inside + grown)
    b = (ghost - grown[owner], ghost + grown[owner])
    i, k = broadphase.pairs_between(a, b, shape="ball", workers=workers).astype(np.int64).T
    j = owner[k]
    return i, j, by[k] - wrap[j] + wrap[i]


class PrimitiveNeighborList(ase.neighborlist.NewPrimitiveNeighborList):  # type: ignore[misc]
    """For ``ase.neighborlist.NeighborList(..., primitive=PrimitiveNeighborList)``."""

    def build(self, pbc: Any, cell: Any, positions: Any, numbers: Any = None) -> None:
        self.pbc, self.cell, self.positions = np.array(pbc), np.array(cell), np.array(positions)
        i, j, shift = primitive_neighbor_list(
            "ijS",
            pbc,
            cell,
            positions,
            self.cutoffs,
            numbers=numbers,
            self_interaction=self.self_interaction,
            use_scaled_positions=self.use_scaled_positions,
        )
        if not self.bothways:  # of each pair of images the one that ASE keeps: the first shift that is not zero is positive
            first = np.take_along_axis(shift, (shift != 0).argmax(axis=1)[:, None], 1)[:, 0]
            keep = (first > 0) | ((first == 0) & (i <= j))
            i, j, shift = i[keep], j[keep], shift[keep]
        if self.sorted:
            order = np.lexsort((j, i))
            i, j, shift = i[order], j[order], shift[order]
        self.pair_first, self.pair_second, self.offset_vec = i, j, shift
        self.first_neigh = ase.neighborlist.first_neighbors(len(positions), i)
        self.nupdates += 1
