"""Least squares and projection on the simplex, for all rows together."""

from ._least_squares import project_rows_on_simplex, simplex_least_squares

__all__ = ["project_rows_on_simplex", "simplex_least_squares"]
