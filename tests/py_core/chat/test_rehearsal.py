"""A turn that nobody waits for, which says whether a started Python works."""

from py_core.bridge import start_image
from py_core.chat.rehearsal import rehearse


def test_rehearsal_gives_the_same_ids_every_time():
    """The ids come out of weights and a seed that are always the same."""
    assert rehearse() == rehearse()
    assert len(rehearse()) > 1


def test_python_answers_after_the_image_as_before_it():
    """What `prepare` says is what `rehearse` says of a woken image."""
    answer = start_image.prepare()
    start_image.wake()
    assert start_image.rehearse() == answer
