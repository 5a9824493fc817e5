"""Runtime plugins of protocol v2 that are commands in the end: what runs before and after a role's own commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

_PLUGINS = "com.microsoft.pai.runtimeplugin"
_COMMANDS = f"{_PLUGINS}.cmd"


def around(
    role_name: str, role: Mapping[str, Any], body: Mapping[str, Any], notices: list[str]
) -> tuple[list[str], list[str]]:
    """(commands before, commands after) a role's own. What a plugin would do that cannot be done here is noted."""
    before: list[str] = []
    after: list[str] = []
    for each in _prerequisites(role, body):
        starts, succeeds = _callbacks(each, notices)
        before += starts
        after = succeeds + after  # the last to start is the first to be told of success
    for plugin in _of_role(role_name, body.get("extras", {})):
        starts, ends = _from_extras(plugin, notices)
        before += starts
        after += ends
    return before, after


def _prerequisites(role: Mapping[str, Any], body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What a role names and what that requires in turn, each once, in the order in which it is needed."""
    by_name = {str(each["name"]): each for each in body.get("prerequisites", ()) if each["type"] != "dockerimage"}
    found: dict[str, Mapping[str, Any]] = {}

    def take(name: str, above: tuple[str, ...] = ()) -> None:
        if name in by_name and name not in found and name not in above:
            for required in by_name[name].get("require", ()):
                take(str(required), (*above, name))
            found[name] = by_name[name]

    named = [role[key] for key in ("data", "output", "script") if key in role]
    for name in [*named, *role.get("prerequisites", ())]:
        take(str(name))
    return list(found.values())


def _callbacks(each: Mapping[str, Any], notices: list[str]) -> tuple[list[str], list[str]]:
    plugin = each.get("plugin")
    if plugin is None:
        return [], []
    if plugin != _COMMANDS:
        notices.append(f"the plugin {plugin} of the prerequisite {each['name']} is not known and not run")
        return [], []
    by_event: dict[str, list[str]] = {"taskStarts": [], "taskSucceeds": []}
    for callback in each.get("callbacks", ()):
        commands = [str(command) for command in callback.get("commands", ())]
        by_event.get(str(callback.get("event")), []).extend(commands)
    return _guarded(by_event["taskStarts"], each), _guarded(by_event["taskSucceeds"], each)


def _of_role(name: str, extras: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    plugins = extras.get(_PLUGINS)
    for each in plugins if isinstance(plugins, list) else ():
        if isinstance(each, Mapping) and name in each.get("taskroles", [name]):
            yield each


def _from_extras(plugin: Mapping[str, Any], notices: list[str]) -> tuple[list[str], list[str]]:
    name, given = plugin.get("plugin"), plugin.get("parameters") or {}
    if name == "cmd":
        return _guarded(given.get("preCommands", ()), plugin), _guarded(given.get("postCommands", ()), plugin)
    if name == "git" and "repo_uri" in given:
        words = ["git", "clone", *given.get("options", ()), given["repo_uri"], *filter(None, [given.get("clone_dir")])]
        return _guarded([shlex.join(map(str, words))], plugin), []
    if name != "ssh" or given.get("sshbarrier"):
        notices.append(f"the runtime plugin {name} has no counterpart here and is not run")
    return [], []


def _guarded(commands: Iterable[str], plugin: Mapping[str, Any]) -> list[str]:
    lines = [str(command) for command in commands]
    if not lines or plugin.get("failurePolicy", "fail") != "ignore":
        return lines
    return ["\n".join(("{", *lines, "} || true"))]
