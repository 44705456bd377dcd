"""The person's half of grading: answers in groups, items, leases, second marks, requests to look again."""
