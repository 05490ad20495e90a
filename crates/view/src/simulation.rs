//! A source of frames and the algorithms that run on it, whatever the dimension and the scalar.

use std::sync::Arc;

use broadphase::{Real, Spec};
use broadphase_bench::failure::Failure;
use broadphase_bench::source::{AnyStream, Setting};
use broadphase_scenes::Scalar;
use serde_json::Value;

use crate::Request;
use crate::background::Background;
use crate::commands::View;
use crate::picture::{Legend, Picture};
use crate::quantize::Window;
use crate::runner::{Measured, Runner};
use crate::timeline::{Boxes, Opener, Timeline};
use crate::wire::Message;

/// Room around the objects, as a share of each side.
const ROOM: f64 = 0.05;

/// A scene that can be looked at.
pub trait Simulation {
    /// How many frames there are.
    fn frames(&self) -> usize;

    /// Goes to a frame and runs the algorithms on it.
    fn go_to(&mut self, number: usize) -> Result<(), Failure>;

    /// Other algorithms from now on, run on the present frame. On error the old ones stay.
    fn set_algorithms(&mut self, specs: &[Spec]) -> Result<(), Failure>;

    /// Takes late results of the algorithms beside the first; true if there were any.
    fn poll(&mut self) -> bool;

    /// Are results on their way?
    fn is_busy(&self) -> bool;

    /// The present frame.
    fn message(&mut self, view: &View) -> Message;
}

/// Opens the requested source at its first frame.
pub fn open(request: &Request) -> Result<Box<dyn Simulation>, Failure> {
    let source = request.origin.source();
    let setting = Setting::of(&source, request.n, None)?;
    macro_rules! stage {
        ($kind:ident) => {{
            let facts = setting.clone();
            let open = move || match AnyStream::open(&source, &setting)? {
                AnyStream::$kind(stream) => Ok(stream),
                _ => Err(Failure::Data("the file has changed while it was read; open it again".to_string())),
            };
            Box::new(Stage::open(request, Box::new(open), &facts)?)
        }};
    }
    Ok(match AnyStream::open(&source, &setting)? {
        AnyStream::Flat32(_) => stage!(Flat32),
        AnyStream::Flat64(_) => stage!(Flat64),
        AnyStream::Solid32(_) => stage!(Solid32),
        AnyStream::Solid64(_) => stage!(Solid64),
    })
}

/// Frames of one dimension and scalar, and what runs on them.
struct Stage<const D: usize, T: Real> {
    name: String,
    scalar: Scalar,
    n: usize,
    timeline: Timeline<D, T>,
    number: usize,
    boxes: Boxes<D, T>,
    /// The frame before, if it was the last one shown.
    before: Option<Boxes<D, T>>,
    /// The algorithm that is drawn, and what the frame cost it.
    runner: Runner<D, T>,
    measured: Measured,
    background: Vec<Background<D, T>>,
    world: Window,
    legend: Legend,
}

impl<const D: usize, T: Real> Stage<D, T> {
    fn open(request: &Request, open: Opener<D, T>, setting: &Setting) -> Result<Self, Failure> {
        let (n, scalar) = (setting.n, setting.scalar);
        let mut timeline = Timeline::new(open, setting.frames)?;
        let boxes = timeline.frame(0)?;
        let (runner, background) = build(&request.algorithms, n)?;
        let mut stage = Self {
            name: request.origin.name(),
            scalar,
            n,
            timeline,
            number: 0,
            world: Window::around(&boxes).with_room(D, ROOM),
            boxes,
            before: None,
            runner,
            measured: Measured::default(),
            background,
            legend: Legend::default(),
        };
        stage.run()?;
        Ok(stage)
    }
}

/// The algorithms: the first one here, the others in threads of their own.
fn build<const D: usize, T: Real>(specs: &[Spec], n: usize) -> Result<(Runner<D, T>, Vec<Background<D, T>>), Failure> {
    let (first, others) = specs.split_first().ok_or_else(|| Failure::Usage("choose at least one algorithm".to_string()))?;
    let runner = Runner::new(first, n).map_err(Failure::Usage)?;
    Ok((runner, others.iter().map(|spec| Background::new(spec, n)).collect()))
}

impl<const D: usize, T: Real> Stage<D, T> {
    /// Runs the algorithms on the present frame.
    fn run(&mut self) -> Result<(), Failure> {
        self.measured = self.runner.step(self.number, &self.boxes)?;
        self.background.iter_mut().for_each(|background| background.offer(self.number, &self.boxes));
        let around = Window::around(&self.boxes);
        if !self.world.holds(&around) {
            self.world = self.world.union(around.with_room(D, ROOM));
        }
        Ok(())
    }

    fn algorithms(&self) -> Value {
        let first = serde_json::json!({ "name": self.runner.name(), "measured": self.measured.json(), "missed": 0 });
        let others = self.background.iter().map(|background| background.json(self.number, self.measured.pairs));
        std::iter::once(first).chain(others).collect::<Vec<_>>().into()
    }
}

impl<const D: usize, T: Real> Simulation for Stage<D, T> {
    fn frames(&self) -> usize {
        self.timeline.frames()
    }

    fn go_to(&mut self, number: usize) -> Result<(), Failure> {
        let number = number.min(self.frames() - 1);
        if number == self.number {
            return Ok(());
        }
        let boxes = self.timeline.frame(number)?;
        let last = std::mem::replace(&mut self.boxes, boxes);
        self.before = (number == self.number + 1).then(|| Arc::clone(&last));
        self.number = number;
        self.run()
    }

    fn set_algorithms(&mut self, specs: &[Spec]) -> Result<(), Failure> {
        let (mut runner, background) = build(specs, self.n)?;
        let measured = runner.step(self.number, &self.boxes)?;
        (self.runner, self.background, self.measured) = (runner, background, measured);
        self.background.iter_mut().for_each(|background| background.offer(self.number, &self.boxes));
        Ok(())
    }

    fn poll(&mut self) -> bool {
        self.background.iter_mut().filter_map(|background| background.poll().then_some(())).count() > 0
    }

    fn is_busy(&self) -> bool {
        self.background.iter().any(Background::is_busy)
    }

    fn message(&mut self, view: &View) -> Message {
        let picture = Picture {
            boxes: &self.boxes,
            before: self.before.as_ref().map(|boxes| &boxes[..]),
            runner: &self.runner,
            stage: self.world,
            view,
        };
        let mut message = picture.compose(&mut self.legend);
        let scalar = if self.scalar == Scalar::F32 { "f32" } else { "f64" };
        let facts = [
            ("frame", self.number.into()),
            ("frames", self.frames().into()),
            ("scene", self.name.clone().into()),
            ("scalar", scalar.into()),
            ("algorithms", self.algorithms()),
        ];
        message.head.extend(facts.map(|(name, value)| (name.to_string(), value)));
        message
    }
}
