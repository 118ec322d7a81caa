"""Drive the page in WebKitGTK on a virtual screen, for one turn.

Takes MiniBrowser's path and an order (address, XPaths of the controls, message); gives what the
page shows and what its worker answered. Does not know what the page should say.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from selenium.webdriver import WebKitGTK
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import Select, WebDriverWait
from selenium.webdriver.webkitgtk.options import Options
from selenium.webdriver.webkitgtk.service import Service

DEADLINE_S = 180
BOOTED = "//html[@data-boot='ready' or @data-boot='failed']"
ASK = """const [order, done] = arguments;
({ask})(order).then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));"""
RUN = """const [done] = arguments;
({script}).then((value) => done({{ value }}), (error) => done({{ error: String(error) }}));"""


@contextmanager
def virtual_screen() -> Iterator[str]:
    """Run an X server for one browser and give its display name."""
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield f":{server.stdout.readline().strip()}"
        finally:
            server.terminate()


@contextmanager
def open_browser(executable: Path) -> Iterator[WebKitGTK]:
    """Start WebKit's MiniBrowser under its driver."""
    options = Options()
    options.binary_location = str(executable)
    options.add_argument("--automation")
    with virtual_screen() as display:
        service = Service(shutil.which("WebKitWebDriver"), env={**os.environ, "DISPLAY": display})
        driver = WebKitGTK(options=options, service=service)
        try:
            driver.set_script_timeout(DEADLINE_S)
            yield driver
        finally:
            driver.quit()


def hold_one_turn(executable: Path, order: Mapping[str, Any]) -> dict[str, Any]:
    """Boot the page, load the model, send one message and read the answer."""
    with open_browser(executable) as driver:
        driver.get(order["address"])
        boot = _wait_for(driver, BOOTED).get_attribute("data-boot")
        controls = order["controls"]
        value = _wait_for(driver, controls["option"]).get_attribute("value")
        Select(_wait_for(driver, controls["Model"])).select_by_value(value or "")
        _wait_for(driver, controls["Load model"]).click()
        _wait_for(driver, controls["loaded"])
        _wait_for(driver, controls["Message"]).send_keys(order["message"])
        _wait_for(driver, controls["Send"]).click()
        _wait_for(driver, controls["finished"])
        answer = _wait_for(driver, controls["answer"]).get_attribute("textContent")
        done = driver.execute_async_script(ASK.format(ask=order["ask"]), order["order"])
        assert "value" in done, json.dumps(done)
        return {"boot": boot, "answer": answer, "asked": done["value"]}


def run_scripts(executable: Path, address: str, scripts: Sequence[str]) -> list[Any]:
    """Run each script on the page loaded anew in one profile; give their values."""
    values = []
    with open_browser(executable) as driver:
        for script in scripts:
            driver.get(address)
            assert _wait_for(driver, BOOTED).get_attribute("data-boot") == "ready"
            done = driver.execute_async_script(RUN.format(script=script))
            assert "value" in done, json.dumps(done)
            values.append(done["value"])
    return values


def _wait_for(driver: WebKitGTK, xpath: str) -> WebElement:
    wait = WebDriverWait(driver, DEADLINE_S)
    return wait.until(lambda found: found.find_element(By.XPATH, xpath))
