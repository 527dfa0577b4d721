"""What was learned: models score, explain, and are kept in files. They know no learner."""
