"""The words of the link: bytes as the protocol's page has them, and what becomes of bytes that are none."""

from __future__ import annotations

import binascii
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hal import link

VECTORS = json.loads((Path(__file__).parent / "tables/link_vectors.json").read_text(encoding="utf-8"))
MESSAGES = {message["name"]: message for message in VECTORS["messages"]}


def named(message: dict[str, Any]) -> str:
    return str(message["name"])


@pytest.mark.parametrize(("data", "wanted"), VECTORS["crc16"])
def test_the_crc_is_the_published_one(data: str, wanted: int) -> None:
    """CRC-16/IBM-3740 of the published examples."""
    assert wanted == link.crc16(bytes.fromhex(data))


@given(st.binary(max_size=600))
def test_the_crc_is_the_standard_librarys(data: bytes) -> None:
    """Any bytes have the CRC that Python's own C code finds."""
    assert binascii.crc_hqx(data, 0xFFFF) == link.crc16(data)


@pytest.mark.parametrize(("data", "stuffed"), VECTORS["cobs"])
def test_stuffing_is_the_published_one(data: str, stuffed: str) -> None:
    """The published examples of COBS come out byte by byte, and back."""
    assert stuffed == link.stuff(bytes.fromhex(data)).hex()
    assert data == link.unstuff(bytes.fromhex(stuffed)).hex()


@given(st.binary(max_size=1200) | st.builds(lambda n, b: bytes((b,)) * n, st.integers(0, 1200), st.integers(0, 2)))
def test_whatever_is_stuffed_comes_back_without_a_zero(data: bytes) -> None:
    """Stuffed bytes have no zero, at most one byte in 254 more, and unstuff to what they were."""
    stuffed = link.stuff(data)
    assert 0 not in stuffed
    assert len(stuffed) <= len(data) + 1 + len(data) // 254
    assert data == link.unstuff(stuffed)


@pytest.mark.parametrize("message", VECTORS["messages"], ids=named)
def test_a_message_has_the_bytes_of_the_protocols_page(message: dict[str, Any]) -> None:
    """Header and body give the bytes of the vector, and these give header and body, wherever they are cut."""
    header = tuple(message[key] for key in ("kind", "session", "number", "ack"))
    wire, body = bytes.fromhex(message["wire"]), bytes.fromhex(message["body"])
    assert wire == link.frame(*header, body)
    for cut in range(len(wire) + 1):
        splitter = link.Splitter()
        assert [(header, body)] == splitter.feed(wire[:cut]) + splitter.feed(wire[cut:])
        assert (1, 0, 0) == (splitter.good, splitter.bad, splitter.babble)


@pytest.mark.parametrize("name", [name for name in MESSAGES if name.startswith("report")])
def test_a_report_reads_and_writes_as_its_vector(name: str) -> None:
    """A report's fields give its body, and the other way round."""
    fields = dict(MESSAGES[name]["fields"])
    cells = fields.pop("cells")
    told = link.Report(**fields | {"edges": tuple((t, cell, bool(down)) for t, cell, down in fields["edges"])})
    body = bytes.fromhex(MESSAGES[name]["body"])
    assert body == link.report(told, cells)
    assert told == link.read_report(body, cells)


def test_a_welcome_reads_and_writes_as_its_vector() -> None:
    """A welcome's fields give its body, and the other way round."""
    fields = MESSAGES["welcome"]["fields"]
    about = link.Welcome(
        **fields | {"colour_order": fields["colour_order"].encode(), "lights": tuple(fields["lights"])}
    )
    body = bytes.fromhex(MESSAGES["welcome"]["body"])
    assert (body, about) == (link.welcome(about), link.read_welcome(body))


def test_settings_and_statistics_read_and_write_as_their_vectors() -> None:
    """The fields of SET and STATS give their bodies, and the other way round."""
    told, body = link.Settings(**MESSAGES["set"]["fields"]), bytes.fromhex(MESSAGES["set"]["body"])
    assert (body, told) == (link.settings(told), link.read_settings(body))
    counted, body = link.Stats(**MESSAGES["stats"]["fields"]), bytes.fromhex(MESSAGES["stats"]["body"])
    assert (body, counted) == (link.stats(counted), link.read_stats(body))
    assert link.Stats(0xFFFF, *[0xFFFFFFFF] * 7) == link.read_stats(link.stats(link.Stats(*[1 << 40] * 8)))


