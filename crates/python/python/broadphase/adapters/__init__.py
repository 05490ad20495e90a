"""Other packages with this library inside. Import the one you need; each needs its own package.

- ``broadphase.adapters.ipctk``: ``BroadPhase``, to be passed wherever ipctk takes a broad phase
- ``broadphase.adapters.newton``: ``BroadPhase``, for newton's ``CollisionPipeline``
- ``broadphase.adapters.ase``: ``neighbor_list`` and ``PrimitiveNeighborList``, with the signatures of ASE's
"""
