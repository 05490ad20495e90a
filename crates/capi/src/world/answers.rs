//! The answers of many queries, and how they are collected.

use std::ffi::c_void;
use std::ops::ControlFlow;

use broadphase::{Aabb, Answers, Ball, Error, HalfSpace, Handle, Ray, Reader, Real, Swept, SweptBall, World};

use super::{Inner, bp_world};
use crate::arrays::User;
use crate::input::*;
use crate::object::{call, look};
use crate::status::*;
use crate::types::*;

/// The results of many queries, owned by the caller: keep it and use it again, and the next batch does not allocate. Use one per thread.
#[derive(Debug, Default)]
pub struct bp_answers {
    regions: Answers<Handle>,
    hits: HitAnswers,
    starts: Vec<usize>,
    ids: Vec<bp_object_id>,
    distances: Vec<f64>,
    /// Numbers of questions that have no rows of one size.
    numbers: Vec<usize>,
}

/// Answers with distances, by scalar.
#[derive(Debug, Default)]
struct HitAnswers {
    floats: Answers<(Handle, f32)>,
    doubles: Answers<(Handle, f64)>,
}

/// The answers of the last query. Those to question `i` are `ids[starts[i]] .. ids[starts[i + 1]]`. They belong to the bp_answers, and stay until
/// its next query.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct bp_answer_list {
    /// Where the answers to each question start, and the end of the last: `question_count + 1` numbers.
    pub starts: *const usize,
    /// The objects, question after question.
    pub ids: *const bp_object_id,
    /// For rays, motions and the nearest, one for each object: the `t` of a ray, the fraction of a step, the distance. Otherwise null.
    pub distances: *const f64,
    /// The number of questions.
    pub question_count: usize,
    /// The number of all answers.
    pub count: usize,
}

/// Creates an empty bp_answers, to be destroyed with bp_answers_destroy.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_answers_create(answers: *mut *mut bp_answers) -> bp_status {
    report(std::ptr::null_mut(), || {
        Out::new("answers", answers)?.set(Box::into_raw(Box::default()));
        Ok(())
    })
}

/// Frees answers. Null is fine.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bp_answers_destroy(answers: *mut bp_answers) {
    let _ = guard(|| {
        free(answers);
        Ok(())
    });
}

/// All hits, or the first one.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Hits {
    All,
    First,
}

/// The rows of the queries, and their number.
#[derive(Clone, Copy)]
pub(super) enum Question {
    InBoxes(*const c_void, usize),
    AtPoints(*const c_void, usize),
    InBalls(*const c_void, usize),
    InFrusta(*const c_void, usize, usize),
    AlongRays(*const c_void, usize, Hits),
    AlongSweeps(*const c_void, usize, Hits),
    AlongBallSweeps(*const c_void, usize, Hits),
    NearestTo(*const c_void, usize, usize, f64),
    NearestToBoxes(*const c_void, usize, usize, f64),
}

/// Runs queries on a world. If changes are pending, they are applied first; otherwise the world is only read, and several threads may query at once.
pub(super) fn ask(
    world: *mut bp_world,
    def: *const bp_query_def,
    out: (*mut bp_answers, *mut bp_answer_list),
    question: Question,
) -> bp_status {
    let mut pending = false;
    let status = look(
        world,
        "world",
        |world| &world.0,
        |inner| {
            let (def, answers, list) = (self::def("def", def)?, one_mut("answers", out.0)?, Out::new("list", out.1)?);
            pending = super::each!(inner, world => world.world.try_read().is_none());
            if pending { Ok(()) } else { answer(inner, &def, answers, list, question) }
        },
    );
    if !pending {
        return status;
    }
    call(
        world,
        "world",
        |world| &world.0,
        |inner| {
            super::each!(inner, world => { world.world.read()?; });
            let (def, answers, list) = (self::def("def", def)?, one_mut("answers", out.0)?, Out::new("list", out.1)?);
            answer(inner, &def, answers, list, question)
        },
    )
}

fn answer(
    inner: &Inner,
    def: &bp_query_def,
    answers: &mut bp_answers,
    list: Out<bp_answer_list>,
    question: Question,
) -> Result<(), Fail> {
    answers.starts.clear();
    answers.ids.clear();
    answers.distances.clear();
    match inner {
        Inner::F2(world) => answers.find(&world.world, def, question)?,
        Inner::F3(world) => answers.find(&world.world, def, question)?,
        Inner::D2(world) => answers.find(&world.world, def, question)?,
        Inner::D3(world) => answers.find(&world.world, def, question)?,
    }
    list.set(bp_answer_list {
        starts: answers.starts.as_ptr(),
        ids: answers.ids.as_ptr(),
        distances: if answers.distances.is_empty() { std::ptr::null() } else { answers.distances.as_ptr() },
        question_count: answers.starts.len() - 1,
        count: answers.ids.len(),
    });
    Ok(())
}

/// The answers with distances, by scalar.
trait Hitting: Real {
    fn answers(hits: &mut HitAnswers) -> &mut Answers<(Handle, Self)>;
}

impl Hitting for f32 {
    fn answers(hits: &mut HitAnswers) -> &mut Answers<(Handle, Self)> {
        &mut hits.floats
    }
}

impl Hitting for f64 {
    fn answers(hits: &mut HitAnswers) -> &mut Answers<(Handle, Self)> {
        &mut hits.doubles
    }
}

