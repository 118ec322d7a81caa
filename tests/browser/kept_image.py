"""The image of the started Python that a page keeps in its browser.

Takes an open page; waits for the image, reads its record, or damages it. Does not know what is in
it.
"""

from typing import Any

from playwright.sync_api import Page

from tests.browser.profiles import DEADLINE_MS

_WAIT_FOR_RECORD = """async (deadline_ms) => {
    while (performance.now() < deadline_ms) {
        const record = await read();
        if (record) return record;
        await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return null;

    async function read() {
    try {
        const root = await navigator.storage.getDirectory();
        const images = await root.getDirectoryHandle('start-images');
        for await (const [name, handle] of images.entries()) {
            if (name.endsWith('.json')) return JSON.parse(await (await handle.getFile()).text());
        }
    } catch {
        return null; // none yet, or it is being written
    }
    return null;
    }
}"""
_DAMAGE = """async () => {
    const root = await navigator.storage.getDirectory();
    const images = await root.getDirectoryHandle('start-images');
    for await (const [name, handle] of images.entries()) {
        if (!name.endsWith('.state')) continue;
        const file = await handle.createWritable({ keepExistingData: true });
        const { size } = await handle.getFile();
        await file.write({ type: 'write', position: size >> 1, data: 'damage' });
        await file.close();
    }
}"""


def wait_for_image(page: Page) -> None:
    """Wait until the page has made and proved an image, and fail where it could not."""
    record: dict[str, Any] | None = page.evaluate(_WAIT_FOR_RECORD, DEADLINE_MS)
    assert record is not None, "no image was made"
    assert record["content"] is not None, "this browser cannot make an image"


def damage_image(page: Page) -> None:
    """Change some bytes of it."""
    page.evaluate(_DAMAGE)
