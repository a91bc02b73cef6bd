"""The page's files as text: catalogues that agree, words for everything, nothing from elsewhere, nothing inline."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from firmware.menu import CONSENT, HOLDS, ITEMS
from firmware.palette import DEFAULT, GAMMA

STATIC = Path(__file__).parent.parent / "firmware" / "web" / "static"
SCRIPTS = sorted(STATIC.glob("*.js"))
CATALOGUES = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(STATIC.glob("*.json"))}

# The contract of GET /api/v1/state.
REFUSALS = ["own_permuted", "own_blocked", "neutralised", "no_pool", "no_neutralisation", "block_off"]
REFUSALS += ["hold", "masked", "not_ready"]
PHASES = ["attract", "lobby", "play", "paused", "menu", "result", "safe"]
REASONS = ["line", "stalemate", "time", "resignation", "agreement"]
# What the options in the lobby offer.
TIMES = ["total_15", "total_10", "total_5", "total_none", "move_2", "move_1", "move_none"]
OPTIONS = [*TIMES, "rules_standard", "rules_lite", "series_1", "series_3", "series_5"]
LANGUAGES = ["en", "fr"]
SHEETS = ["base", "slab", "rails", "corner", "attract", "upright", "table"]
PAGES = {
    "index.html": ["/static/icon.svg", *(f"/static/{name}.css" for name in SHEETS), "/static/main.js"],
    "operator.html": ["/static/icon.svg", "/static/operator.css", "/static/operator.js"],
}
# The rows of README's table of all gestures, the menu's request, and the keyboard.
GESTURES = ["start", "options", "tap", "hold", "pools", "menu", "consent", "masked", "cursor", "night", "paused"]
GESTURES += ["result", "replay", "button", "keys"]
CHOICES = ["resign", "close", "replay", "language", "marks", "brightness", "operator", "cursor"]
# A key with a part filled in at run time: every value the part can take.
FILLED: dict[str, list[str]] = {
    "side": ["a", "b"],
    "colour": ["a", "b"],
    "bar": ["a", "b"],
    "phase": [*(phase for phase in PHASES if phase not in ("lobby", "play", "result")), "options"],
    "next": ["lobby", "paused", "menu", "options", "replay"],
    "asked": sorted(CONSENT),
    "item": [*ITEMS, *OPTIONS],
    "choose": [*sorted(CONSENT), *CHOICES, *OPTIONS],
    "code": ["rules", "record", "operator", "rules.told", "record.told", "operator.told"],
    "world": ["paused", "bounce", "ghost", "stuck", "unplug"],
    "menu": ["asks", "answers", "waits"],
    "gesture": GESTURES,
    "past": ["light", "permute", "block", "neutralise"],
    "past.pass": ["timeout", "forced", "untold"],
    "end": [reason for reason in REASONS if reason != "line"],
    "end.line": ["4", "5", "6", "7"],
    "touch": ["light", "permute", "block", "neutralise"],
    "verb": ["light", "permute", "block", "neutralise", *sorted(HOLDS)],
    "instead": ["light", "permute", "block", "neutralise"],
    "refusal": REFUSALS,
    "cell": ["empty", "lit", "permuted", "blocked", "neutralised"],
    "lesson": ["light", "permute", "block", "neutralise", "pool", "win"],
    "mark": ["permuted", "blocked", "neutralised"],
    "part": [
        "leds",
        "matrix",
        "link",
        "queue",
        "journal",
        "settings",
        "power",
        "buttons",
        "sound",
        "root",
        "start",
        "other",
    ],
}
FILLED |= {
    "op.title": ["cells", "now", "wishes", "past"],
    "op.key": ["clean", "end", "report", "restart"],
    "op.done": ["mask", "unmask", "clean", "end", "pause", "resume", "restart", "settings"],
    "op.figure": ["light", "bounce", "current", "sags", "warmth", "lost", "games", "phase"],
    "op.phase": PHASES,
    "op.refused": ["not_in_play", "not_parked", "no_game", "not_saved", "too_many", "safe", "other"],
    "op.set": [
        "total_s", "move_s", "rules", "series", "brightness_pct", "language", "marks", "quiet", "volume_pct"
    ],
    "op.rules": ["standard", "lite", "custom"],
    "op.series": ["1", "3", "5"],
    "op.language": ["fr", "en", "null"],
    "op.board": ["simulated board"],
}  # fmt: skip
COUNTED = ["none", "one", "other"]  # the plural classes of French and English that whole numbers under a million meet


def keys_used() -> set[str]:
    """Every catalogue key that the scripts can ask for."""
    text = "\n".join(path.read_text("utf-8") for path in SCRIPTS)
    asked = set(re.findall(r"\bsay\(\s*\"([\w.]+)\"", text))
    asked |= set(re.findall(r"\? this\.#words\.say\(\"([\w.]+)\"", text))
    for stem in re.findall(r"\b(?:say|has)\(\s*`([\w.]+)\.\$\{", text):
        asked |= {f"{stem}.{value}" for value in FILLED[stem]}
    asked |= {key for pair in re.findall(r"say\([^?\n]+ \? \"(op[\w.]+)\" : \"(op[\w.]+)\"", text) for key in pair}
    asked |= set(re.findall(r"#bar\(\"([\w.]+)\"\)", text))
    for stem in re.findall(r"\bcount\(\s*\"([\w.]+)\"", text):
        asked |= {f"{stem}.{value}" for value in COUNTED}
    return asked


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", text))


def test_there_is_one_catalogue_a_language() -> None:
    """The page speaks French and English, each from one file."""
    assert LANGUAGES == list(CATALOGUES)


def test_catalogues_have_the_same_keys() -> None:
    """Both catalogues have the same keys in the same order, so that they can be read side by side."""
    assert list(CATALOGUES["en"]) == list(CATALOGUES["fr"])


@pytest.mark.parametrize("key", CATALOGUES["en"])
def test_catalogues_have_the_same_placeholders(key: str) -> None:
    """A sentence names the same things in both languages, and has its weight in pairs of stars."""
    english, french = CATALOGUES["en"][key], CATALOGUES["fr"][key]
    assert english
    assert french
    assert placeholders(english) == placeholders(french)
    assert 0 == english.count("*") % 2 == french.count("*") % 2


@pytest.mark.parametrize("code", REFUSALS)
@pytest.mark.parametrize("lang", CATALOGUES)
def test_every_refusal_has_words(lang: str, code: str) -> None:
    """Every refusal code is a sentence in both languages that says, with weight, what would be allowed."""
    assert re.search(r"\*.+\*", CATALOGUES[lang][f"refusal.{code}"])


def test_every_key_asked_for_exists() -> None:
    """No script asks for words that the catalogues lack."""
    assert not keys_used() - set(CATALOGUES["en"])


def test_every_key_is_asked_for() -> None:
    """The catalogues hold no words that nothing says."""
    assert not set(CATALOGUES["en"]) - keys_used()


@pytest.mark.parametrize("key", CATALOGUES["fr"])
def test_french_typography(key: str) -> None:
    """French sentences have a narrow no-break space before ; : ! ? and typographic apostrophes."""
    text = CATALOGUES["fr"][key]
    assert not re.findall(r"[^\u202f][;:!?]", text)
    assert "'" not in text


@pytest.mark.parametrize("path", sorted(STATIC.iterdir()), ids=lambda path: path.name)
def test_nothing_is_loaded_from_elsewhere(path: Path) -> None:
    """No file of the page names another host or embeds data; the only URLs are XML namespaces."""
    text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"https?://\w|(?<![:\w])//\w+\.\w+/|\bdata:[a-z]+/|@import", text)


def test_no_right_clock_is_needed_to_load_the_page() -> None:
    """Nothing of the firmware serves TLS or sends a browser to it, which a clock that is wrong after a power cut would
    refuse as not yet valid (case F21)."""
    for path in sorted(STATIC.parent.parent.rglob("*.py")):
        text = path.read_text("utf-8")
        assert not re.findall(r"^\s*(?:import|from) ssl\b|Strict-Transport|upgrade-insecure", text, re.MULTILINE), path


class Tags(HTMLParser):
    """Collects what the page's HTML asks a browser to load or run, and the words it holds itself."""

    def __init__(self) -> None:
        super().__init__()
        self.attributes: list[tuple[str, str, str | None]] = []
        self.open: list[str] = []
        self.inline: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note a tag and its attributes."""
        self.open.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]

    def handle_data(self, data: str) -> None:
        """Note text: code if inside a script or style, else words."""
        if data.strip():
            (self.inline if self.open[-1] in ("script", "style") else self.words).append(data.strip())


def tags(page: str) -> Tags:
    parser = Tags()
    parser.feed((STATIC / page).read_text("utf-8"))
    return parser


@pytest.mark.parametrize("name", PAGES)
def test_nothing_is_inline(name: str) -> None:
    """A page obeys its policy: no inline script or style, no style or on* attribute."""
    page = tags(name)
    assert not page.inline
    assert not [entry for entry in page.attributes if entry[1] == "style" or entry[1].startswith("on")]


@pytest.mark.parametrize("page", PAGES)
def test_every_file_named_exists(page: str) -> None:
    """What the HTML and the scripts load is there, under the paths that the server serves."""
    named = [value for _, name, value in tags(page).attributes if name in ("src", "href")]
    assert PAGES[page] == named
    for path in SCRIPTS:
        for imported in re.findall(r"from \"(.+?)\"", path.read_text("utf-8")):
            assert (path.parent / imported).is_file(), f"{path.name} imports {imported}"


@pytest.mark.parametrize("page", PAGES)
def test_words_are_in_the_catalogues(page: str) -> None:
    """The HTML itself holds no words but the game's name."""
    assert "MORBAK" == " ".join(tags(page).words)


