"""Whether a formula has the property that was asked for: proved where possible, sampled always."""
