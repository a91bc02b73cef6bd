"""`morbak config`: check a file of settings, and show the settings in effect."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

from firmware import config, settings_file, settings_text
from firmware.arguments import add_board, add_state, group, profile
from firmware.state_directory import default
from hal.errors import ProfileError
from hal.profile import Profile

EXAMPLES = """examples:
  morbak config show > settings.toml     every setting with its meaning, range and default: a file to start from
  morbak config check settings.toml      every mistake in it, by file and line
  morbak config check                    the file that `morbak run` would read
  morbak config show --json              the settings in effect, for other programs

Settings are read from --config FILE, else $MORBAK_CONFIG, else the first of these that is there:
$XDG_CONFIG_HOME/morbak-board/settings.toml (~/.config if unset), the same in each of $XDG_CONFIG_DIRS (/etc/xdg if
unset), /etc/morbak-board/settings.toml; else the built-in ones are used.

exit status: 0 ok, 1 there are mistakes, 2 usage
"""


def add_config(parser: argparse.ArgumentParser) -> None:
    """`morbak config check|show`."""
    parser.epilog = EXAMPLES
    commands = group(parser)
    check = commands.add_parser("check", help="name every mistake in a file of settings")
    show = commands.add_parser("show", help="print the settings in effect, as TOML that can be read again")
    for each in (check, show):
        each.add_argument("file", type=Path, nargs="?", metavar="FILE", help="settings (default: what run would read)")
        add_board(each)
    add_state(show, "where the last good copy lies, should the file be torn (default: as for run)")
    show.add_argument("--json", action="store_true", help="as one JSON object")
    check.set_defaults(command=_check)
    show.set_defaults(command=_show)


def _check(parsed: argparse.Namespace) -> int:
    board = profile(parsed.board)
    path = settings_file.first(parsed.file, os.environ)
    if path is None:
        print("There is no file of settings: the built-in ones are used.")
        return 0
    faults = _faults(path, board)
    for fault in faults:
        print(_located(fault), file=sys.stderr)
    if not faults:
        print(f"{path}: ok.")
    return 1 if faults else 0


def _faults(path: Path, board: Profile) -> list[ProfileError]:
    try:
        return config.judge(config.read(path), board)[1]
    except ProfileError as error:
        return [error]


def _located(fault: ProfileError) -> str:
    """FILE:LINE: and what is wrong there, as compilers say it."""
    where = fault.file if fault.line is None else f"{fault.file}:{fault.line}"
    what = fault.key if fault.value is None else f"{fault.key} = {fault.value!r}"
    return ": ".join(filter(None, (where, what, fault.reason)))


def _show(parsed: argparse.Namespace) -> int:
    board = profile(parsed.board)
    choice = settings_file.choose(parsed.file, board)
    state: Path = getattr(parsed, "state", None) or default(os.environ)
    started = settings_file.settle(choice, board, state)
    for sentence in started.sentences:
        print(sentence, file=sys.stderr)
    if parsed.json:
        print(json.dumps(settings_text.document(started.settings, started.source), indent=2))
    else:
        print(settings_text.toml(started.settings, started.source), end="")
    return 0
