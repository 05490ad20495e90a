//! The server, on the loopback address only. Requests without the token get 403, whatever their path.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use broadphase_bench::failure::Failure;
use tungstenite::handshake::derive_accept_key;

use crate::{Request, page, session};

/// How long a request may take to arrive.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest head of a request.
const HEAD_BYTES: usize = 16 << 10;
/// Connections at a time.
const MOST_CONNECTIONS: usize = 64;

/// A server that runs until its process ends.
#[derive(Debug)]
pub struct Running {
    address: String,
    shared: Arc<Shared>,
    accepting: JoinHandle<()>,
}

#[derive(Debug)]
struct Shared {
    request: Request,
    token: String,
    port: u16,
    connections: AtomicUsize,
    streams: AtomicUsize,
}

/// Counts something for as long as it lives.
struct Counted<'a>(&'a AtomicUsize);

impl<'a> Counted<'a> {
    fn new(counter: &'a AtomicUsize) -> Self {
        counter.fetch_add(1, Ordering::SeqCst);
        Self(counter)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Starts to listen, on a free port if `port` is 0.
pub fn start(request: Request, port: u16) -> Result<Running, Failure> {
    let failed = |what: &str, error: &dyn std::fmt::Display| Failure::Data(format!("cannot {what}: {error}"));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .map_err(|error| Failure::Data(format!("cannot listen on port {port}: {error}; give another --port, or none")))?;
    let port = listener.local_addr().map_err(|error| failed("listen", &error))?.port();
    let mut secret = [0; 16];
    getrandom::fill(&mut secret).map_err(|error| failed("make a token", &error))?;
    let token: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
    let address = format!("http://127.0.0.1:{port}/{token}/");
    let shared = Arc::new(Shared { request, token, port, connections: AtomicUsize::new(0), streams: AtomicUsize::new(0) });
    let accepted = Arc::clone(&shared);
    let accepting = thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            accept(&accepted, stream);
        }
    });
    Ok(Running { address, shared, accepting })
}

impl Running {
    /// The address of the page, with the token.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Tabs that are being served.
    pub fn streams(&self) -> usize {
        self.shared.streams.load(Ordering::SeqCst)
    }

    /// Serves until the process ends.
    pub fn wait(self) {
        let _ = self.accepting.join();
    }
}

/// Answers in a thread of its own. What cannot be answered is closed.
fn accept(shared: &Arc<Shared>, stream: TcpStream) {
    if shared.connections.load(Ordering::SeqCst) >= MOST_CONNECTIONS {
        return;
    }
    let shared = Arc::clone(shared);
    let _ = thread::Builder::new().name("view request".to_string()).spawn(move || {
        let _counted = Counted::new(&shared.connections);
        // A tab that is closed during an answer is not an error.
        let _ = shared.answer(stream);
    });
}

/// The parts of a request that the server uses.
#[derive(Debug, Default)]
struct Head {
    method: String,
    path: String,
    host: String,
    origin: Option<String>,
    /// The key of a WebSocket handshake.
    key: Option<String>,
    /// The bytes after the head.
    rest: Vec<u8>,
}

impl Head {
    /// Reads until the empty line; `None` if there is none, or no HTTP.
    fn read(stream: &mut TcpStream) -> io::Result<Option<Self>> {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let count = match stream.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                result => result?,
            };
            bytes.extend_from_slice(&buffer[..count]);
            let mut fields = [httparse::EMPTY_HEADER; 64];
            let mut parsed = httparse::Request::new(&mut fields);
            match parsed.parse(&bytes) {
                Ok(httparse::Status::Complete(length)) => return Ok(Some(Self::of(&parsed, bytes[length..].to_vec()))),
                Ok(httparse::Status::Partial) if count > 0 && bytes.len() < HEAD_BYTES => (),
                _ => return Ok(None),
            }
        }
    }

    fn of(parsed: &httparse::Request<'_, '_>, rest: Vec<u8>) -> Self {
        let field = |name: &str| {
            let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.map(|header| String::from_utf8_lossy(header.value).trim().to_string())
        };
        let upgrades = field("upgrade").is_some_and(|value| value.eq_ignore_ascii_case("websocket"));
        Self {
            method: parsed.method.unwrap_or_default().to_string(),
            path: parsed.path.unwrap_or_default().to_string(),
            host: field("host").unwrap_or_default(),
            origin: field("origin"),
            key: field("sec-websocket-key").filter(|_| upgrades),
            rest,
        }
    }
}

impl Shared {
    /// Is this a name of this server? A request with another name comes from a foreign page whose host name was pointed at this address.
    fn is_own(&self, host: &str) -> bool {
        [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)].iter().any(|own| own == host)
    }

    /// The part of the path after the token, if the token is right. Takes equally long for every wrong one.
    fn behind_token<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (token, rest) = path.strip_prefix('/')?.split_once('/')?;
        let differs = |(a, b): (u8, u8)| a ^ b;
        let wrong = token.bytes().zip(self.token.bytes()).map(differs).fold(0, |all, one| all | one);
        (token.len() == self.token.len() && wrong == 0).then_some(rest)
    }

    fn answer(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let Some(head) = Head::read(&mut stream)? else { return reply(&mut stream, "400 Bad Request", "text/plain", "", "") };
        let origin_is_own =
            head.origin.as_ref().is_none_or(|origin| origin.strip_prefix("http://").is_some_and(|host| self.is_own(host)));
        let place = self.behind_token(&head.path).filter(|_| self.is_own(&head.host) && origin_is_own);
        match (place, head.method.as_str(), &head.key) {
            (Some("stream"), "GET", Some(key)) => {
                write!(
                    stream,
                    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {}\r\n\r\n",
                    derive_accept_key(key.as_bytes())
                )?;
                stream.set_read_timeout(None)?;
                stream.set_write_timeout(None)?;
                let _counted = Counted::new(&self.streams);
                session::serve(self.request.clone(), stream, head.rest)
            }
            (Some(""), "GET", _) => {
                let policy = page::policy(&format!("ws://{}", head.host));
                reply(
                    &mut stream,
                    "200 OK",
                    "text/html; charset=utf-8",
                    &policy,
                    &page::assemble(&self.request.origin.name(), ""),
                )
            }
            (Some("streams"), "GET", _) => {
                let count = self.streams.load(Ordering::SeqCst).to_string();
                reply(&mut stream, "200 OK", "text/plain", "", &count)
            }
            _ => reply(
                &mut stream,
                "403 Forbidden",
                "text/plain",
                "",
                "The address is wrong: open the one that `broadphase view` printed.\n",
            ),
        }
    }
}

/// A whole answer; the connection closes behind it.
fn reply(stream: &mut TcpStream, status: &str, kind: &str, policy: &str, body: &str) -> io::Result<()> {
    let policy = if policy.is_empty() { "default-src 'none'" } else { policy };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nContent-Security-Policy: {policy}\r\nReferrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    stream.write_all(body.as_bytes())?;
    stream.flush()
}
