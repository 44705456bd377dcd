"""What a check may ask of a sandbox. Probes return values and never decide."""
