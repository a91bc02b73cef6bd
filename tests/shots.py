"""Pictures of the page in every phase, size and language: `python -m tests.shots DIR [take_a_game ...]`.

A board runs as its users run it, its contacts are moved from outside, and one page is photographed at every moment
worth looking at. The files are named `<moment>-<width>x<height>-<language>.png`.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from tests.browser import opened
from tests.camera import Camera, act, ask, filmed, greyed, open_menu, opened_panel, start, tap, until
from tests.live import Live
from tests.stub_board import stub_board

# With a long hold there is time to picture it; all else stands still while it is photographed.
SLOW = """
[touch]
hold_ms = 4000
leave_ms = 15000
[phases]
lobby_ms = 2500
lot_ms = 2400
"""
SHORT = """
[phases]
lobby_ms = 100
lot_ms = 100
low_time_s = 7
urgent_time_s = 5
[game]
total_s = 24
move_s = 8
"""
FAST = """
[touch]
turn_guard_ms = 1
[phases]
lobby_ms = 100
lot_ms = 100
[game]
pool = 0
"""
# A contact that stays closed masks itself soon.
STUCK = """
[touch]
leave_ms = 2500
stuck_ms = 3000
[phases]
lobby_ms = 100
lot_ms = 100
menu_idle_s = 60
"""
# A game in which every cell state is on the board, and c4 the cell that everything turns on.
GAME = "d4 d5 c5 e7 e3 xe3 d6 c6 f5 f4 #d4 d3 b2 c3 xc3 xb2 !e3 b5 e4 e1 b3 #d3 f3 c4 d2 #b5 f1 g6".split()  # noqa: SIM905
DECISION, REPLY, WIN = "xc4", "b4", "c2"
# Every cell by who lights it, a to g from row 7 down, without four in a line; without pools nothing is left then.
FULL = ("aabbaab", "aabbaab", "aabbaab", "bbaabba", "aabbaab", "bbaabba", "bbaabba")

LIT = "......./......./......./...a.../......./......./....... b 7:7 1:1"
MATCH = {"series": 3, "score": {"a": 0.5, "b": 1}, "over": False}

HALF_HELD = "() => document.querySelector('#ring .fill').getAnimations()[0]?.currentTime > 2000"


def take_a_game(folder: Path) -> None:
    """From the invitation to a line of four, and what a code and a replay make of it."""
    with filmed(SLOW, folder) as (live, camera):
        camera.page.wait_for_timeout(4200)  # the second lesson
        camera.take("attract")
        tap(live, "d4")
        until(live, "phase", "lobby")
        time.sleep(0.4)
        camera.still("lobby")
        until(live, "starter", "a")
        camera.still("lot")
        until(live, "phase", "play")
        camera.take("start")
        for action in GAME:
            act(live, action)
        take_a_turn(live, camera)
        act(live, DECISION)
        camera.take("answer")
        act(live, REPLY)
        act(live, WIN)
        until(live, "phase", "result")
        time.sleep(3.2)  # the light has run along the line
        camera.take("line")
        with opened_panel(camera, "code-open"):
            camera.take("record")
        open_menu(live)
        camera.take("result-menu")
        tap(live, "a2")
        time.sleep(8)
        camera.still("replay")


def take_a_turn(live: Live, camera: Camera) -> None:
    """A turn in the middle of the game: a hint, marks, a hold half-way, a refusal."""
    page = camera.page
    c4, marks = page.locator("[data-cell=c4]"), page.locator("#marks")
    camera.take("play", c4.hover)
    marks.click()
    camera.take("marks", page.locator("[data-cell=e3]").hover)
    with greyed(camera):
        camera.take("grey", page.locator("[data-cell=e3]").hover)
    marks.click()
    page.mouse.move(0, 0)
    with opened_panel(camera, "moves"):
        camera.take("moves")

    def let_go() -> None:
        page.mouse.up()
        live.json("POST", "/api/v1/sim/world", {"paused": False})

    def hold() -> None:
        let_go()
        c4.hover()
        page.mouse.down()
        page.wait_for_function(HALF_HELD)
        live.json("POST", "/api/v1/sim/world", {"paused": True})  # a slow picture does not complete it

    camera.take("hold", hold)
    let_go()
    page.mouse.move(0, 0)
    camera.take("refusal", lambda: tap(live, "d4"))


def take_short_time(folder: Path) -> None:
    """Time runs low, turns are lost, the game is parked; and a game that is lost on time."""
    with filmed(SHORT, folder) as (live, camera):
        start(live)
        for action in ("d4", "e5", "c3", "e4"):
            act(live, action)
        time.sleep(1.5)
        camera.still("low")
        until(live, "last_action", "--")
        camera.still("timeout")
        until(live, "phase", "paused")
        camera.take("paused")
        while live.state()["phase"] != "result":
            tap(live, "g7") if live.state()["phase"] == "paused" else time.sleep(0.05)
        time.sleep(1)
        camera.take("time")


def take_a_menu(folder: Path) -> None:
    """The menu, a request, resignation tapped instead of held, and the gestures in words."""
    with filmed(FAST.replace("lobby_ms = 100", "lobby_ms = 2500"), folder) as (live, camera):
        with opened_panel(camera, "help"):
            camera.take("help-attract")
        with opened_panel(camera, "world-open"):
            camera.take("world")
        take_options(live, camera)
        for action in ("d4", "e5", "c3"):
            act(live, action)
        for button, moment in (("help", "help"), ("code-open", "rules"), ("world-open", "drawer")):
            with opened_panel(camera, button):
                camera.take(moment)
        camera.take("menu", lambda: open_menu(live))
        camera.take("asked", lambda: ask(live, "c1"))
        tap(live, "c1")
        camera.take("resign", lambda: tap(live, "d7"))
        ask(live, "a1")
        live.touch("g7", True)
        until(live, "phase", "paused")
        live.touch("g7", False)
        camera.take("pause")


def take_options(live: Live, camera: Camera) -> None:
    """The options in the lobby, a match in three games among them; then play begins."""
    tap(live, "d4")
    until(live, "phase", "lobby")
    time.sleep(0.3)
    open_menu(live)
    for cell in ("c1", "e2"):
        tap(live, cell)
        time.sleep(0.3)
    camera.take("options")
    tap(live, "g2")
    until(live, "phase", "play")


def take_a_table(folder: Path) -> None:
    """The screen between the players: the invitation, a game, and a question in the menu."""
    with filmed(FAST, folder) as (live, camera):
        camera.page.goto(f"{camera.page.url}?seat=table")
        camera.page.wait_for_selector("body[data-link=open]")
        camera.take("table-attract")
        start(live)
        for action in ("d4", "e5", "c3", "d6"):
            act(live, action)
        camera.take("table-play")
        with opened_panel(camera, "help"):
            camera.take("table-help")
        camera.take("table-asked", lambda: ask(live, "c1"))


def take_a_stuck_cell(folder: Path) -> None:
    """A cell out of use in a game: named, with how to play it, and the cursor of the menu upon it."""
    with filmed(STUCK, folder) as (live, camera):
        start(live)
        for action in ("d4", "e5", "c3"):
            act(live, action)
        live.json("POST", "/api/v1/sim/world", {"stuck": ["e5"]})
        until(live, "masked", ["e5"])
        camera.take("masked")
        open_menu(live)
        tap(live, "e2")
        while live.state()["menu"]["cursor"] != "e5":
            time.sleep(0.01)
        camera.take("cursor", camera.page.locator("[data-cell=c6]").hover)


def take_trouble(folder: Path) -> None:
    """Parts that fail, a disk that does not save, a game that is put aside soon, and a board that is away."""
    with stub_board() as board, opened(board) as page:
        camera = Camera(page, folder)
        board.fail(leds="x", matrix="x")
        camera.take("trouble-attract")
        board.say(phase="play", starter="a", to_move="b", last_action="d4", position=LIT, legal=["a1"], match=MATCH)
        board.fail(journal="not saved")
        camera.take("not-saved")
        board.fail()
        camera.take("parks", lambda: board.clocks(parks_in_ms=17_000))
        board.stop()
        page.wait_for_selector("body[data-link=away]")
        camera.take("away")


def take_a_draw(folder: Path) -> None:
    """A full board on which nothing is left to do."""
    cells = [
        ("abcdefg"[column] + str(7 - row), side) for row, signs in enumerate(FULL) for column, side in enumerate(signs)
    ]
    own, other = ([cell for cell, owner in cells if owner == side] for side in "ab")
    with filmed(FAST, folder) as (live, camera):
        start(live)
        for at, cell in enumerate(own):
            act(live, cell, 0.02)
            if at < len(other):
                act(live, other[at], 0.02)
        until(live, "phase", "result")
        time.sleep(1)
        camera.take("draw")


def main() -> None:
    """Take everything."""
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    for take in (take_a_game, take_short_time, take_a_menu, take_a_table, take_a_stuck_cell, take_trouble, take_a_draw):
        if not names or take.__name__ in names:
            take(folder)


if __name__ == "__main__":
    main()
