//! The baselines that the papers compare with, small and fair. Each names its paper.
//!
//! # They behave as the papers report them
//! CPU ms a frame, 8,000 objects, `broadphase bench SCENE --n 8000 --frames 24 --algorithms dbvt-f,dbvt-d,sweep-3axis,grid-sap,hash-grid`; the
//! last two rows with 16,000 objects. One run on a busy machine with 2 cores and AVX2: the order counts, not the third digit.
//!
//! | scene | `dbvt-f` | `dbvt-d` | `sweep-3axis` | `grid-sap` | `hash-grid` |
//! | --- | --- | --- | --- | --- | --- |
//! | `uniform:motion=jump` | 97 | 33 | 1,962 | 3.3 | 2.1 |
//! | `pile` | 20 | 8.4 | 35 | 2.2 | 1.0 |
//! | `uniform:motion=0.01` | 1.2 | 5.1 | 3.5 | 2.2 | 1.4 |
//! | `uniform:motion=0.01:sparse` | 0.26 | 1.4 | 0.42 | 0.17 | 1.0 |
//! | `settled` | 1.9 | 4.8 | 5.6 | 1.7 | 1.1 |
//! | `settled:moving=0.01` | 2.0 | 12 | 2.8 | 4.2 | 2.5 |
//! | `settled:moving=0.001` | 1.1 | 12 | 1.8 | 4.1 | 2.7 |
//!
//! - `sweep-3axis` collapses where everything moves, and beats the grids and `dbvt-d` where almost nothing does: 2.5 times `hash-grid` when
//!   sparse (paper 000: 2 to 3 times). It does not beat `dbvt-f` there, whose candidates rest as well.
//! - `dbvt-f` wins on coherent scenes, `dbvt-d` on incoherent ones, by a factor of 2.5 to 10 either way.
//! - `grid-sap` is between the trees and `hash-grid` where much moves, and between `sweep-3axis` and `dbvt-d` where little does.

pub mod dbvt;
pub mod grid_sap;
pub mod naive_list;
pub mod sweep_3axis;
