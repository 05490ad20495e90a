"""A broad phase for newton: exact pairs on the CPU, simulation worlds kept apart, and a count that never hides a lost pair.

Pass ``BroadPhase(model.shape_world, model.shape_flags)`` as ``broad_phase=`` of a ``CollisionPipeline``, together with a ``narrow_phase=``, or set it as
``pipeline.broad_phase`` of a pipeline that was made with ``broad_phase="sap"``.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
import numpy.typing as npt
from newton.geometry import BroadPhaseSAP

import broadphase

_KINEMATIC = 1 << 1  # newton's flag of kinematic bodies


class BroadPhase(BroadPhaseSAP):  # type: ignore[misc]
    """Finds the pairs that newton's ``BroadPhaseSAP`` defines, with a ``World`` that lives from launch to launch.

    Pairs are sorted. If there are more than ``candidate_pair`` holds, the count says how many there are, as newton's own does.
    """

    def __init__(self, shape_world: Any, shape_flags: Any = None, *, workers: int = 1, **options: Any) -> None:
        super().__init__(shape_world, shape_flags, **options)
        self._included = np.unique(self.world_index_map.numpy())
        self._workers = workers
        self._world: Optional[broadphase.World] = None
        self._key: tuple[Any, ...] = ()
        self._handles: npt.NDArray[np.uint64] = np.zeros(0, np.uint64)

    def launch(
        self,
        shape_lower: Any,
        shape_upper: Any,
        shape_gap: Any,
        shape_collision_group: Any,
        shape_world: Any,
        shape_count: int,
        candidate_pair: Any,
        candidate_pair_count: Any,
        device: Any = None,
        filter_pairs: Any = None,
        num_filter_pairs: Optional[int] = None,
        skip_count_zero: bool = False,
        *,
        shape_body: Any = None,
        body_flags: Any = None,
        include_static_kinematic_pairs: bool = True,
        shape_displacement: Any = None,
        sort_axis_displacement_limit: Optional[float] = None,
    ) -> None:
        if shape_count < 0 or shape_count > shape_lower.shape[0]:
            raise ValueError(f"shape_count must be in [0, {shape_lower.shape[0]}], got {shape_count}")
        if shape_displacement is not None and shape_displacement.shape[0] != shape_lower.shape[0]:
            raise ValueError(f"shape_displacement must have {shape_lower.shape[0]} rows, got {shape_displacement.shape[0]}")
        lower, upper = _rows(shape_lower, 3), _rows(shape_upper, 3)
        gap = None if shape_gap is None or shape_gap.shape[0] == 0 else shape_gap.numpy()
        ways = None if shape_displacement is None else _rows(shape_displacement, 3)
        body = None if shape_body is None or shape_body.shape[0] == 0 else shape_body.numpy()
        active = self._included[self._included < shape_count]
        worlds = shape_world.numpy()[active]
        static = np.zeros(len(active), bool) if body is None else body[active] < 0
        pairs = self._candidates(active, worlds, static, lower, upper, gap, ways)
        a, b = pairs[:, 0], pairs[:, 1]
        groups = shape_collision_group.numpy()
        keep = _groups_collide(groups[a], groups[b])
        if body is not None:
            keep &= ~((body[a] >= 0) & (body[a] == body[b]))
            if not include_static_kinematic_pairs and body_flags is not None and body_flags.shape[0]:
                flags = body_flags.numpy()
                fixed = (body < 0) | (flags[np.maximum(body, 0)] & _KINEMATIC != 0)
                keep &= ~(fixed[a] & fixed[b])
        keep &= _overlap(a, b, lower, upper, gap, ways)
        if filter_pairs is not None and filter_pairs.shape[0]:
            count = filter_pairs.shape[0] if num_filter_pairs is None else num_filter_pairs
            keep &= ~np.isin(_keys(pairs), _keys(_rows(filter_pairs, 2)[:count]))
        _write(candidate_pair, candidate_pair_count, pairs[keep])

    def _candidates(
        self,
        active: npt.NDArray[Any],
        worlds: npt.NDArray[Any],
        static: npt.NDArray[np.bool_],
        lower: npt.NDArray[Any],
        upper: npt.NDArray[Any],
        gap: Optional[npt.NDArray[Any]],
        ways: Optional[npt.NDArray[Any]],
    ) -> npt.NDArray[np.int64]:
        """A superset of the pairs: boxes grown by their gaps, over the whole motion, rounded outwards; never two of different worlds."""
        lo, hi = lower[active].astype(np.float64), upper[active].astype(np.float64)
        valid = (lo <= hi).all(axis=1)  # an empty box overlaps nothing
        if ways is not None:
            lo, hi = np.minimum(lo, lo + ways[active]), np.maximum(hi, hi + ways[active])
        if gap is not None:
            lo, hi = lo - gap[active, None], hi + gap[active, None]
        # newton adds in float32: allow for its rounding before the exact test.
        size = np.maximum(np.abs(lo), np.abs(hi))
        slack = size * 4e-7 if gap is not None or ways is not None else 0.0
        lo, hi = lo - slack, hi + slack
        valid &= ~(np.isnan(lo) | np.isnan(hi)).any(axis=1)
        lo[~valid], hi[~valid] = np.inf, np.inf
        active, worlds, static = active[valid], worlds[valid], static[valid]
        boxes = np.hstack([lo[valid], hi[valid]])
        if not self._same((active, worlds, static)):
            self._world = broadphase.World(dim=3, dtype="float64", workers=self._workers)
            kinds = np.where(static, "static", "dynamic").tolist()
            self._handles = self._world.insert(boxes, kind=kinds, envs=(worlds + 1).astype(np.uint32), user=active.astype(np.uint64))
        assert self._world is not None
        self._world.set_boxes(self._handles, boxes)
        self._world.update()
        found = (self._world.pairs() >> np.uint64(32)).astype(np.int64)
        return active.astype(np.int64)[found]

    def _same(self, key: tuple[Any, ...]) -> bool:
        """Are these the objects that the world already has?"""
        same = len(self._key) == len(key) and all(np.array_equal(a, b) for a, b in zip(self._key, key))
        self._key = tuple(np.array(part) for part in key)
        return same


def _rows(array: Any, columns: int) -> npt.NDArray[Any]:
    rows: npt.NDArray[Any] = array.numpy().reshape(-1, columns)
    return rows


def _groups_collide(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """newton's rule: 0 never; positive groups meet themselves and negative ones; negative ones meet all but themselves."""
    same, one_negative = a == b, (a < 0) | (b < 0)
    result: npt.NDArray[np.bool_] = (a != 0) & (b != 0) & np.where(one_negative, ~same, same)
    return result


