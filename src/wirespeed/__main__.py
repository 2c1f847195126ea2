"""`python -m wirespeed` is the command."""

from wirespeed.faces.cli.main import main

main()
