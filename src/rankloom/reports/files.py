"""Runs and pages as files: what may be replaced, what is read, what is written."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rankloom.data.files import atomic_write
from rankloom.errors import InputError
from rankloom.experiments.run import FORMAT, VERSION

GENERATOR = '<meta name="generator" content="rankloom'
_HEAD = 2048
_PARTS = {"kind": str, "settings": dict, "data": dict, "versions": dict, "machine": dict, "result": dict}

Place = str | os.PathLike[str]


def run_beside(page: Place) -> str:
    """Where the run of a page is kept."""
    return os.fspath(Path(page).with_suffix(".json"))


def check_page(page: Place, others: Iterable[Place] = ()) -> None:
    """See whether a page and its run can be written; only what is a page or run already is replaced."""
    name = os.fspath(page)
    if Path(name).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"a report must have a name that ends in .html, got {name}")
    kept = {os.path.realpath(other) for other in others if os.fspath(other) != "-"}
    for target, ours in ((name, GENERATOR), (run_beside(name), f'"format": "{FORMAT}"')):
        if os.path.realpath(target) in kept:
            raise InputError(f"the report would replace {target}, which this run needs; give it another name")
        check_folder(Path(target).parent)
        if Path(target).exists() and ours not in _head(target):
            raise InputError(f"{target} is there already, and no report of rankloom's; give another name")


def check_folder(folder: Path) -> None:
    """A folder that is there, and can be written to."""
    if not folder.is_dir():
        raise InputError(f"the folder {folder} does not exist; make it first")
    if not os.access(folder, os.W_OK):
        raise InputError(f"the folder {folder} cannot be written to; give another one")


def _head(target: str) -> str:
    try:
        with Path(target).open("rb") as file:
            return file.read(_HEAD).decode(errors="replace")
    except OSError:
        return ""


def write_run(target: Place, run: Mapping[str, Any]) -> None:
    """A run as JSON, whole or not at all."""
    atomic_write(target, text_of(plain(run)) + "\n")


def read_run(source: Place) -> dict[str, Any]:
    """A run from its file; whatever is wrong with it is told by name."""
    name = os.fspath(source)
    try:
        content = json.loads(Path(name).read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{name} is no run: it is not JSON ({error}); give the file that --report wrote"
        ) from error
    return checked_run(content, name)


def checked_run(content: Any, name: str = "the run") -> dict[str, Any]:
    """The same content, if it is a run that this rankloom knows."""
    if not isinstance(content, Mapping) or content.get("format") != FORMAT:
        raise InputError(
            f"{name} is no run: it must be JSON with format {FORMAT}; give the file that --report wrote"
        )
    if content.get("version") != VERSION:
        raise InputError(
            f"{name} is a run of version {content.get('version')!r:.20}, and this rankloom knows {VERSION}; "
            "upgrade rankloom"
        )
    for part, kind in _PARTS.items():
        if not isinstance(content.get(part), kind):
            raise InputError(
                f"{name} is damaged: {part} is missing or is no {kind.__name__}; make the run again"
            )
    return dict(content)


def plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's own, and None for numbers that are not finite."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    return str(value)


def text_of(value: Any, indent: str = "") -> str:
    """JSON with a line for each entry, and lists of plain values on one line."""
    inner = indent + " "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(key)}: {text_of(item, inner)}" for key, item in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list) and any(isinstance(item, dict) for item in value):
        return "[\n" + ",\n".join(inner + text_of(item, inner) for item in value) + f"\n{indent}]"
    return json.dumps(value, allow_nan=False)
