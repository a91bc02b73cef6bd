"""A board at the end of a cable, in virtual time: played like any other, found again, and each bad device named."""

from __future__ import annotations

import struct
from collections.abc import Callable
from random import Random

import pytest

from firmware.sight import Sight
from hal import link
from hal.drivers.serial_port import Identity
from hal.errors import PartError
from hal.link_trouble import Telling
from hal.pixels import Pixels
from hal.ports import Board, Scan
from sim.cable import CableFaults
from sim.device import SimDevice
from tests.link_rig import SIM
from tests.serial_rig import World

WHITE = b"\xff" * 147


def opened(**more: object) -> tuple[World, Board]:
    world = World(**more)  # type: ignore[arg-type]
    board: Board = world.open()
    world.run(200_000)
    return world, board


def test_a_serial_board_tells_its_own_profile() -> None:
    """Geometry, LEDs and currents are those that the board tells."""
    world = World()
    profile = world.open().profile
    assert (7, 7, SIM.chain, "GRB") == (
        profile.board.rows, profile.board.columns, profile.chain, profile.leds.colour_order,
    )  # fmt: skip
    assert (SIM.power.budget_ua, SIM.lights) == (profile.power.budget_ua, profile.lights)


def test_touch_and_light_pass_the_cable() -> None:
    """A touch comes as its edges, a frame shows on the board's strip and is read back from what it acknowledges."""
    world, board = opened()
    world.device.board.contacts.press(24, world.board_clock.now_us())
    world.run(30_000)
    assert [(24, True)] == [(edge.cell, edge.down) for edge in world.edges]
    frame = b"\xff\x60\0" + bytes(144)
    assert board.show(frame, world.clock.now_us())
    world.run(30_000)
    assert Pixels(SIM).cells(Pixels(SIM).chain(frame)) == board.wire() == world.device.board.wire()
    assert all(part.ok for part in board.health().values())
    board.close()
    world.step(10_000)
    assert bytes(147) == world.device.board.wire()


def test_the_current_limit_holds_on_both_sides_of_the_cable() -> None:
    """White at full never asks the board's supply for more than it gives, and comes up as far as that allows."""
    world, board = opened()
    for _ in range(60):
        board.show(WHITE, world.clock.now_us())
        world.run(16_000)
        red, green, blue = (sum(world.device.board.wire()[at::3]) for at in range(3))
        ma = 1.25 * (49 * 1 + (16 * red + 11 * green + 15 * blue) / 255)
        assert ma <= 2_100
    assert ma > 0.9 * 2_100


def test_a_board_that_is_only_lit_needs_no_scan() -> None:
    """Where nobody scans, as in safe mode, frames reach the board all the same, also after a replug."""
    world = World()
    board, frame = world.open(), b"\xff\x60\0" + bytes(144)
    for _ in range(2):
        for _ in range(100):
            board.show(frame, world.clock.now_us())
            world.step(50_000)
        assert Pixels(SIM).cells(Pixels(SIM).chain(frame)) == world.device.board.wire()
        world.unplug()
        board.show(frame, world.clock.now_us())
        world.step(4_000_000)
        world.plug()


def test_dimming_reaches_the_board_as_a_limit() -> None:
    """The brightness that was chosen is told to the board, which lets no frame pass it."""
    world, board = opened()
    board.dim(20)
    world.run(30_000)
    assert world.device._far.device._settings.brightness_pct == 20  # type: ignore[union-attr]


@pytest.mark.parametrize("name", ["/dev/ttyACM0", "/dev/ttyACM1"])
def test_a_board_is_found_again_under_any_name(name: str) -> None:
    """Unplugged, it shows in health within a second; plugged in again, as what it may be called now, it is back within
    three, dark until lit anew, and asks for light (cases E1, E2)."""
    world, board = opened()
    board.show(WHITE, world.clock.now_us())
    world.run(50_000)
    world.unplug()
    world.run(1_000_000)
    assert not board.health()["link"].ok and not board.show(WHITE, world.clock.now_us())
    world.run(20_000_000)
    world.plug(name)
    world.device.restart()
    world.run(3_000_000)
    assert board.health()["link"].ok and name in board.health()["link"].text
    assert board.dimmed and bytes(147) == world.device.board.wire()
    assert world.closed == 1
    assert board.show(WHITE, world.clock.now_us())


