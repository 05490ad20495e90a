//! One tab: commands in, frames out, at the pace that the tab can take.
//!
//! A tab confirms what it has drawn. While [`IN_FLIGHT`] messages wait for that, frames are computed and not sent, and the next message says
//! how many were dropped: a slow tab never stalls the server, and no queue grows. Three threads: this one computes, one reads commands, one
//! writes, since a write may block.

use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use broadphase_bench::failure::Failure;
use serde_json::json;
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::commands::{Command, View, specs};
use crate::simulation::{self, Simulation};
use crate::{Origin, Request, lists};

/// Messages that may be on their way to a tab.
const IN_FLIGHT: u64 = 2;
/// Frames per second, unless the page sets another rate.
const RATE: f64 = 30.0;
/// The longest wait of a paused tab for a command.
const IDLE: Duration = Duration::from_secs(60);
/// How often a paused tab checks for results of slow algorithms.
const LATE: Duration = Duration::from_millis(100);
/// The longest command.
const COMMAND_BYTES: usize = 64 << 10;
/// The most objects of a scene that a page may request.
const MOST_OBJECTS: usize = 5_000_000;

/// What the page sent: a command, or why it cannot be read.
type Incoming = Result<Command, String>;

/// Serves a tab until it closes. `early` are the bytes that came after the handshake.
pub fn serve(request: Request, stream: TcpStream, early: Vec<u8>) -> std::io::Result<()> {
    let (commands, inbox) = mpsc::channel::<Incoming>();
    let (outbox, outgoing) = mpsc::channel::<Message>();
    let (reading, writing) = (stream.try_clone()?, stream.try_clone()?);
    let limits = WebSocketConfig::default().max_message_size(Some(COMMAND_BYTES)).max_frame_size(Some(COMMAND_BYTES));
    // Two ends of one socket: the reader writes nothing but the answer to a closing handshake.
    let mut reader = WebSocket::from_partially_read(reading, early, Role::Server, Some(limits));
    let mut writer = WebSocket::from_raw_socket(writing, Role::Server, None);
    thread::Builder::new().name("view commands".to_string()).spawn(move || {
        // The channel closes with the tab, and the session ends.
        loop {
            match reader.read() {
                Ok(Message::Text(text)) if commands.send(Command::read(&text)).is_err() => return,
                Ok(_) => (),
                Err(tungstenite::Error::Io(error)) if error.kind() == ErrorKind::Interrupted => (),
                Err(_) => return,
            }
        }
    })?;
    let writing = thread::Builder::new().name("view frames".to_string()).spawn(move || {
        for message in outgoing {
            if writer.send(message).is_err() {
                return;
            }
        }
    })?;
    Session::run(request, &inbox, outbox);
    let _ = stream.shutdown(Shutdown::Both); // ends both threads, also one that waits to write
    let _ = writing.join();
    Ok(())
}

/// The state of a tab.
struct Session {
    /// What the tool was started with.
    given: Request,
    /// What is shown now.
    request: Request,
    simulation: Box<dyn Simulation>,
    view: View,
    playing: bool,
    rate: f64,
    frame: usize,
    /// When the next frame is due.
    due: Instant,
    /// Is there something to send?
    dirty: bool,
    sent: u64,
    drawn: u64,
    /// Frames computed and not sent.
    dropped: u64,
    outbox: Sender<Message>,
}

fn text(failure: Failure) -> String {
    match failure {
        Failure::Usage(text) | Failure::Data(text) => text,
        Failure::Interrupted | Failure::ClosedPipe => "interrupted".to_string(),
    }
}

impl Session {
    fn run(request: Request, inbox: &Receiver<Incoming>, outbox: Sender<Message>) {
        let _ = outbox.send(Message::text(lists::hello(&request).to_string()));
        let simulation = match simulation::open(&request) {
            Ok(simulation) => simulation,
            Err(failure) => {
                let _ = outbox.send(Message::text(json!({ "error": text(failure) }).to_string()));
                return;
            }
        };
        let mut session = Self {
            given: request.clone(),
            request,
            simulation,
            view: View::default(),
            playing: true,
            rate: RATE,
            frame: 0,
            due: Instant::now(),
            dirty: true,
            sent: 0,
            drawn: 0,
            dropped: 0,
            outbox,
        };
        while session.turn(inbox) {}
    }

