"""A real browser for tests of pages: Debian's chromium, without a window, by Selenium."""

import base64
import contextlib
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys


@contextlib.contextmanager
def browser(width=1100, height=900):
    """A new one without a history, which ends with the block."""
    options = webdriver.ChromeOptions()
    for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"]:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    try:
        resize(driver, width, height)
        yield driver
    finally:
        driver.quit()


def resize(driver, width, height=900):
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def media(driver, kind="", scheme="light"):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": kind, "features": features})


def screenshot(driver, path):
    image = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    with open(path, "wb") as file:
        file.write(base64.b64decode(image["data"]))


def until(condition, what, seconds=30):
    """Waits for something, and fails where it does not come."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"it did not come: {what}")


def press(driver, *keys):
    """Keys, as a person without a mouse presses them."""
    for key in keys:
        driver.switch_to.active_element.send_keys(key)


def tab_to(driver, wanted, limit=200):
    """Presses Tab until an element has the focus for which the script gives true, and says how often that took."""
    for count in range(1, limit):
        press(driver, Keys.TAB)
        if driver.execute_script(f"const it = document.activeElement; return {wanted}"):
            # Whoever uses the keyboard has to see where the focus is.
            outline = driver.execute_script("return getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", f"no outline around: {wanted}"
            return count
    raise AssertionError(f"Tab does not reach: {wanted}")


def console(driver):
    """What the browser has complained of."""
    return [f"{entry['level']}: {entry['message']}" for entry in driver.get_log("browser")]


def reads_well(driver):
    """What holds of each page: no text that is run, one column at 400 % zoom, names for what is to be named."""
    assert driver.execute_script("return document.title") != "run", "a value was run"
    assert driver.execute_script("return document.querySelectorAll('img, #page script, [onerror]').length") == 0
    headings = driver.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].filter(h => h.offsetParent).map(h => +h.tagName[1])"
    )
    assert headings[0] == 1 and headings.count(1) == 1, headings
    assert all(after - before <= 1 for before, after in zip(headings, headings[1:])), headings
    unnamed = driver.execute_script("""
        const named = (it) => it.getAttribute('aria-label') || it.textContent.trim() || it.closest('label')?.textContent.trim();
        return [...document.querySelectorAll('a, button, input, [role=region]')]
          .filter(it => !it.hidden && !named(it)).map(it => it.outerHTML)""")
    assert unnamed == [], unnamed
    charts = driver.execute_script("""
        return [...document.querySelectorAll('svg')].map(it =>
          it.getAttribute('aria-labelledby').split(' ').every(id => document.getElementById(id).textContent.length > 10))""")
    assert charts and all(charts), charts
    heads = driver.execute_script(
        "return [...document.querySelectorAll('table')].every(it => it.caption && it.querySelector('th[scope=col]'))"
    )
    assert heads, "a table without caption or header cells"


def fits(driver, width):
    """Whether the page scrolls one way only at this width: 320 pixels are 1280 at 400 % zoom (WCAG 2.2, 1.4.10)."""
    resize(driver, width)
    sizes = driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
    assert sizes[0] <= sizes[1], f"{sizes} at {width}"
    resize(driver, 1100)


def contrast(driver):
    """The least contrast of a text with what is behind it, as WCAG 2.2 (1.4.3) counts it."""
    return driver.execute_script("""
        const light = (c) => c.map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
          .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
        const parts = (text) => text.match(/[\\d.]+/g).map(Number);
        const behind = (it) => { for (; it; it = it.parentElement) {
          const c = parts(getComputedStyle(it).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); }
          return [255, 255, 255]; };
        const texts = [...document.querySelectorAll('main *, header *, nav *, footer *')]
          .filter(it => [...it.childNodes].some(n => n.nodeType === 3 && n.textContent.trim()) && !it.closest('svg'));
        return Math.min(...texts.map(it => {
          const [a, b] = [light(parts(getComputedStyle(it).color).slice(0, 3)), light(behind(it))];
          return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); }))""")