def _overlap(a: Any, b: Any, lower: Any, upper: Any, gap: Any, ways: Any) -> npt.NDArray[np.bool_]:
    """newton's own tests, in its float32 arithmetic: boxes at rest, or boxes in motion."""
    both = np.zeros((len(a), 1), np.float32) if gap is None else (gap[a] + gap[b])[:, None]
    lower1, upper1 = lower[a], upper[a]
    lower2, upper2 = lower[b] - both, upper[b] + both
    meets = (lower1 <= upper2) & (upper1 >= lower2)
    if ways is None:
        at_rest: npt.NDArray[np.bool_] = meets.all(axis=1)
        return at_rest
    delta = ways[a] - ways[b]
    with np.errstate(divide="ignore", invalid="ignore"):
        first, last = (lower2 - upper1) / delta, (upper2 - lower1) / delta
    still = delta == 0
    enter = np.where(still, -np.inf, np.minimum(first, last)).max(axis=1).clip(0.0)
    leave = np.where(still, np.inf, np.maximum(first, last)).min(axis=1).clip(None, 1.0)
    moving: npt.NDArray[np.bool_] = (meets | ~still).all(axis=1) & (enter <= leave)
    return moving


def _keys(pairs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    keys: npt.NDArray[np.int64] = pairs[:, 0].astype(np.int64) << 32 | pairs[:, 1].astype(np.int64)
    return keys


def _write(candidate_pair: Any, candidate_pair_count: Any, pairs: npt.NDArray[np.int64]) -> None:
    out, count = candidate_pair.numpy(), candidate_pair_count.numpy()
    fits = min(len(pairs), candidate_pair.shape[0])
    out.reshape(-1, 2)[:fits] = pairs[:fits]
    count[0] = len(pairs)
    if not candidate_pair.device.is_cpu:
        candidate_pair.assign(out)
        candidate_pair_count.assign(count)
