"""Run one of the drivers beside this file in Firefox, through WebDriver BiDi.

Takes a driver's name and its order, gives the JSON that it prints. Does not know the page.
"""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEADLINE_S = 300


def drive_firefox(driver: str, order: Mapping[str, Any], executable: Path) -> Any:
    """Run `driver` under Node; what it writes to standard error tells why it failed."""
    done = subprocess.run(
        [
            "node",
            str(Path(__file__).parent / driver),
            json.dumps({**order, "executable": str(executable)}),
        ],
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
