"""The layers that isolate a sandbox, each the kernel's."""
