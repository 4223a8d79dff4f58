"""What settings hold stands where it is read, as long as the file reads nothing but their parts."""

from __future__ import annotations

import ast

import pytest

from codemods.code.normal import normal

NAMED = "from types import SimpleNamespace\nD = SimpleNamespace(a=1)\n"
TUPLE = "from typing import NamedTuple\n\nclass C(NamedTuple):\n    a: int = 1\n"
ENUM = "from enum import Enum\n\nclass C(Enum):\n    a = 1\n"
DATA = "from dataclasses import dataclass\n\n@dataclass\nclass C:\n    a: int = 1\n"
READ = {
    "a key": ("D = {'a': 1}\n", "D['a']", "1"),
    "a key of a key": ("D = {'a': {'b': 1}}\n", "D['a']['b']", "1"),
    "what is got": ("D = {'a': 1}\n", "D.get('a')", "1"),
    "an item": ("D = (-1, 2)\n", "D[0]", "-1"),
    "a class that is imported": ("from x import T\nD = {'a': T}\n", "D['a'](2)", "T(2)"),
    "a key of what is given whole, too": ("D = {'a': 1}\ng(**D)\n", "D['a']", "1"),
    "a namespace": (NAMED, "D.a", "1"),
    "a class": ("class C:\n    a = 1\n", "C.a", "1"),
    "an object": ("class C:\n    a = 1\n", "C().a", "1"),
    "a dataclass": (DATA, "C().a", "1"),
    "a dataclass that is kept": (f"{DATA}D = C(a=2)\n", "D.a", "2"),
    "a named tuple": (TUPLE, "C().a", "1"),
    "an enumeration": (ENUM, "C.a.value", "1"),
}
LEFT = {
    "a key that is set": "D = {'a': 1}\nD['b'] = 2\nf(D['a'])",
    "a key that is set through another": "D = {'a': {'b': 1}}\nD['a']['b'] = 2\nf(D['a']['b'])",
    "a part that is passed on": "D = {'a': {'b': 1}}\ng(D['a'])\nf(D['a']['b'])",
    "a dictionary that is passed on": "D = {'a': 1}\ng(D)\nf(D['a'])",
    "a dictionary that is filled": "D = {'a': 1}\nD.update(g())\nf(D['a'])",
    "a class that is passed on": "class C:\n    a = 1\ng(C)\nf(C.a)",
    "a key that is not there": "D = {'a': 1}\nf(D.get('b'))",
    "a key twice": "D = {'a': 1, 'a': 2}\nf(D['a'])",
    "a list that grows": "D = [1]\nD.append(2)\nf(D[0])",
    "a name that is bound twice": "D = {'a': 1}\nif g():\n    D = {'a': 2}\nf(D['a'])",
    "a name that is said": "D = {'a': 1}\nmonkeypatch.setitem('D', 'a', 2)\nf(D['a'])",
    "a star after it": "D = {'a': 1}\nfrom x import *\nf(D['a'])",
    "an attribute that something sets": "class C:\n    a = 1\ng().a = 2\nf(C.a)",
    "an attribute by its name": "class C:\n    a = 1\nsetattr(g(), h(), 2)\nf(C.a)",
    "a class with a method": "class C:\n    a = 1\n\n    def b(self):\n        return 1\nf(C.a)",
    "a class below another": "class C(B):\n    a = 1\nf(C.a)",
    "a class above another": "class C:\n    a = 1\n\nclass D(C):\n    b = 1\nf(C.a)",
    "a member of an enumeration": f"{ENUM}f(C.a)",
    "what is computed": "D = {'a': g()}\nf(D['a'], D['a'])",
    "an object with arguments": f"{DATA}f(C(2).a)",
}


@pytest.mark.parametrize("name", READ)
def test_read(name: str) -> None:
    head, read, value = READ[name]
    text = f"{head}\ndef h():\n    return f({read})"
    assert ast.unparse(normal(ast.parse(text))).endswith(f"    return f({value})")


@pytest.mark.parametrize("name", LEFT)
def test_left_as_it_is(name: str) -> None:
    assert ast.unparse(normal(ast.parse(LEFT[name]))) == ast.unparse(ast.parse(LEFT[name]))


def test_of_a_function() -> None:
    text = "import torch\n\ndef h(x):\n    D = {'a': torch.nn.GRU}\n    return D['a'](x)"
    assert ast.unparse(normal(ast.parse(text))) == "import torch\n\ndef h(x):\n    return torch.nn.GRU(x)"
