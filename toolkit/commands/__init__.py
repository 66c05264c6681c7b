"""The commands of the command line, one module each: options in, one call, a table out."""
