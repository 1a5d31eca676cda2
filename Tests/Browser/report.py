"""Looks at the pages of `godwit report` in a browser.

usage: report.py FOLDER

FOLDER has plain.html, made without --values, and values.html, made with it, of one replica with hostile values in its
conflicts. Screenshots are left there.
"""

import sys

from browser import browser, console, contrast, fits, media, press, reads_well, screenshot, tab_to
from selenium.webdriver.common.keys import Keys


def look(driver, folder, name):
    driver.get(f"file://{folder}/{name}.html")
    reads_well(driver)
    for scheme in ["light", "dark"]:
        media(driver, scheme=scheme)
        assert contrast(driver) >= 4.5, f"{scheme}: {contrast(driver)}"
        screenshot(driver, f"{folder}/{name}-{scheme}.png")
    for width in [320, 640, 1920]:
        fits(driver, width)


def by_keyboard(driver):
    """To the first section past the navigation, and a chart's numbers unfolded."""
    assert tab_to(driver, "it.className === 'skip'") == 1
    press(driver, Keys.ENTER)
    assert driver.execute_script("return location.hash") == "#needs"
    tab_to(driver, "it.tagName === 'SUMMARY'")
    press(driver, Keys.ENTER)
    assert driver.execute_script("return document.activeElement.parentElement.open")


def on_paper(driver):
    """The numbers of charts are there, the navigation is not."""
    media(driver, kind="print")
    shown = "return [...document.querySelectorAll('details td')].every(it => it.checkVisibility())"
    hidden = "return !document.querySelector('nav').checkVisibility()"
    assert driver.execute_script(hidden), "the navigation is printed"
    assert driver.execute_script(shown), "numbers are not printed"
    media(driver)


def main():
    folder = sys.argv[1]
    with browser() as driver:
        look(driver, folder, "plain")
        look(driver, folder, "values")
        sides = driver.execute_script("return [...document.querySelectorAll('.sides pre')].map(it => it.textContent)")
        assert any(text.startswith("<script>") for text in sides), sides
        assert any("javascript:" in text and "\\u{202e}" in text for text in sides), sides
        assert driver.execute_script("return document.querySelectorAll('a[href^=javascript]').length") == 0
        by_keyboard(driver)
        on_paper(driver)
        # Neither a script nor a request gets through: the page forbids itself both.
        ran = driver.execute_script("""
            const it = document.createElement('script'); it.textContent = "document.title = 'run'";
            document.body.append(it); return document.title""")
        assert ran != "run", "the page lets scripts run"
        complaints = console(driver)
        assert len(complaints) == 1 and "Content Security Policy" in complaints[0], complaints


main()
print("the report reads well")
