// The live source of frames: the server that this page came from.

class LiveStream {
  constructor(handlers) {
    this.handlers = handlers;
    this.socket = new WebSocket(`ws://${location.host}${location.pathname}stream`);
    this.socket.binaryType = "arraybuffer";
    this.socket.onmessage = event => {
      if (typeof event.data !== "string") return handlers.frame(event.data);
      const said = JSON.parse(event.data);
      if (said.error) handlers.error(said.error);
      else handlers.hello(said);
    };
    this.socket.onclose = () => handlers.closed();
    this.waiting = [];
    this.socket.onopen = () => this.waiting.splice(0).forEach(text => this.socket.send(text));
  }

  send(command) {
    const text = JSON.stringify(command);
    if (this.socket.readyState === WebSocket.CONNECTING) this.waiting.push(text);
    else if (this.socket.readyState === WebSocket.OPEN) this.socket.send(text);
  }

  // A frame was drawn: the server may send another one.
  drawn(frame) {
    this.send({ do: "drawn", count: frame.head.stream.number });
  }
}
