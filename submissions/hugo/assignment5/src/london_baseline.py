import sys

path = sys.argv[1]
with open(path, encoding='utf-8') as f:
    places = [line.strip().split('\t')[1] for line in f]
print(places.count('London'), 'out of', len(places), 'correct')
