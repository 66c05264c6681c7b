"""Public sets of tools, queries and sessions that packages carry: which there are, and how each becomes ours."""
