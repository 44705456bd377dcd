from grader import reference
from reference import attention as right
from reference.mistakes import attention as wrong


@reference(mistakes=wrong.MISTAKES["attention"])
def attention(Q, K, V, beta, mask=None):
    return right.attention(Q, K, V, beta, mask)