    /// Takes commands, sends the present frame if the tab can take it, and computes the next one if it is due. False when the tab is gone.
    fn turn(&mut self, inbox: &Receiver<Incoming>) -> bool {
        let wait = match self.playing {
            true => self.due.saturating_duration_since(Instant::now()),
            false if self.simulation.is_busy() => LATE,
            false => IDLE,
        };
        let mut next = inbox.recv_timeout(if self.dirty && self.has_room() { Duration::ZERO } else { wait });
        loop {
            match next {
                Ok(incoming) => self.obey(incoming),
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => return false,
            }
            next = inbox.recv_timeout(Duration::ZERO);
        }
        self.dirty |= !self.playing && self.simulation.poll();
        if self.dirty && self.has_room() {
            self.send();
        }
        if self.playing && Instant::now() >= self.due {
            let period = Duration::from_secs_f64(1.0 / self.rate);
            self.due = (self.due + period).max(Instant::now());
            // A frame that was computed and could not be sent is replaced by this one.
            self.dropped += u64::from(self.dirty && !self.has_room());
            self.go_to((self.frame + 1) % self.simulation.frames());
        }
        true
    }

    fn has_room(&self) -> bool {
        self.sent.saturating_sub(self.drawn) < IN_FLIGHT
    }

    fn go_to(&mut self, frame: usize) {
        match self.simulation.go_to(frame) {
            Ok(()) => self.frame = frame,
            Err(failure) => {
                self.playing = false;
                self.complain(&text(failure));
            }
        }
        self.dirty = true;
    }

    fn obey(&mut self, incoming: Incoming) {
        let done = incoming.and_then(|command| self.apply(command));
        if let Err(error) = done {
            self.complain(&error);
        }
    }

    fn apply(&mut self, command: Command) -> Result<(), String> {
        let last = self.simulation.frames() - 1;
        match command {
            Command::Play => (self.playing, self.due) = (true, Instant::now()),
            Command::Pause => self.playing = false,
            Command::Step(by) => {
                self.playing = false;
                self.go_to(self.frame.saturating_add_signed(by.clamp(-1_000_000, 1_000_000) as isize).min(last));
            }
            Command::Seek(frame) => self.go_to(frame.min(last)),
            Command::Rate(rate) => (self.rate, self.due) = (rate, Instant::now()),
            Command::View(view) => self.view = view,
            Command::Drawn(count) => {
                self.drawn = self.drawn.max(count.min(self.sent));
                return Ok(()); // nothing new to show
            }
            Command::Algorithms(names) => {
                let algorithms = specs(&names)?;
                self.simulation.set_algorithms(&algorithms).map_err(text)?;
                self.request.algorithms = algorithms;
            }
            Command::Scene(scene, n) => self.open(scene, n)?,
        }
        self.dirty = true;
        Ok(())
    }

    /// Shows another scene. A page cannot name files: only the one of the command line comes back.
    fn open(&mut self, scene: Option<String>, n: Option<usize>) -> Result<(), String> {
        let given = scene.as_ref().is_none_or(|name| *name == self.given.origin.name());
        let origin = match scene.filter(|_| !given) {
            None => self.given.origin.clone(),
            Some(name) => Origin::Scene(name.parse().map_err(|error: broadphase_scenes::SceneError| error.to_string())?),
        };
        let n = n.filter(|_| matches!(origin, Origin::Scene(_)));
        if let Some(many) = n.filter(|&n| n > MOST_OBJECTS) {
            return Err(format!("{many} objects are too many to watch; give at most {MOST_OBJECTS}"));
        }
        let request = Request { origin, n, algorithms: self.request.algorithms.clone() };
        self.simulation = simulation::open(&request).map_err(text)?;
        (self.request, self.frame) = (request, 0);
        self.view = View { focus: None, pick: None, query: None, ..self.view.clone() };
        Ok(())
    }

    fn send(&mut self) {
        let mut message = self.simulation.message(&self.view);
        self.sent += 1;
        let state = json!({ "playing": self.playing, "rate": self.rate, "dropped": self.dropped, "number": self.sent });
        message.head.insert("stream".to_string(), state);
        let _ = self.outbox.send(Message::binary(message.encode()));
        self.dirty = false;
    }

    fn complain(&self, error: &str) {
        let _ = self.outbox.send(Message::text(json!({ "error": error }).to_string()));
    }
}
