"""The compiled loops, and nothing else: arrays in, arrays out. Nothing of the package is imported here."""
