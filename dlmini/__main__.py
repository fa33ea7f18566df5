"""`python -m dlmini`, and the command `dlmini`: Ctrl-C while the commands are being read ends it without a word."""

import signal


def main() -> None:
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # not where Ctrl-C is ignored, as behind nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from dlmini.cli import main as run

    signal.signal(signal.SIGINT, usual)
    try:
        run()
    except KeyboardInterrupt:  # before a command has begun, or after its end: there is nothing to say
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
