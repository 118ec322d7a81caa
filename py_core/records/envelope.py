"""The provenance envelope: who says it, when, how surely, for whom, and instead of what.

Takes JSON values, gives a frozen envelope whose hashes are computed or, where they were given,
checked. Does not know tiers, steps or the prompt.
"""

from datetime import datetime
from functools import cached_property
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from py_core.identity import canonical_json_of, sha256_hex
from py_core.records.fields import (
    Fact,
    Identifier,
    Label,
    Links,
    Ppm,
    PromotionState,
    ReviewStatus,
    Scope,
    Sensitivity,
    Sha256,
    Strict,
    Time,
    WrongFieldError,
)
from py_core.records.payloads import DiagnosticPayload, Payload, TextPayload
from py_core.unicode_text import plain_form


class Retention(Strict):
    """How long a record may be kept."""

    rule: Literal["forever", "session", "until"] = "forever"
    keep_until: Time | None = None

    @model_validator(mode="after")
    def _require_date_of_until(self) -> Self:
        if (self.rule == "until") != (self.keep_until is not None):
            raise WrongFieldError(
                expected="expected keep_until with the rule 'until' and with no other"
            )
        return self


class Envelope(Strict):
    """Provenance of one record. The subclasses fix `kind` and the type of `payload`."""

    record_id: Identifier
    kind: str
    payload: Payload
    tenant_binding: Identifier
    sensitivity: Sensitivity = Sensitivity.INTERNAL
    scope: Scope = Scope.WORKSPACE
    scope_id: Identifier = "default"
    subject: Label = ""
    source: Label
    observation_time: Time
    recorded_at: Time | None = None
    """When it was written down; the observation time unless stated."""

    confidence_ppm: Ppm = 1_000_000
    review_status: ReviewStatus = ReviewStatus.NOT_REQUIRED
    promotion_state: PromotionState = PromotionState.NOT_REQUIRED
    tags: Annotated[tuple[Label, ...], Field(max_length=64)] = ()
    supersedes: Links = ()
    derived_from: Links = ()
    retention: Retention = Retention()
    content_identity: Sha256 | None = None
    """sha256 of the canonical payload; computed when not given, refused when wrong."""

    normalization_hash: Sha256 | None = None
    """sha256 of the normalised text; computed when not given, refused when wrong."""

    @model_validator(mode="after")
    def _seal(self) -> Self:
        """Compute what may be left out, so that no later code meets an empty field."""
        self._settle("content_identity", self._identify_payload())
        self._settle("normalization_hash", self._identify_text())
        if self.recorded_at is None:
            self.__dict__["recorded_at"] = self.observation_time
        # Asked for now, so that a record is hashed once however often it is compiled.
        _ = self.envelope_hash
        return self

    def _identify_payload(self) -> str | None:
        return sha256_hex(canonical_json_of(self.payload.model_dump(mode="json")))

    def _identify_text(self) -> str | None:
        return sha256_hex(self.plain_text.encode("utf-8"))

    def _settle(self, name: str, computed: str | None) -> None:
        given = getattr(self, name)
        if given is not None and computed is not None and given != computed:
            raise WrongFieldError(field=name, expected="expected the hash of this payload")
        if given is None:
            # The model is frozen for everybody else; here it is still being made.
            self.__dict__[name] = computed

    @property
    def text(self) -> str:
        """What the record says in words; empty for records that only act on others."""
        if isinstance(self.payload, TextPayload | DiagnosticPayload):
            return self.payload.text
        return ""

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The claims that came with the text."""
        return self.payload.facts if isinstance(self.payload, TextPayload) else ()

    @property
    def written_at(self) -> datetime:
        """When it was written down."""
        return self.recorded_at or self.observation_time

    @cached_property
    def plain_text(self) -> str:
        """The text in the form in which equal texts are equal."""
        return plain_form(self.text)

    @cached_property
    def envelope_hash(self) -> str:
        """sha256 over the whole record: payload, provenance and both hashes."""
        return sha256_hex(canonical_json_of(self.model_dump(mode="json")))
