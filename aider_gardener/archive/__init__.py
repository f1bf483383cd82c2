"""What was said: originals as they enter, the store that keeps them, how long, and who may have them back."""
