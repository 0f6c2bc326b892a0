"""One visit to the page: a browser window, and the things people do in it."""
import re
import shutil
import time
import urllib.parse

FINISHED = ("done", "length", "stopped", "failed")


def launch(driver):
    """The distribution's Chromium, else the one that Playwright has fetched."""
    names = ("chromium", "google-chrome", "google-chrome-stable")
    named = next(filter(None, map(shutil.which, names)), None)
    return driver.chromium.launch(executable_path=named, args=["--no-sandbox"])


class Visit:
    """A window of its own, without what others have stored."""

    def __init__(self, browser, url, address="#/", expect=(), before=None, ready=True,
                 **options):
        """`expect`: patterns of console errors that belong to the test; `before`: gets the
        page before it is opened; `ready`: whether the page can be used at once."""
        options = {"locale": "en-US", "viewport": {"width": 1280, "height": 800}} | options
        self.url = url
        self.expect = expect
        self.problems = []
        self.bodies = []  # (path, text) of what the page has posted
        self.context = browser.new_context(**options)
        self.context.set_default_timeout(60_000)
        self.page = self.context.new_page()
        self.page.on("request", self._on_request)
        self.page.on("console", self._on_console)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        if before:
            before(self.page)
        self.page.goto(f"{url}/{address}")
        self.page.wait_for_selector(f'[data-testid="app"][data-ready="{str(ready).lower()}"]')

    def _on_request(self, request):
        if not request.url.startswith((self.url + "/", "data:", "blob:" + self.url)):
            self.problems.append(f"a request to {request.url}")
        if request.method in ("POST", "PUT"):
            self.bodies.append((urllib.parse.urlparse(request.url).path, request.post_data or ""))

    def _on_console(self, message):
        if message.location["url"].endswith("/v1/history") and "404" in message.text:
            return  # how the page learns that this server keeps none
        if message.type == "error" and not any(re.search(p, message.text) for p in self.expect):
            self.problems.append(f"console: {message.text}")

    def close(self):
        """Ends the visit; what went wrong in it."""
        self.context.close()
        return self.problems

    def __call__(self, test_id, /, **attributes):
        """The elements of a test id, narrowed by attributes: visit("message", role="user")."""
        narrowed = "".join(f'[data-{key.replace("_", "-")}="{value}"]'
                           for key, value in attributes.items())
        return self.page.locator(f'[data-testid="{test_id}"]{narrowed}')

    def wait(self, condition, arg=None, timeout=60):
        """Until a function of the page is true. Playwright's own way needs eval, which the
        page's policy forbids."""
        end = time.monotonic() + timeout
        while not (value := self.page.evaluate(condition, arg)):
            assert time.monotonic() < end, f"never true: {condition}"
            self.page.wait_for_timeout(50)
        return value

    def posted(self, path):
        return [body for at, body in self.bodies if at == path]

    def type(self, text):
        self("composer-input").fill(text)

    def send(self, text):
        """Asks without waiting for the answer."""
        self.type(text)
        self("composer-input").press("Enter")

    def new_chat(self):
        """Leaves the conversation that is shown, and waits until it is gone."""
        self("new-chat").click()
        self.wait("() => !document.querySelector('[data-testid=\"message\"]')")

    def ask(self, text):
        """Asks and waits for the end of the answer; returns its element."""
        before = self("message", role="assistant").count()
        self.send(text)
        return self.answered(before)

    def answered(self, index=-1):
        """The answer of that number, once it is finished."""
        answers = self("message", role="assistant")
        if index >= 0:
            answers.nth(index).wait_for()
        answer = answers.nth(index) if index >= 0 else answers.last
        states = ", ".join(f'[data-state="{state}"]' for state in FINISHED)
        answer.and_(self.page.locator(states)).wait_for(timeout=120_000)
        return answer

    def writes(self, length):
        """Waits until the last answer has more characters than that; returns its text."""
        return self.wait("""(length) => {
          const answers = document.querySelectorAll('[data-testid=message][data-role=assistant]');
          const text = answers[answers.length - 1]?.querySelector('[data-testid=message-text]');
          return (text?.innerText.length ?? 0) > length ? text.innerText : "";
        }""", length)

    def text_of(self, message):
        return message.locator('[data-testid="message-text"]').inner_text()

    def settings(self, **values):
        """Sets fields of the controls and closes them."""
        self("open-settings").click()
        for name, value in values.items():
            self(f"setting-{name}").fill(str(value))
            self(f"setting-{name}").blur()
        self("settings-close").click()