def test_a_delta_changes_a_frame_as_its_vector() -> None:
    """The runs between two frames are those of the vector and turn one into the other."""
    fields, body = MESSAGES["delta"]["fields"], bytes.fromhex(MESSAGES["delta"]["body"])
    before, after = bytes.fromhex(fields["before"]), bytes.fromhex(fields["after"])
    assert (body[4:], after) == (link.delta(before, after), link.apply_delta(before, body[4:]))


@given(st.data(), st.integers(1, 400))
def test_any_two_frames_have_a_delta(data: st.DataObject, leds: int) -> None:
    """What a delta says of two frames, however long their runs, turns the first into the second."""
    old = data.draw(st.binary(min_size=3 * leds, max_size=3 * leds))
    places = data.draw(st.sets(st.integers(0, leds - 1))) if data.draw(st.booleans()) else set(range(leds))
    new = bytearray(old)
    for led in places:
        new[3 * led] ^= 1
    assert bytes(new) == link.apply_delta(old, link.delta(old, bytes(new)))


@given(st.lists(st.binary(max_size=3000), max_size=8))
def test_no_bytes_are_too_strange_for_the_splitter(pieces: list[bytes]) -> None:
    """Any bytes are taken without an exception, and no more than a longest message is held."""
    splitter = link.Splitter()
    for piece in pieces:
        splitter.feed(piece)
        assert len(splitter._held) <= link.LONGEST + 12


def test_a_flood_without_an_end_is_counted_and_not_kept() -> None:
    """A megabyte without a zero is babble; what comes after the next zero is heard."""
    splitter = link.Splitter()
    for _ in range(1000):
        splitter.feed(b"x" * 1000)
        assert len(splitter._held) <= link.LONGEST + 12
    beat = bytes.fromhex(MESSAGES["beat"]["wire"])
    assert 1 == len(splitter.feed(b"\0" + beat))
    assert (1, 1_000_000) == (splitter.bad, splitter.babble)


@given(st.sampled_from(VECTORS["messages"]), st.integers(1, 0xFFFF), st.data())
def test_a_burst_of_errors_is_always_found(message: dict[str, Any], burst: int, data: st.DataObject) -> None:
    """Up to 16 wrong bits in a row anywhere in a message or its CRC: dropped and counted (case D23)."""
    wire = bytes.fromhex(message["wire"])
    true = link.unstuff(wire[:-1])
    bits = int.from_bytes(true, "big") ^ burst << data.draw(st.integers(0, 8 * len(true) - 16))
    splitter = link.Splitter()
    assert [] == splitter.feed(link.stuff(bits.to_bytes(len(true), "big")) + b"\0")
    assert (0, 1) == (splitter.good, splitter.bad)


READERS = [
    link.version_of,
    link.read_welcome,
    link.read_settings,
    lambda body: link.read_report(body, 49),
    link.read_stats,
    lambda body: link.apply_delta(bytes(147), body),
]


@given(st.binary(max_size=300) | st.sampled_from([bytes.fromhex(m["body"]) for m in VECTORS["messages"]]), st.data())
def test_a_body_is_read_or_refused(body: bytes, data: st.DataObject) -> None:
    """A body of any bytes, or a true one cut short or longer, is read or raises ValueError and nothing else."""
    body = body[: data.draw(st.integers(0, len(body)))] + data.draw(st.binary(max_size=3))
    for read in READERS:
        try:
            read(body)
        except ValueError:
            continue


@pytest.mark.parametrize(
    ("number", "than", "wanted"),
    [(1, 0, True), (0, 0, False), (0, 1, False), (0, 65535, True), (32767, 0, True), (32768, 0, False)],
)
def test_numbers_go_round(number: int, than: int, wanted: bool) -> None:
    """Of two message numbers the newer is known past the end of 16 bits."""
    assert wanted == link.newer(number, than)
