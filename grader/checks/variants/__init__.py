"""What the checks of the three variants share: running modules, finding layers among parameters, the arithmetic."""
