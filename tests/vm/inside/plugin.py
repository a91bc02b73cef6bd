"""Runs inside the virtual Pi: pytest with `-p hal.testing` on a board, and somebody at its terminal who does as asked.

Arguments: the board, and what pytest is to run and how. Boards: `pins` (those of this Pi), `cable` (them too, at the
other end of a real ttyACM) and `simulated` (a simulated board there, which is a test board). Prints as JSON: pytest's
exit `status`, the `results` (what came of each test, and the rung it says), how many moves were `asked` for, `shorts`,
and the lines that are still `driven`.
"""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

import jig_hands
import vpi
import wired

FOLDER = Path(tempfile.mkdtemp())
RESULTS = FOLDER / "results.xml"
ASKED = re.compile(rb"(Put a finger on|Lift the finger off) ([a-g])([1-7])[^\n]*: $")
SERVED = {"cable": "reference", "simulated": "sim"}


def serve(board: str) -> subprocess.Popen[str]:
    """`morbak board serve` at the far end of a USB cable; returns once its near end is there."""
    vpi.UsbSerial().plug()
    vpi.until(lambda: os.path.exists("/dev/ttyACM0"))
    command = [sys.executable, "-m", "firmware.cli", "board", "serve", "--port", "/dev/ttyGS0", "--board", board]
    serving = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert serving.stdout is not None and "Ctrl-C ends" in serving.stdout.readline()
    return serving


def test(given: list[str]) -> tuple[int, int]:
    """Run pytest at a terminal of its own, and do what it asks; returns its exit status and how often it asked."""
    command = [sys.executable, "-m", "pytest", "-p", "hal.testing", "-p", "no:cacheprovider", "--junitxml", RESULTS]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.pop("MORBAK_REQUIRE_ALL", None)  # what nobody can do here is left out, and the test knows what
        os.environ["PYTHONPATH"] = os.pathsep.join([str(FOLDER), str(Path(__file__).parent), *sys.path])
        os.execv(sys.executable, [str(part) for part in (*command, *given)])  # noqa: S606
    said, down, asked = b"", set[tuple[int, int]](), 0
    while True:
        try:
            said += os.read(terminal, 4096)
        except OSError:  # the child has ended
            break
        if (wanted := ASKED.search(said)) is not None:
            at = int(wanted[3]) - 1, ord(wanted[2]) - ord("a")
            down = down | {at} if wanted[1].startswith(b"Put") else down - {at}
            vpi.press(*down)
            os.write(terminal, b"\n")
            asked, said = asked + 1, b""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), asked


def result(case: ElementTree.Element) -> tuple[str, list[str]]:
    """The name of a test, how it went (with the reason where it did not) and on which rung."""
    found = [f"{each.tag}: {each.get('message')}" for each in case if each.tag != "properties"]
    rungs = [str(each.get("value")) for each in case.iter("property") if each.get("name") == "morbak_rung"]
    return str(case.get("name")).partition("[")[2].removesuffix("]"), [", ".join(found) or "passed", *rungs]


def main() -> None:
    """Run what is given on the board that is named."""
    where, *given = sys.argv[1:]
    jig_hands.install(FOLDER)
    wired.as_a_pi()  # or the board's buttons would not be well
    serving = serve(SERVED[where]) if where in SERVED else None
    status, asked = test(["--board", "gpio:reference" if serving is None else "serial:auto", *given])
    if serving is not None:
        serving.terminate()
        serving.wait(10)
    results = dict(map(result, ElementTree.parse(RESULTS).getroot().iter("testcase")))  # noqa: S314 - our own
    board = {"shorts": vpi.get("shorts"), "driven": vpi.get("lines_driven")}
    print(json.dumps({"status": status, "results": results, "asked": asked, **board}))


if __name__ == "__main__":
    main()