impl bp_answers {
    /// Filters the reader as the definition says, and runs the queries.
    fn find<const D: usize, T: Hitting>(
        &mut self,
        world: &World<D, T>,
        def: &bp_query_def,
        question: Question,
    ) -> Result<(), Fail> {
        let stale = || Fail::new(BP_INTERNAL_ERROR, "", "changes are pending".to_string());
        let mut reader = world.try_read().ok_or_else(stale)?.in_layers(def.layers);
        if flag("has_tag", def.has_tag)? {
            reader = reader.with_tag(def.tag.into());
        }
        if def.excluded != bp_object_id::default() {
            reader = reader.excluding(def.excluded.into());
        }
        let Some(matching) = def.matching else { return self.collect(&reader, question) };
        let user = User(def.matching_user);
        // SAFETY: (caller) a function of the header's type, with the user pointer that came with it.
        let matching = move |handle: Handle| unsafe { matching(user.pointer(), handle.into()) != 0 };
        self.collect(&reader.matching(&matching), question)
    }

    fn collect<const D: usize, T: Hitting>(&mut self, reader: &Reader<'_, D, T>, question: Question) -> Result<(), Fail> {
        let regions = &mut self.regions;
        match question {
            Question::InBoxes(boxes, count) => reader.in_boxes(rows("boxes", boxes, count)?, regions)?,
            Question::AtPoints(points, count) => reader.at_points(rows("points", points, count)?, regions)?,
            Question::InBalls(balls, count) => reader.in_balls(rows("balls", balls, count)?, regions)?,
            Question::InFrusta(sides, side_count, count) => {
                let sides = frusta::<D, T>(sides, side_count, count)?;
                self.numbers.clear();
                self.numbers.extend(0..count);
                regions.ask(reader.world().context(), &self.numbers, |&number, list| {
                    reader.in_frustum(&sides[number * side_count..][..side_count], |handle| {
                        list.push(handle);
                        ControlFlow::Continue(())
                    })
                })?;
            }
            _ => return self.collect_hits(reader, question),
        }
        self.starts.push(0);
        for answer in self.regions.iter() {
            self.ids.extend(answer.iter().map(|&handle| bp_object_id::from(handle)));
            self.starts.push(self.ids.len());
        }
        Ok(())
    }

    fn collect_hits<const D: usize, T: Hitting>(&mut self, reader: &Reader<'_, D, T>, question: Question) -> Result<(), Fail> {
        let hits = T::answers(&mut self.hits);
        match question {
            Question::AlongRays(rays, count, wanted) => {
                let rays: &[Ray<D, T>] = rows("rays", rays, count)?;
                if wanted == Hits::First { reader.first_along_rays(rays, hits)? } else { reader.along_rays(rays, hits)? }
            }
            Question::AlongSweeps(sweeps, count, wanted) => {
                let sweeps: &[Swept<D, T>] = rows("sweeps", sweeps, count)?;
                match wanted {
                    Hits::First => reader.first_along_sweeps(sweeps, hits)?,
                    Hits::All => hits.ask(reader.world().context(), sweeps, |swept, list| {
                        reader.along_swept(swept, |handle, at| {
                            list.push((handle, at));
                            ControlFlow::Continue(T::ONE)
                        })
                    })?,
                }
            }
            Question::AlongBallSweeps(sweeps, count, wanted) => {
                let sweeps: &[SweptBall<D, T>] = rows("sweeps", sweeps, count)?;
                match wanted {
                    Hits::First => reader.first_along_ball_sweeps(sweeps, hits)?,
                    Hits::All => hits.ask(reader.world().context(), sweeps, |swept, list| {
                        reader.along_swept_ball(swept, |handle, at| {
                            list.push((handle, at));
                            ControlFlow::Continue(T::ONE)
                        })
                    })?,
                }
            }
            Question::NearestTo(points, count, k, distance) => {
                reader.nearest_to(rows("points", points, count)?, k, T::from_f64(distance), hits)?;
            }
            Question::NearestToBoxes(boxes, count, k, distance) => {
                reader.nearest_to_boxes(rows("boxes", boxes, count)?, k, T::from_f64(distance), hits)?;
            }
            _ => {}
        }
        self.starts.push(0);
        for answer in hits.iter() {
            self.ids.extend(answer.iter().map(|&(handle, _)| bp_object_id::from(handle)));
            self.distances.extend(answer.iter().map(|&(_, at)| at.to_f64()));
            self.starts.push(self.ids.len());
        }
        Ok(())
    }
}

/// The sides of all frusta, one after the other.
fn frusta<'a, const D: usize, T: Real>(
    sides: *const c_void,
    side_count: usize,
    count: usize,
) -> Result<&'a [HalfSpace<D, T>], Fail> {
    let many = || Fail::new(BP_INVALID_COUNT, "sides", format!("there cannot be {count} times {side_count} sides"));
    if side_count == 0 && count > 0 {
        return Err(Error::InvalidQuery { reason: "a frustum needs sides" }.into());
    }
    rows("sides", sides, side_count.checked_mul(count).ok_or_else(many)?)
}

// Rows are read as these types.
const _: () = assert!(size_of::<Aabb<3, f32>>() == 6 * 4 && size_of::<Ball<2, f64>>() == 3 * 8);
const _: () = assert!(size_of::<Ray<3, f32>>() == 7 * 4 && size_of::<Swept<2, f64>>() == 6 * 8);
const _: () = assert!(size_of::<SweptBall<3, f32>>() == 7 * 4 && size_of::<HalfSpace<3, f64>>() == 4 * 8);
