"""What is ranked: readers, writers, the store, splits and generators, all around `RankingData`."""