@pytest.mark.parametrize("out_us", [20_000, 400_000, 900_000, 5_000_000])
def test_what_was_not_seen_counts_as_out_of_sight(out_us: int) -> None:
    """However short the cable was out, the firmware takes it for a loss of sight: one gap of more than a second, after
    which alone there are edges again."""
    world, board = opened()
    sight = Sight()
    gaps, begun_us = [], world.clock.now_us()
    world.device.board.contacts.press(3, world.board_clock.now_us())

    def watch(us: int) -> None:
        end_us = world.clock.now_us() + us
        while world.clock.now_us() < end_us:
            scan: Scan = board.scan(world.clock.now_us())
            if (unseen := sight.step(scan)) is not None:
                gaps.append((unseen, [(edge.cell, edge.down) for edge in scan.edges]))
            world.step(scan.period_us)

    watch(200_000)
    world.unplug()
    world.device.board.contacts.release(3, world.board_clock.now_us())
    world.device.board.contacts.press(9, world.board_clock.now_us())
    watch(out_us)
    world.plug()
    world.device.restart()
    watch(3_000_000)
    seen = [gap for gap in gaps if gap[0].until_us is not None]
    assert 1 == len(seen)
    (since_us, until_us), edges = seen[0]
    assert begun_us < since_us and until_us is not None and until_us - since_us > 1_000_000
    assert [(3, False), (9, True)] == edges


def test_a_noisy_cable_loses_no_touch(seed: int) -> None:
    """100 touches with one byte in a thousand wrong: each comes once, and sight is never lost (case D23)."""
    world, _ = opened(faults=CableFaults(byte_error_rate=0.001), seed=seed)
    chance, wanted = Random(seed), []
    world.edges.clear()
    for _ in range(100):
        cell = chance.randrange(49)
        world.device.board.contacts.press(cell, world.board_clock.now_us())
        world.run(chance.randrange(30_000, 90_000))
        world.device.board.contacts.release(cell, world.board_clock.now_us())
        world.run(50_000)
        wanted += [(cell, True), (cell, False)]
    world.run(200_000)
    assert wanted == [(edge.cell, edge.down) for edge in world.edges]
    assert 1 == world.board._host.sessions  # type: ignore[union-attr]


@pytest.mark.parametrize("deaf_us", [500_000, 2_000_000])
def test_a_board_that_starts_when_its_port_is_opened_is_waited_for(deaf_us: int) -> None:
    """A board that reboots at the opening of its port hears nothing for two seconds: it is greeted until it answers
    (cases E7, E8)."""
    world = World()
    opened_us = world.clock.now_us()

    def boots(t_us: int, data: bytes) -> bytes:
        return world.device.step(t_us, data) if world.clock.now_us() - opened_us > deaf_us else b""

    world.peer = boots
    assert world.open().health()["link"].ok
    assert world.clock.now_us() - opened_us < deaf_us + 500_000


