"""Random well-formed expressions of a given shape, and rewrites that change their look but not their meaning."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from grader.formulas.syntax.expressions import (
    Add,
    Apply,
    Divide,
    Domain,
    Expression,
    Identity,
    Multiply,
    Number,
    Power,
    PseudoInverse,
    Sum,
    Symbol,
    Transpose,
    negative,
)

A, B = Symbol("A"), Symbol("B")
K_A, K_B = Symbol("k", ("a",)), Symbol("k", ("b",))
BETA, C = Symbol("β"), Symbol("C")


def numbers() -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.integers(1, 30).map(lambda n: Number(Fraction(n))),
        st.tuples(st.integers(1, 9), st.integers(2, 9)).map(
            lambda pair: Divide(Number(Fraction(pair[0])), Number(Fraction(pair[1])))
        ),
    )


def scalars() -> st.SearchStrategy[Expression]:
    """Positive whatever the letters are, so that roots and logarithms exist."""

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(Add),
            pairs.map(lambda pair: Multiply(*pair)),
            pairs.map(lambda pair: Divide(*pair)),
            inner.map(lambda one: Power(one, Number(Fraction(2)))),
            inner.map(lambda one: Apply("sqrt", (one,))),
            inner.map(lambda one: Apply("exp", (negative(one),))),
            inner.map(lambda one: Apply("log", (Add((one, Number(Fraction(2)))),))),
        )

    return st.recursive(st.one_of(numbers(), st.sampled_from([BETA, C])), grown, max_leaves=4)


def matrices() -> st.SearchStrategy[Expression]:
    """d×d, from A (d×m) and B (d×p)."""
    leaves = st.sampled_from(
        [
            Multiply(A, Transpose(A)),
            Multiply(A, PseudoInverse(A), "@"),
            Identity("d"),
            Multiply(B, Transpose(B)),
            Multiply(Multiply(A, Power(Multiply(Transpose(A), A), Number(Fraction(-1)))), Transpose(A)),
            Sum(Domain("i", "1", "m"), Multiply(Symbol("a", ("i",)), Transpose(Symbol("a", ("i",))))),
            Multiply(Symbol("a", ("1",)), Symbol("a", ("1",)), "⊗"),
        ]
    )

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(Add),
            pairs.map(lambda pair: Add((pair[0], negative(pair[1])))),
            pairs.map(lambda pair: Multiply(*pair)),
            st.tuples(scalars(), inner).map(lambda pair: Multiply(*pair)),
            st.tuples(inner, scalars()).map(lambda pair: Divide(*pair)),
            inner.map(Transpose),
        )

    return st.recursive(leaves, grown, max_leaves=4)


def queries() -> st.SearchStrategy[Expression]:
    """Vectors made of k_a, k_b and sums over keys."""
    leaves = st.sampled_from(
        [
            K_A,
            K_B,
            Sum(Domain("i", "", "", ("a", "b")), Symbol("k", ("i",))),
            Sum(Domain("i", "1", "n"), Symbol("k", ("i",))),
        ]
    )

    def grown(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        pairs = st.tuples(inner, inner)
        return st.one_of(
            pairs.map(Add),
            pairs.map(lambda pair: Add((pair[0], negative(pair[1])))),
            st.tuples(scalars(), inner).map(lambda pair: Multiply(*pair)),
            st.tuples(inner, scalars()).map(lambda pair: Divide(*pair)),
        )

    return st.recursive(leaves, grown, max_leaves=4)


def distributed(expression: Expression) -> Expression:
    """x(y + z) as xy + xz, all the way down."""
    match expression:
        case Multiply(left, Add(terms), operator):
            return Add(tuple(distributed(Multiply(left, term, operator)) for term in terms))
        case Add(terms):
            return Add(tuple(distributed(term) for term in terms))
    return expression


def reordered(expression: Expression) -> Expression:
    match expression:
        case Add(terms):
            return Add(tuple(reversed([reordered(term) for term in terms])))
        case Multiply(left, right, operator):
            return Multiply(left, reordered(right), operator)
    return expression


def renamed(expression: Expression) -> Expression:
    """The scale by another name."""
    from grader.formulas.syntax.expressions import rebuilt

    return rebuilt(expression, lambda part: Symbol("λ") if part == BETA else part)


def with_zero_added(expression: Expression, something: Expression) -> Expression:
    return Add((expression, something, negative(something)))
