"""A recorded session: how it is read, written and checked."""
