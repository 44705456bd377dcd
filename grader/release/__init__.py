"""What students get before the deadline: the public part of a rubric, and a grader that holds no answer."""
