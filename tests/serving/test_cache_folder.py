"""Where the per-user cache is."""

from pathlib import Path

import pytest

from py_core.serving.cache_folder import find_cache_folder

HOME = Path.home()


@pytest.mark.parametrize(
    ("environment", "platform", "expected"),
    [
        ({"TINYLOOM_CACHE": "/x", "XDG_CACHE_HOME": "/y"}, "linux", Path("/x")),
        ({"TINYLOOM_CACHE": "~/own"}, "linux", HOME / "own"),
        ({"XDG_CACHE_HOME": "/y"}, "linux", Path("/y/tinyloom")),
        ({"XDG_CACHE_HOME": "relative"}, "linux", HOME / ".cache/tinyloom"),
        ({"XDG_CACHE_HOME": ""}, "linux", HOME / ".cache/tinyloom"),
        ({}, "darwin", HOME / "Library/Caches/tinyloom"),
        ({"LOCALAPPDATA": "/local"}, "win32", Path("/local/tinyloom/Cache")),
    ],
)
def test_the_users_word_comes_before_the_platforms_habit(environment, platform, expected):
    """TINYLOOM_CACHE, then XDG_CACHE_HOME where absolute, then the platform."""
    assert find_cache_folder(environment, platform) == expected


def test_a_relative_choice_does_not_move_with_the_working_folder():
    """The path is made absolute once."""
    assert find_cache_folder({"TINYLOOM_CACHE": "here"}, "linux") == Path.cwd() / "here"
