"""What a diagnosis is made of: replays, and one module for each of its tables."""
