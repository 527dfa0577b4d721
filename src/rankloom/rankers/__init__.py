"""What learns: rankers with scikit-learn's conventions. The only room that imports scikit-learn."""
