"""What replays are measured by, and what the measures come to."""
