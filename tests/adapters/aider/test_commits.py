"""What commit messages are written from."""

from __future__ import annotations

from typing import Any

from adapters.aider.conftest import EDIT, MakeDriver, ScriptedModel

OUTPUT = "\n".join(f"step {n}: fetched https://packages.example/{n}.tar" for n in range(400))


def test_outputs_go_to_the_weak_model_as_aider_sends_them(
    drive: MakeDriver, gardened: Any, model: ScriptedModel
) -> None:
    gardened()
    driver = drive()
    driver.coder.cur_messages += [
        {
            "role": "user",
            "content": f"I ran this command:\n\nmake deps\n\nAnd got this output:\n\n{OUTPUT}\n",
        },
        {"role": "assistant", "content": "Ok."},
    ]
    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'goodbye'")
    driver.ask("say goodbye, as the dependencies are there", reply=edit)
    asked = next(
        str(call["messages"]) for call in model.calls if "generates concise" in str(call["messages"][0])
    )
    assert "step 200: fetched" in asked
    assert "say goodbye, as the dependencies are there" in asked and "make deps" in asked
    assert not [line for line in driver.said if "stopped" in line]
