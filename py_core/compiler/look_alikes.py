"""Characters that look like ASCII, so that a disguised mark is seen for what it is.

Takes text, gives its skeleton: the same length, look-alikes replaced. The skeleton is only read,
never shown, so text in other scripts stays as it was. Does not know what marks are.

The list is our own, of the shapes that role marks and orders are written with: Greek, Cyrillic,
Armenian, Cherokee and Lisu letters, and brackets, bars, colons and slashes of other blocks.
Full-width and mathematical letters are handled before, by NFKC.
"""

_LETTERS = {
    "a": "\u0430\u03b1\u0251\u237a",
    "b": "\u0184\u13cf\u15af\u042c",
    "c": "\u0441\u03f2\u1d04\u2ca5",
    "d": "\u0501\u13e7\u146f",
    "e": "\u0435\u212e\u04bd\u0454",
    "f": "\u0192\u017f",
    "g": "\u0261\u0581\u018d",
    "h": "\u04bb\u0570\u13c2",
    "i": "\u0456\u0131\u03b9\u2373\u1d09\u0269\u026a\u04cf",
    "j": "\u0458\u03f3",
    "k": "\u043a\u03ba\u1d0b",
    "l": "\u217c\u01c0\u05c0\u2113",
    "m": "\u043c\u1d0d\u217f",
    "n": "\u0578\u057c\u03b7\u0274",
    "o": "\u043e\u03bf\u0585\u1d0f\u03c3\u0966\u06f0\u0665",
    "p": "\u0440\u03c1\u2374\u1d18",
    "q": "\u051b\u0563\u0566",
    "r": "\u0433\u1d26\u0280",
    "s": "\u0455\ua731\u01bd",
    "t": "\u0442\u03c4\u1d1b",
    "u": "\u0446\u057d\u03c5\u1d1c\u028b",
    "v": "\u03bd\u0475\u1d20\u2228\u0474",
    "w": "\u0461\u051d\u1d21\u0561",
    "x": "\u0445\u03c7\u00d7\u166d",
    "y": "\u0443\u03b3\u04af\u028f\u1d8c",
    "z": "\u1d22\u0290",
    "A": "\u0410\u0391\u13aa\ua4ee",
    "B": "\u0412\u0392\u13f4\ua4d0",
    "C": "\u0421\u03f9\u13df\ua4da",
    "E": "\u0415\u0395\u13ac\ua4f0",
    "H": "\u041d\u0397\u13bb\ua4e7",
    "I": "\u0406\u0399\u04c0\ua4f2",
    "K": "\u041a\u039a\u13e6\ua4d7",
    "M": "\u041c\u039c\u13b7\ua4df",
    "N": "\u039d\ua4e0",
    "O": "\u041e\u039f\u0555\ua4f3",
    "P": "\u0420\u03a1\u13e2\ua4d1",
    "S": "\u0405\u054f\u13da\ua4e2",
    "T": "\u0422\u03a4\u13a2\ua4d4",
    "U": "\u054d\ua4f4",
    "X": "\u0425\u03a7\ua4eb",
    "Y": "\u0423\u03a5\u04ae\ua4ec",
    "Z": "\u0396\u13c3\ua4dc",
    "<": "\u2039\u02c2\u1438\u276e\u16b2\u27e8\u3008\u2329\u226a\u00ab\u300a",
    ">": "\u203a\u02c3\u1433\u276f\u27e9\u3009\u232a\u226b\u00bb\u300b",
    "|": "\u2223\u2502\u2503\u2758\u2d4f\u01c1\u23d0\u239c\uffe8\u00a6",
    "[": "\u27e6\u3010\u2045\u3014",
    "]": "\u27e7\u3011\u2046\u3015",
    ":": "\u02d0\u02f8\u0589\u05c3\u0703\u0704\u2236\ua789\ua4fd",
    "/": "\u2044\u2215\u29f8\u2571\u1735",
    "#": "\u266f\u22d5",
    "_": "\u02cd\u23af\u2017",
    "=": "\u2550\ua78a\u30a0",
}

_TABLE = {ord(other): shown for shown, others in _LETTERS.items() for other in others}


def make_skeleton(text: str) -> str:
    """Replace every look-alike by the ASCII character that a reader takes it for."""
    return text if text.isascii() else text.translate(_TABLE)
