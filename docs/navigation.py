"""A hook of mkdocs: the navigation is beside the text from 1,100 pixels on; the theme hides it below 1,220."""

from pathlib import Path

WIDTHS = {"76.25em": "68.75em", "76.234375em": "68.734375em"}  # of the theme, and in their place


def on_post_build(config) -> None:
    assets = Path(config["site_dir"], "assets")
    for path in [*assets.glob("stylesheets/*.css"), *assets.glob("javascripts/bundle.*.js")]:
        text = path.read_text("utf-8")
        for old, new in WIDTHS.items():
            text = text.replace(old, new)
        path.write_text(text, "utf-8")
