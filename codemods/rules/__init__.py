"""The rules, a folder a family; each rule is a module named after its code."""
