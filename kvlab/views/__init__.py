"""Look at it: plain records in, figures out. No view keeps state or writes a file."""
