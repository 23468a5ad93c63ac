"""A small stand-in for Houdini's module `pdg`."""


class result:
    Success = "success"


class nodeType:
    Processor = "processor"
