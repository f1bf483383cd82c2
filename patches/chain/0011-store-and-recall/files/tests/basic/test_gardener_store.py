import tempfile
import time
import unittest
from pathlib import Path

from aider.gardener.archive.archive import Archive
from aider.gardener.plan.chat import Chat
from aider.gardener.messages import Focus, Message
from aider.gardener.recall.recall import Request, recall
from aider.gardener.archive.store import open_store


def count(text):
    return len(text) // 4


class TestGardenerStore(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.directory = Path(self.folder.name)
        self.stores = []

    def tearDown(self):
        for store in self.stores:
            store.close()
        self.folder.cleanup()

    def open(self, session):
        store = open_store(self.directory)
        self.assertEqual(store.notice, "")
        self.stores.append(store)
        return Archive(store, session=session, project="shop", count=count, clock=time.time)

    def add(self, archive, *contents):
        return [
            archive.add(Message("user", content), turn=turn, seq=0, focus=Focus())
            for turn, content in enumerate(contents)
        ]

    def test_originals_come_back_after_a_restart(self):
        contents = ["The limit is 40 Ω.\r\n\ttabs\x00 and all", "x" * 100_000, "line\n" * 999]
        entries = self.add(self.open("one"), *contents)
        self.stores.pop().close()

        store = self.open("two").store
        self.assertEqual([store.original(entry.id) for entry in entries], contents)

    def test_recall_finds_what_was_said_within_its_budget(self):
        archive = self.open("one")
        self.add(
            archive,
            "Let us talk about the weather in the mountains.",
            "The retry limit of the webhook sender is 17, agreed with operations.",
            "Thanks, that is all for the invoices.",
        )
        found = recall(
            archive, Chat(), Request("webhook retry limit", token_limit=100), count=count
        )
        self.assertIn("17", found[0].text)
        self.assertLessEqual(sum(count(item.text) for item in found), 100)

        nothing = recall(
            archive, Chat(), Request("kubernetes ingress", token_limit=100), count=count
        )
        self.assertEqual(nothing, [])

    def test_secrets_are_not_written(self):
        secret = "AKIA" + "Q3EGRKXYUZ7FALSE"
        self.add(self.open("one"), f"my key is {secret}, use it for the upload")
        self.stores.pop().close()
        for path in self.directory.rglob("*"):
            if path.is_file():
                self.assertNotIn(secret.encode(), path.read_bytes())


if __name__ == "__main__":
    unittest.main()