@pytest.mark.parametrize("page", PAGES)
def test_ids_that_scripts_look_for_exist(page: str) -> None:
    """Every element that a page's scripts find by its id is in the page, once."""
    ids = [value for _, name, value in tags(page).attributes if name == "id"]
    assert len(ids) == len(set(ids))
    operators = page == "operator.html"
    scripts = [path for path in SCRIPTS if path.name.startswith("operator") == operators]
    text = "\n".join(path.read_text("utf-8") for path in scripts)
    wanted = set(re.findall(r"(?<!\.)\b(?:find|get)\(\"([\w-]+)\"\)", text))
    wanted |= set(re.findall(r"querySelector\(\"#([\w-]+)\"\)", text))
    assert len(wanted) > 10
    assert not wanted - set(ids)


def test_hues_of_the_sides_are_the_palettes() -> None:
    """The hues that dim light is read as are those of the board's palette, in linear light."""
    told = re.search(r"SIDE_HUES = (\[.+\]);", (STATIC / "light.js").read_text("utf-8"))
    assert told is not None
    wanted = [[(byte / 255) ** GAMMA for byte in colour] for colour in (DEFAULT.a, DEFAULT.b)]
    assert [pytest.approx(hue, abs=0.001) for hue in wanted] == json.loads(told[1])
