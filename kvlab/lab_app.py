"""What does the JupyterLab of `kvlab lab` do that another does not?

It starts with the defaults of jupyter/: no question about news; a notebook is saved
with its widgets and opens again as it was left; its HTML export needs no network. What
the user set, or any other Jupyter config folder, wins. A widget whose kernel is gone
stays in the file for as long as an output shows it: JupyterLab itself saves those of a
living kernel only, so a notebook that was opened and saved again would lose them and
say "model not found".
Left out: what it opens (lab.py).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_core.paths import SYSTEM_CONFIG_PATH
from jupyter_server.utils import ApiPath, to_os_path
from jupyterlab.labapp import main

DEFAULTS = Path(__file__).with_name("jupyter")
"""A Jupyter config folder that this process alone reads, after all others."""

VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"
ONE = "IPY_MODEL_"
"""How the state of a widget names another."""


def keep_widgets(
    model: Mapping[str, Any], path: str, contents_manager: Any, **_: Any
) -> None:
    """Keep what the file holds of the widgets that a notebook shows and has lost; of
    one that it does not hold, keep the twin in HTML alone, which needs no kernel.

    Changes: the notebook in `model`, which is about to be saved at `path`. One that is
    saved without widgets, as the user chose, stays as it is.
    """
    if model["type"] != "notebook":
        return
    notebook = model["content"]
    held = _states(notebook)
    if held is None:
        return
    shown = [data for data in _outputs(notebook) if data.get(VIEW, {}).get("model_id")]
    lost = {data[VIEW]["model_id"] for data in shown} - held.keys()
    file = Path(to_os_path(ApiPath(path), contents_manager.root_dir))
    if lost and file.is_file():
        old = _states(json.loads(file.read_text("utf-8"))) or {}
        held |= {id: old[id] for id in _with_parts(lost, old) - held.keys()}
    for data in shown:
        if data[VIEW]["model_id"] not in held and "text/html" in data:
            del data[VIEW]


def _states(notebook: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the state of each widget that a notebook holds, by its id; None if it is
    saved without."""
    widgets = notebook["metadata"].get("widgets", {})
    return widgets[STATE]["state"] if STATE in widgets else None


def _outputs(notebook: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the forms of each output."""
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", ())]
    return [out["data"] for out in outputs if "data" in out]


def _with_parts(ids: set[str], states: Mapping[str, Any]) -> set[str]:
    """Return those of the ids that have a state, with all that they are made of."""
    found: set[str] = set()
    left = ids & states.keys()
    while left:
        id = left.pop()
        found.add(id)
        named = _strings(states[id])
        parts = {name.removeprefix(ONE) for name in named if name.startswith(ONE)}
        left |= parts & states.keys() - found
    return found


def _strings(value: Any) -> list[str]:
    """Return every string in a JSON value."""
    match value:
        case str():
            return [value]
        case list():
            return [text for part in value for text in _strings(part)]
        case dict():
            return _strings(list(value.values()))
    return []


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": __name__}]


def _load_jupyter_server_extension(server: Any) -> None:
    server.contents_manager.register_pre_save_hook(keep_widgets)


if __name__ == "__main__":
    SYSTEM_CONFIG_PATH.append(str(DEFAULTS))
    main()
