"""The watchdog: fed while all parts move, hungry as soon as one does not; what the service manager is told."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from firmware.attendant import Attendant, attended
from firmware.cable_wait import awaited
from firmware.disk_sleep import sleeps_for_a_device
from firmware.notify import Notifier
from firmware.start_record import StartRecord
from firmware.watchdog import STALLED_US, Judge
from hal.errors import PartError
from hal.profile import Profile, load, shipped

PARTS = ("scan", "leds", "journal", "loop")
S = 1_000_000


def test_fed_when_all_have_come_round() -> None:
    """The first look feeds nobody; a part that comes round late delays the food, and each meal wants all anew."""
    judge = Judge()
    fed = [
        judge.step(t, dict(zip(PARTS, rounds, strict=True)))
        for t, rounds in enumerate([(1, 1, 1, 1), (9, 1, 2, 2), (9, 2, 2, 3), (9, 3, 3, 4), (10, 3, 3, 5)])
    ]
    assert [False, False, True, False, True] == fed


@pytest.mark.parametrize("hangs", PARTS)
def test_no_food_while_one_part_stands_still(hangs: str) -> None:
    """Whichever part hangs, the dog is fed once more at most, and the part is named after a second (F22)."""
    judge, t_us, rounds = Judge(), 0, dict.fromkeys(PARTS, 0)
    for _ in range(8):
        t_us += S // 4
        rounds = {part: count + 1 for part, count in rounds.items()}
        fed = judge.step(t_us, rounds)
    assert (True, ()) == (fed, judge.stalled(t_us))
    for _ in range(8):
        t_us += S // 4
        rounds = {part: count + (part != hangs) for part, count in rounds.items()}
        assert not judge.step(t_us, rounds)
    assert (hangs,) == judge.stalled(t_us)
    rounds[hangs] += 1
    assert judge.step(t_us + 1, rounds)
    assert () == judge.stalled(t_us + 1)


def test_a_stall_is_told_no_sooner() -> None:
    """A second is a stall, and less is none."""
    judge = Judge()
    judge.step(0, {"leds": 1})
    assert [(), ("leds",)] == [judge.stalled(STALLED_US - 1), judge.stalled(STALLED_US)]


# -- what the manager hears --------------------------------------------------------------------------------------------


class Manager:
    """Stands for systemd: a socket that hears datagrams."""

    def __init__(self, address: str) -> None:
        self.address = address
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self._socket.setblocking(False)

    def heard(self) -> list[str]:
        """Every message since the last call."""
        messages = []
        try:
            while True:
                messages.append(self._socket.recv(4096).decode())
        except BlockingIOError:
            return messages

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Manager]:
    address = str(tmp_path / "notify") if request.param == "path" else f"@morbak-test-{tmp_path.name}-{id(tmp_path)}"
    listening = Manager(address)
    yield listening
    listening.close()


class Still:
    """A clock moved by hand."""

    t_us = 0

    def now_us(self) -> int:
        return self.t_us


def test_ready_comes_once_and_only_when_all_move(manager: Manager, tmp_path: Path) -> None:
    """READY is sent when every part has come round for the first time, WATCHDOG each time, STATUS when it changes."""
    clock, rounds = Still(), {"scan": 0, "leds": 0}
    status = ["attract"]
    notifier = Notifier.of({"NOTIFY_SOCKET": manager.address})
    attendant = Attendant(clock, lambda: rounds, notifier, StartRecord(None), lambda: status[0])
    attendant.step()
    assert ["STATUS=attract"] == manager.heard()
    rounds["scan"] += 1
    attendant.step()
    assert [] == manager.heard()
    rounds["leds"] += 1
    attendant.step()
    assert ["READY=1", "WATCHDOG=1"] == manager.heard()
    rounds |= {"scan": 9, "leds": 9}
    status[0] = "play;\n leds: unplugged"
    attendant.step()
    assert ["WATCHDOG=1", "STATUS=play; leds: unplugged"] == manager.heard()
    notifier.close()
    notifier.close()


def test_a_stalled_part_is_kept_for_the_next_start(tmp_path: Path) -> None:
    """Before the watchdog bites, the part that stands still is in the record, so that the next start can name it."""
    clock, rounds, record = Still(), {"scan": 0, "leds": 0}, StartRecord(tmp_path)
    attendant = Attendant(clock, lambda: rounds, Notifier.of({}), record, lambda: "")
    for _ in range(8):
        clock.t_us += S // 4
        rounds["scan"] += 1
        attendant.step()
    assert ("leds",) == record.record.stalled
    (tmp_path / "end").write_text("watchdog killed ABRT\n")
    reason = StartRecord(tmp_path).record.reason
    assert reason is not None
    assert "The leds stood still, and the watchdog ended the program." == reason.text


def test_a_manager_that_is_gone_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Messages that cannot be sent are logged once."""
    notifier = Notifier(str(tmp_path / "gone"))
    notifier.ready()
    notifier.feed()
    notifier.close()
    assert 1 == len(caplog.records)


def test_a_service_waits_for_its_cable(manager: Manager) -> None:
    """A board at the end of a cable that is not in yet is waited for, and systemd told to be patient; in a terminal,
    and for a board of another kind, the sentence ends the start.
    """
    answers: list[Exception | None] = [PartError("no cable"), PartError("no cable"), None]
    environ = {"NOTIFY_SOCKET": manager.address}

    def ask(_: str) -> Profile:
        fault = answers.pop(0)
        if fault is not None:
            raise fault
        return load(shipped("sim"))

    waits: list[float] = []
    assert awaited("serial:auto", environ, ask, waits.append) == load(shipped("sim"))
    assert [1.0, 1.0] == waits
    patience = "EXTEND_TIMEOUT_USEC=30000000"
    assert ["STATUS=waiting for the board: no cable", patience, patience] == manager.heard()
    for board, around in (("serial:auto", {}), ("reference", environ)):
        answers.append(PartError("no cable"))
        with pytest.raises(PartError):
            awaited(board, around, ask, waits.append)


@pytest.mark.realtime
def test_the_end_is_told(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    """A board that is attended says when it begins to end."""
    monkeypatch.setenv("NOTIFY_SOCKET", manager.address)

    async def play() -> None:
        async with attended(Still(), dict, StartRecord(None), lambda: "attract"):
            await asyncio.sleep(0)

    asyncio.run(play())
    assert "STOPPING=1" == manager.heard()[-1]


@pytest.mark.realtime
def test_a_thread_that_waits_for_another_is_not_at_the_disk() -> None:
    """Only a thread that the kernel holds for a device sleeps for one; ours that hang do not."""
    event = threading.Event()
    thread = threading.Thread(target=event.wait)
    assert not sleeps_for_a_device(thread)
    thread.start()
    assert not sleeps_for_a_device(thread)
    event.set()
    thread.join()
