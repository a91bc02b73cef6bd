// The worker: it holds the link to the board and paints its light. Frames never reach the page; everything else does.

import { Link } from "./link.js";
import { Painter } from "./painter.js";

const LIVELY_MS = 1500; // who wants less motion sees the light move this long after something has happened
const DARK = new Uint8Array(147);

let painter = null;
let calm = false;
let lively_until = Infinity;
let newest = DARK;

const tell = (kind, value) => self.postMessage({ [kind]: value ?? true });

const link = new Link({
  hello: (hello) => tell("hello", hello),
  state(state) {
    enliven();
    tell("state", state);
  },
  clocks: (clocks) => tell("clocks", clocks),
  frame: (frame) => show(frame),
  away() {
    painter.take((newest = DARK));
    tell("away");
  },
});

function enliven() {
  lively_until = calm ? performance.now() + LIVELY_MS : Infinity;
}

// A rhythm that is left out ends at the light it had: what a frame says besides is told by marks and words.
function show(frame) {
  newest = frame;
  if (performance.now() < lively_until) painter.take(frame);
}

const orders = {
  open(canvases) {
    painter = new Painter(canvases, (signs) => tell("signs", signs));
    link.open();
  },
  touch(touch) {
    enliven();
    link.send(touch);
  },
  calm(wanted) {
    calm = wanted;
    enliven();
    painter?.take(newest);
  },
  hurry: () => link.hurry(),
};

self.onmessage = ({ data }) => Object.entries(data).forEach(([order, value]) => orders[order](value));
