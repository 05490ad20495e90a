//! What the papers compare with: small and honest yardsticks. Each names its paper.

pub mod dbvt;
pub mod grid_sap;
pub mod sweep_3axis;
