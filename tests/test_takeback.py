"""Takebacks: whatever was done is undone exactly, down to the first action, and told by the record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

import pytest

from firmware.clock import Limits
from firmware.game import Game, Undone
from firmware.game_record import game_of, record_of
from firmware.games import morbak
from firmware.record import format_record, parse_record, record_rules
from firmware.snapshot import Side
from sim.fingers import chord, hold, tap
from tests.scene import BETWEEN_US, MS, S, Scene, playing

Standing = tuple[object, ...]
GAMES = Path(__file__).parent / "tables" / "morbak_games.jsonl"
RULES = (morbak.STANDARD, morbak.Rules(pool=2, block=True, neutralisations=1), morbak.Rules(1, False, 2))


def peaceful(state: morbak.State, chance: Random) -> morbak.Action:
    """A random action that ends nothing, if there is one."""
    actions = morbak.legal(state)
    quiet = [action for action in actions if morbak.outcome(morbak.apply(state, action)) is None]
    scarce = [action for action in quiet if action.kind != "light"]
    return chance.choice(scarce if scarce and chance.random() < 0.3 else quiet or actions)


def standing(game: Game) -> Standing:
    """All that a takeback must bring back: position, moves and their times, thinking time before the turn."""
    return game.state, list(game.moves), list(game.times_us), list(game.timeouts), game.clocks.used_us


def played(rules: morbak.Rules, starter: Side, actions: Iterable[morbak.Action]) -> tuple[Game, list[Standing]]:
    """A game without time-outs, stopped before its end, and what stood before each chosen action."""
    game, t_us, before = Game(rules, Limits(None, None), starter), 0, []
    game.run(0)
    for action in actions:
        if morbak.outcome(morbak.apply(game.state, action)) is not None:
            break
        before.append(standing(game))
        t_us += 1_234_567
        game.play(action, t_us)
    return game, before


def random_game(rules: morbak.Rules, chance: Random) -> tuple[Game, list[Standing]]:
    """As `played`, of actions that are chosen at random on the way."""
    state, actions = morbak.initial(rules, "a"), []
    for _ in range(chance.randrange(20, 90)):
        actions.append(peaceful(state, chance))
        state = morbak.apply(state, actions[-1])
        if morbak.outcome(state) is not None:
            break
        if morbak.legal(state) == [morbak.PASS]:
            state = morbak.apply(state, morbak.PASS)
    return played(rules, "a", actions)


def recorded_games() -> Iterator[tuple[Game, list[Standing]]]:
    """Every recorded game in which somebody had to pass, up to the action before its last."""
    for line in GAMES.read_text(encoding="utf-8").splitlines():
        record = parse_record(line)
        if "--" in record.moves and not record.timeouts:
            chosen = [morbak.parse_action(text) for text in record.moves if text != "--"]
            yield played(record_rules(record), record.starter, chosen[:-1])


def take_all_back(game: Game, before: list[Standing]) -> None:
    """Back to the empty board; each time the mover's clock runs anew, and every move that went is told, passes too."""
    for expected in reversed(before):
        moves = list(game.moves)
        assert game.take_back(10**12)
        assert expected == standing(game)
        assert (game.mover, 10**12, 0) == (game.clocks.running, game.clocks.since_us, game.clocks.move_used_us)
        at = len(game.moves)
        assert Undone(at, tuple(moves[at:])) == game.undone[-1]
    assert (False, 0, len(before)) == (game.take_back(10**12), len(game.moves), len(game.undone))


def test_everything_is_taken_back_to_the_first_action(seed: int, prove: bool) -> None:
    """Through lights, permutations, blocks and neutralisations, position, pools and clocks come back one by one."""
    chance, kinds = Random(f"{seed}/takeback"), set()
    for number in range(400 if prove else 40):
        game, before = random_game(RULES[number % len(RULES)], chance)
        kinds |= {move.kind for move in game.moves}
        take_all_back(game, before)
    assert {"light", "permute", "block", "neutralise"} <= kinds


def test_forced_passes_go_with_the_action_before_them() -> None:
    """A takeback undoes the forced passes after the last chosen action too, in every recorded game that has some."""
    passes = 0
    for game, before in recorded_games():
        passes += game.moves.count(morbak.PASS)
        take_all_back(game, before)
    assert 10 < passes


def test_the_record_tells_of_every_takeback(seed: int, prove: bool) -> None:
    """A game with takebacks in it, read back from its record, has the same moves, position and takebacks."""
    chance = Random(f"{seed}/record")
    for number in range(400 if prove else 40):
        game, before = random_game(RULES[number % len(RULES)], chance)
        for _ in range(chance.randrange(1, 12)):
            for _ in range(chance.randrange(1, 4)):
                game.take_back(10**12)
            if game.ending is None:
                game.play(peaceful(game.state, chance), 10**12)
            if game.ending is not None:
                break
        again = game_of(parse_record(format_record(record_of(game, number))))
        assert (game.moves, game.states(), game.undone) == (again.moves, again.states(), again.undone)
        assert before


@pytest.mark.parametrize("asker", ["a", "b"])
def test_a_game_is_taken_back_at_the_board_to_its_first_action(asker: str) -> None:
    """By the menu, from either seat, with the other's consent; scarce actions come back too (cases G3, G23)."""
    texts = ["d4", "a1", "xa1", "!a1", "d5", "g2", "#d4"]
    scene = playing().moves(*texts)
    ask, answer = ("b1", "f7") if asker == "a" else ("f7", "b1")
    for left in range(len(texts) - 1, -1, -1):
        scene.do(chord(["a1", "g7"], 0, 2_100 * MS))
        scene.wait(BETWEEN_US)
        scene.do(tap(morbak.parse_cell(ask), 0))
        scene.wait(BETWEEN_US)
        scene.do(hold(morbak.parse_cell(answer), 0, 900 * MS))
        scene.wait(BETWEEN_US)
        assert ("play", texts[:left]) == (scene.table.phase, [move.text for move in scene.table.game.moves])
        assert None is scene.table.snapshot.last_cell  # what is undone does not bloom
    assert scene.position.startswith("......./......./......./......./......./......./.......")
    scene.moves(*texts)
    record = parse_record(format_record(record_of(scene.table.game, 1)))
    assert (tuple(texts), len(texts)) == (record.moves, len(record.takebacks))
    assert scene.table.game.states() == game_of(record).states()


def test_a_finished_game_is_not_taken_back() -> None:
    """What has ended a game stays, however it ended, and nothing of it is undone."""
    for end in (lambda game: game.resign("a", 9), lambda game: game.agree(9)):
        game, _ = played(morbak.STANDARD, "a", [morbak.parse_action("d4")])
        end(game)
        expected = (standing(game), game.ending)
        assert not game.take_back(10)
        assert (expected, []) == ((standing(game), game.ending), game.undone)


def test_a_time_out_is_not_taken_back() -> None:
    """A turn lost by time stays lost, and so does all that stands before it."""
    scene = Scene(limits=Limits(None, 3 * S)).play().moves("d4")
    scene.wait(3 * S)
    game = scene.table.game
    assert (["d4", "--"], None) == ([move.text for move in game.moves], game.last_chosen)
    assert not game.take_back(scene.now_us)
