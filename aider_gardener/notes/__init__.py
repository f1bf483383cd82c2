"""What is settled: rules, decisions, names, the last chat, and the note that says so before the history."""
