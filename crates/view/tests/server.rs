//! The server as a browser uses it: access, streaming, and tabs that are slow or closed.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use broadphase_view::wire::Message as Frame;
use broadphase_view::{Origin, Request, Running, start};
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

/// Far more than anything here takes; what does not come by then never will.
const PATIENCE: Duration = Duration::from_secs(120);

fn serve(scene: &str, n: usize, algorithms: &[&str]) -> Running {
    let algorithms = algorithms.iter().map(|name| name.parse().unwrap()).collect();
    start(Request { origin: Origin::Scene(scene.parse().unwrap()), n: Some(n), algorithms }, 0).unwrap()
}

/// `http://HOST/TOKEN/` as host and path.
fn parts(running: &Running) -> (String, String) {
    let rest = running.address().strip_prefix("http://").unwrap();
    let (host, token) = rest.split_once('/').unwrap();
    (host.to_string(), format!("/{token}"))
}

/// The whole answer to a request.
fn ask(running: &Running, path: &str, fields: &str) -> String {
    let (host, _) = parts(running);
    let mut stream = TcpStream::connect(&host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let named = if fields.to_lowercase().contains("host:") { String::new() } else { format!("Host: {host}\r\n") };
    write!(stream, "GET {path} HTTP/1.1\r\n{named}{fields}\r\n").unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

struct Tab(WebSocket<TcpStream>);

impl Tab {
    fn open(running: &Running) -> Self {
        let (host, path) = parts(running);
        let stream = TcpStream::connect(&host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(format!("ws://{host}{path}stream"), stream).unwrap();
        let mut tab = Self(socket);
        assert!(tab.text()["scenes"].as_array().unwrap().len() > 10, "the first message lists what can be chosen");
        tab
    }

    fn say(&mut self, command: Value) {
        self.0.send(Message::text(command.to_string())).unwrap();
    }

    /// The next message, also where a signal interrupts the wait.
    fn read(&mut self) -> Message {
        loop {
            match self.0.read() {
                Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::Interrupted => (),
                result => return result.unwrap(),
            }
        }
    }

    /// The next text, passing over frames.
    fn text(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.read() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// The next frame, confirmed.
    fn frame(&mut self) -> Frame {
        let frame = self.unconfirmed();
        self.say(json!({ "do": "drawn", "count": frame.head["stream"]["number"] }));
        frame
    }

    fn unconfirmed(&mut self) -> Frame {
        loop {
            if let Message::Binary(bytes) = self.read() {
                return Frame::decode(&bytes).unwrap();
            }
        }
    }

    /// The first frame of which `wanted` holds.
    fn until(&mut self, wanted: impl Fn(&Frame) -> bool) -> Frame {
        let start = Instant::now();
        loop {
            let frame = self.frame();
            if wanted(&frame) {
                return frame;
            }
            assert!(start.elapsed() < PATIENCE, "waited in vain; the last frame was {:?}", frame.head);
        }
    }
}

fn wait_for(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn only_the_right_token_host_and_origin_get_in() {
    let running = serve("pile", 50, &["auto"]);
    let (host, path) = parts(&running);
    let page = ask(&running, &path, "");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("default-src 'none'") && page.contains("</html>"), "{page:.300}");
    let wrong = format!("/{}/", "0".repeat(path.len() - 2));
    for bad in
        ["/", "/favicon.ico", "/stream", &wrong, &format!("{wrong}stream"), &format!("{path}../"), &format!("{path}x"), "//"]
    {
        assert!(ask(&running, bad, "").starts_with("HTTP/1.1 403"), "{bad}");
    }
    assert!(ask(&running, &path, "Host: evil.example\r\n").starts_with("HTTP/1.1 403"), "a name that was pointed here");
    assert!(ask(&running, &path, "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403"), "a page from elsewhere");
    assert!(ask(&running, &path, &format!("Host: localhost{}\r\n", &host[9..])).starts_with("HTTP/1.1 200"));
    let upgrade = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    assert!(ask(&running, &format!("{wrong}stream"), upgrade).starts_with("HTTP/1.1 403"));
    assert!(
        ask(&running, &format!("{path}stream"), &format!("{upgrade}Origin: http://evil.example\r\n")).starts_with("HTTP/1.1 403")
    );
    assert_eq!(running.streams(), 0);
}

#[test]
fn what_is_no_request_is_refused_and_the_server_lives_on() {
    let running = serve("pile", 50, &["auto"]);
    let (host, path) = parts(&running);
    for junk in [&b"\0\0\0\r\n\r\n"[..], b"GET\r\n\r\n", &[b'x'; 40_000]] {
        let mut stream = TcpStream::connect(&host).unwrap();
        let _ = stream.write_all(junk);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 400"));
    }
    assert!(ask(&running, &path, "").starts_with("HTTP/1.1 200"));
}

#[test]
fn frames_have_the_boxes_and_pairs_of_the_scene() {
    let running = serve("pile:dim=2", 400, &["auto", "brute-force"]);
    let mut tab = Tab::open(&running);
    tab.say(json!({ "do": "pause" }));
    tab.say(json!({ "do": "seek", "frame": 3 }));
    // The result of the algorithm beside may come later, also while nothing moves.
    let frame = tab.until(|frame| frame.head["frame"] == 3 && frame.head["algorithms"][1]["measured"]["frame"] == 3);
    assert_eq!((frame.records.len(), frame.ids, frame.head["dim"].as_u64()), (400, None, Some(2)));
    let pairs = frame.head["pairs"].as_u64().unwrap();
    assert_eq!(frame.pairs.len() as u64, pairs);
    // The quantized boxes of a pair overlap, or nearly so.
    for [a, b] in frame.pairs {
        let (a, b) = (&frame.records[a as usize], &frame.records[b as usize]);
        assert!((0..2).all(|k| a.min[k] <= b.max[k].saturating_add(1) && b.min[k] <= a.max[k].saturating_add(1)));
    }
    assert!(frame.head["algorithms"].as_array().unwrap().iter().all(|one| one["differs"] != true));
    assert_eq!(frame.head["algorithms"][1]["measured"]["pairs"], pairs);
}

#[test]
fn scene_algorithm_pick_and_query_change_live_and_mistakes_are_told() {
    let running = serve("pile", 300, &["auto"]);
    let mut tab = Tab::open(&running);
    tab.say(json!({ "do": "scene", "scene": "brownian-cubes", "n": 500 }));
    tab.until(|frame| frame.head["scene"] == "brownian-cubes" && frame.records.len() == 500);
    tab.say(json!({ "do": "algorithms", "names": ["kd-tree:t=64", "sweep"] }));
    let frame = tab.until(|frame| frame.head["algorithms"][0]["name"] == "kd-tree:t=64");
    assert_eq!(
        (frame.head["algorithms"][1]["name"].as_str(), frame.head["cost"]["kind"].as_str()),
        (Some("sweep"), Some("node"))
    );
    tab.say(json!({ "do": "pause" }));
    let box_ = json!({ "kind": "box", "min": [-1e6, -1e6, -1e6], "max": [1e6, 1e6, 1e6] });
    tab.say(json!({ "do": "view", "pairs": true, "regions": true, "places": true, "budget": 1000, "pick": 7, "query": box_ }));
    let frame = tab.until(|frame| frame.head["pick"]["id"] == 7);
    assert!(frame.places.is_some_and(|places| places.len() == 500) && frame.head["pick"]["region"]["number"].is_u64());
    assert_eq!((frame.head["query"]["count"].as_u64(), frame.records[7].flags & 5), (Some(500), 5));
    for (command, word) in [
        (json!({ "do": "scene", "scene": "/etc/passwd" }), "unknown scene"),
        (json!({ "do": "scene", "scene": "pile", "n": 9_000_000_000u64 }), "too many"),
        (json!({ "do": "algorithms", "names": ["kd-three"] }), "kd-tree"),
        (json!({ "do": "algorithms", "names": ["particle-grid"] }), "ball"),
        (json!({ "do": "dance" }), "unknown command"),
    ] {
        tab.say(command);
        let error = tab.text()["error"].to_string();
        assert!(error.contains(word), "{error}");
    }
    tab.say(json!({ "do": "step", "by": 1 }));
    tab.until(|frame| frame.head["scene"] == "brownian-cubes" && frame.head["algorithms"][0]["name"] == "kd-tree:t=64");
}

#[test]
fn a_slow_tab_misses_frames_and_hears_how_many_while_time_goes_on() {
    let running = serve("pile", 300, &["auto"]);
    let mut tab = Tab::open(&running);
    tab.say(json!({ "do": "rate", "rate": 200 }));
    let (first, _) = (tab.unconfirmed(), tab.unconfirmed());
    assert_eq!(first.head["frame"], 0);
    std::thread::sleep(Duration::from_millis(300)); // nothing is confirmed: nothing more may come
    tab.0.get_ref().set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(tab.0.read().is_err(), "a third message was sent before any was confirmed");
    tab.0.get_ref().set_read_timeout(Some(PATIENCE)).unwrap();
    tab.say(json!({ "do": "drawn", "count": 2 }));
    let late = tab.frame();
    assert!(late.head["stream"]["dropped"].as_u64() > Some(3), "{}", late.head["stream"]);
    assert_ne!(late.head["frame"], 2, "the server went on meanwhile");
}

#[test]
fn a_closed_tab_ends_its_stream_and_another_goes_on() {
    let running = serve("pile", 300, &["auto", "sweep"]);
    let (mut one, mut two) = (Tab::open(&running), Tab::open(&running));
    one.frame();
    two.frame();
    one.say(json!({ "do": "scene", "scene": "sizes", "n": 100 }));
    one.until(|frame| frame.head["scene"] == "sizes");
    assert_eq!((running.streams(), two.frame().head["scene"].as_str()), (2, Some("pile")));
    drop(one);
    wait_for(|| running.streams() == 1);
    let frame = two.frame().head["frame"].clone();
    two.until(|later| later.head["frame"] != frame);
    two.0.close(None).unwrap();
    wait_for(|| running.streams() == 0);
}

#[test]
fn of_many_objects_a_steady_part_is_sent_and_all_of_a_small_window() {
    let running = serve("brownian-cubes", 3000, &["auto"]);
    let mut tab = Tab::open(&running);
    tab.say(json!({ "do": "pause" }));
    tab.say(json!({ "do": "view", "pairs": true, "regions": false, "budget": 500 }));
    let part = tab.until(|frame| frame.records.len() < 3000);
    let ids = part.ids.unwrap();
    assert!((350..650).contains(&ids.len()) && part.head["reached"] == 3000, "{}", ids.len());
    let [low, high] =
        [0, 1].map(|k| part.head["stage"][k].as_array().unwrap().iter().map(|c| c.as_f64().unwrap()).collect::<Vec<_>>());
    let middle: Vec<f64> = low.iter().zip(&high).map(|(a, b)| a + (b - a) * 0.3).collect();
    tab.say(json!({ "do": "view", "pairs": true, "regions": false, "budget": 500, "focus": [low, middle] }));
    let close = tab.until(|frame| frame.head["reached"] != 3000);
    assert_eq!(close.ids.as_ref().map(Vec::len), Some(close.records.len()));
    assert_eq!(close.head["reached"].as_u64(), Some(close.records.len() as u64));
    assert!(close.head["step"][0].as_f64() < part.head["step"][0].as_f64(), "a small window is finer");
}
