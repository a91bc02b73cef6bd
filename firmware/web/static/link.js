// The socket to the board: messages in, touches out, and coming back after a loss. Runs in the worker.

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 5000;
const SILENCE_MS = 6000; // the clocks come once a second and a resting frame too: six missed is a dead socket

export class Link {
  #on;
  #socket = null;
  #wait_ms = FIRST_WAIT_MS;
  #silence = 0;
  #retry = 0;

  /** `on` has `hello`, `state`, `clocks`, `frame` for what arrives, and `away` for a lost link. */
  constructor(on) {
    this.#on = on;
  }

  open() {
    const url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/api/v1/events`;
    this.#socket = new WebSocket(url);
    this.#socket.binaryType = "arraybuffer";
    this.#socket.onmessage = ({ data }) => this.#receive(data);
    this.#socket.onclose = () => this.#lost();
    this.#listen();
  }

  /** Send a touch; one that finds no open link is dropped, for the board has let go of it already. */
  send(message) {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(message));
  }

  #receive(data) {
    this.#listen();
    if (typeof data !== "string") return this.#on.frame(new Uint8Array(data));
    const message = JSON.parse(data);
    if (message.hello) this.#on.hello(message.hello);
    if (message.state) this.#welcome(message.state);
    else if ("clocks_ms" in message) this.#on.clocks(message);
    else console.warn("the board says", message);
  }

  #welcome(state) {
    this.#wait_ms = FIRST_WAIT_MS;
    this.#on.state(state);
  }

  #listen() {
    clearTimeout(this.#silence);
    this.#silence = setTimeout(() => this.#abandon(), SILENCE_MS);
  }

  // A socket whose other end has vanished may take minutes to close: do not wait for it.
  #abandon() {
    this.#socket.onclose = this.#socket.onmessage = null;
    this.#socket.close();
    this.#lost();
  }

  #lost() {
    clearTimeout(this.#silence);
    this.#socket = null;
    this.#on.away();
    this.#retry = setTimeout(() => this.open(), this.#wait_ms);
    this.#wait_ms = Math.min(this.#wait_ms * 2, LONGEST_WAIT_MS);
  }

  /** Somebody looks: if the link is lost, try again at once. */
  hurry() {
    if (this.#socket) return;
    clearTimeout(this.#retry);
    this.open();
  }
}
