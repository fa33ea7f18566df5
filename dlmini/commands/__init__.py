"""The commands of the command line, one file per subject; `dlmini/cli.py` names them."""
