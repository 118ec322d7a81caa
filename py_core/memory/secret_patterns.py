"""The shapes of secrets whose issuer gave them a shape.

Takes nothing, gives patterns with the sort of secret each one finds. Where a pattern has a group,
the group is the secret and the rest its surroundings. Does not know what happens to a finding.

Source: the issuers' own descriptions of their formats. The tests hold the list against the rules of
detect-secrets 1.5.0, which cannot run in the page: it needs requests and a process pool.
"""

import re
from dataclasses import dataclass
from enum import StrEnum


class SecretKind(StrEnum):
    """What a text may hold that must not be kept, in the words that are shown."""

    PRIVATE_KEY = "a private key"
    API_KEY = "an API key"
    ACCESS_TOKEN = "an access token"
    PASSWORD = "a password"
    CARD_NUMBER = "a card number"
    CONNECTION_STRING = "a connection string with a password"
    SEED_PHRASE = "a seed phrase"
    RANDOM_TEXT = "a long random text"


@dataclass(frozen=True, slots=True)
class SecretPattern:
    """One shape."""

    name: str
    kind: SecretKind
    pattern: re.Pattern[str]


def _shape(name: str, kind: SecretKind, pattern: str, flags: int = 0) -> SecretPattern:
    return SecretPattern(name, kind, re.compile(pattern, flags | re.ASCII))


_KEY, _TOKEN = SecretKind.API_KEY, SecretKind.ACCESS_TOKEN

# A token ends where its alphabet ends; `\b` would end it at a hyphen.
_END = r"(?![A-Za-z0-9_-])"
_BEGIN = r"(?<![A-Za-z0-9_-])"

PATTERNS: tuple[SecretPattern, ...] = (
    _shape(
        "pem",
        SecretKind.PRIVATE_KEY,
        r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]{0,8192}?-----END (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----)?",
    ),
    _shape("putty", SecretKind.PRIVATE_KEY, r"PuTTY-User-Key-File-\d(?::[^\n]{0,200})?"),
    _shape("age", SecretKind.PRIVATE_KEY, r"AGE-SECRET-KEY-1[0-9A-Z]{40,}"),
    _shape("aws_id", _KEY, _BEGIN + r"(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}" + _END),
    _shape(
        "aws_secret",
        _KEY,
        r"aws.{0,24}?(?:key|secret|pwd|token).{0,24}?(?<![0-9a-z/+])([0-9a-z/+]{40})(?![0-9a-z/+=])",
        re.IGNORECASE,
    ),
    _shape("google", _KEY, r"AIza[0-9A-Za-z_-]{35}" + _END),
    _shape("google_secret", _KEY, r"GOCSPX-[0-9A-Za-z_-]{20,}"),
    _shape("google_oauth", _TOKEN, r"ya29\.[0-9A-Za-z_-]{20,}"),
    _shape("github", _TOKEN, r"gh[pousr]_[A-Za-z0-9]{36,}"),
    _shape("github_fine", _TOKEN, r"github_pat_[A-Za-z0-9_]{22,}"),
    _shape(
        "gitlab",
        _TOKEN,
        r"gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas|ffct)-[A-Za-z0-9_-]{20,}"
        r"|GR1348941[A-Za-z0-9_-]{20,}",
    ),
    _shape("slack", _TOKEN, r"xox[abceoprs](?:-\d+)?-[A-Za-z0-9-]{10,}|xapp-\d-[A-Za-z0-9-]{20,}"),
    _shape(
        "slack_hook", _TOKEN, r"hooks\.slack\.com/services/(T[A-Za-z0-9_]+/B\w+/[A-Za-z0-9_]{16,})"
    ),
    _shape("discord", _TOKEN, _BEGIN + r"[MNO][A-Za-z\d_-]{23,25}\.[A-Za-z\d_-]{6}\.[\w-]{27,}"),
    _shape(
        "discord_hook", _TOKEN, r"discord(?:app)?\.com/api/webhooks/(\d{17,20}/[A-Za-z0-9_-]{60,})"
    ),
    _shape("telegram", _TOKEN, _BEGIN + r"\d{8,10}:[0-9A-Za-z_-]{35}" + _END),
    _shape("stripe", _KEY, r"(?:sk|rk|pk)_(?:live|test)_[0-9A-Za-z]{16,}|whsec_[0-9A-Za-z]{24,}"),
    _shape("square", _KEY, r"sq0[a-z]{3}-[0-9A-Za-z_-]{22,43}"),
    _shape("openai", _KEY, _BEGIN + r"sk-(?:proj-|svcacct-|ant-)?[A-Za-z0-9_-]{20,}"),
    _shape("hugging_face", _TOKEN, r"hf_[A-Za-z0-9]{30,}" + _END),
    _shape(
        "npm", _TOKEN, r"npm_[A-Za-z0-9]{36}" + _END + r"|_authToken\s*=\s*([A-Za-z0-9_-]{20,})"
    ),
    _shape("pypi", _TOKEN, r"pypi-AgE[A-Za-z0-9_-]{40,}"),
    _shape("sendgrid", _KEY, r"SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}" + _END),
    _shape("mailchimp", _KEY, _BEGIN + r"[0-9a-f]{32}-us[0-9]{1,2}" + _END),
    _shape("mailgun", _KEY, _BEGIN + r"key-[0-9a-f]{32}" + _END),
    _shape("twilio", _KEY, _BEGIN + r"(?:AC|SK)[a-f0-9]{32}" + _END),
    _shape("azure", _KEY, r"AccountKey\s*=\s*([A-Za-z0-9+/=]{40,})"),
    _shape("azure_sas", _TOKEN, r"[?&]sig=([A-Za-z0-9%+/=]{30,})"),
    _shape("digital_ocean", _TOKEN, r"do[opr]_v1_[a-f0-9]{64}"),
    _shape("shopify", _TOKEN, r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape("databricks", _TOKEN, _BEGIN + r"dapi[a-f0-9]{32}"),
    _shape(
        "artifactory",
        _TOKEN,
        _BEGIN + r"(?:AKC[a-zA-Z0-9]{10,}|AP[\dA-F](?=[a-zA-Z]*\d)[a-zA-Z0-9]{16,})" + _END,
    ),
    _shape("grafana", _TOKEN, r"gl(?:c|sa)_[A-Za-z0-9+/_-]{32,}={0,2}"),
    _shape("linear", _KEY, r"lin_api_[A-Za-z0-9]{32,}"),
    _shape("notion", _TOKEN, _BEGIN + r"(?:secret|ntn)_[A-Za-z0-9]{40,}"),
    _shape("vault", _TOKEN, _BEGIN + r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    _shape("jwt", _TOKEN, r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*)?"),
    _shape(
        "bearer",
        _TOKEN,
        r"\b(?:bearer|basic)\s+(?=[A-Za-z._~+/=-]*\d)([A-Za-z0-9._~+/-]{16,}={0,2})",
        re.IGNORECASE,
    ),
    _shape(
        "url_password",
        SecretKind.CONNECTION_STRING,
        r"[a-z][a-z0-9+.-]{0,30}://[^\s:/?#@]{0,200}:([^\s/@]{3,200})@[^\s]",
        re.IGNORECASE,
    ),
    _shape(
        "dsn_password",
        SecretKind.CONNECTION_STRING,
        r"(?:server|data source|host|endpoint)\s*=[^;\n]+;[^\n]{0,300}?"
        r"(?:password|pwd|sharedaccesskey)\s*=\s*([^;\s]{3,})",
        re.IGNORECASE,
    ),
)
