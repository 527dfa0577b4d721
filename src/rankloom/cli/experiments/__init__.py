"""The protocols of `rankloom experiment`, a module each."""
