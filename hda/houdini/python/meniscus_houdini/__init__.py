"""Meniscus in Houdini.

Only `scene` and `assets` need `hou`; everything else runs in any Python from 3.9 on, without packages.
"""
