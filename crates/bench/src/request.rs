//! The request of a measurement, and its steps.

use std::rc::Rc;
use std::time::Duration;

use broadphase::{Context, Real, Report, Shape, Spec, Threads};
use broadphase_peers::PeerSpec;

use crate::check::{self, Oracle};
use crate::drives::{self, Drive, Scope};
use crate::failure::Failure;
use crate::outcome::Outcome;
use crate::progress::{Progress, note, note_once};
use crate::rows::{Ours, RowRunner, Theirs};
use crate::selection::{Choice, Source, shape_name};
use crate::source::{self, AnyStream, Blocks, Setting, Stream};
use crate::turns::{self, Label, Row, Rules};

/// What is measured, and how.
pub struct Request<'a> {
    /// Our algorithms.
    pub algorithms: &'a [Choice<Spec>],
    /// Peers.
    pub peers: &'a [Choice<PeerSpec>],
    /// What a box represents.
    pub shape: Shape,
    /// Threads of our algorithms: a row for each number.
    pub threads: &'a [usize],
    /// How rows are driven.
    pub drive: Drive,
    /// The time that a row may spend in frames.
    pub row_limit: Duration,
    /// The frames that a row runs whatever its limit; at least 1.
    pub min_frames: usize,
    /// Compare with an oracle?
    pub check: bool,
    /// Count moves, and keep every frame's figures?
    pub series: bool,
    /// What the progress bar says before the scene.
    pub title: &'a str,
}

/// A context with that many threads.
pub fn context(threads: usize) -> Result<Context, Failure> {
    Ok(match threads {
        1 => Context::new(),
        _ => Context::new().with_executor(Threads::new(threads)?),
    })
}

