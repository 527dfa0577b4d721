"""How good a ranking is: measures with named conventions, evaluation, and comparison of two rankings."""
