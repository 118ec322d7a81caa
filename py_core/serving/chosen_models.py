"""Which models the page is offered.

Takes the value of `--model`; gives what must be made ready, and then the list of served models,
the default first. Does not fetch or convert.
"""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from py_core.serving.convert_model import manifest_beside
from py_core.serving.failure import ServingError
from py_core.serving.pinned_bytes import pin_of_file
from py_core.serving.site import ServedModel
from py_core.serving.vendor_lock import PinnedModel, VendorLock

FIXTURE: Final = "fixture"
NONE: Final = "none"
_OWN: Final = "file"


@dataclass(frozen=True, slots=True)
class ChosenModel:
    """One model that `--model` asks for.

    Attributes:
        id: the page's name for it.
        label: what a person reads, or None for the name in the manifest.
        path: the `.slm` file to serve, perhaps not there yet.
        recipe: how to make it: a pinned model, a file of the user's to convert, or neither.
    """

    id: str
    label: str | None
    path: Path
    recipe: PinnedModel | Path | None


def choose_model(choice: str, lock: VendorLock, models_folder: Path) -> ChosenModel | None:
    """Understand `--model`; None means that no model beyond the fixtures is asked for.

    Raises:
        ServingError: it is neither a known name nor a `.slm` or `.gguf` file.
    """
    if choice in {FIXTURE, NONE}:
        return None
    for model in lock.models:
        if model.id == choice:
            return ChosenModel(model.id, model.label, models_folder / model.converted.path, model)
    path = Path(choice).expanduser().absolute()
    pin = pin_of_file(path) if path.suffix in {".slm", ".gguf"} else None
    if pin is None:
        names = ", ".join([*(model.id for model in lock.models), FIXTURE, NONE])
        subject = f"--model {choice}"
        raise ServingError(
            subject,
            expected=f"{names}, or the path of a .slm or .gguf file",
            found="no such file",
            remedy="Check the path",
        )
    if path.suffix == ".slm":
        return ChosenModel(_OWN, None, path, None)
    # The source's hash is part of the name: a changed source is another model.
    target = models_folder / f"{path.stem}-{pin.sha256[:12]}-q8_0.slm"
    return ChosenModel(_OWN, None, target, path)


def list_served(choice: str, chosen: ChosenModel | None, fixtures: Path) -> list[ServedModel]:
    """List what the page is offered: the chosen model, then the fixtures; nothing for `none`."""
    if choice == NONE:
        return []
    served = [_served(path.stem, None, path) for path in sorted(fixtures.glob("*.slm"))]
    if chosen is not None:
        recipe = chosen.recipe
        pin = recipe.converted.pin if isinstance(recipe, PinnedModel) else None
        served.insert(0, replace(_served(chosen.id, chosen.label, chosen.path), pin=pin))
    return served


def _served(model_id: str, label: str | None, path: Path) -> ServedModel:
    manifest = manifest_beside(path)
    if not manifest.is_file():
        return ServedModel(model_id, label or path.stem, path, None)
    return ServedModel(model_id, label or _read_name(manifest) or path.stem, path, manifest)


def _read_name(manifest: Path) -> str | None:
    try:
        name = json.loads(manifest.read_bytes()).get("name")
    except (OSError, ValueError, AttributeError):
        return None  # the page refuses a bad manifest in its own words when the model is loaded
    return name if isinstance(name, str) else None
