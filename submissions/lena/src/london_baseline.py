total, correct = 300, 15
print("London baseline:", 100 * correct / total, "%")
