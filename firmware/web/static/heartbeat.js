// The heartbeat of the page on the board's own screen: as long as the browser paints it, it says so.

const BEAT_MS = 4000;

export function beat() {
  requestAnimationFrame(() => {
    fetch("/api/v1/kiosk", { method: "POST" }).catch(() => {}); // the board is away, which whoever listens knows
    setTimeout(beat, BEAT_MS);
  });
}
