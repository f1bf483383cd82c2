import tempfile
import unittest
from unittest.mock import MagicMock

from aider.args import get_parser
from aider.coders import Coder
from aider.commands import Commands
from aider.gardener.host import link
from aider.io import InputOutput
from aider.models import Model
from aider.utils import GitTemporaryDirectory


class TestGardenerRecall(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.sent = []

    def tearDown(self):
        link.state.close()
        self.folder.cleanup()

    def make_coder(self, *flags):
        given = ["--gardener", "--gardener-store", self.folder.name, *flags]
        args = get_parser([], None).parse_args(given)
        io = InputOutput(pretty=False, fancy_input=False, yes=True)
        commands = Commands(io, None, args=args)
        coder = Coder.create(Model("gpt-4o"), "diff", io=io, commands=commands, map_tokens=0)
        coder.summarizer = MagicMock(max_tokens=1024, models=[])
        return coder

    def ask(self, coder, question, reply="Fine."):
        def mock_send(messages, *args, **kwargs):
            self.sent.append("\n".join(str(msg["content"]) for msg in messages))
            coder.partial_response_content = reply
            coder.partial_response_function_call = dict()
            return []

        coder.send = mock_send
        coder.run(with_message=question)

    FACT = "The escrow account closes on the 17th, after the reconciliation job."

    def chat_with_a_fact(self, *flags):
        coder = self.make_coder("--gardener-history-tokens", "3000", *flags)
        self.ask(coder, "When does the escrow account close?", self.FACT + " word" * 600)
        for i in range(20):
            self.ask(
                coder, f"Question {i}: how does part {i} work?", f"Part {i} works." + " word" * 400
            )
        self.ask(coder, "On which day does the escrow account close, after reconciliation?")
        return coder

    def test_recalled_with_the_flag_only(self):
        with GitTemporaryDirectory():
            self.chat_with_a_fact()
            self.assertNotIn("closes on the 17th", self.sent[-1])
        with GitTemporaryDirectory():
            coder = self.chat_with_a_fact("--gardener-recall-tokens", "1000")
            self.assertIn("closes on the 17th", self.sent[-1])

            # It was in that prompt, and is not kept
            history = coder.done_messages + coder.cur_messages
            self.assertFalse(any("closes on the 17th" in msg["content"] for msg in history))

    def test_recall_command(self):
        with GitTemporaryDirectory():
            coder = self.chat_with_a_fact()
            said = []
            coder.io.tool_output = lambda *args, **kwargs: said.extend(str(arg) for arg in args)
            coder.io.confirm_ask = lambda *args, **kwargs: False
            coder.commands.run("/recall escrow account")
            self.assertIn("17th", "\n".join(said))


if __name__ == "__main__":
    unittest.main()
