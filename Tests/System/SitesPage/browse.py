"""browse.py ADDRESS [PICTURES]: uses the page of sites-page-samples in headless Chromium, narrow and wide, light and
dark, with and without JavaScript. The test fails on any console message, on a request to another host, on a page that
is wider than its screen, on a violation that axe-core finds, and on a form that does not have its effect. PICTURES
stores screenshots.
"""

import pathlib
import sys
import tempfile
import urllib.parse

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

ADDRESS = sys.argv[1]
PICTURES = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
DEVICE = "C0%3AFF%3AEE%3A00%3A00%3A00"
PAGES = {
    "overview": "/", "sites": "/sites", "runs": "/runs", "new": "/runs/new", "run": "/runs/a11fe0",
    "ended": "/runs/e1d2ed", "hostile": "/runs/b05711", "devices": "/runs/a11fe0/devices",
    "hostile-devices": "/runs/b05711/devices?size=200", "device": f"/runs/e1d2ed/devices/{DEVICE}",
    "approve": "/runs/a11fe0/approve", "cancel": "/runs/a11fe0/cancel", "inventory": "/devices",
    "history": f"/devices/{DEVICE}", "accounts": "/accounts", "missing": "/runs/none",
}
PATIENCE = 60_000  # milliseconds
axe = Axe()
problems = []


def note(page, words):
    problems.append(f"{page.url}: {words}")


def watch(context):
    """Opens a page in a context, and collects the complaints of this page."""
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    # Chromium logs each response with an error status; the test opens one missing page.
    page.on("console", lambda message: "404" in message.text or note(page, f"console: {message.text}"))
    page.on("pageerror", lambda error: note(page, f"exception: {error}"))
    page.on("dialog", lambda dialog: note(page, f"a dialogue: {dialog.message}"))
    page.on("request", lambda request: urllib.parse.urlsplit(request.url).netloc
            == urllib.parse.urlsplit(ADDRESS).netloc or note(page, f"a request: {request.url}"))
    return page


def log_in(page, role):
    page.goto(ADDRESS + "/login")
    page.get_by_label("Account").fill(role)
    page.get_by_label("Password").fill(f"a password of {role}")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url(ADDRESS + "/")


def examine(page, name, width, look):
    """Tests one page for its width, its structure and its accessibility."""
    if page.evaluate("document.documentElement.scrollWidth") > width:
        note(page, f"wider than {width} px")
    if page.evaluate("document.querySelectorAll('h1').length") != 1:
        note(page, "not one first heading")
    for violation in axe.run(page).response["violations"]:
        nodes = [node["html"][:120] for node in violation["nodes"][:3]]
        note(page, f"axe ({name}, {width} px, {look}): {violation['id']}: {violation['help']}: {nodes}")
    if PICTURES:
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"{name}-{width}-{look}.png", full_page=True)


def see_all(browser):
    for width, look in [(360, "light"), (1280, "light"), (1280, "dark"), (360, "dark")]:
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=look)
        page = watch(context)
        page.goto(ADDRESS + "/login")
        examine(page, "login", width, look)
        log_in(page, "admin")
        for name, path in PAGES.items():
            page.goto(ADDRESS + path)
            examine(page, name, width, look)
        context.close()


def without_script(browser):
    """Without JavaScript, everything works except live updates."""
    context = browser.new_context(java_script_enabled=False)
    page = watch(context)
    log_in(page, "viewer")
    page.goto(ADDRESS + "/runs/e1d2ed/devices")
    page.get_by_label("Outcome").select_option("failed")
    page.get_by_role("button", name="Show").click()
    rows = page.locator("tbody tr")
    if rows.count() == 0 or rows.filter(has_text="updated").count():
        note(page, "the filter does not work")
    page.goto(ADDRESS + "/runs/e1d2ed/devices?size=20")
    page.get_by_role("link", name="Next page").click()
    if "Page 2 of" not in page.content():
        note(page, "the next page does not work")
    page.get_by_role("link", name="Attempts").click()
    if page.locator("th[aria-sort=ascending]").inner_text().strip() != "Attempts":
        note(page, "the table does not sort")
    page.get_by_role("button", name="Log out").click()
    page.wait_for_url(ADDRESS + "/login")
    context.close()


def with_keyboard(page):
    """The keyboard reaches the content, the commands and the tables."""
    page.goto(ADDRESS + "/runs/a11fe0")
    page.keyboard.press("Tab")
    if page.evaluate("document.activeElement.className") != "skip":
        note(page, "the first stop is not the link to the content")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    if not page.evaluate("document.activeElement.textContent").startswith("Approve"):
        note(page, "the first stop in the content is not the first command")
    page.keyboard.press("Enter")
    page.wait_for_url("**/approve")
    page.get_by_label("Reason").focus()
    page.keyboard.type("the canary looks good")
    page.keyboard.press("Enter")
    page.wait_for_url("**/runs/a11fe0")
    if "the canary looks good" not in page.locator("#run-operators").inner_text():
        note(page, "the reason is not recorded")


def follow(page):
    """Submits a campaign, follows it without loading the page again, and downloads its report."""
    page.goto(ADDRESS + "/runs/new")
    with tempfile.TemporaryDirectory() as folder:
        campaign = pathlib.Path(folder) / "doors.yaml"
        campaign.write_text("name: doors-of-the-test\n")
        image = pathlib.Path(folder) / "door.bin"
        image.write_bytes(bytes(range(256)))
        page.get_by_label("Campaign file").set_input_files(campaign)
        page.get_by_label("Images, device tables").set_input_files(image)
        page.get_by_role("button", name="Check and start").click()
        page.wait_for_url("**/runs/new*")
    run = page.url
    page.evaluate("window.isFirst = true")
    page.locator("#run-actions a", has_text="Approve").wait_for()
    chart = page.locator("#run-chart").inner_html()
    page.locator("#run-actions a", has_text="Approve").click()
    page.get_by_label("Reason").fill("200 doors look good")
    page.get_by_role("button", name="Approve").click()
    page.wait_for_url(run)
    page.evaluate("window.isFirst = true")
    page.locator("#run-state", has_text="complete").wait_for()
    if not page.evaluate("window.isFirst === true"):
        note(page, "the page was loaded again")
    if page.locator("#run-chart").inner_html() == chart:
        note(page, "the chart has not grown")
    if "200 of 200" not in page.locator("#run-state").inner_text():
        note(page, "not all devices have an outcome")
    if PICTURES:
        page.screenshot(path=PICTURES / "finished-1280.png", full_page=True)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download (HTML)").click()
    report = pathlib.Path(download.value.path()).read_text()
    if "200 devices" not in report or "name: doors-of-the-test" not in report:
        note(page, "the report is not that of the run")
    page.goto(run + "/report")
    if "200 devices" not in page.locator("h1").inner_text():
        note(page, "the report is not shown")


with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
    see_all(browser)
    without_script(browser)
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = watch(context)
    log_in(page, "operator")
    with_keyboard(page)
    follow(page)
    browser.close()
for problem in problems:
    print(problem)
print(f"{len(problems)} problems")
sys.exit(1 if problems else 0)
