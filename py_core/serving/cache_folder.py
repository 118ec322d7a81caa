"""Where this user's fetched and converted files live between starts.

Takes the environment and the platform's name; gives a folder path. Does not create it.
"""

from collections.abc import Mapping
from pathlib import Path


def find_cache_folder(environment: Mapping[str, str], platform: str) -> Path:
    """Choose the per-user cache folder.

    `TINYLOOM_CACHE` wins; then `XDG_CACHE_HOME`, where set and absolute as its standard demands;
    then the platform's habit.
    """
    if chosen := environment.get("TINYLOOM_CACHE"):
        return Path(chosen).expanduser().absolute()
    shared = environment.get("XDG_CACHE_HOME", "")
    if Path(shared).is_absolute():
        return Path(shared) / "tinyloom"
    if platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tinyloom"
    if platform == "win32":
        local = environment.get("LOCALAPPDATA")
        return Path(local or Path.home() / "AppData" / "Local") / "tinyloom" / "Cache"
    return Path.home() / ".cache" / "tinyloom"
