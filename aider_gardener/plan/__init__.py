"""What stands in the prompt: the chat, the views of it, and the plans that change them."""
