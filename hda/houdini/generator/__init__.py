"""Writes Houdini assets from the descriptors of Meniscus' nodes."""
