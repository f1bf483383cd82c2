"""An MCP server on the archive, for any agent that speaks the protocol."""
