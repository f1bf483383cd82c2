"""Any agent that keeps its chat as a list of messages in the format of OpenAI's chat completions."""
