//! Many queries at once.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard};

use super::Reader;
use crate::context::Context;
use crate::error::Error;
use crate::geometry::{Aabb, Ball, Ray, Real, Swept, SweptBall};
use crate::objects::Handle;

/// Questions that one job answers.
const BLOCK: usize = 64;
/// The work of one question, in the units of [`Context::run_weighted`].
const QUESTION: usize = 500;

/// The results of many queries. Keep it and use it again: then the next batch does not allocate.
///
/// The answers do not depend on the number of threads.
///
/// ```
/// use broadphase::{Aabb, Answers, World2};
/// let mut world = World2::new();
/// let handles = world.insert_many(&[Aabb::point([1.0, 1.0]), Aabb::point([5.0, 5.0])])?;
/// let areas = [Aabb::new([0.0, 0.0], [2.0, 2.0]), Aabb::new([2.0, 2.0], [3.0, 3.0]), Aabb::new([0.0, 0.0], [9.0, 9.0])];
/// let mut answers = Answers::new();
/// world.read()?.in_boxes(&areas, &mut answers)?;
/// assert_eq!((answers.get(0), answers.get(1), answers.get(2)), (&handles[..1], &[][..], &handles[..]));
/// # Ok::<(), broadphase::Error>(())
/// ```
#[derive(Debug)]
pub struct Answers<A> {
    /// Where the answers to each question start, and the end of the last.
    starts: Vec<usize>,
    list: Vec<A>,
    /// The output of each job.
    blocks: Vec<Mutex<Block<A>>>,
}

/// The answers to the questions of one job.
#[derive(Debug)]
struct Block<A> {
    list: Vec<A>,
    /// Where the answers to each question end.
    ends: Vec<usize>,
    error: Option<Error>,
}

impl<A> Default for Answers<A> {
    fn default() -> Self {
        Self { starts: vec![0], list: Vec::new(), blocks: Vec::new() }
    }
}

fn lock<A>(block: &Mutex<Block<A>>) -> MutexGuard<'_, Block<A>> {
    block.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl<A> Answers<A> {
    /// An empty list: no questions, no answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Were there no questions?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The answers to a question.
    ///
    /// # Panics
    /// If there is no such question: it must be below [`len`](Answers::len).
    pub fn get(&self, question: usize) -> &[A] {
        &self.list[self.starts[question]..self.starts[question + 1]]
    }

    /// The answers to each question.
    pub fn iter(&self) -> impl Iterator<Item = &[A]> {
        (0..self.len()).map(|question| self.get(question))
    }

    /// All answers, question after question.
    pub fn list(&self) -> &[A] {
        &self.list
    }
}

impl<A: Copy + Send> Answers<A> {
    /// Answers each question, on the threads of `context`. `answer` appends its results to the list, and must not depend on what the list already
    /// holds.
    /// On error there are no answers, and the error is that of the first invalid question.
    pub fn ask<Q: Sync>(
        &mut self,
        context: &Context,
        questions: &[Q],
        answer: impl Fn(&Q, &mut Vec<A>) -> Result<(), Error> + Sync,
    ) -> Result<(), Error> {
        let jobs = questions.len().div_ceil(BLOCK);
        while self.blocks.len() < jobs {
            self.blocks.push(Mutex::new(Block { list: Vec::new(), ends: Vec::with_capacity(BLOCK), error: None }));
        }
        let blocks = &self.blocks;
        context.run_weighted(jobs, QUESTION * questions.len(), |job, _| {
            let block = &mut *lock(&blocks[job]);
            block.list.clear();
            block.ends.clear();
            block.error = None;
            for question in &questions[job * BLOCK..((job + 1) * BLOCK).min(questions.len())] {
                if let Err(error) = answer(question, &mut block.list) {
                    block.error = Some(error);
                    return;
                }
                block.ends.push(block.list.len());
            }
        });
        self.gather(jobs)
    }

    /// Concatenates the answers of all jobs.
    fn gather(&mut self, jobs: usize) -> Result<(), Error> {
        self.list.clear();
        self.starts.clear();
        self.starts.push(0);
        for block in &self.blocks[..jobs] {
            let block = lock(block);
            if let Some(error) = block.error.clone() {
                self.list.clear();
                self.starts.truncate(1);
                return Err(error);
            }
            let before = self.list.len();
            self.starts.extend(block.ends.iter().map(|end| before + end));
            self.list.extend_from_slice(&block.list);
        }
        Ok(())
    }
}

