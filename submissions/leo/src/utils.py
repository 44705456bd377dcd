def encode(text, stoi):
    return [stoi[character] for character in text]
