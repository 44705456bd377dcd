def accuracy(path='birth_dev.tsv'):
    lines = open(path, encoding='utf-8').read().splitlines()
    right = [line for line in lines if line.split('\t')[1] == 'London']
    return 100.0 * len(right) / len(lines)


print('always London: %.2f %%' % accuracy())
