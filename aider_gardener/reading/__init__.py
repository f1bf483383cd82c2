"""What a text is: its source, its segments, its class, its language. No text is changed here."""