/// # Many questions
///
/// On the threads of the world ([`World::set_context`](crate::World::set_context)). For other questions, and other threads:
/// [`Answers::ask`].
impl<const D: usize, T: Real> Reader<'_, D, T> {
    /// [`in_box`](Reader::in_box) for each box.
    pub fn in_boxes(&self, areas: &[Aabb<D, T>], answers: &mut Answers<Handle>) -> Result<(), Error> {
        answers.ask(self.world().context(), areas, |area, list| {
            self.in_box(area, |handle| {
                list.push(handle);
                ControlFlow::Continue(())
            })
        })
    }

    /// [`first_along_ray`](Reader::first_along_ray) for each ray: one answer or none.
    pub fn first_along_rays(&self, rays: &[Ray<D, T>], answers: &mut Answers<(Handle, T)>) -> Result<(), Error> {
        answers.ask(self.world().context(), rays, |ray, list| {
            list.extend(self.first_along_ray(ray)?);
            Ok(())
        })
    }

    /// [`along_ray`](Reader::along_ray) for each ray: all objects that it enters, not sorted by distance.
    pub fn along_rays(&self, rays: &[Ray<D, T>], answers: &mut Answers<(Handle, T)>) -> Result<(), Error> {
        answers.ask(self.world().context(), rays, |ray, list| {
            self.along_ray(ray, |handle, at| {
                list.push((handle, at));
                ControlFlow::Continue(ray.length)
            })
        })
    }

    /// [`nearest_within`](Reader::nearest_within) to each point.
    pub fn nearest_to(&self, points: &[[T; D]], k: usize, distance: T, answers: &mut Answers<(Handle, T)>) -> Result<(), Error> {
        answers.ask(self.world().context(), points, |&point, list| self.append_nearest(point, k, distance, list))
    }

    /// [`nearest_to_box`](Reader::nearest_to_box) for each box.
    pub fn nearest_to_boxes(
        &self,
        areas: &[Aabb<D, T>],
        k: usize,
        distance: T,
        answers: &mut Answers<(Handle, T)>,
    ) -> Result<(), Error> {
        answers.ask(self.world().context(), areas, |area, list| self.append_nearest_to_box(area, k, distance, list))
    }

    /// [`in_ball`](Reader::in_ball) for each ball.
    pub fn in_balls(&self, balls: &[Ball<D, T>], answers: &mut Answers<Handle>) -> Result<(), Error> {
        answers.ask(self.world().context(), balls, |ball, list| self.in_ball(ball, push(list)))
    }

    /// [`at_point`](Reader::at_point) for each point.
    pub fn at_points(&self, points: &[[T; D]], answers: &mut Answers<Handle>) -> Result<(), Error> {
        answers.ask(self.world().context(), points, |&point, list| self.at_point(point, push(list)))
    }

    /// [`first_along_swept`](Reader::first_along_swept) for each moving box: one answer or none.
    pub fn first_along_sweeps(&self, sweeps: &[Swept<D, T>], answers: &mut Answers<(Handle, T)>) -> Result<(), Error> {
        answers.ask(self.world().context(), sweeps, |swept, list| {
            list.extend(self.first_along_swept(swept)?);
            Ok(())
        })
    }

    /// [`first_along_swept_ball`](Reader::first_along_swept_ball) for each moving ball: one answer or none.
    pub fn first_along_ball_sweeps(&self, sweeps: &[SweptBall<D, T>], answers: &mut Answers<(Handle, T)>) -> Result<(), Error> {
        answers.ask(self.world().context(), sweeps, |swept, list| {
            list.extend(self.first_along_swept_ball(swept)?);
            Ok(())
        })
    }
}

/// A visitor that appends.
fn push(list: &mut Vec<Handle>) -> impl FnMut(Handle) -> ControlFlow<()> + '_ {
    |handle| {
        list.push(handle);
        ControlFlow::Continue(())
    }
}
