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


class TestGardenerIncremental(unittest.TestCase):
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

    def prompt_sizes(self, *flags):
        self.sent = []
        coder = self.make_coder("--gardener-history-tokens", "6000", *flags)
        for i in range(60):
            self.ask(
                coder, f"Question {i}: how does part {i} work?", f"Part {i} works." + " word" * 150
            )
        return [len(prompt) for prompt in self.sent]

    def test_prompts_stay_flat_and_the_last_turns_whole(self):
        with GitTemporaryDirectory():
            flags = ["--gardener-incremental", "--gardener-incremental-turns", "4"]
            sizes = self.prompt_sizes(*flags)
            whole = " word" * 150
            for i in (56, 57, 58):
                self.assertTrue(f"Part {i} works.{whole}" in self.sent[-1])
            self.assertFalse(f"Part 20 works.{whole}" in self.sent[-1])
            self.assertIn("Question 20", self.sent[25])
            self.assertLess(max(sizes[20:]), 1.3 * min(sizes[20:]))
        with GitTemporaryDirectory():
            self.assertGreater(max(self.prompt_sizes()), 1.3 * max(sizes))


if __name__ == "__main__":
    unittest.main()
