places = [line.rstrip().split("\t")[1] for line in open("birth_dev.tsv", encoding="utf-8")]
print("accuracy of London: {:.3f}".format(places.count("London") / len(places)))