impl Request<'_> {
    /// Fails if a row that the user named does not suit the setting.
    pub fn check_named(&self, setting: &Setting) -> Result<(), Failure> {
        let ours = self.algorithms.iter().filter(|choice| choice.named).filter_map(|choice| self.misfit(&choice.spec, setting));
        let peers = self.peers.iter().filter(|choice| choice.named).filter_map(|choice| self.peer_misfit(&choice.spec, setting));
        let mut misfits = ours.chain(peers);
        misfits.next().map_or(Ok(()), |text| Err(Failure::Usage(format!("{}: {text}; choose another", setting.scene))))
    }

    /// Why an algorithm does not suit, according to its descriptor.
    fn misfit(&self, spec: &Spec, setting: &Setting) -> Option<String> {
        let descriptor = spec.descriptor();
        if !descriptor.dims.contains(&setting.dim) {
            return Some(format!("{spec} does not work in {}D", setting.dim));
        }
        let shape = shape_name(self.shape);
        (!descriptor.shapes.contains(&self.shape)).then(|| format!("{spec} does not work with --shape {shape}"))
    }

    /// Why a peer does not suit, according to its descriptor. A peer for boxes suits balls too: its pairs are filtered.
    fn peer_misfit(&self, spec: &PeerSpec, setting: &Setting) -> Option<String> {
        let (descriptor, scalar) = (spec.descriptor(), setting.scalar.to_string());
        if !descriptor.dims.contains(&setting.dim) {
            return Some(format!("{spec} does not work in {}D", setting.dim));
        }
        if !descriptor.scalars.contains(&scalar.as_str()) {
            return Some(format!("{spec} does not take {scalar}"));
        }
        (descriptor.balls && self.shape == Shape::Box).then(|| format!("{spec} needs --shape ball"))
    }

    /// Measures all rows that suit on one setting.
    pub fn measure(&self, source: &Source, setting: Setting) -> Result<Vec<Outcome>, Failure> {
        self.check_named(&setting)?;
        let setting = Rc::new(setting);
        let scope = match self.drive {
            Drive::Step | Drive::World | Drive::Oneshot => Scope::All,
            Drive::Between => Scope::Between,
            Drive::Statics => Scope::NotStill(Rc::new(source::still(source, &setting)?)),
        };
        match AnyStream::open(source, &setting)? {
            AnyStream::Flat32(stream) => self.run(stream, &setting, &scope),
            AnyStream::Flat64(stream) => self.run(stream, &setting, &scope),
            AnyStream::Solid32(stream) => self.run(stream, &setting, &scope),
            AnyStream::Solid64(stream) => self.run(stream, &setting, &scope),
        }
    }

    /// Measures all rows that suit on frames that come neither from a scene nor from a file. Drives them by `step` only: other drives need to know
    /// the whole run beforehand.
    pub fn measure_stream<const D: usize, T: Real>(
        &self,
        stream: Box<dyn Stream<D, T>>,
        setting: Setting,
    ) -> Result<Vec<Outcome>, Failure> {
        self.run(stream, &Rc::new(setting), &Scope::All)
    }

    fn run<const D: usize, T: Real>(
        &self,
        stream: Box<dyn Stream<D, T>>,
        setting: &Rc<Setting>,
        scope: &Scope,
    ) -> Result<Vec<Outcome>, Failure> {
        let rows = self.rows::<D, T>(setting, scope)?;
        let oracle = self.oracle::<D, T>(setting, scope)?;
        let title = format!("{}{} n={}", self.title, setting.scene, setting.n);
        let progress = Progress::new(&title, rows.len() * setting.frames);
        let rules = Rules { limit: self.row_limit, min_frames: self.min_frames, series: self.series, progress: &progress };
        turns::run(Blocks::new(stream, setting, self.series), rows, oracle, &rules)
    }

    /// The oracle that checks every frame: if requested, and always for drives other than `step`, whose rows have no reference among them.
    fn oracle<const D: usize, T: Real>(&self, setting: &Setting, scope: &Scope) -> Result<Option<Oracle<D, T>>, Failure> {
        if self.drive != Drive::Step {
            return Ok(Oracle::new(setting, self.shape, &[])?.map(|oracle| oracle.with_scope(scope)));
        }
        if !self.check {
            return Ok(None);
        }
        let ours: Vec<&str> = self.algorithms.iter().map(|choice| choice.spec.descriptor().name).collect();
        let oracle = Oracle::new(setting, self.shape, &ours)?;
        if oracle.is_none() {
            note(&format!("{}: no oracle for {} objects; rows are compared with each other", setting.scene, setting.n));
        }
        Ok(oracle)
    }

    /// The rows that suit; a note for each that does not.
    fn rows<const D: usize, T: Real>(&self, setting: &Rc<Setting>, scope: &Scope) -> Result<Vec<Row<D, T>>, Failure> {
        let contexts =
            self.threads.iter().map(|&threads| Ok((threads, context(threads)?))).collect::<Result<Vec<_>, Failure>>()?;
        let mut rows = Vec::new();
        for choice in self.algorithms {
            let spec = &choice.spec;
            let misfit = self.misfit(spec, setting);
            let exceeds_limit = || (!choice.named).then(|| check::exceeds_limit(spec, setting.n, self.row_limit)).flatten();
            if let Some(misfit) = misfit.or_else(exceeds_limit) {
                note_once(&format!("skipped on {}: {misfit}", setting.scene));
                continue;
            }
            for (threads, context) in &contexts {
                // Measuring regions adds to the time of small frames, so it is done only if several numbers of threads are compared.
                let context = if self.threads.iter().any(|&threads| threads > 1) {
                    context.clone().with_region_timing()
                } else {
                    context.clone()
                };
                let runner: Box<dyn RowRunner<D, T>> = match self.drive {
                    Drive::Step => Box::new(Ours::<D, T>::new(spec, context, self.shape, Report::All)?),
                    drive => drives::runner(drive, spec, context, self.shape, scope)?,
                };
                let label = Label {
                    name: spec.to_string(),
                    base: spec.descriptor().name,
                    peer: false,
                    threads: *threads,
                    drive: self.drive,
                    isa: Some(spec.kernels().isa().name()),
                };
                rows.push(Row::new(runner, label, choice.named, setting, self.shape));
            }
        }
        for choice in self.peers {
            let spec = &choice.spec;
            let exceeds_limit = || (!choice.named).then(|| check::peer_exceeds_limit(spec, setting.n, self.row_limit)).flatten();
            if let Some(misfit) = self.peer_misfit(spec, setting).or_else(exceeds_limit) {
                note_once(&format!("skipped on {}: {misfit}", setting.scene));
                continue;
            }
            let runner = drives::peer(self.drive, Theirs::<D, T>::new(spec, self.shape)?, scope, setting.n);
            let label = Label {
                name: spec.to_string(),
                base: spec.descriptor().name,
                peer: true,
                threads: 1,
                drive: self.drive,
                isa: None,
            };
            rows.push(Row::new(Box::new(runner), label, choice.named, setting, self.shape));
        }
        if rows.is_empty() {
            return Err(Failure::Usage(format!("{}: no algorithm suits it; see `broadphase list`", setting.scene)));
        }
        Ok(rows)
    }
}

/// Fails if a row of ours is wrong or failed. A peer that is wrong is only marked.
pub fn verdict(outcomes: &[Outcome]) -> Result<(), Failure> {
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !outcome.peer && !outcome.right())
        .map(|outcome| format!("{} on {} (n = {}, {})", outcome.name, outcome.setting.scene, outcome.setting.n, outcome.drive))
        .collect();
    if wrong.is_empty() {
        return Ok(());
    }
    Err(Failure::Data(format!(
        "wrong pairs or a failure: {}; see the rows marked so, and run them with --check",
        wrong.join(", ")
    )))
}
