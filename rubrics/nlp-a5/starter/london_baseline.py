"""2.d How often is London right on birth_dev.tsv? Run as a script, this works it out and prints it."""


def main():
    raise NotImplementedError


if __name__ == "__main__":
    main()
