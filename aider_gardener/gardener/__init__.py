"""One chat under the gardener: its flow from the message that enters to the prompt that goes out."""
