#!/usr/bin/env python3
"""Runs a notebook in the current folder and prints what its cells print: test/Package/notebook.py NOTEBOOK. Needs nbclient and ipykernel."""

import sys

import nbclient
import nbformat

notebook = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(notebook, timeout=600, resources={"metadata": {"path": "."}}).execute()  # raises where a cell does
for cell in notebook.cells:
    for output in cell.get("outputs", ()):
        print(output.get("text") or output.get("data", {}).get("text/plain", ""))
