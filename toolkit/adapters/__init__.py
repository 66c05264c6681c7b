"""A selector in the hosts that people have: one small module a library, over one core."""
