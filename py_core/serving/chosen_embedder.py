"""Which embedder the page is offered, and how it is made.

Takes the value of `--model` and the lock; gives the file to serve, made from its pinned sources
where it is missing. Without it the page searches by words only, so nothing here ends a start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from py_core.serving.chosen_models import FIXTURE, NONE
from py_core.serving.convert_model import Converter
from py_core.serving.failure import ServingError
from py_core.serving.fetch import Fetcher
from py_core.serving.pinned_bytes import pin_of_file
from py_core.serving.site import ServedModel
from py_core.serving.vendor_lock import PinnedEmbedder, VendorLock

FIXTURE_FILE: Final = "small_encoder.slm"
_FIXTURE_LABEL: Final = "Small encoder"


@dataclass(frozen=True, slots=True)
class ChosenEmbedder:
    """The embedder of this start; without a recipe the file belongs to the checkout."""

    id: str
    label: str
    path: Path
    recipe: PinnedEmbedder | None

    @property
    def is_ready(self) -> bool:
        """Whether the file is there and right."""
        if self.recipe is None:
            return self.path.is_file()
        return pin_of_file(self.path) == self.recipe.converted.pin


def choose_embedder(
    choice: str, lock: VendorLock, *, models_folder: Path, fixtures: Path
) -> ChosenEmbedder | None:
    """Give the fixture beside fixture models, the pinned embedder beside any other model."""
    if choice == NONE:
        return None
    if choice == FIXTURE:
        path = fixtures / FIXTURE_FILE
        chosen = ChosenEmbedder("fixture_embedder", _FIXTURE_LABEL, path, None)
        return chosen if chosen.is_ready else None
    recipe = lock.embedder
    if recipe is None:
        return None
    path = models_folder / recipe.converted.path
    return ChosenEmbedder(recipe.id, recipe.label, path, recipe)


def make_embedder(
    chosen: ChosenEmbedder,
    fetcher: Fetcher,
    converter: Converter,
    *,
    report: Callable[[str], None],
) -> None:
    """Fetch and convert; a failure is said and leaves the page without it."""
    recipe = chosen.recipe
    if recipe is None or chosen.is_ready:
        return
    try:
        parts = (recipe.weights, recipe.config, recipe.vocabulary)
        sources = [fetcher.obtain(part)[0] for part in parts]
        converter.convert_embedder(sources, chosen.path, pin=recipe.converted.pin)
    except ServingError as error:
        report(f"notice: no semantic search, the page will search by words only: {error}")
    else:
        report(f"[embedder] {chosen.path.name}  ready")


def serve_embedder(chosen: ChosenEmbedder | None) -> list[ServedModel]:
    """List the embedder for the page where it is there."""
    if chosen is None or not chosen.is_ready:
        return []
    pin = chosen.recipe.converted.pin if chosen.recipe else None
    return [ServedModel(chosen.id, chosen.label, chosen.path, None, pin, role="embedder")]
