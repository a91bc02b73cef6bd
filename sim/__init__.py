"""Another world that offers the same wires: contacts that bounce, a strip that decodes its own data line."""
