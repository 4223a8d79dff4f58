"""Wrong results of codemods, made by hand from right ones, and what the proof says of them.

`projects/` holds small programs for Lightning 1.9; `changes.py` what is done to the text that the rules make of them;
`judging.py` runs both trees as the proof does and asks for its verdict.
"""
