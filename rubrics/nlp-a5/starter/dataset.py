"""2.e Span corruption. The course's NameDataset, for finetuning, belongs here too."""

from torch.utils.data import Dataset

PAD_CHAR = "\u25a1"  # □
MASK_CHAR = "\u2047"  # ⁇


class CharCorruptionDataset(Dataset):
    """Documents with a span moved to their end, for pretraining.

    data        text, one document on each line
    block_size  the longest sequence of the model

    stoi and itos map characters to ids and back: PAD_CHAR is 0, MASK_CHAR is 1, the characters of the data follow in
    sorted order. The text must hold neither of the two.
    """

    def __init__(self, data, block_size):
        raise NotImplementedError

    def __len__(self):
        """How many documents there are."""
        raise NotImplementedError

    def __getitem__(self, idx):
        """x, y: Long tensors, y one character ahead of x; drawn anew at each call.

        Document idx is cut to a random length from 4 to ⌊7/8 · block_size⌋. A random span of it is masked: on average a
        quarter of what is left, at times more, at times less. What is left makes, with pads behind it,

            prefix MASK_CHAR suffix MASK_CHAR masked
        """
        raise NotImplementedError
