"""Uses the page of `godwit ui` in a browser, by keyboard.

usage: ui.py FOLDER

The first line of the standard input is what `godwit ui` printed. Screenshots are left in FOLDER. A line that is written to
the standard output asks the caller for something, who answers with a line: `write` for a change by another process, `end`
for the end of the server.
"""

import sys

from browser import browser, console, contrast, fits, media, press, reads_well, screenshot, tab_to, until
from selenium.webdriver.common.keys import Keys


def text(driver, selector):
    return driver.execute_script(f"return document.querySelector('{selector}')?.textContent ?? ''")


def opened(driver, address):
    driver.get(address)
    until(lambda: text(driver, "h1") == "Godwit: desk", "the page")


def refused(driver, address):
    """Without the token, and with another one."""
    place = address.split("#")[0]
    driver.get(place)
    until(lambda: "lacks its token" in text(driver, "#state"), "the refusal without a token")
    assert text(driver, "#page") == ""
    driver.get(f"{place}#token={'A' * 43}")
    until(lambda: "the token is not this run's" in text(driver, "#state"), "the refusal of another token")
    assert text(driver, "#page") == ""
    complaints = console(driver)
    # The browser notes the status itself.
    assert all("401" in complaint for complaint in complaints), complaints


def ask(what):
    print(what, flush=True)
    return sys.stdin.readline().strip()


def conflicts(driver):
    return driver.execute_script("return document.querySelectorAll('article.conflict').length")


def held(driver):
    """How many of its own transactions the replica holds."""
    row = "[...document.querySelectorAll('#members tr')].find(it => it.textContent.includes('this replica'))"
    return int(driver.execute_script(f"return {row}.cells[3].textContent"))


def act(driver, title, name="dialog-close"):
    """Waits for the dialog, and presses one of its buttons by keyboard."""
    until(lambda: text(driver, "dialog[open] h2").startswith(title), title)
    said = text(driver, "dialog[open]")
    tab_to(driver, f"it.id === '{name}'")
    # The page gives the focus back where it learns that the dialog has closed, which is some time after that.
    driver.execute_script("""
        window.hasEnded = false;
        document.getElementById('dialog').addEventListener('close', () => { window.hasEnded = true }, {once: true})""")
    press(driver, Keys.ENTER)
    until(lambda: driver.execute_script("return window.hasEnded"), "the end of the dialog")
    return said


def main():
    address, folder = sys.stdin.readline().strip(), sys.argv[1]
    with browser() as driver:
        refused(driver, address)
    with browser() as driver:
        opened(driver, address)
        # The token is in no address that others see over a shoulder, and a page that is loaded again has it still.
        assert "token" not in driver.current_url
        driver.refresh()
        until(lambda: text(driver, "h1") == "Godwit: desk", "the page once more")
        reads_well(driver)
        for width in [320, 640, 1920]:
            fits(driver, width)
        for scheme in ["light", "dark"]:
            media(driver, scheme=scheme)
            assert contrast(driver) >= 4.5, f"{scheme}: {contrast(driver)}"
            screenshot(driver, f"{folder}/ui-{scheme}.png")
        longest = driver.execute_script(
            "return Math.max(...[...document.querySelectorAll('.value')].map(it => it.textContent.length))")
        assert longest == 10_000, longest

        # What another process writes appears by itself.
        before = held(driver)
        ask("write")
        until(lambda: held(driver) == before + 1, "another's change")

        # Why a row is so, restoring what lost, and a sync, without a mouse.
        before = conflicts(driver)
        tab_to(driver, "it.dataset.why === '2'")
        press(driver, Keys.ENTER)
        story = act(driver, "Why the row is so")
        assert "title = " in story and "(conflict 2)" in story, story[:1_000]
        assert len(story) > 1_000_000, len(story)
        assert driver.execute_script("return document.activeElement.dataset.why") == "2", "the focus is elsewhere"
        tab_to(driver, "it.dataset.restore === '2'")
        press(driver, Keys.ENTER)
        until(lambda: text(driver, "dialog[open] h2").startswith("Restore what lost in conflict 2?"), "the question")
        screenshot(driver, f"{folder}/ui-restore.png")
        asked = act(driver, "Restore what lost in conflict 2?", "dialog-act")
        assert "by " in asked
        until(lambda: conflicts(driver) == before - 1, "one conflict less")
        until(lambda: "Conflict 2 is restored" in text(driver, "#status"), "what came of it")
        assert driver.execute_script("return document.activeElement !== document.body"), "the focus is lost"
        driver.execute_script("document.getElementById('why-table').focus()")
        press(driver, "todo", Keys.TAB, "key-of-a-row", Keys.ENTER)
        story = act(driver, "Why the row is so")
        assert "javascript:" in story, story
        driver.execute_script("document.getElementById('sync').focus()")
        press(driver, Keys.ENTER)
        assert "stick: " in act(driver, "Sync")
        # Another tab hides this one, and takes none of its connections; back here, what was missed is there.
        first = driver.current_window_handle
        for _ in range(7):
            driver.switch_to.new_window("tab")
            opened(driver, address)
        driver.switch_to.window(first)
        driver.execute_script("document.getElementById('why-table').focus()")
        press(driver, Keys.CONTROL + "a", "todo", Keys.TAB, Keys.CONTROL + "a", "a b", Keys.ENTER)
        assert "title = " in act(driver, "Why the row is so")
        # A mistake is answered, not swallowed.
        driver.execute_script("document.getElementById('why-key').focus()")
        press(driver, Keys.CONTROL + "a", "no such key", Keys.ENTER)
        refusal = act(driver, "That was refused")
        assert "nothing is remembered" in refusal or "no row" in refusal, refusal
        reads_well(driver)
        complaints = [line for line in console(driver) if "404" not in line]
        assert complaints == [], complaints

        ask("end")
        until(lambda: "does not answer" in text(driver, "#state"), "the end of the server")
        assert conflicts(driver) == before - 1


main()
print("the page is used well")
