"""No secret of a host's file is in a text that we make."""

from __future__ import annotations

import json
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from toolkit.hosts.config import ServerConfig
from toolkit.hosts.secrets import redactor, shown

SECRETS = st.text(min_size=6, max_size=30).filter(lambda text: len(text.strip()) >= 6)


@given(secret=SECRETS, before=st.text(max_size=5), after=st.text(max_size=5))
def test_a_secret_is_masked_however_it_is_written(secret: str, before: str, after: str) -> None:
    redact = redactor(ServerConfig("s", "x", env={"KEY": secret}))
    for way in (secret, repr(secret), json.dumps(secret), quote(secret, safe="")):
        assert secret.strip() not in redact(f"{before}{way}{after}")


def test_a_short_secret_is_masked_as_a_word_only() -> None:
    redact = redactor(ServerConfig("s", "x", env={"KEY": "1"}))
    assert redact("exit 1 after 10 s") == "exit *** after 10 s"


def test_the_token_of_a_header_is_masked_without_its_scheme() -> None:
    redact = redactor(ServerConfig("s", url="http://h/", headers={"Authorization": "Bearer abcdefgh"}))
    assert redact("bad token abcdefgh") == "bad token ***"


def test_a_server_is_shown_with_its_secrets_masked() -> None:
    server = ServerConfig("s", "serve", ("--api-key=abc", "--password", "def", "abcdefgh"), {"A": "abcdefgh"})
    assert shown(server) == "serve --api-key=*** --password *** ***, env A=***"
    web = ServerConfig("w", url="https://me:pass@h:8/mcp?token=q&b=2", headers={"X": "y"})
    assert shown(web) == "https://***@h:8/mcp?token=***&b=***, headers X=***"
