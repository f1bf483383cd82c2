"""An agent in thirty lines that does not outgrow the window: `python examples/plain_agent.py MODEL [WINDOW]`.

It talks to the OpenAI-compatible endpoint of OPENAI_BASE_URL and OPENAI_API_KEY, reads one task a line, and
may run shell commands in the working directory: use it where that does no harm.
"""

import json
import subprocess
import sys

from openai import OpenAI

from aider_gardener import Gardener

COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
RUN = {"name": "run", "description": "Run a command in a shell.", "parameters": COMMAND}
TOOLS = [{"type": "function", "function": RUN}]
SYSTEM = {"role": "system", "content": "You are a coding agent. Use the tool to look before you answer."}


def run(call):
    """What one call of the tool says."""
    command = json.loads(call.function.arguments)["command"]
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return {"role": "tool", "tool_call_id": call.id, "content": done.stdout + done.stderr}


def main(model, window=0):
    client = OpenAI()
    messages = [SYSTEM]
    with Gardener.open(".", model=model, window=window) as gardener:
        for task in sys.stdin:
            messages.append({"role": "user", "content": task.strip()})
            while messages[-1]["role"] != "assistant" or messages[-1].get("tool_calls"):
                prompt = gardener.prompt(messages, tools=TOOLS)
                reply = client.chat.completions.create(model=model, messages=prompt, tools=TOOLS)
                answer = reply.choices[0].message
                messages.append(answer.model_dump(exclude_none=True))
                messages += map(run, answer.tool_calls or [])
            print(messages[-1]["content"], flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 0)
