"""What the checks of encoder block, patch embedding and ViT share."""
