import tempfile
import unittest

from aider.args import get_parser
from aider.coders import Coder
from aider.commands import Commands
from aider.gardener.host import link
from aider.io import InputOutput
from aider.models import Model
from aider.utils import GitTemporaryDirectory


class TestGardenerArchive(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.sent = []

    def tearDown(self):
        link.state.close()
        self.folder.cleanup()

    def make_coder(self, *flags):
        args = get_parser([], None).parse_args(["--gardener-store", self.folder.name, *flags])
        io = InputOutput(pretty=False, fancy_input=False, yes=True)
        commands = Commands(io, None, args=args)
        return Coder.create(Model("gpt-4o"), "diff", io=io, commands=commands, map_tokens=0)

    def ask(self, coder, question, reply):
        def mock_send(messages, *args, **kwargs):
            self.sent.append([dict(msg) for msg in messages])
            coder.partial_response_content = reply
            coder.partial_response_function_call = dict()
            return []

        coder.send = mock_send
        coder.run(with_message=question)

    def session(self, *flags):
        coder = self.make_coder(*flags)
        self.ask(coder, "What is the limit?", "It is 17.")
        coder.move_back_cur_messages("I committed the changes.")
        coder.commands.cmd_run("echo from a command", add_on_nonzero_exit=False)
        asking = Coder.create(from_coder=coder, edit_format="ask")
        self.ask(asking, "And why?", "Operations wanted it.")
        return asking

    def test_every_message_is_archived(self):
        with GitTemporaryDirectory():
            coder = self.session("--gardener")
            store = coder.gardener.state.archive.store
            entries = store.session_entries(coder.gardener.state.archive.session)
            archived = [store.original(entry.id) for entry in entries]
            chat = [msg["content"] for msg in coder.done_messages + coder.cur_messages]
            self.assertIn("What is the limit?", archived)
            self.assertIn("I committed the changes.", archived)
            self.assertIn("Operations wanted it.", archived)
            self.assertEqual([text for text in chat if text not in archived], [])

    def test_prompts_are_the_same_with_it_and_without(self):
        with GitTemporaryDirectory():
            self.session("--gardener")
            gardened, self.sent = self.sent, []
        with GitTemporaryDirectory():
            self.session("--no-gardener")
            self.assertEqual(len(self.sent), 2)
            self.assertEqual(
                [prompt[1:] for prompt in gardened], [prompt[1:] for prompt in self.sent]
            )

    def test_off_by_default(self):
        with GitTemporaryDirectory():
            self.assertIsNone(self.make_coder().gardener)

    def test_a_fault_of_it_does_not_stop_aider(self):
        with GitTemporaryDirectory():
            coder = self.make_coder("--gardener")
            coder.gardener.sync = None
            self.ask(coder, "Still there?", "Yes.")
            self.assertEqual(coder.cur_messages[-1]["content"], "Yes.")
            self.assertIsNone(coder.gardener)


if __name__ == "__main__":
    unittest.main()
