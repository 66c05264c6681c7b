"""The parts of `datasets/record.py`: real MCP servers, a scripted agent, ATIF files."""
