"""What comes back: the passages of originals that fit a question, by words and by meaning."""
