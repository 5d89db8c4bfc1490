"""The look of the HTML report: no scripts, no files, light and dark, from phones to paper."""

from __future__ import annotations

from ._style import THEMES, Theme


def stylesheet() -> str:
    """All of the report's CSS, in the colours of the figures."""
    light, dark = _variables(THEMES["light"], "#f5f7f9"), _variables(THEMES["dark"], "#1c2127")
    return (
        f":root {{ color-scheme: light dark; {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{RULES}"
    )


def _variables(theme: Theme, panel: str) -> str:
    colours = {
        "background": theme.background,
        "panel": panel,
        "text": theme.text,
        "muted": theme.muted,
        "line": theme.faint,
        **theme.arms,
    }
    return " ".join(f"--{name}: {colour};" for name, colour in colours.items())


RULES = """\
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 2.5rem clamp(1rem, 4vw, 3rem) 4rem; max-width: 78rem;
  background: var(--background); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", Arial, sans-serif;
  overflow-wrap: anywhere;
}
h1, h2, h3 { line-height: 1.25; font-weight: 650; letter-spacing: -0.01em; text-wrap: balance; }
h1 { font-size: clamp(1.5rem, 1.1rem + 2vw, 2.2rem); margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3.25rem 0 0.75rem; padding-top: 1rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.08rem; margin: 2rem 0 0.5rem; }
p, li, dd { max-width: 68ch; }
p { margin: 0 0 0.9rem; }
a { color: var(--aligned); }
.answer {
  font-size: clamp(1.08rem, 1rem + 0.5vw, 1.3rem); line-height: 1.5; max-width: 60ch; margin: 0 0 1.25rem;
  padding-left: 1rem; border-left: 0.25rem solid var(--aligned); text-wrap: pretty;
}
.muted, figcaption, caption { color: var(--muted); }
.small, figcaption, caption { font-size: 0.9rem; line-height: 1.45; }
.scroll { overflow-x: auto; max-width: 100%; margin: 0 0 1.25rem; }
.scroll:focus-visible { outline: 2px solid var(--aligned); outline-offset: 2px; }
table {
  border-collapse: collapse; font-size: 0.9rem; line-height: 1.4; font-variant-numeric: tabular-nums;
  border-top: 2px solid var(--text); border-bottom: 2px solid var(--text); overflow-wrap: normal;
}
caption { text-align: left; padding-bottom: 0.5rem; caption-side: top; }
caption > span { display: block; position: sticky; left: 0; max-width: min(68ch, calc(100vw - 2.5rem)); }
th, td { padding: 0.4rem 0.6rem; text-align: left; vertical-align: baseline; }
thead th { font-weight: 600; border-bottom: 1px solid var(--text); vertical-align: bottom; white-space: nowrap; }
tbody tr + tr > * { border-top: 1px solid var(--line); }
tbody th { font-weight: 600; }
.name { min-width: 7.5rem; max-width: 20rem; overflow-wrap: anywhere; }
.number { text-align: right; white-space: nowrap; }
td small { display: block; color: var(--muted); font-size: 0.8rem; font-weight: 400; }
.words { min-width: 11.5rem; }
.digest { min-width: 21rem; overflow-wrap: anywhere; }
.source { min-width: 13rem; overflow-wrap: anywhere; }
.arm-aligned { color: var(--aligned); }
.arm-unaligned { color: var(--unaligned); }
.arm-rotated { color: var(--rotated); }
.arm-concat { color: var(--concat); }
.results tbody th { position: sticky; left: 0; background: var(--background); }
figure { margin: 0 0 1.5rem; }
figure img { display: block; max-width: 100%; height: auto; margin-bottom: 0.5rem; }
figure.wide img { width: 100%; max-width: 54rem; }
figcaption { max-width: 68ch; }
.showcase { display: grid; gap: 0.5rem 2.5rem; grid-template-columns: minmax(0, 1fr); align-items: start; }
.showcase img { width: 100%; max-width: 30rem; }
@media (min-width: 56rem) { .showcase { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
.chips { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin: 0 0 1rem; padding: 0; list-style: none; }
.chips strong { font-variant-numeric: tabular-nums; }
dl.facts { display: grid; grid-template-columns: minmax(0, 1fr); margin: 0 0 1rem; }
dl.facts dt { font-weight: 600; margin-top: 0.6rem; }
dl.facts dd { margin: 0; }
@media (min-width: 44rem) {
  dl.facts { grid-template-columns: 10rem minmax(0, 1fr); gap: 0.4rem 1.5rem; }
  dl.facts dt { margin: 0; }
}
code, pre { font: 0.88rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; }
pre {
  background: var(--panel); border: 1px solid var(--line); border-radius: 0.4rem; padding: 0.8rem 1rem;
  margin: 0 0 1rem;
  white-space: pre-wrap; overflow-wrap: anywhere; user-select: all;
}
td code { overflow-wrap: anywhere; }
details { margin: 0 0 1rem; }
summary { cursor: pointer; padding: 0.25rem 0; color: var(--aligned); font-weight: 600; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--muted); }
@media print {
  @page { margin: 14mm; }
  html { font-size: 8.5pt; }
  body { max-width: none; padding: 0; }
  .scroll { overflow: visible; }
  th, td { padding: 0.25rem 0.4rem; }
  thead th { white-space: normal; }
  .name, .words, .source, .digest { min-width: 0; }
  h2 { margin-top: 2rem; }
  h2, h3, .chips { break-after: avoid; }
  figure, tr, pre { break-inside: avoid; }
  .showcase { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
}
"""
