# SPDX-FileCopyrightText: The polyhop authors
# SPDX-License-Identifier: Apache-2.0
"""What the tests of pages share: a browser, and pages that report_dump writes."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

DUMP = pathlib.Path(sys.argv[1]).resolve()
HOSTILE = "</script><img src=x onerror=alert(1)>"

# The texts of a page with too little contrast, each with its contrast.
UNREADABLE = """
    const pen = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
                    .getContext("2d", {willReadFrequently: true});
    const parts = (colour) => {
      pen.clearRect(0, 0, 1, 1);
      pen.fillStyle = colour;
      pen.fillRect(0, 0, 1, 1);
      return [...pen.getImageData(0, 0, 1, 1).data];
    };
    const upward = (e) => (e ? [e, ...upward(e.parentElement)] : []);
    const over = (top, ground, share) => ground.map((g, n) => share * top[n] + (1 - share) * g);
    const filled = (e) => e.previousElementSibling && e.previousElementSibling.matches("circle") && e.previousElementSibling;
    const groundOf = (e) => [...upward(e).reverse(), filled(e)].filter(Boolean).reduce((ground, node) => {
      const style = getComputedStyle(node);
      const [r, g, b, a] = parts(node === filled(e) ? style.fill : style.backgroundColor);
      return over([r, g, b], ground, a / 255);
    }, [255, 255, 255]);
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : Math.pow((v + 0.055) / 1.055, 2.4));
    const light = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, k, n) => sum + k * linear(rgb[n] / 255), 0);
    const contrast = (e) => {
      const style = getComputedStyle(e), ground = groundOf(e);
      const [r, g, b, a] = parts(e.ownerSVGElement ? style.fill : style.color);
      const share = upward(e).reduce((all, node) => all * getComputedStyle(node).opacity, a / 255);
      const [dim, bright] = [light(over([r, g, b], ground, share)), light(ground)].sort((x, y) => x - y);
      return (bright + 0.05) / (dim + 0.05);
    };
    const holders = [...document.querySelectorAll("body *:not(script, noscript, option, title)")].filter(
        (e) => e.checkVisibility() && [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()));
    return holders.filter((e) => contrast(e) < 4.5).map((e) => contrast(e).toFixed(2) + " " + e.outerHTML.slice(0, 120));"""


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="polyhop_report_")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.work = pathlib.Path(cls.folder.name)
        cls.downloads = cls.work / "downloads"
        options = Options()
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
                     "--disable-dev-shm-usage", "--window-size=1200,900", f"--user-data-dir={cls.work / 'profile'}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.browser = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        cls.addClassCleanup(cls.browser.quit)
        cls.browser.execute_cdp_cmd("Browser.setDownloadBehavior",
                                    {"behavior": "allow", "downloadPath": str(cls.downloads)})

    def tearDown(self):
        self.assertEqual(self.browser.get_log("browser"), [], "the console has something to say")
        asked = [json.loads(entry["message"])["message"] for entry in self.browser.get_log("performance")]
        asked = [m["params"] for m in asked if m["method"] == "Network.requestWillBeSent"]
        urls = {m["request"]["url"] for m in asked if m["documentURL"].startswith("file:")}
        foreign = [u[:80] for u in urls if not u.startswith(("file:", "data:", "blob:"))]
        self.assertEqual(foreign, [], "the page asked for something")
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def write(self, case):
        folder = self.work / case
        if not folder.exists():
            folder.mkdir()
            subprocess.run([DUMP, case, folder], check=True, timeout=200)
        return folder

    def open(self, case, page="report.html"):
        folder = self.write(case)
        self.browser.get((folder / page).as_uri())
        return folder

    def one(self, selector):
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def texts(self, selector):
        return [e.text for e in self.all(selector)]

    def paths(self, selector):
        return [e.get_attribute("d") for e in self.all(selector)]

    def script(self, text, *arguments):
        return self.browser.execute_script(text, *arguments)

    def press(self, selector):
        self.script("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", self.one(selector))
        self.one(selector).click()

    def narrow(self, width):
        """A phone's screen, for the page that is open and those to come."""
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": True})

    def assert_fits(self, width):
        """Nothing is wider than the screen but what scrolls by itself."""
        self.assertLessEqual(self.script("return document.documentElement.scrollWidth"), width)
        wide = self.script("""
            return [...document.body.querySelectorAll("*")]
                .filter(e => !e.closest(".skip, [hidden]") && !e.parentElement.closest(".scroll, svg"))
                .filter(e => e.getBoundingClientRect().right > arguments[0] + 1).map(e => e.outerHTML.slice(0, 80))""", width)
        self.assertEqual(wide, [])

    def assert_readable(self):
        """Every text that is shown stands out from its ground by 4.5 to 1 (WCAG 2, AA), by day and by night."""
        for theme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                         {"features": [{"name": "prefers-color-scheme", "value": theme}]})
            self.assertEqual(self.script(UNREADABLE), [], theme)

    def assert_drawn(self, text):
        """Some font has each of the characters."""
        missing = self.script("""
            const look = (text) => {
              const pen = Object.assign(document.createElement("canvas"), {width: 40, height: 40}).getContext("2d");
              pen.font = "24px " + getComputedStyle(document.body).fontFamily;
              pen.fillText(text, 4, 30);
              return pen.canvas.toDataURL();
            };
            return [...arguments[0]].filter(c => c.trim() && look(c) === look("\\u{10fffe}"));""", text)
        self.assertEqual(missing, [])

    def assert_apart(self, boxes):
        """No two boxes (left, top, right, bottom) overlap by more than a pixel."""
        for n, a in enumerate(boxes):
            for b in boxes[:n]:
                across, down = (min(a[i + 2], b[i + 2]) - max(a[i], b[i]) for i in (0, 1))
                self.assertFalse(across > 1 and down > 1, (a, b))

    def assert_figures_follow_the_width(self):
        widths = lambda: [float(svg.get_attribute("width")) for svg in self.all(".figure svg")]
        self.assertGreater(max(widths()), 390)
        self.narrow(390)
        WebDriverWait(self.browser, 20).until(lambda _: max(widths()) <= 390)

    def download(self, name):
        """The file that a button gives."""
        self.press(f"[data-save='{name}']")
        found = lambda _: [p for p in self.downloads.glob(f"*-{name}") if p.stat().st_size > 0]
        path = WebDriverWait(self.browser, 20).until(found)[0]
        content = path.read_bytes()
        path.unlink()
        return content


def main():
    unittest.main(argv=sys.argv[:1], verbosity=1)
