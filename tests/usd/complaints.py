"""What Pixar's validators say of a stage."""

from pxr import UsdValidation


def complaints(stage):
    """One sentence each; none where all is well."""
    registry = UsdValidation.ValidationRegistry()
    context = UsdValidation.ValidationContext(registry.GetOrLoadAllValidators())
    return [f"{e.GetName()}: {e.GetMessage()}" for e in context.Validate(stage)]
