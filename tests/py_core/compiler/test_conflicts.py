"""Who takes part in a conflict, and who never does, beyond the worked cases."""

from tests.record_builders import (
    compile_records,
    ids_of,
    make_fact,
    make_policy,
    make_record,
    make_turn,
    reasons_of,
)

CORE = [make_policy(), make_turn("ask", "What?", 9)]


def memory(record_id: str, text: str, **extra):
    """Build a durable record."""
    return make_record(record_id, "LongTermMemoryRecord", text, **extra)


def test_quoted_text_is_an_object_and_loses_nothing():
    """What the user pasted to be looked at stays, whatever it says."""
    quoted = make_record("quoted", "UntrustedContentBlock", "target: cpu", subject="build")
    plan = compile_records([*CORE, quoted, memory("m", "target: gpu", subject="build")])
    assert {"quoted", "m"} <= set(ids_of(plan))
    assert plan.conflicts == ()


def test_what_the_model_said_is_no_evidence():
    """An earlier answer does not overrule durable memory."""
    said = make_turn("said", "The server city is Oslo.", 3, "assistant")
    plan = compile_records([*CORE, said, memory("m", "The server city is Bergen.")])
    assert {"said", "m"} <= set(ids_of(plan))
    assert plan.conflicts == ()


def test_what_the_user_said_now_overrules_the_record_about_the_user():
    """The words "my name is" and a record whose subject is the user speak of one slot."""
    plan = compile_records(
        [
            make_policy(),
            make_turn("ask", "My name is Ada.", 9),
            memory("m", "Name is Eve.", subject="user"),
        ]
    )
    assert reasons_of(plan) == {"m": "overridden_by_instruction"}


def test_two_projects_may_differ_and_a_project_and_its_task_may_not():
    """Different ids of one kind of scope are different things."""

    def fact(record_id: str, value: str, scope: str, scope_id: str):
        return memory(
            record_id,
            f"Port {value}.",
            scope=scope,
            scope_id=scope_id,
            payload={"facts": [make_fact("app.port", value)]},
        )

    apart = compile_records(
        [*CORE, fact("a", "80", "project", "one"), fact("b", "81", "project", "two")]
    )
    assert apart.conflicts == ()
    nested = compile_records(
        [*CORE, fact("a", "80", "project", "one"), fact("b", "81", "task", "t")]
    )
    assert [conflict.kind for conflict in nested.conflicts] == ["unresolved"]


def test_a_record_that_may_not_be_seen_wins_nothing():
    """Neither a secret nor a foreign record can push out one that may be seen."""
    facts = {"facts": [make_fact("app.port", "81")]}
    newer = {"observation_time": "2026-07-10T11:00:00Z", "payload": facts}
    plan = compile_records(
        [
            *CORE,
            memory("seen", "Port 80.", payload={"facts": [make_fact("app.port", "80")]}),
            memory("secret", "Port 81.", sensitivity="secret", **newer),
            memory("foreign", "Port 81.", tenant_binding="ws-2", **newer),
        ]
    )
    assert "seen" in ids_of(plan)
    assert plan.conflicts == ()


def test_lists_never_contradict_themselves():
    """A slot that holds many values has no wrong one."""

    def likes(record_id: str, value: str):
        fact = {**make_fact("user.likes", value), "is_list": True}
        return memory(record_id, f"Likes {value}.", payload={"facts": [fact]})

    plan = compile_records([*CORE, likes("a", "tea"), likes("b", "coffee")])
    assert {"a", "b"} <= set(ids_of(plan))


def test_two_policies_that_differ_in_one_word_both_stay():
    """Near duplicates fold in memory only."""
    text = "Never share the private address of the customer with anybody from the {} department."
    plan = compile_records(
        [*CORE, make_policy(text.format("sales"), "p1"), make_policy(text.format("legal"), "p2")]
    )
    assert {"p1", "p2"} <= set(ids_of(plan))