def test_a_slow_adapter_costs_its_own_time_alone() -> None:
    """An adapter that holds bytes back for 16 ms each way, as FTDI's do: touches are placed where they were, a frame is
    shown once and not again and again (case E16)."""
    world, board = opened(faults=CableFaults(delay_us=16_000))
    before = world.device.stats.frames
    board.show(WHITE, world.clock.now_us())
    world.run(500_000)
    assert 1 == world.device.stats.frames - before
    pressed_us = world.clock.now_us()
    world.device.board.contacts.press(24, world.board_clock.now_us())
    world.run(100_000)
    [pressed] = world.edges
    assert abs(pressed.t_us - pressed_us) <= 17_000  # within what the way takes nobody can tell


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("away_us", [2_000_000, 600_000_000])
def test_a_computer_that_was_suspended_plays_on(away_us: int, goes_on: bool) -> None:
    """A lid that was closed for seconds or ten minutes, with a clock that went on meanwhile or stood still: what the
    kernel still has of the board's words is worth nothing more than it was, no touch is made up, and the board is back
    within two seconds."""
    world, board = opened()
    wakes_us, words = away_us if goes_on else 0, b""
    for _ in range(away_us // 5_000):
        world.board_clock.ahead_us += 5_000
        words += world.peer(world.board_clock.now_us(), b"") if len(words) < 4_096 else b""
    if goes_on:
        world.board_clock.ahead_us -= away_us
        world.clock.advance_to(world.clock.now_us() + wakes_us)
    world.cable.up.send(words, world.clock.now_us())
    world.run(2_000_000)
    assert board.health()["link"].ok and [] == world.edges
    assert world.clock.now_us() - world.known_us < 30_000
    for cell in range(3):
        pressed_us = world.clock.now_us()
        world.device.board.contacts.press(cell, world.board_clock.now_us())
        world.run(60_000)
        world.device.board.contacts.release(cell, world.board_clock.now_us())
        world.run(100_000)
        assert [(cell, True), (cell, False)] == [(edge.cell, edge.down) for edge in world.edges]
        assert abs(world.edges[0].t_us - pressed_us) <= 4_000
        world.edges.clear()


# -- what else may be at the port ---------------------------------------------------------------------------------


def other_version(t_us: int, data: bytes) -> bytes:
    return b"".join(
        link.frame(link.REFUSED, header.session, 1, header.number, link.hello(2) + b"\1")
        for header, _ in link.Splitter().feed(data)
    )


def deaf(t_us: int, data: bytes) -> bytes:
    return link.frame(link.WELCOME, 0, 1, 0, link.hello()) if t_us % 500_000 < 1_000 else b""


def gps(t_us: int, data: bytes) -> bytes:
    return b"$GPGGA,123519,4807.038,N*47\r\n" if t_us % 1_000_000 < 1_000 else b""


def echo(t_us: int, data: bytes) -> bytes:
    return data


def babble(t_us: int, data: bytes) -> bytes:
    return b"U" * 500


def silent(t_us: int, data: bytes) -> bytes:
    return b""


@pytest.mark.parametrize(
    ("peer", "wanted"),
    [
        (silent, "nothing is said there; is it the board's port, and does its firmware run?"),
        (gps, "another device is there, which says '$GPGGA,123519,4807.038,N'"),
        (babble, "something babbles there, 500 kB a second"),
        (deaf, "the board speaks but does not hear"),
        (other_version, "the board speaks version 2 of the link, which is newer than 1, the one spoken here"),
    ],
)
def test_each_kind_of_bad_device_has_its_sentence(peer: Callable[[int, bytes], bytes], wanted: str) -> None:
    """Silent, foreign, babbling, half-open and other devices are refused within seconds, each with its own words
    (cases E13, G25)."""
    world = World()
    world.peer = peer
    with pytest.raises(PartError) as refused:
        world.open()
    assert f"/dev/ttyACM0: {wanted}" in str(refused.value)
    assert world.closed >= 1


def test_a_port_that_says_what_it_hears_is_no_board() -> None:
    """An echo, as of a modem or of a port whose wires touch, is not taken for a board, and is named (case G14)."""
    world = World()
    world.peer = echo
    with pytest.raises(PartError, match="what is sent there comes back, and no board answers"):
        world.open()


def test_a_cable_that_echoes_beside_the_board_is_played_on() -> None:
    """Wires that bring the host's own messages back with the board's, as a line of two wires does: every touch comes
    once, in one session."""
    world, board = opened()
    world.peer = lambda t_us, data: data + world.device.step(t_us, data)
    for cell in range(10):
        world.device.board.contacts.press(cell, world.board_clock.now_us())
        world.run(100_000)
        world.device.board.contacts.release(cell, world.board_clock.now_us())
        world.run(100_000)
    assert [(cell, down) for cell in range(10) for down in (True, False)] == [
        (edge.cell, edge.down) for edge in world.edges
    ]
    assert board.health()["link"].ok and 1 == world.board._host.sessions  # type: ignore[union-attr]


@pytest.mark.parametrize("restarts", [0, 1, 5])
def test_a_board_that_falls_silent_is_not_called_what_it_is_not(restarts: int) -> None:
    """A board that was there and says nothing any more is called that, also when it has started anew before; one that
    has done so again and again breaks off (case G14)."""
    world, board = opened()
    for _ in range(restarts):
        world.device.restart()
        world.run(2_000_000)
    assert board.health()["link"].ok
    world.peer = silent
    world.run(3_500_000)
    wanted = "breaks off again and again" if restarts == 5 else "was there and says nothing any more"
    assert wanted in board.health()["link"].text


def test_a_board_that_stays_silent_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    """Two minutes at an open port that says nothing: health says what is wrong all the time, the log says it once; the
    board that comes back after that is told within a minute."""
    world, board = opened()
    world.peer, texts = silent, set()
    world.run(10_000_000)
    for _ in range(20):
        world.run(5_500_000)
        texts.add(board.health()["link"].text)
    assert ["/dev/ttyACM0: nothing is said there; is it the board's port, and does its firmware run?"] == list(texts)
    assert len(caplog.records) <= 3
    world.peer = world.device.step
    caplog.set_level("INFO")
    world.run(60_000_000)
    assert "The board is there again" in caplog.messages[-1]


def test_what_changes_all_the_time_is_told_less_and_less_often() -> None:
    """A cable whose trouble changes every second has at most 40 lines a day in the log; after a calm minute the next
    one comes at once."""
    telling = Telling()
    lines = sum(telling.due(f"trouble {second % 2}", second * 1_000_000) for second in range(86_400))
    assert 15 <= lines <= 40
    told = [second for second in range(86_400, 86_470) if telling.due("", second * 1_000_000)]
    assert [86_461] == told
    assert telling.due("out", 86_470_000_000)


def test_a_device_that_takes_nothing_is_named() -> None:
    """A port that takes no byte never blocks a scan, and says so (case E11)."""
    world, board = opened()
    world.takes = 0
    world.peer = silent
    world.run(3_000_000)
    assert "takes nothing that is sent" in board.health()["link"].text


def test_a_device_that_takes_bytes_again_is_no_longer_called_stuck() -> None:
    """A port that took nothing for two seconds and takes bytes again is called by what is wrong then (case E11)."""
    world, board = opened()
    world.takes, world.peer = 0, silent
    world.run(2_200_000)
    assert "takes nothing that is sent" in board.health()["link"].text
    world.takes = 4096
    world.run(1_000_000)
    assert "takes nothing that is sent" not in board.health()["link"].text


def test_a_board_is_dark_after_a_good_bye_behind_half_a_message() -> None:
    """What the port has not taken yet goes before the good-bye, which would be no message else."""
    world, board = opened()
    board.show(WHITE, world.clock.now_us())
    world.run(50_000)
    world.takes = 5
    board.show(bytes(3) + WHITE[3:], world.clock.now_us())
    world.takes = 4096
    board.close()
    world.step(50_000)
    assert bytes(147) == world.device.board.wire()


def test_a_board_that_greets_and_never_reports_is_not_well() -> None:
    """A board that starts anew and from then on answers greetings alone tells nothing of its contacts: it is away."""
    world, board = opened()
    world.device.restart()
    about = world.device._far.device.about

    def greets(t_us: int, data: bytes) -> bytes:
        return b"".join(
            link.frame(link.WELCOME, header.session, 1, header.number, link.welcome(about))
            for header, _ in link.Splitter().feed(data)
            if header.kind == link.HELLO
        )

    world.peer = greets
    world.run(600_000)
    for _ in range(200):
        world.run(10_000)
        assert not board.health()["link"].ok


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({"rows": 1}, "1 x 7 cells"),
        ({"colour_order": b"GGG"}, "the colour order 'GGG'"),
        ({"lights": tuple(range(48))}, "48 LEDs"),
        ({"lights": (0,) * 49}, "49 LEDs"),
        ({"supply_ma": 50}, "a supply of 50 mA"),
        ({"supply_ma": 5_000_000}, "a supply of 5000000 mA"),
        ({"red_ua": 1 << 31}, "an LED that draws 2147483648 uA"),
        ({"lights": tuple(at // 14 for at in range(686))}, "686 LEDs"),
    ],
)
def test_a_board_whose_description_cannot_be_played_is_refused(fields: dict[str, object], wanted: str) -> None:
    """A description that contradicts itself is refused by what is wrong with it."""
    world = World()
    world.device._far.device.about = world.device._far.device.about._replace(**fields)
    with pytest.raises(PartError, match=wanted):
        world.open()


def test_another_board_does_not_take_the_place_of_the_first() -> None:
    """A board of another size that is plugged in during play is named and left alone; the first one is taken back."""
    world, board = opened()
    world.unplug()
    world.run(1_000_000)
    first = world.device
    world.peer = SimDevice(
        SIM._replace(leds=SIM.leds, edge_strips=type(SIM.edge_strips)(a=3, b=3)), world.board_clock
    ).step
    world.plug("/dev/ttyACM1")
    world.run(2_000_000)
    assert "another board is there now" in board.health()["link"].text
    world.unplug()
    world.peer = first.step
    world.plug()
    world.run(3_000_000)
    assert board.health()["link"].ok


def test_a_twin_does_not_take_the_place_of_the_first() -> None:
    """A board like the first one in all but its id, found first under the same USB identity, is left for the one that
    was there, which is back within three seconds (case E2)."""
    world, board = opened()
    world.unplug()
    world.run(1_000_000)
    first, twin, port = world.device, SimDevice(SIM, world.board_clock, unique="twin"), world.Port

    def other(name: str) -> object:
        world.peer = twin.step if name == "/dev/ttyACM0" else first.step
        return port(name)

    world.Port = other  # type: ignore[method-assign, assignment]
    world.plug()
    world.names = ["/dev/ttyACM0", "/dev/ttyACM1"]
    world.run(3_000_000)
    assert board.health()["link"].ok and "/dev/ttyACM1" in board.health()["link"].text
    world.unplug()
    world.run(1_000_000)
    world.plug()
    world.run(3_000_000)
    assert "another board is there now (simulated board, twin, 7 x 7, 49 LEDs)" in board.health()["link"].text


def test_what_a_busy_computer_reads_late_does_not_shift_the_boards_clock() -> None:
    """A scan that was held up between its time and its reading: the next touch is placed where it was all the same."""
    world, board = opened()
    for late_us in (180_000, 1_000):
        t_us = world.clock.now_us()
        world.step(late_us)
        assert world.clock.now_us() == board.scan(t_us).t_us
    world.run(20_000)
    world.edges.clear()
    pressed_us = world.clock.now_us()
    world.device.board.contacts.press(24, world.board_clock.now_us())
    world.run(60_000)
    world.device.board.contacts.release(24, world.board_clock.now_us())
    world.run(60_000)
    pressed, released = world.edges
    assert 0 <= pressed.t_us - pressed_us <= 4_000
    assert abs(released.t_us - pressed.t_us - 60_000) <= 4_000


@pytest.mark.parametrize("every_us", [200_000, 700_000])
def test_a_board_that_starts_anew_again_and_again_is_survived(every_us: int, caplog: pytest.LogCaptureFixture) -> None:
    """Ten seconds of resets: nothing raises, the log is not flooded, and once they end the board plays."""
    world, board = opened()
    for _ in range(10_000_000 // every_us):
        world.device.restart("watchdog")
        board.show(WHITE, world.clock.now_us())
        world.run(every_us)
    world.run(3_000_000)
    assert board.health()["link"].ok
    assert len(caplog.records) <= 12
    world.edges.clear()
    world.device.board.contacts.press(24, world.board_clock.now_us())
    world.run(1_500_000)
    assert [(24, True)] == [(edge.cell, edge.down) for edge in world.edges]


def test_a_board_of_another_size_in_the_middle_of_a_game_is_named() -> None:
    """A board that starts anew and says it has other cells, other LEDs or another id is not played on."""
    for fields in ({"rows": 6}, {"lights": tuple(range(50))}, {"unique": "another"}):
        world, board = opened()
        world.device.restart()
        device = world.device._far.device
        device.about = device.about._replace(**fields)
        world.run(2_000_000)
        assert not board.health()["link"].ok


def test_lists_of_ports_that_change_while_they_are_read_are_survived() -> None:
    """The kernel's list of devices breaks off while the board comes back: it is looked for again (case E1)."""
    world, board = opened()
    world.unplug()
    world.run(100_000)
    true = world.candidates

    def broken(where: str, known: Identity) -> list[str]:
        raise FileNotFoundError(2, "No such file or directory", "/sys/bus/usb/devices/1-1/idVendor")

    world.candidates = broken  # type: ignore[method-assign, assignment]
    world.run(1_000_000)
    assert not board.health()["link"].ok
    world.candidates = true  # type: ignore[method-assign]
    world.plug()
    world.run(3_000_000)
    assert board.health()["link"].ok


def test_what_a_board_says_of_itself_steers_no_terminal() -> None:
    """A name with line ends and escapes is shown without them."""
    world = World()
    device = world.device._far.device
    device.about = device.about._replace(name="\x1b[2Jbad\nname", firmware="\u202e1", unique="a\tb")
    board = world.open()
    assert "?[2Jbad?name (?1, a?b) at /dev/ttyACM0" == board.health()["link"].text
    assert "?[2Jbad?name" == board.capabilities.name


def test_a_board_that_refuses_its_limits_is_named() -> None:
    """A device that greets as a board and refuses what it is told is no board to play on."""
    world, true = World(), World().device

    def refuses(t_us: int, data: bytes) -> bytes:
        out = b""
        for header, _ in link.Splitter().feed(data):
            kind, body = link.REFUSED, link.refused(link.WRONG_SIZE)
            if header.kind == link.HELLO:
                kind, body = link.WELCOME, link.welcome(true._far.device.about)
            out += link.frame(kind, header.session, t_us // 1000 & 0xFFFF, header.number, body)
        return out

    world.peer = refuses
    with pytest.raises(PartError, match=r"refuses what it is told \(reason 3\)"):
        world.open()


def test_a_port_that_cannot_be_opened_says_why() -> None:
    """What opening raised is what a start without a board says."""
    world = World()
    world.fault = "/dev/ttyACM0 is in use by another program; stop that first"
    with pytest.raises(PartError, match="in use by another program"):
        world.open()


def test_auto_asks_one_port_after_the_other() -> None:
    """With `auto` a port that is no board is left for the next one."""
    world = World()
    world.names = ["/dev/ttyACM0", "/dev/ttyACM1"]
    world.identity = Identity()
    asked: list[str] = []
    port = world.Port

    def other(name: str) -> object:
        asked.append(name)
        world.peer = silent if name == "/dev/ttyACM0" else world.device.step
        return port(name)

    world.Port = other  # type: ignore[method-assign, assignment]
    assert world.open("auto").health()["link"].ok
    assert ["/dev/ttyACM0", "/dev/ttyACM1"] == asked


def test_auto_has_patience_for_each_port() -> None:
    """With three ports that are no board before it, the board at the fourth is found."""
    world = World()
    world.names, world.identity = [f"/dev/ttyACM{number}" for number in range(4)], Identity()
    port = world.Port

    def other(name: str) -> object:
        world.peer = world.device.step if name == "/dev/ttyACM3" else silent
        return port(name)

    world.Port = other  # type: ignore[method-assign, assignment]
    assert world.open("auto").health()["link"].ok


def test_a_year_of_statistics_fits_its_fields() -> None:
    """The widest counters of STATS are told as the most their fields hold."""
    assert 30 == len(link.stats(link.Stats(*[1 << 50] * 8))) == struct.calcsize("<HIIIIIII")
