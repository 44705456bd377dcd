# TODO [part d]
pass
