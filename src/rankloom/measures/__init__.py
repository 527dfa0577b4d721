"""How good a ranking is: measures with their conventions, evaluation, significance."""
