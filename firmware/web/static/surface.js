// The unlit object: the slab and its 49 wells, painted once a size. It lies over the halos and lets some of their
// light through: a part on the slab, most at the lips of the wells, little on the ground around.

import { COLUMNS, ROWS } from "./game.js";

const EDGE = 0.14; // of the slab's side: how far the picture reaches beyond it, as the halo's does
const BEZEL = 0.052;
const RADIUS = 0.06;

/** Paint the surface for a slab of `side` CSS pixels. */
export function paintSurface(canvas, side) {
  const scale = Math.min(window.devicePixelRatio || 1, 2);
  canvas.width = canvas.height = Math.round(side * (1 + 2 * EDGE) * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  paintGround(context, side * (1 + 2 * EDGE));
  context.translate(side * EDGE, side * EDGE);
  paintSlab(context, side);
  const pitch = (side * (1 - 2 * BEZEL)) / COLUMNS;
  for (let row = 0; row < ROWS; row += 1) {
    for (let column = 0; column < COLUMNS; column += 1) {
      paintWell(context, side * BEZEL + (column + 0.5) * pitch, side * BEZEL + (row + 0.5) * pitch, 0.85 * pitch);
    }
  }
}

function paintGround(context, side) {
  context.fillStyle = "rgb(11 12 16 / 0.72)";
  context.fillRect(0, 0, side, side);
}

function paintSlab(context, side) {
  context.save();
  roundRect(context, 0, 0, side, side * RADIUS);
  context.clip();
  context.clearRect(0, 0, side, side);
  context.fillStyle = gradient(context, 0, side, ["rgb(25 26 30 / 0.66)", "rgb(18 19 22 / 0.66)", "rgb(13 14 17 / 0.66)"]);
  context.fillRect(0, 0, side, side);
  context.restore();
  roundRect(context, 0.5, 0.5, side - 1, side * RADIUS - 0.5);
  context.strokeStyle = gradient(context, 0, side, ["rgb(255 255 255 / 0.15)", "rgb(255 255 255 / 0.03)", "rgb(255 255 255 / 0.025)"]);
  context.lineWidth = 1;
  context.stroke();
}

function paintWell(context, x, y, cell) {
  paintLip(context, x, y, cell);
  const well = cell * 1.056;
  fillSquare(context, x, y, well, cell * 0.288, gradient(context, y - well / 2, y + well / 2, ["rgb(8 8 10 / 0.86)", "rgb(13 13 15 / 0.82)"]));
  const half = cell / 2;
  const milk = ["rgb(13 13 15 / 0.86)", "rgb(20 20 22 / 0.84)", "rgb(22 22 24 / 0.84)", "rgb(21 21 23 / 0.84)"];
  fillSquare(context, x, y, cell, cell * 0.26, gradient(context, y - half, y + half, milk));
}

// A ring of thinner surface: halo light shines through it, and its lower edge catches a little of the room.
function paintLip(context, x, y, cell) {
  const outer = cell * 1.108;
  context.save();
  roundRect(context, x - outer / 2, y - outer / 2, outer, cell * 0.314);
  context.globalCompositeOperation = "destination-out";
  context.fillStyle = "rgb(0 0 0 / 0.5)";
  context.fill();
  context.restore();
  roundRect(context, x - outer / 2, y - outer / 2, outer, cell * 0.314);
  context.fillStyle = gradient(context, y - outer / 2, y + outer / 2, ["rgb(255 255 255 / 0.04)", "rgb(255 255 255 / 0.05)", "rgb(255 255 255 / 0.1)"]);
  context.fill();
}

function fillSquare(context, x, y, side, radius, style) {
  context.save();
  roundRect(context, x - side / 2, y - side / 2, side, radius);
  context.clip();
  context.clearRect(x - side, y - side, 2 * side, 2 * side);
  context.fillStyle = style;
  context.fillRect(x - side, y - side, 2 * side, 2 * side);
  context.restore();
}

function roundRect(context, x, y, side, radius) {
  context.beginPath();
  context.roundRect(x, y, side, side, radius);
}

function gradient(context, from, to, colours) {
  const result = context.createLinearGradient(0, from, 0, to);
  colours.forEach((colour, at) => result.addColorStop(at / (colours.length - 1), colour));
  return result;
}
