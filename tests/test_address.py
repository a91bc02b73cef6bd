"""Under which address a phone reaches a board, who sits at it, and what its health is to whoever watches many."""

from __future__ import annotations

import pytest

from firmware.wear import KEPT, Use, Wear
from firmware.web.address import is_local, operator_address, phone_address
from hal.ports import Part
from tests.live import running
from tests.scene import S, Scene, playing


def test_the_token_stands_behind_the_hash() -> None:
    """So no browser sends it to anybody, and no log keeps it."""
    assert "http://10.0.0.5:8700/operator#abc" == operator_address("http://10.0.0.5:8700/", "abc")


def test_an_address_is_one_that_a_phone_can_call() -> None:
    """A board that listens everywhere is named by the machine's own address, any other by what it listens on."""
    assert "http://127.0.0.1:8700" == phone_address("127.0.0.1", 8700)
    assert "http://[::1]:80" == phone_address("::1", 80)
    everywhere = "0.0.0.0"  # noqa: S104 - nothing is bound
    told = phone_address(everywhere, 8700)
    assert not any(name in told for name in (everywhere, "127.", "localhost"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("192.168.1.5", False),
        ("testclient", False),
        ("", False),
    ],
)
def test_only_this_machine_sits_at_the_board(host: str, local: bool) -> None:
    """The operator's code is given to loopback addresses and to no others."""
    assert local == is_local(host)


@pytest.mark.realtime
def test_health_is_told_in_one_status() -> None:
    """200 and the phase while all is well; 503 and the part's name when one fails; masked cells are no failure."""
    with running("--seed", "1") as live:
        assert (200, {"ok": True, "phase": "attract", "failed": []}) == live.json("GET", "/healthz")
        live.json("POST", "/api/v1/sim/world", {"unplug": True})
        with live.watch() as watch:
            watch.until(lambda: bool(watch.states) and not watch.states[-1]["health"]["parts"]["matrix"]["ok"])
        status, told = live.json("GET", "/healthz")
        assert (503, False, True) == (status, told["ok"], "matrix" in told["failed"])


def test_cells_put_out_of_use_on_purpose_need_nobody() -> None:
    """A stuck cell needs somebody, a masked one does not."""
    scene = playing()
    engine = scene.drive.engine
    scene.table.put_out(frozenset((3,)))
    scene.wait(S)
    assert (False, {}) == (engine.parts["cells"].ok, engine.failing)
    scene.drive.board.contacts.press(24, scene.now_us)
    scene.wait(21 * S)
    assert ["cells"] == list(engine.failing)


def test_what_is_learnt_later_shows_in_the_health() -> None:
    """A note of something that stays as it is becomes a part."""
    scene = Scene()
    scene.drive.engine.note("root", Part(False, "not read-only"))
    scene.wait(S)
    assert {"ok": False, "text": "not read-only"} == scene.drive.engine.document(0)["health"]["parts"]["root"]


def test_the_use_of_a_cell_is_kept_in_bounded_memory() -> None:
    """Touches are counted for ever, of the answers the last ones tell median and worst."""
    wear = Wear(2)
    for us in range(1, 3 * KEPT + 1):
        wear.touched(1)
        wear.answered(1, us)
    assert [Use(0, 0, 0), Use(3 * KEPT, 2 * KEPT + KEPT // 2 + 1, 3 * KEPT)] == wear.uses()
