//! The methods of the four worlds that do something for each object, compiled in this crate.
//!
//! Generic code is compiled in the crate that uses it, with the optimization of that crate. A debug build of a game would run these methods without
//! optimization, even if this crate is optimized for it (`[profile.dev.package.broadphase] opt-level = 3`). So a world calls them by pointer.

use std::any::Any;

use super::update::HandleConverter;
use crate::error::Error;
use crate::geometry::{Aabb, Real};
use crate::objects::side::Side;
use crate::objects::table::Table;
use crate::objects::{Handle, Object};
use crate::pairs::Pair;

/// Pointers to the methods of a type of world.
pub(super) struct Compiled<const D: usize, T: Real> {
    pub(super) insert: fn(&mut Table<D, T>, &Object<D, T>) -> Result<Handle, Error>,
    pub(super) set_box: fn(&mut Table<D, T>, Handle, &Aabb<D, T>) -> Result<(), Error>,
    pub(super) set_boxes_of: fn(&mut Table<D, T>, &[(Handle, Aabb<D, T>)]) -> Result<(), Error>,
    pub(super) set_boxes: fn(&mut Table<D, T>, &[Aabb<D, T>]) -> Result<(), Error>,
    pub(super) gather: fn(&mut Side<D, T>) -> Result<(), Error>,
    pub(super) clear_marks: fn(&mut Side<D, T>),
    #[allow(clippy::type_complexity)]
    pub(super) append: fn(&mut HandleConverter, &Table<D, T>, bool, &[Pair], (&mut Vec<(Handle, Handle)>, usize)),
}

static PLANE_F32: Compiled<2, f32> = Compiled::new();
static PLANE_F64: Compiled<2, f64> = Compiled::new();
static SPACE_F32: Compiled<3, f32> = Compiled::new();
static SPACE_F64: Compiled<3, f64> = Compiled::new();

impl<const D: usize, T: Real> Compiled<D, T> {
    const fn new() -> Self {
        Self {
            insert: |table, object| table.insert(object, None),
            set_box: |table, handle, aabb| table.set_box(handle, *aabb),
            set_boxes_of: Table::set_boxes_of,
            set_boxes: Table::set_boxes,
            gather: Side::gather,
            clear_marks: Side::clear_marks,
            append: HandleConverter::append,
        }
    }

    /// The methods compiled here. Other dimensions, which need a structure of the user's, are compiled where they are used.
    pub(super) fn methods() -> &'static Self {
        let listed: [&'static dyn Any; 4] = [&PLANE_F32, &PLANE_F64, &SPACE_F32, &SPACE_F64];
        listed.into_iter().find_map(|methods| methods.downcast_ref()).unwrap_or(const { &Self::new() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_four_worlds_have_their_methods_in_this_crate() {
        assert!(std::ptr::eq(Compiled::methods(), &PLANE_F32) && std::ptr::eq(Compiled::methods(), &PLANE_F64));
        assert!(std::ptr::eq(Compiled::methods(), &SPACE_F32) && std::ptr::eq(Compiled::methods(), &SPACE_F64));
    }
}
