"""What tools read from the patch series: how much a patch changes, and the tables of its page."""
