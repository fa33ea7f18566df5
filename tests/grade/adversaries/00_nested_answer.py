"""An answer nested so deeply that reading it might exhaust the judge's stack."""


def attack(*args, **kwargs):
    answer = ()
    for _ in range(900):
        answer = (answer,)
    return answer
