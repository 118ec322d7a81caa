"""Where the committed models lie.

Takes a model's name on the page; gives its file.
"""

from pathlib import Path

MODELS = Path(__file__).resolve().parents[2] / "fixtures" / "models"


def fixture_path(label: str) -> Path:
    """Find the one committed model whose name begins so."""
    return next(path for path in sorted(MODELS.glob("*.slm")) if path.stem.startswith(label))
