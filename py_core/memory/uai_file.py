"""One `.uai` file: plain text with labels, no dates, read and checked by the rules of its role.

Takes the text of a file and its path, gives a checked file or an error that names the label. An
older form with a block of metadata in front is read but never written. Does not know the other
files of the package.

Source: the public contract of MemoryEndpoints for `.uai` records (labels, roles, sizes, dates).
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from py_core.memory.sensitivity import scan
from py_core.memory_errors import StartupFileError
from py_core.unicode_text import fold_case, has_visible_text, unify_line_ends

LARGEST_FILE_BYTES = 65_536
LONGEST_TITLE_CHARS = 200

MEMORY_HOST = "https://memoryendpoints.com"

COMMON_LABELS = (
    "Purpose:",
    "Verification status:",
    "Memory scope:",
    "Public-safe status:",
    "Update route:",
    "Source of truth:",
    "Next action",
    "Must not expose:",
)
"""Every file has them; "Next action" may go on before its colon."""

ROLE_LABELS: Mapping[str, tuple[str, ...]] = {
    "startup-packet": ("Required read order:", "First safe action:"),
    "identity": (
        "Agent id:",
        "Agent name:",
        "Owner/steward:",
        "Declared profile:",
        "Namespace:",
        "Source authority:",
        "Sensitivity boundary:",
        "Actor boundary:",
    ),
    "progress": ("Completed work:", "Remaining work:", "Verification evidence:", "Blockers:"),
    "short-term-memory": (
        "Current working state:",
        "Newest accepted decisions:",
        "Active blockers:",
        "Next-read pointers:",
        "Review status:",
    ),
    "long-term-memory": (
        "Stable id:",
        "Path:",
        "Label:",
        "Routing summary:",
        "Authority/source:",
        "Review status:",
        "Review evidence:",
    ),
}

_DATE = re.compile(
    r"(?<!\d)\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2})?(?!\d)|(?<!\d)20\d{6}(?!\d)", re.ASCII
)
_MARKUP = re.compile(r"<script\b|javascript:|<\|im_(?:start|end)\|>", re.IGNORECASE)
_ORDERS = re.compile(
    r"\b(?:ignore|disregard|forget) (?:all |any )?(?:the )?(?:previous|prior|above|earlier) "
    r"(?:instructions|rules|messages)|\byou are now\b|\bsystem prompt\b",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?P<name>[A-Z][A-Za-z/ -]{1,60}):[ ]?(?P<value>.*)$")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n+", re.DOTALL)


@dataclass(frozen=True, slots=True)
class UaiFile:
    """A checked file.

    Attributes:
        role: the file's name without folder and ending.
        values: label without colon to its text, lines joined by line feeds.
    """

    path: str
    role: str
    title: str
    text: str
    values: Mapping[str, str]


def read_uai(path: str, text: str) -> UaiFile:
    """Read a file and hold it to every rule of its role.

    Raises:
        StartupFileError: with the label or rule that is broken; no text of the file is repeated.
    """
    role = path.removeprefix(".uai/").removesuffix(".uai")
    if len(text.encode("utf-8", "surrogatepass")) > LARGEST_FILE_BYTES:
        _fail(path, "file", f"expected at most {LARGEST_FILE_BYTES} bytes")
    plain = _FRONT_MATTER.sub("", unify_line_ends(text).removeprefix("\ufeff"))
    title = plain.split("\n", 1)[0].strip()
    if not has_visible_text(title) or len(title) > LONGEST_TITLE_CHARS or _LABEL.match(title):
        _fail(path, "title", "expected a title in the first line")
    _refuse_content(path, plain)
    values = _read_values(plain)
    _require_labels(path, role, plain, values)
    return UaiFile(path, role, title, f"{plain.rstrip()}\n", values)


def write_uai(title: str, values: Mapping[str, str]) -> str:
    """Write a file in the present form: title, then each label with its text or its bullets."""
    parts = [title, ""]
    for name, value in values.items():
        lines = value.split("\n")
        if len(lines) == 1:
            parts.append(f"{name}: {value}")
        else:
            parts += ["", f"{name}:", *lines, ""]
    return "\n".join(parts).rstrip() + "\n"


def _refuse_content(path: str, text: str) -> None:
    """Refuse what must not stand in a file that is read before anything else."""
    if _DATE.search(text):
        _fail(path, "date", "expected no date, a start-up file has to stay true on any day")
    if scan(text):
        _fail(path, "secret", "expected no secret")
    if _MARKUP.search(text) or _ORDERS.search(text):
        _fail(path, "instructions", "expected no script, role mark or order to the model")


def _read_values(text: str) -> dict[str, str]:
    values: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in text.split("\n")[1:]:
        label = _LABEL.match(line)
        if label:
            current = values.setdefault(label["name"].strip(), [])
            if label["value"].strip():
                current.append(label["value"].strip())
        elif current is not None and line.strip():
            current.append(line.strip())
    return {name: "\n".join(lines) for name, lines in values.items()}


def _require_labels(path: str, role: str, text: str, values: Mapping[str, str]) -> None:
    for label in COMMON_LABELS:
        if not re.search(rf"^{re.escape(label)}", text, re.MULTILINE):
            _fail(path, label, "expected this label at the beginning of a line")
    for label in ROLE_LABELS.get(role, ()):
        if not values.get(label.removesuffix(":"), ""):
            _fail(path, label, f"expected a text behind this label of {role}")

    if role == "long-term-memory" and find_label(values, "Path") != MEMORY_HOST:
        _fail(path, "Path:", f"expected {MEMORY_HOST}, the only place it may point to")


def find_label(values: Mapping[str, str], name: str) -> str:
    """Give the text behind a label, whatever its case; empty when it is not there."""
    wanted = fold_case(name)
    return next((value for key, value in values.items() if fold_case(key) == wanted), "")


def _fail(path: str, field: str, expected: str) -> NoReturn:
    raise StartupFileError(path=path, field=field, expected=expected)
