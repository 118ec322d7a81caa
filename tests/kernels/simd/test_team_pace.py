"""Single tokens go the faster way, and the other way is tried again now and then."""

from kernels.simd.team_pace import TeamPace


def run(pace: TeamPace, tokens: int, *, team: float, alone: float) -> int:
    """Compute tokens that take so long either way; give how many the team computed."""
    by_team = 0
    for _ in range(tokens):
        is_team = pace.wants_team()
        pace.note(team if is_team else alone, is_team=is_team)
        by_team += is_team
    return by_team


def test_both_ways_are_tried_and_the_faster_one_is_taken():
    """All but the trials of the other way."""
    assert run(TeamPace(), 320, team=1.0, alone=2.0) >= 280
    assert run(TeamPace(), 320, team=2.0, alone=1.0) <= 40


def test_when_other_work_comes_and_goes_the_choice_follows():
    """After the next trial at the latest."""
    pace = TeamPace()
    run(pace, 100, team=1.0, alone=2.0)
    run(pace, 40, team=5.0, alone=2.0)
    assert run(pace, 96, team=5.0, alone=2.0) <= 12
    run(pace, 40, team=1.0, alone=2.0)
    assert run(pace, 96, team=1.0, alone=2.0) >= 84


def test_the_first_token_goes_to_the_team():
    """It was chosen by a timing already."""
    assert TeamPace().wants_team()
