"""An operator acts for a player: with the board's token, in his turn, through the journal like every touch."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.games import morbak
from firmware.operator_token import fits, token_in
from sim.fingers import chord
from tests.live import Json, Live, running
from tests.scene import BETWEEN_US, MS, NO_LIMITS, S, Scene, playing

pytestmark = pytest.mark.realtime


class Answer:
    """Keeps what comes of an action; `gone`: its sender has hung up."""

    def __init__(self, *, gone: bool = False) -> None:
        self.given: list[str | None] = []
        self.gone = gone

    def waits(self) -> bool:
        return not self.gone

    def give(self, refused: str | None) -> None:
        self.given.append(refused)


def act(scene: Scene, text: str) -> list[str | None]:
    """Order an action, let it have its turn, and return the answers."""
    answer = Answer()
    scene.drive.engine.act(morbak.parse_action(text), scene.now_us, answer)
    scene.wait(BETWEEN_US)
    return answer.given


# -- at the table ------------------------------------------------------------------------------------------------


def test_an_order_is_played_for_whoever_is_to_move() -> None:
    """Actions of all kinds are played by order, in turn with touches."""
    scene = playing(limits=NO_LIMITS)
    assert [[None]] * 3 == [act(scene, text) for text in ("d4", "xd4", "!d4")]
    assert ["e5"] == scene.tap("e5")
    scene.wait(BETWEEN_US)
    assert ([None], ["d4", "xd4", "!d4", "e5", "c3"]) == (
        act(scene, "c3"),
        [move.text for move in scene.table.game.moves],
    )


def test_an_order_that_the_rules_refuse_changes_nothing() -> None:
    """The code of the rule comes back, `illegal` for the wrong kind, `not_in_play` outside play."""
    scene = Scene(limits=NO_LIMITS)
    scene.wait(BETWEEN_US)
    assert ["not_in_play"] == act(scene, "d4")
    scene.play().moves("d4", "xd4", "!d4")
    before = (scene.position, len(scene.table.game.moves))
    assert [["neutralised"], ["illegal"], ["illegal"]] == [act(scene, text) for text in ("d4", "xe5", "#e5")]
    assert before == (scene.position, len(scene.table.game.moves))


def test_an_order_outside_play_changes_nothing() -> None:
    """In the menu, in a pause, after a result and in the lobby of a rematch no order counts."""
    scene, seen = playing(limits=NO_LIMITS).moves("d4", "a1", "d5", "a2", "d6", "a3"), []

    def order() -> None:
        before = (scene.position, len(scene.table.game.moves))
        seen.append((scene.table.phase, act(scene, "g7")))
        assert before == (scene.position, len(scene.table.game.moves))
        scene.wait(S)

    scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
    order()
    scene.table.press_button(scene.now_us)
    scene.wait(S)
    scene.table.press_button(scene.now_us)
    order()
    scene.table.press_button(scene.now_us)
    scene.moves("d7")
    order()
    scene.wait(3 * S)
    scene.tap("d4")
    order()
    assert [(phase, ["not_in_play"]) for phase in ("menu", "paused", "result", "lobby")] == seen


def test_an_order_lifts_the_fingers_of_the_turn_before() -> None:
    """A finger that is down when an order is played does not play for the other side when it is lifted."""
    scene = playing(limits=NO_LIMITS)
    scene.drive.board.contacts.press(24, scene.now_us)
    scene.wait(100_000)
    assert [None] == act(scene, "e5")
    scene.drive.board.contacts.release(24, scene.now_us)
    scene.wait(BETWEEN_US)
    assert ["e5"] == [move.text for move in scene.table.game.moves]


def test_what_nobody_waits_for_is_not_played() -> None:
    """An order whose sender has given up is dropped when its turn comes."""
    scene = playing(limits=NO_LIMITS)
    answer = Answer(gone=True)
    scene.drive.engine.act(morbak.parse_action("d4"), scene.now_us, answer)
    scene.wait(BETWEEN_US)
    assert ([], []) == (answer.given, scene.table.game.moves)


def test_a_game_played_by_orders_is_not_left_alone() -> None:
    """An order counts as somebody being there: a game without a limit a move goes on, also from its countdown."""
    scene = playing(limits=NO_LIMITS)
    for text in "a1 c1 e1 g1 b3 d3".split():  # noqa: SIM905
        scene.wait(290 * 1_000_000)
        assert [None] == act(scene, text)
    assert ("play", 6) == (scene.table.phase, len(scene.table.game.moves))


# -- over HTTP ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, str]]:
    state = tmp_path_factory.mktemp("state")
    with running("--seed", "1", "--state", str(state)) as live:
        yield live, (state / "token").read_text(encoding="ascii").strip()


def post(live: Live, token: str | None, body: object) -> tuple[int, Json]:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    status, answer, _ = live.request(
        "POST", "/api/v1/act", body if isinstance(body, str) else json.dumps(body), headers
    )
    return status, json.loads(answer)


def test_only_the_holder_of_the_token_acts(board: tuple[Live, str]) -> None:
    """Without the token, with a wrong one, or in another scheme the answer is 401 and nothing happens."""
    live, token = board
    for given in (None, "", token[:-1], token + "x", token.swapcase()):
        status, answer = post(live, given, {"action": "d4"})
        assert (401, "unauthorized") == (status, answer["error"]["code"])
    status, _, _ = live.request("POST", "/api/v1/act", '{"action":"d4"}', {"Authorization": f"Basic {token}"})
    assert (401, "attract") == (status, live.state()["phase"])


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("", 400, "malformed"),
        ("[]", 400, "malformed"),
        ({"action": 5}, 400, "malformed"),
        ({"action": "d4", "side": "a"}, 400, "malformed"),
        ({"action": "z9"}, 400, "unknown_action"),
        ({"action": "--"}, 409, "pass"),
        ({"action": "d4"}, 409, "not_in_play"),
        ("x" * 5000, 413, "too_large"),
    ],
)
def test_bad_orders_are_answered_in_a_sentence(board: tuple[Live, str], body: object, status: int, code: str) -> None:
    """What cannot be played comes back with a status, a code and a sentence."""
    live, token = board
    got, answer = post(live, token, body)
    error = answer["error"]
    assert (status, code, ".") == (got, error["code"], error["text"][-1])


def test_an_order_is_played_on_a_running_board(board: tuple[Live, str]) -> None:
    """With the token an action is played, told in the state and answered at once."""
    live, token = board
    with live.watch() as watch:
        live.tap("d4")
        watch.phase("play")
    assert (200, {"action": "e5"}) == post(live, token, {"action": "E5"})
    assert "e5" == live.state()["last_action"]
    assert 409 == post(live, token, {"action": "e5"})[0]


# -- the token ---------------------------------------------------------------------------------------------------


def test_the_token_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    """The first start makes the token, readable by nobody else; later ones find it."""
    token, sentence = token_in(tmp_path)
    assert (None, 0o600) == (sentence, stat.S_IMODE((tmp_path / "token").stat().st_mode))
    assert (token, None) == token_in(tmp_path)
    assert 22 == len(token)


def test_the_token_lasts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is on the disk before it has its name, then the name is too; what a power cut left of a try is no obstacle."""
    synced: list[tuple[bool, bool]] = []

    def sync(file: int) -> None:
        regular = stat.S_ISREG(os.fstat(file).st_mode)
        assert not regular or 23 == os.fstat(file).st_size
        synced.append((regular, (tmp_path / "token").exists()))

    monkeypatch.setattr("os.fsync", sync)
    (tmp_path / ".token.new").write_text("half")
    token, sentence = token_in(tmp_path)
    assert ([(True, False), (False, True)], None) == (synced, sentence)
    assert (token, None) == token_in(tmp_path)


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_a_token_that_others_could_read_is_replaced(mode: int, tmp_path: Path) -> None:
    """A file with too wide a mode is no secret: a new token is made, and said."""
    first, _ = token_in(tmp_path)
    (tmp_path / "token").chmod(mode)
    second, sentence = token_in(tmp_path)
    assert first != second
    assert f"{tmp_path / 'token'} could be read by others: it holds a new token now." == sentence
    assert 0o600 == stat.S_IMODE((tmp_path / "token").stat().st_mode)
    assert (second, None) == token_in(tmp_path)


def test_an_empty_token_is_none(tmp_path: Path) -> None:
    """An empty file is replaced too; where nothing can be kept there is a token for this run, and a sentence."""
    (tmp_path / "token").write_text("\n")
    (tmp_path / "token").chmod(0o600)
    assert 22 == len(token_in(tmp_path)[0])
    os.mkdir(tmp_path / "ro")
    missing, sentence = token_in(tmp_path / "ro" / "gone")
    assert 22 == len(missing)
    assert sentence is not None


def test_only_the_whole_token_fits() -> None:
    """Neither a beginning nor another case of the token is the token, and strange characters are no fault."""
    assert [True, False, False, False, False] == [fits("abC", given) for given in ("abC", "abc", "ab", "", "é")]
