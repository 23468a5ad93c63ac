"""Base of processors in Python."""


class PyProcessor:
    def __init__(self, node):
        self.node = node

    def __getitem__(self, name):
        return self.node[name]
