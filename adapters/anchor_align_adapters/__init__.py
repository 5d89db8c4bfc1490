"""Methods that build anchor graphs, written on top of anchor-align."""
