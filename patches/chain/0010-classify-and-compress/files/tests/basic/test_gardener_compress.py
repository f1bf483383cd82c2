import json
import unittest

from aider.gardener.reading.classify import classify
from aider.gardener.compress import compress_message
from aider.gardener.messages import ContentClass, Source, SourceKind


class TestGardenerCompress(unittest.TestCase):
    def test_failing_tests_survive(self):
        lines = ["============ test session starts ============", "collected 40 items", ""]
        failing = (7, 19, 33)
        for i in range(40):
            outcome = "FAILED" if i in failing else "PASSED"
            lines.append(f"tests/test_shop.py::test_case_{i} {outcome} [{i * 100 // 40:3}%]")
        lines += ["", "============ FAILURES ============"]
        for i in failing:
            lines += [
                f"____________ test_case_{i} ____________",
                "",
                f"    def test_case_{i}():",
                f">       assert price({i}) == {i * 100}",
                f"E       assert {i * 100 - 1} == {i * 100}",
                f"E        +  where {i * 100 - 1} = price({i})",
                "",
                f"tests/test_shop.py:{i + 10}: AssertionError",
            ]
        lines.append("============ 3 failed, 37 passed in 1.02s ============")
        output = "\n".join(lines)

        result = compress_message(output, Source(SourceKind.TEST, "pytest -v"))

        self.assertLess(len(result.text), 0.3 * len(output))
        for i in failing:
            self.assertIn(f"test_case_{i}", result.text)
            self.assertIn(f"tests/test_shop.py:{i + 10}", result.text)
            self.assertIn(f"{i * 100 - 1} == {i * 100}", result.text)
        self.assertNotIn("test_case_8 ", result.text)

    def test_what_the_user_typed_stays_whole(self):
        text = "Please rename price() to total(), and never touch the tests."
        result = compress_message(text, Source(SourceKind.TYPED))
        self.assertEqual(result.text, text)

    def test_kinds_are_told_apart(self):
        code = "import os\n\n\ndef main():\n    for name in os.listdir():\n        print(name)\n"
        error = (
            "Traceback (most recent call last):\n"
            '  File "a.py", line 3, in <module>\n'
            "    main()\n"
            "ValueError: no such shop\n"
        )
        data = json.dumps([{"id": i, "name": f"n{i}"} for i in range(20)], indent=1)
        self.assertEqual(classify(code)[0], ContentClass.CODE)
        self.assertEqual(classify(error)[0], ContentClass.ERROR)
        self.assertEqual(classify(data)[0], ContentClass.STRUCTURED)

    def test_never_longer(self):
        for text in ("", "ok", "a\n" * 3, "{}", "def f(): pass"):
            for kind in SourceKind:
                result = compress_message(text, Source(kind))
                self.assertLessEqual(len(result.text), len(text))


if __name__ == "__main__":
    unittest.main()
