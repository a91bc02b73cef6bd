"""`morbak ctl`, `morbak token` and `morbak report`: the board that runs, from a terminal."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from firmware import ctl_socket
from firmware.arguments import Misuse, add_state, count, group
from firmware.operator_commands import Refused, Settings
from firmware.operator_token import FILE, token_in
from firmware.state_directory import NAME, default

EXAMPLES = """examples:
  morbak ctl status                   how the board is: sentence, figures, what is set
  morbak ctl health                   one sentence; exit 1 if the board needs somebody
  morbak ctl cells                    touches, answer and bounce of every cell
  morbak ctl mask d4                  put a cell out of use; unmask d4 puts it back
  morbak ctl clean                    deaf for 30 s, to be wiped
  morbak ctl end                      clear the game off the board; pause and resume stop and go on
  morbak ctl settings quiet=22:00-08:00 total_s=600 language=fr
  morbak ctl settings quiet=default   back to what the settings file says
  morbak ctl logs -n 20
  morbak ctl restart

exit status: 0 ok, 1 refused or not well, 2 usage, or no board answers
"""
SERVICE_STATE = Path("/var/lib") / NAME
DONE = {
    "mask": "{} is out of use.",
    "unmask": "{} is in use again.",
    "clean": "The board is deaf for 30 s: wipe it now.",
    "end": "The board is free.",
    "pause": "The game is paused.",
    "resume": "The game goes on.",
    "restart": "The board starts anew.",
    "act": "{} is played.",
    "settings": "Set.",
}
FIGURES = (
    ("from touch to light", "{light_p50_us} us, 99 % within {light_p99_us} us"),
    ("scans late, 99 %", "{scan_late_p99_us} us"),
    ("contacts bounce", "{bounce_us} us"),
    ("touches, lost", "{touches}, {lost_touches}"),
    ("current of the lights", "{current_ma} of {budget_ma} mA"),
    ("voltage sagged", "{sags} times"),
    ("temperature", "{temperature_c} C"),
    ("games since the start", "{games}"),
    ("stalls of the loop", "{stalls}, longest {longest_stall_ms} ms"),
    ("up", "{up_s} s"),
)


def add_ctl(parser: argparse.ArgumentParser) -> None:
    """`morbak ctl`."""
    parser.epilog = EXAMPLES
    commands = group(parser)
    for name, about in (
        ("status", "how the board is"),
        ("health", "one sentence; exit 1 if the board needs somebody"),
        ("cells", "touches, answer and bounce of every cell"),
        ("clean", "make the board deaf for 30 s, to wipe it"),
        ("end", "clear the game or the result off the board"),
        ("pause", "stop the clocks"),
        ("resume", "let a paused or parked game go on"),
        ("restart", "start the firmware anew; the game is found again"),
    ):
        _common(commands.add_parser(name, help=about), name)
    for name, about, what in (
        ("mask", "put a cell out of use", "CELL"),
        ("unmask", "put a cell back into use", "CELL"),
        ("act", "play for the side to move: d4, xd4, #d4, !d4", "ACTION"),
    ):
        one = commands.add_parser(name, help=about)
        one.add_argument("what", metavar=what)
        _common(one, name)
    settings = commands.add_parser("settings", help="show what is set, or set it")
    settings.add_argument("pairs", nargs="*", metavar="KEY=VALUE", help="the value `default` goes back to the file's")
    _common(settings, "settings")
    logs = commands.add_parser("logs", help="the last lines of the board's log")
    logs.add_argument("-n", type=count, default=50, metavar="N", help="so many (default: 50)")
    _common(logs, "logs")


def _common(parser: argparse.ArgumentParser, name: str) -> None:
    add_state(parser, "the state directory of the board (default: the service's board, else your own)")
    parser.add_argument("--socket", type=Path, metavar="FILE", help="the board's socket, if it is elsewhere")
    parser.add_argument("--json", action="store_true", help="as one JSON object")
    parser.set_defaults(command=_ctl, verb=name)


def _ask(parsed: argparse.Namespace, command: dict[str, Any]) -> dict[str, Any]:
    path = ctl_socket.find(getattr(parsed, "socket", None), getattr(parsed, "state", None))
    try:
        return ctl_socket.ask(path, json.dumps(command).encode())
    except ctl_socket.NotThere as error:
        raise Misuse(str(error)) from error


def _ctl(parsed: argparse.Namespace) -> int:
    try:
        answer = _ask(parsed, _command(parsed))
    except Refused as refused:
        print(f"morbak: {refused.text}", file=sys.stderr)
        return 2 if refused.code == "malformed" else 1
    lines = [json.dumps(answer)] if parsed.json else _lines(parsed, answer)
    print("\n".join(lines))
    return 1 if parsed.verb == "health" and not answer["ok"] else 0


def _command(parsed: argparse.Namespace) -> dict[str, Any]:
    verb = parsed.verb
    if verb in ("status", "health", "cells"):
        return {"do": "status"}
    if verb == "settings":
        return {"do": "settings", **_pairs(parsed.pairs)} if parsed.pairs else {"do": "status"}
    if verb == "logs":
        return {"do": "logs", "n": parsed.n}
    if verb == "act":
        return {"do": "act", "action": parsed.what}
    return {"do": verb, "cell": parsed.what} if verb in ("mask", "unmask") else {"do": verb}


def _pairs(pairs: list[str]) -> dict[str, Any]:
    """KEY=VALUE as the board reads them; a number or a truth value where one is written. Raises Misuse."""
    names = msgspec.structs.fields(Settings)
    known = {field.name for field in names}
    read: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or key not in known:
            raise Misuse(f"{pair!r} is no setting: write KEY=VALUE, with one of {', '.join(sorted(known))}.")
        plain = {"default": None, "true": True, "false": False}
        read[key] = plain[value] if value in plain else int(value) if value.isdecimal() else value
    return read


def _lines(parsed: argparse.Namespace, answer: dict[str, Any]) -> list[str]:
    """An answer for people."""
    verb = parsed.verb
    if verb == "health":
        return [answer["sentence"]]
    if verb == "cells":
        return _cells(answer["cells"])
    if verb == "logs":
        return [f"{line['at']} {line['level']:8} {line['text']}" for line in answer["lines"]]
    if verb == "status" or (verb == "settings" and not parsed.pairs):
        return _status(answer) if verb == "status" else _settings(answer)
    return [DONE[verb].format(getattr(parsed, "what", ""))]


def _status(answer: dict[str, Any]) -> list[str]:
    figures = answer["figures"]
    lines = [answer["sentence"], "", f"{'phase':24}{answer['phase']}"]
    if answer["game"] is not None:
        lines.append(f"{'game':24}{answer['game']}: {answer['position']}")
    if not figures["touches"]:
        figures = figures | dict.fromkeys(("light_p50_us", "light_p99_us", "bounce_us"))  # nothing was timed yet
    lines += [f"{name:24}{form.format(**figures)}" for name, form in FIGURES if "None" not in form.format(**figures)]
    parts = [f"{name:24}{part['text']}" for name, part in answer["parts"].items()]
    return [*lines, "", *parts, "", *_settings(answer), "", f"{answer['board']}, morbak-board {answer['version']}"]


def _settings(answer: dict[str, Any]) -> list[str]:
    """What is set, as it is written to set it; - where the profile or the page decides, and without quiet hours."""
    told = {
        name: json.dumps(value).strip('"') if value is not None else "" for name, value in answer["settings"].items()
    }
    return [f"{name:24}{text or '-'}" for name, text in told.items()]


def _cells(cells: list[dict[str, Any]]) -> list[str]:
    head = "cell  touches  light ms  worst ms  bounce ms"
    return [
        head,
        *(
            f"{cell['cell']:4}{cell['touches']:9}{cell['light_us'] / 1000:10.1f}{cell['worst_us'] / 1000:10.1f}"
            f"{cell['bounce_us'] / 1000:11.1f}{'  out of use' if cell['masked'] else ''}"
            for cell in cells
        ),
    ]


# -- token -------------------------------------------------------------------------------------------------------------


def add_token(parser: argparse.ArgumentParser) -> None:
    """`morbak token`."""
    add_state(parser, "the state directory of the board (default: the service's board, else your own)")
    parser.add_argument("--address", metavar="URL", help="the board's address (default: this machine, port 8700)")
    parser.add_argument("--new", action="store_true", help="make a new one; the board takes it at its next start")
    parser.set_defaults(command=_token)


def _state(parsed: argparse.Namespace) -> Path:
    """The state directory that was named, else the service's where that runs, else the user's own."""
    given: Path | None = getattr(parsed, "state", None)
    return given or (SERVICE_STATE if ctl_socket.SYSTEM.exists() else default(os.environ))


def _token(parsed: argparse.Namespace) -> int:
    import segno

    from firmware.web.address import answers, operator_address, phone_address

    state = _state(parsed)
    if not state.is_dir():
        raise Misuse(f"there is no state directory {state}; start the board once, or name its directory with --state.")
    file = state / FILE
    if not os.access(state, os.R_OK | os.W_OK | os.X_OK) or (file.exists() and not os.access(file, os.R_OK)):
        raise Misuse(f"{file} is for its owner alone, {file.owner() if file.exists() else state.owner()}: use sudo.")
    if parsed.new:
        file.unlink(missing_ok=True)
    token, sentence = token_in(state)
    if os.geteuid() == 0:  # the board, which is not root, has to read it
        os.chown(file, state.stat().st_uid, state.stat().st_gid)
    if sentence is not None:
        print(f"morbak: {sentence}", file=sys.stderr)
    base = parsed.address or phone_address("0.0.0.0", 8700)  # noqa: S104 - as asked from outside
    if parsed.address is None and not answers(base):
        hint = "have it listen for them with --host 0.0.0.0 (of `run` or `install`), or name its address with --address"
        print(f"morbak: No board answers a phone at {base}: {hint}.", file=sys.stderr)
    url = operator_address(base, token)
    print(token)
    print(url)
    if sys.stdout.isatty() or os.environ.get("MORBAK_QR"):
        segno.make_qr(url, error="l").terminal(out=sys.stdout, border=2, compact=True)
    return 0


# -- report ------------------------------------------------------------------------------------------------------------


def add_report(parser: argparse.ArgumentParser) -> None:
    """`morbak report`."""
    add_state(parser, "the state directory of the board (default: the service's board, else your own)")
    parser.add_argument("file", nargs="?", default="morbak-report.zip", metavar="FILE", help="the file to write")
    parser.set_defaults(command=_report)


def _report(parsed: argparse.Namespace) -> int:
    from firmware import report
    from firmware.kept_file import replace

    state = _state(parsed)
    files: dict[str, str] = {}
    try:
        status = _ask(parsed, {"do": "status"})
        files = report.of_board(status, _ask(parsed, {"do": "logs", "n": 400})["lines"], {})
    except Misuse as error:
        print(f"morbak: {error} The report has what the machine knows.", file=sys.stderr)
    token = state / FILE
    secrets = [token.read_text(encoding="ascii", errors="replace").strip()] if os.access(token, os.R_OK) else []
    replace(Path(parsed.file), report.bundle(files | report.of_machine(state), secrets))
    print(f"{parsed.file} is written; look into it before you send it to anybody.")
    return 0
