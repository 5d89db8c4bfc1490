"""Methods that make anchor graphs, written on top of anchor-align."""
