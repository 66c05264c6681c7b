import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit import specs
from toolkit.errors import InputError

literals = st.one_of(st.integers(), st.booleans(), st.none(), st.text(), st.floats(-1e9, 1e9))
options = st.dictionaries(st.sampled_from(["k", "model", "min_coverage"]), literals)


@given(options)
def test_a_formatted_spec_parses_back(kwargs: dict[str, object]) -> None:
    assert specs.parse(specs.format("semantic", kwargs)) == ("semantic", (), kwargs)


@pytest.mark.parametrize(
    ("spec", "parsed"),
    [
        ("all", ("all", (), {})),
        (" lazy ( ) ", ("lazy", (), {})),
        ("builtin-only", ("builtin-only", (), {})),
        ("dense(multilingual)", ("dense", ("multilingual",), {})),
        ("pkg.mod:Name(3, x=[1, 'a'])", ("pkg.mod:Name", (3,), {"x": [1, "a"]})),
    ],
)
def test_a_spec_is_a_name_and_literals(spec: str, parsed: tuple[object, ...]) -> None:
    assert specs.parse(spec) == parsed


@pytest.mark.parametrize(
    "spec", ["", "a b", "f(", "f(1))", "f(open('x'))", "f(**{})", "f(a.b)", "f(*[1])", "f)(", "f(1)(2)"]
)
def test_what_is_no_spec_is_refused_and_nothing_is_run(spec: str) -> None:
    with pytest.raises(InputError):
        specs.parse(spec)
