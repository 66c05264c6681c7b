"""What conformance vectors are made of: worlds, a small language of recipes, and recipes for each rule."""
