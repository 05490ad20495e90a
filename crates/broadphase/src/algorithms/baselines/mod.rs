//! The baselines that the papers compare with, small and fair. Each names its paper.
//!
//! # They behave as the papers report them
//! CPU ms a frame, 8,000 objects, `broadphase bench SCENE --n 8000 --frames 24 --algorithms dbvt-f,dbvt-d,sweep-3axis,grid-sap,grid-sap:resweep=true,hash-grid`;
//! the last two rows with 16,000 objects. One run on an AMD EPYC with 2 cores and AVX-512: the order counts, not the third digit.
//!
//! | scene | `dbvt-f` | `dbvt-d` | `sweep-3axis` | `grid-sap` | `grid-sap:resweep=true` | `hash-grid` |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | `uniform:motion=jump` | 47 | 17 | 830 | 4.9 | 1.8 | 0.87 |
//! | `pile` | 8.5 | 5.1 | 22 | 5.9 | 1.3 | 0.62 |
//! | `uniform:motion=0.01` | 0.51 | 2.7 | 2.2 | 1.2 | 1.1 | 0.62 |
//! | `uniform:motion=0.01:sparse` | 0.09 | 0.48 | 0.13 | 0.15 | 0.06 | 0.45 |
//! | `settled` | 1.0 | 3.1 | 3.6 | 1.7 | 1.0 | 0.54 |
//! | `settled:moving=0.01` | 0.75 | 5.9 | 1.8 | 1.1 | 1.9 | 1.1 |
//! | `settled:moving=0.001` | 0.55 | 5.7 | 0.87 | 0.22 | 1.9 | 1.1 |
//!
//! - `sweep-3axis` collapses where everything moves, and beats `hash-grid` and `dbvt-d` where almost nothing does: 3.5 times `hash-grid` when
//!   sparse (paper 000: 2 to 3 times). It does not beat `dbvt-f` there, whose candidates rest as well.
//! - `dbvt-f` wins on coherent scenes, `dbvt-d` on incoherent ones, by a factor of 1.7 to 10 either way.
//! - `grid-sap` is a `sweep-3axis` that does not collapse, and the fastest of all where one object in a thousand moves, since cells at rest cost nothing.
//!   Sweeping every cell anew is 2.8 to 4.4 times as fast where much moves, and 9 times as slow where little does.

pub mod dbvt;
mod endpoint_lists;
pub mod grid_sap;
pub mod naive_list;
pub mod sweep_3axis;
