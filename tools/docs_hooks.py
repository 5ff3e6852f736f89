"""Hooks of the documentation site (mkdocs.yml): the formulas of derivations are typeset when the site is built.

The pages have them as indented lines of text, which read well in an editor; here they become HTML with indices, powers,
Greek letters and signs. Nothing is loaded when a page is read.
"""

import html
import re

GREEK = {"alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "eps": "ε", "theta": "θ", "lambda": "λ",
         "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ", "psi": "ψ",
         "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Sigma": "Σ", "Phi": "Φ",
         "Psi": "Ψ", "Omega": "Ω"}
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "...": "…", "sum": "∑", "prod": "∏", "sqrt": "√"}
CODE = re.compile(r"::|;\s*$|\b(const|template|void|auto|return|include|limb/|python3?)\b|^\s*[$#]|//")
TOKEN = re.compile(r"(?P<name>[A-Za-z]+'*)|(?P<index>_(?:\{[^}]*\}|[A-Za-z0-9]+(?:,[A-Za-z0-9]+)*))"
                   r"|(?P<power>\^(?:\{[^}]*\}|\([^)]*\)|-?[A-Za-z0-9]+|\*))|(?P<sign><=|>=|!=|->|\.\.\.)|(?P<other>.)",
                   re.DOTALL)


def name(text: str) -> str:
    """A variable in italics, a word upright."""
    base = text.rstrip("'")
    primes = "′" * (len(text) - len(base))
    if base in SIGNS:
        return SIGNS[base]
    if base in GREEK:
        return f"<i>{GREEK[base]}</i>{primes}"
    if base[:1] == "d" and base[1:] in GREEK:
        return f"<i>d{GREEK[base[1:]]}</i>{primes}"
    return f"<i>{base}</i>{primes}" if len(base) <= 2 else base + primes


def typeset(line: str) -> str:
    """A line of text as HTML."""
    made = []
    for token in TOKEN.finditer(line):
        text = token.group()
        if token.lastgroup == "name":
            before, after = line[:token.start()], line[token.end():]
            if text == "x" and before.endswith(" ") and after.startswith(" ") and before.strip() and after.strip():
                made.append("×")  # the cross product
            else:
                made.append(name(text))
        elif token.lastgroup == "index":
            inner = text[1:].strip("{}")
            made.append(f"<sub>{GREEK.get(inner, html.escape(inner))}</sub>")
        elif token.lastgroup == "power":
            inner = text[1:]
            inner = inner[1:-1] if inner[0] in "{(" else inner
            made.append(f"<sup>{html.escape(inner.replace('-', '−'))}</sup>")
        elif token.lastgroup == "sign":
            made.append(SIGNS[text])
        else:
            made.append({"*": "·", "-": "−"}.get(text, html.escape(text)))
    return "".join(made)


def typeset_page(markdown: str) -> str:
    """Replaces indented blocks of formulas; blocks of code stay."""
    lines, made, i = markdown.split("\n"), [], 0
    fenced = False
    while i < len(lines):
        fenced ^= lines[i].startswith("```")
        starts = lines[i].startswith("    ") and (not made or made[-1] == "") and not fenced
        in_list = any(re.match(r"\s*([-*]|\d+\.) ", line) for line in made[-3:])
        if not starts or in_list:
            made.append(lines[i])
            i += 1
            continue
        block = []
        while i < len(lines) and (lines[i].startswith("    ") or (lines[i] == "" and i + 1 < len(lines)
                                                                   and lines[i + 1].startswith("    "))):
            block.append(lines[i][4:])
            i += 1
        if any(CODE.search(line) for line in block):
            made += ["    " + line if line else "" for line in block]
        else:
            shown = "\n".join(typeset(line.rstrip()) or "&nbsp;" for line in block)
            made += [f'<div class="formula">{shown}</div>', ""]
    return "\n".join(made)


def on_page_markdown(markdown: str, page, config, files) -> str:
    return typeset_page(markdown) if page.file.src_uri.startswith("derivations/") else markdown
