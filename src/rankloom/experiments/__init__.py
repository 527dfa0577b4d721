"""What is done around a ranker: its settings chosen, methods compared by the papers' protocols."""
