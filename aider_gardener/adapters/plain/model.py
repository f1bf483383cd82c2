"""What is known of a model by its name: how its tokens are counted, and its window."""

from __future__ import annotations

import importlib
import os
from typing import Any

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.messages import TokenCounter
from aider_gardener.tokens import approximate


def counter_for(model: str) -> TokenCounter:
    """Counts with the encoding that litellm ships (cl100k_base), which nothing has to be fetched for;
    estimates where no model is named or litellm is not installed."""
    own_price_table()
    return default_counter() if model else approximate


def window_of(model: str) -> int:
    """The most tokens of a prompt for the model by litellm's own table; 0 where it is not there."""
    if not model:
        return 0
    own_price_table()
    try:
        litellm: Any = importlib.import_module("litellm")
        found = litellm.get_model_info(model)
    except Exception:  # reason: litellm raises a plain Exception for a name that it does not know
        return 0
    return int(found.get("max_input_tokens") or found.get("max_tokens") or 0)


def own_price_table() -> None:
    """Let litellm take the table of models that it ships: importing it would fetch a newer one else."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
