"""Nothing that tells whose a session is comes through; what was replaced is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import atif, line
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.write import trajectory
from toolkit.formats.redacting import Redactor
from toolkit.tool import compact_json

SECRETS = [
    ("key", "sk-ant-api03-abcdefghijklmnopqrstuv"),
    ("key", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("key", "AKIAABCDEFGHIJKLMNOP"),
    ("key", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"),
    ("key", "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg\n-----END PRIVATE KEY-----"),
    ("token", "Authorization: Bearer abcdef0123456789"),
    ("token", "PASSWORD=hunter2hunter2"),
    ("token", '"api_key": "0123456789abcdef"'),
    ("url_login", "https://mary:secretword@host.example/x"),
    ("email", "mary.jones@example.org"),
    ("home", "/home/maryjones/work"),
    ("home", "C:\\Users\\maryjones\\work"),
]


@pytest.mark.parametrize(("kind", "text"), SECRETS)
def test_a_secret_is_replaced_and_counted_wherever_it_stands(kind: str, text: str) -> None:
    steps = [
        {"source": "system", "message": text},
        {"source": "user", "message": [{"type": "text", "text": f"See {text} ."}]},
        {"source": "agent", "message": text, "extra": {"seen": {"x": [text]}}},
    ]
    (session,) = read_trajectory(line(atif("s", steps=steps)))
    redactor = Redactor()
    clean = compact_json(trajectory(redactor.clean(session)))
    for part in ("abcdefghijklmnop", "AKIAABC", "c2lnb", "MIIE", "abcdef0123", "hunter2", "0123456789abcdef"):
        assert part not in clean
    assert "mary" not in clean and redactor.counts[kind] == 4


def test_user_names_of_home_folders_go_everywhere() -> None:
    redactor = Redactor()
    redactor.learn(["ls /home/maryjones"])
    assert redactor.text("maryjones wrote /home/maryjones/a; maryjonesy stays") == (
        "user wrote /home/user/a; maryjonesy stays"
    )
    assert redactor.counts == {"home": 1, "user_name": 1}


def test_a_value_whose_key_says_that_it_is_secret_is_masked_whole() -> None:
    redactor = Redactor()
    assert redactor.clean({"token": "plain words", "max_tokens": "5"}) == {"token": "<token>", "max_tokens": "5"}


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_what_is_clean_stays_as_it_is_the_second_time(value: object) -> None:
    once = Redactor().clean(value)
    assert Redactor().clean(once) == once
