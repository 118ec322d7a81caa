"""Labelled lines: 200 that hold a secret of every kind, 500 that a person might well want to keep.

Takes nothing, gives the same lines each time. The secrets are drawn, so no real one is in here and
none stands in a file. The ordinary lines are made to be hard: hashes, ids, code, and talk about
passwords. Does not know the rules under test.
"""

import base64
import json
import string
from collections.abc import Callable

import numpy as np

BASE62 = string.ascii_letters + string.digits
BASE64 = BASE62 + "+/"
URL_SAFE = BASE62 + "-_"
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
SECRET_COUNT, ORDINARY_COUNT, SEED = 200, 500, 20_260_710

SEED_SAMPLE = (
    "abandon lunar crisp velvet zebra orbit maple tunnel pigeon rescue globe anchor "
    "kitten fabric umbrella merge olive puzzle quantum ribbon saddle tobacco urban wrist"
)
CARRIERS = (
    "{}",
    "Remember that {}",
    "note: {}",
    "For the staging server: {}",
    "Here it is, do not lose it: {} - thanks",
    "I wrote it down once: {}",
)


class Draw:
    """Draws pieces of secrets."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def chars(self, alphabet: str, count: int) -> str:
        """Draw characters."""
        return "".join(alphabet[int(i)] for i in self.rng.integers(0, len(alphabet), count))

    def pick(self, options: "tuple[str, ...] | list[str]") -> str:
        """Draw one of some."""
        return options[int(self.rng.integers(len(options)))]

    def card(self) -> str:
        """Draw a number with a right check digit, in one of three spellings."""
        prefix, length = [("4", 16), ("51", 16), ("37", 15), ("6011", 16), ("2221", 16)][
            int(self.rng.integers(5))
        ]
        body = prefix + self.chars(string.digits, length - len(prefix) - 1)
        doubled = [int(d) * (2 - i % 2) for i, d in enumerate(reversed(body))]
        total = sum(value - 9 if value > 9 else value for value in doubled)
        digits = body + str(-total % 10)
        gap = self.pick(("", " ", "-"))
        return gap.join(digits[i : i + 4] for i in range(0, length, 4))

    def jwt(self) -> str:
        """Draw a signed token."""
        parts = [
            json.dumps({"alg": "HS256", "typ": "JWT"}),
            json.dumps({"sub": self.chars(HEX, 8), "name": "Ada"}),
        ]
        coded = [base64.urlsafe_b64encode(part.encode()).decode().strip("=") for part in parts]
        return ".".join([*coded, self.chars(URL_SAFE, 43)])

    def pem(self) -> str:
        """Draw a block of a private key."""
        sort = self.pick(("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "))
        lines = "\n".join(self.chars(BASE64, 64) for _ in range(4))
        return f"-----BEGIN {sort}PRIVATE KEY-----\n{lines}\n-----END {sort}PRIVATE KEY-----"

    def seed_phrase(self, count: int) -> str:
        """Draw words as wallets do; the words are common ones of the list, written out here."""
        words = SEED_SAMPLE.split()
        return " ".join(self.pick(words) for _ in range(count))

    def password(self) -> str:
        """Draw what people take."""
        word = self.pick(("sunshine", "Dragon", "hunter", "letmein", "Tr0ub4dor", "monkey"))
        return word + self.pick(("", "!", "&3", "2024", "_99", "#1")) + self.chars("0123456789", 2)


MAKERS: dict[str, Callable[[Draw], str]] = {
    "private_key": lambda d: d.pem(),
    "putty_key": lambda d: "PuTTY-User-Key-File-3: ssh-ed25519",
    "age_key": lambda d: "AGE-SECRET-KEY-1" + d.chars(UPPER, 58),
    "aws_id": lambda d: d.pick(("AKIA", "ASIA")) + d.chars(UPPER, 16),
    "aws_secret": lambda d: f"aws_secret_access_key = {d.chars(BASE64, 40)}",
    "google": lambda d: "AIza" + d.chars(URL_SAFE, 34) + "a",
    "github": lambda d: d.pick(("ghp_", "gho_", "ghs_")) + d.chars(BASE62, 36),
    "github_fine": lambda d: f"github_pat_{d.chars(BASE62, 22)}_{d.chars(BASE62, 59)}",
    "gitlab": lambda d: "glpat-" + d.chars(URL_SAFE, 20),
    "slack": lambda d: f"xoxb-{d.chars('0123456789', 12)}-{d.chars(BASE62, 24)}",
    "slack_hook": lambda d: (
        f"https://hooks.slack.com/services/T{d.chars(UPPER, 8)}/B{d.chars(UPPER, 8)}/"
        f"{d.chars(BASE62, 24)}"
    ),
    "discord": lambda d: f"M{d.chars(BASE62, 23)}.{d.chars(BASE62, 6)}.{d.chars(BASE62, 27)}",
    "telegram": lambda d: f"{d.chars('123456789', 9)}:{d.chars(BASE62, 35)}",
    "stripe": lambda d: f"sk_{d.pick(('live', 'test'))}_{d.chars(BASE62, 24)}",
    "square": lambda d: "sq0csp-" + d.chars(BASE62, 43),
    "openai": lambda d: f"sk-{d.chars(BASE62, 20)}T3BlbkFJ{d.chars(BASE62, 20)}",
    "anthropic": lambda d: "sk-ant-api03-" + d.chars(URL_SAFE, 93) + "AA",
    "hugging_face": lambda d: "hf_" + d.chars(string.ascii_letters, 34),
    "npm": lambda d: "npm_" + d.chars(BASE62, 36),
    "pypi": lambda d: "pypi-AgEIcHlwaS5vcmc" + d.chars(URL_SAFE, 70),
    "sendgrid": lambda d: f"SG.{d.chars(BASE62, 22)}.{d.chars(BASE62, 43)}",
    "mailchimp": lambda d: d.chars(HEX, 32) + "-us12",
    "twilio": lambda d: "SK" + d.chars(HEX, 32),
    "azure": lambda d: f"AccountKey={d.chars(BASE64, 86)}==",
    "digital_ocean": lambda d: "dop_v1_" + d.chars(HEX, 64),
    "shopify": lambda d: "shpat_" + d.chars(HEX, 32),
    "jwt": lambda d: d.jwt(),
    "bearer": lambda d: f"Authorization: Bearer {d.chars(BASE62, 30)}7",
    "postgres": lambda d: f"postgresql://app:{d.password()}@db.example.net:5432/shop",
    "mongo": lambda d: f"mongodb+srv://root:{d.chars(BASE62, 14)}@cluster0.example.net/test",
    "redis": lambda d: f"redis://:{d.chars(BASE62, 16)}@cache.example.net:6379/0",
    "sql_server": lambda d: f"Server=db1;Database=shop;User Id=sa;Password={d.password()};",
    "url_password": lambda d: f"https://ada:{d.password()}@git.example.net/repo.git",
    "card": lambda d: d.card(),
    "card_named": lambda d: f"my card is {d.card()} until 09/29",
    "seed_12": lambda d: d.seed_phrase(12),
    "seed_24": lambda d: f"my wallet words are {d.seed_phrase(24)}",
    "password_said": lambda d: f"my password is {d.password()}",
    "password_of": lambda d: f"the password for the router is {d.password()}.",
    "password_assigned": lambda d: (
        f'{d.pick(("password", "DB_PASSWORD", "pwd"))} = "{d.password()}"'
    ),
    "password_yaml": lambda d: f"password: {d.password()}",
    "wifi_word": lambda d: f"the wifi password is {d.pick(('swordfish', 'bluebird', 'oatmeal'))}",
    "pin": lambda d: f"my PIN is {d.chars('0123456789', 4)}",
    "api_key_env": lambda d: f"export WEATHER_API_KEY={d.chars(HEX, 32)}",
    "client_secret": lambda d: f'"client_secret": "{d.chars(BASE62, 28)}"',
    "token_said": lambda d: f"the access token is {d.chars(BASE62, 24)}9",
    "random_only": lambda d: d.chars(BASE62, 40),
    "random_base64": lambda d: d.chars(BASE64, 43) + "=",
}

TALK = (
    "my password is too short, I have to change it",
    "the password is stored in the vault",
    "I forgot my password again",
    "Password: see the note in the safe",
    "the token is expired",
    "your PIN was rejected",
    "The secret is to stir slowly",
    "the secret of good bread is time",
    "password = os.environ['DB_PASSWORD']",
    "password: required",
    "token = get_token(user)",
    'api_key = "<your key here>"',
    "API_KEY=${API_KEY}",
    "the api key is missing in the settings",
    "she changed the password to something longer",
    "never write your password on paper",
    "reset the password and tell nobody",
    "tokens per second: 24.2",
    "max_tokens = 256",
    "the access code is on the door",
    "a passphrase of six words is strong",
    "the key is under the mat",
    "the primary key is customer_id",
    "keyboard shortcut: Ctrl+Shift+P",
    "the credentials are with Anna",
    "author: Jane Doe, keywords: memory, tokens",
    "pass: 41 tests, fail: 0",
    "passport renewal is due in March",
    "the compass is broken",
    "secret santa is on Friday",
)
PLAIN = (
    "I prefer tea to coffee",
    "my name is Alex and I live in Lisbon",
    "the meeting is on Tuesday at half past nine",
    "use four spaces in Python",
    "our dog is called Biscuit",
    "I am allergic to peanuts",
    "please answer in short sentences",
    "the train from Porto takes three hours",
    "we decided to ship on the first of May",
    "remember to water the plants when they look dry",
    "milk, eggs, flour, butter, sugar and two lemons",
    "the green house at the end of the road",
    "call the dentist about the appointment",
    "he said that they would come around noon",
    "my favourite colour is blue",
)
SHAPED: tuple[Callable[[Draw], str], ...] = (
    lambda d: f"commit {d.chars(HEX, 40)}",
    lambda d: f"sha256 of the file: {d.chars(HEX, 64)}",
    lambda d: f"see commit {d.chars(HEX, 10)}",
    lambda d: (
        f"order id {d.chars(HEX, 8)}-{d.chars(HEX, 4)}-4{d.chars(HEX, 3)}-a{d.chars(HEX, 3)}-"
        f"{d.chars(HEX, 12)}"
    ),
    lambda d: f"call me at +49 30 {d.chars('123456789', 4)} {d.chars('123456789', 4)}",
    lambda d: f"invoice {d.chars('123456789', 8)} of 2026-07-10",
    lambda d: f"ISBN 978-3-16-{d.chars('123456789', 6)}-0",
    lambda d: f"parcel number 00340434{d.chars('123456789', 4)} arrived",
    lambda d: f"version {d.chars('123', 1)}.{d.chars('123456789', 2)}.{d.chars('123456789', 1)}",
    lambda d: f"src/components/{d.pick(('Header', 'Footer'))}NavigationBar2/index.tsx line 14",
    lambda d: f"https://example.org/articles/2026/07/{d.chars('123456789', 6)}?page=2&sort=newest",
    lambda d: f"the function getUserAccountSettingsV{d.chars('123', 1)} is slow",
    lambda d: f"IBAN of the club ends in {d.chars('123456789', 4)}",
    lambda d: f"meeting room B{d.chars('123456789', 3)}, floor {d.chars('12345', 1)}",
    lambda d: f"latitude 38.{d.chars('123456789', 6)}, longitude -9.{d.chars('123456789', 6)}",
    lambda d: f"flight TP{d.chars('123456789', 3)} on 12.08.2026 at 14:35",
    lambda d: (
        f"const total = items.reduce((sum, item) => sum + item.price * {d.chars('23', 1)}, 0);"
    ),
    lambda d: f"SELECT name, city FROM customers WHERE id = {d.chars('123456789', 5)};",
    lambda d: (
        f"the log says 2026-07-10T09:00:0{d.chars('123456789', 1)}Z ERROR timeout after 3000 ms"
    ),
    lambda d: f"docker image python:3.11-slim@sha256:{d.chars(HEX, 64)}",
    lambda d: f"ping 192.168.{d.chars('12', 2)}.{d.chars('123', 2)} took 3 ms",
    lambda d: f"mail to team-{d.chars('123456789', 2)}@example.org",
    lambda d: f"record mem-{d.chars(HEX, 24)} was corrected",
    lambda d: f"card 4 of 52, then card {d.chars('123456789', 1)}",
    lambda d: f"part number AB-{d.chars('123456789', 4)}-{d.chars('123456789', 4)}-XZ",
    lambda d: "data:image/png;base64 is the beginning of an inline picture",
    lambda d: f"numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl, build {d.chars('12', 1)}",
    lambda d: f"model SmolLM2-135M-Instruct-Q{d.chars('48', 1)}_0.gguf",
)


def list_secret_lines() -> list[tuple[str, str]]:
    """Give 200 pairs of kind and line; every kind comes four times or more."""
    draw, kinds = Draw(np.random.default_rng(SEED)), list(MAKERS)
    lines = []
    for number in range(SECRET_COUNT):
        kind = kinds[number % len(kinds)]
        carrier = CARRIERS[(number // len(kinds) + number) % len(CARRIERS)]
        lines.append((kind, carrier.format(MAKERS[kind](draw))))
    return lines


def list_ordinary_lines() -> list[str]:
    """Give 500 lines that hold no secret."""
    draw, lines = Draw(np.random.default_rng(SEED + 1)), [*TALK, *PLAIN]
    while len(lines) < ORDINARY_COUNT:
        maker = SHAPED[len(lines) % len(SHAPED)]
        lines.append(CARRIERS[len(lines) % len(CARRIERS)].format(maker(draw)))
    return lines[:ORDINARY_COUNT]
