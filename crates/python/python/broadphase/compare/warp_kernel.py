"""The kernel that asks warp's tree for the boxes that overlap each box."""

import warp as wp


@wp.kernel
def find(
    tree: wp.uint64,
    lowers: wp.array(dtype=wp.vec3),  # type: ignore[valid-type]
    uppers: wp.array(dtype=wp.vec3),  # type: ignore[valid-type]
    pairs: wp.array(dtype=wp.vec2i),  # type: ignore[valid-type]
    count: wp.array(dtype=int),  # type: ignore[valid-type]
):  # type: ignore[no-untyped-def]
    own = wp.tid()
    query = wp.bvh_query_aabb(tree, lowers[own], uppers[own])
    other = int(0)
    while wp.bvh_query_next(query, other):
        if own < other:
            place = wp.atomic_add(count, 0, 1)
            if place < pairs.shape[0]:
                pairs[place] = wp.vec2i(own, other)
