"""Builders of documents and memories with full defaults."""

from datetime import UTC, datetime

from py_core.records.fields import Fact, MemoryType, ReviewStatus, Scope
from py_core.records.kinds import RetrievalHit
from py_core.records.payloads import RetrievalHitPayload
from py_core.retrieval.document import Document
from py_core.retrieval.text_index import TextIndex

NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)


def make_document(
    document_id: str, text: str, *, thread: str = "", position: int = 0, author: str = "user"
) -> Document:
    """Build a document of a fixed day."""
    return Document(document_id, text, NOW, author, thread, position)


def make_index(*documents: Document) -> TextIndex:
    """Build an index over documents."""
    index = TextIndex()
    index.follow(documents)
    return index


def make_talk(*texts: str, thread: str = "t") -> list[Document]:
    """Build the turns of one conversation, named t0, t1 and so on."""
    return [
        make_document(f"{thread}{number}", text, thread=thread, position=number)
        for number, text in enumerate(texts)
    ]


def make_hit(
    id: str,  # noqa: A002 - the word that the fixtures use
    text: str,
    *,
    type: str = "note",  # noqa: A002
    date: str = "2026-07-01",
    scope: str = "workspace",
    scope_id: str = "default",
    facts: tuple[Fact, ...] = (),
    **fields: object,
) -> RetrievalHit:
    """Build what a search found."""
    given = {
        "subject": "",
        "source": "test",
        "confidence_ppm": 900_000,
        "review_status": ReviewStatus.NOT_REQUIRED,
        "tags": (),
        "supersedes": (),
        **fields,
    }
    return RetrievalHit.model_validate(
        {
            "record_id": id,
            "payload": RetrievalHitPayload(text=text, memory_type=MemoryType(type), facts=facts),
            "tenant_binding": "ws-1",
            "observation_time": datetime.fromisoformat(f"{date}T09:00:00+00:00"),
            "scope": Scope(scope),
            "scope_id": scope_id,
            **given,
        }
    )
