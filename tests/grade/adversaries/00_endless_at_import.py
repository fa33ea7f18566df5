"""Never gets imported."""

while True:
    pass
