// The board as an operator asks it: the token, kept for as long as the tab lives, and the requests that carry it.

const KEPT = "morbak.token";

export class Board {
  token = null;

  /** The token comes behind the `#` of the link, which is taken out of the address bar at once; else as it was kept. */
  constructor() {
    const given = location.hash.slice(1);
    if (given) history.replaceState(null, "", location.pathname + location.search);
    if (given) this.keep(decodeURIComponent(given));
    else this.token = kept();
  }

  keep(token) {
    this.token = token;
    try {
      sessionStorage.setItem(KEPT, token);
    } catch {
      console.info("the token is not kept: the browser forbids storage");
    }
  }

  forget() {
    this.keep("");
  }

  status() {
    return this.#ask("").then((answer) => answer.json());
  }

  logs() {
    return this.#ask("/logs").then((answer) => answer.json());
  }

  report() {
    return this.#ask("/report").then((answer) => answer.blob());
  }

  command(command) {
    return this.#ask("", { method: "POST", body: JSON.stringify(command) });
  }

  /** Throws where the board does not answer, and for a refusal an error with its `status` and `code`. */
  async #ask(path, options = {}) {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(`/api/v1/operator${path}`, { ...options, headers, cache: "no-store" });
    if (answer.ok) return answer;
    const told = await answer.json().catch(() => ({}));
    throw Object.assign(new Error(told.error?.text), { status: answer.status, code: told.error?.code });
  }
}

function kept() {
  try {
    return sessionStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
