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


class TestGardenerEvict(unittest.TestCase):
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

    def long_chat(self, coder, turns=20):
        for i in range(turns):
            self.ask(
                coder, f"Question {i}: how does part {i} work?", f"Part {i} works." + " word" * 400
            )

    def history_tokens(self, coder):
        return coder.main_model.token_count(coder.done_messages + coder.cur_messages)

    def test_history_stays_within_its_budget_without_an_llm(self):
        with GitTemporaryDirectory():
            coder = self.make_coder("--gardener-history-tokens", "3000")
            self.long_chat(coder)

            self.assertLess(self.history_tokens(coder), 4000)
            coder.summarizer.summarize.assert_not_called()
            coder.summarizer.summarize_all.assert_not_called()

            # What the user asked stays, and the last exchange is whole
            for i in range(20):
                self.assertTrue(f"how does part {i} work?" in self.sent[-1])
            self.assertTrue("Part 18 works." + " word" * 400 in self.sent[-1])

    def test_originals_can_be_put_back(self):
        with GitTemporaryDirectory():
            coder = self.make_coder("--gardener-history-tokens", "3000")
            self.long_chat(coder)
            self.assertTrue(coder.gardener.state.compactions.applied)
            coder.gardener.give_back()
            link.show(coder, coder.gardener)
            contents = [msg["content"] for msg in coder.done_messages + coder.cur_messages]
            for i in range(20):
                self.assertTrue(f"Part {i} works." + " word" * 400 in contents)

    def test_the_command_switches_it_off(self):
        with GitTemporaryDirectory():
            coder = self.make_coder("--gardener-history-tokens", "3000")
            coder.commands.run("/gardener off")
            self.long_chat(coder)
            self.assertGreater(self.history_tokens(coder), 8000)

    def test_it_knows_the_pressure(self):
        with GitTemporaryDirectory():
            coder = self.make_coder("--gardener-history-tokens", "3000")
            self.long_chat(coder)
            report = coder.gardener.pressure().as_json()
            self.assertEqual(report["history_budget"], 3000)
            self.assertGreater(report["total_original_tokens"], 8000)
            self.assertLess(report["history_used"], 4000)


if __name__ == "__main__":
    unittest.main()
