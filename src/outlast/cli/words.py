"""The words of the help page and of the live view, in English and Chinese.

The English text is the key, so code reads naturally and a missing translation falls back to English. Errors, logs
and JSON are always English: they are searched for and parsed.
"""

from __future__ import annotations

import os

#: What the live view, the closing table and questions say; every entry has a translation below.
LABELS: tuple[str, ...] = (
    "stint", "training", "epoch", "step", "left", "to go", "of", "waiting", "queued", "preparing", "running",
    "handing over", "machine", "cpu", "memory", "total", "useful", "results", "next", "ledger", "metrics", "last",
    "best", "reason", "time", "checkpoint", "succeeded", "failed", "stopped", "detail", "or nothing", "not shown",
)  # fmt: skip

CHINESE: dict[str, str] = {
    # the help page
    "Usage": "用法",
    "COMMAND [OPTIONS]": "命令 [选项]",
    "Options": "选项",
    "Train": "训练",
    "Look": "查看",
    "Steer": "控制",
    "Move": "搬运",
    "Stores": "存储",
    "Serve": "服务",
    "Keep house": "维护",
    "Train your script on any machine you can borrow, for as long as it takes": (
        "在任何借得到的机器上训练你的脚本，需要多久就训练多久"
    ),
    "Start with: outlast run train.py --limit 1h": "从这里开始：outlast run train.py --limit 1h",
    "Train a script through as many stints as it takes": "训练脚本，分成多少段（stint）都接力训完",
    "Measure one short stint and forecast the whole training": "实测一小段，预估整个训练",
    "Check that an interrupted training equals a straight one": "检查中断后续训与一口气训练结果是否一致",
    "Train over a grid of parameters": "按参数网格批量训练",
    "Show what a script will see, before anything starts": "在开始之前，说明脚本会看到什么",
    "Write a commented outlast.toml for a training folder": "为训练目录写一份带注释的 outlast.toml",
    "Write an outlast.toml from a job file of another system": "把其他系统的作业文件写成 outlast.toml",
    "List, add and remove named environments": "列出、添加、删除具名环境",
    "Fit a script to the arguments and folders of a platform": "让脚本适配平台的参数和目录",
    "Rewrite scripts for another device: CUDA, Ascend NPU, or any": "把脚本改写到另一种设备：CUDA、昇腾 NPU 或任意",
    "List runs": "列出所有训练",
    "Show everything about one run": "显示一个训练的全部信息",
    "Print what the script wrote": "打印脚本的输出",
    "Draw the curves of runs": "画出训练的曲线",
    "Compare runs: parameters, metrics, time, code": "比较训练：参数、指标、时间、代码",
    "Judge runs by their curves, or by a script of yours": "根据曲线（或你的评估脚本）评价训练",
    "Write the metrics of runs for other programs": "把训练指标导出给其他程序",
    "Write everything about a run as one page": "把一个训练的全部写成一页报告",
    "Open the Aim repository of a run": "打开一个训练的 Aim 仓库",
    "Ask a run to save and stop": "请训练保存后停止",
    "Continue a stopped or failed run from its last checkpoint": "从最后的检查点继续已停止或失败的训练",
    "Bring results, checkpoints or logs home": "取回结果、检查点或日志",
    "Remove a finished run and its record, or files in a store": "删除已结束的训练及其记录，或存储中的文件",
    "Copy files and folders between any two places": "在任意两处之间复制文件和目录",
    "Bring a folder up to date with another one": "让一个目录与另一个保持一致",
    "List what lies at a place": "列出某处的内容",
    "Measure how much lies at a place": "统计某处的大小",
    "Write a file to standard output": "把文件写到标准输出",
    "Make a bucket or a folder": "新建桶或目录",
    "Pack, compare and shrink data sets": "打包、比较、缩小数据集",
    "Show where runs can go, and how each platform is": "列出可用的平台及其状态",
    "Check the keys of a store or a platform and keep them": "验证并保存存储或平台的密钥",
    "Forget the keys of a store or a platform": "删除已保存的存储或平台密钥",
    "Show every access that is known here": "列出本机已知的全部身份",
    "Prepare, publish and share places in a store": "准备、公开和分享存储中的位置",
    "Serve this home to a group: console, REST API, accounts": "向小组提供服务：网页控制台、REST API、账户",
    "List, add, change and remove the server's users": "列出、添加、修改、删除服务器用户",
    "Make, list and revoke tokens for programs": "为程序创建、列出、吊销令牌",
    "Be told when runs finish, fail or need you": "训练完成、失败或需要处理时发通知",
    "Put users into groups with quotas": "把用户分组并设定配额",
    "Share the machines among groups": "在各组之间分配机器",
    "Make, list, rename, fork and remove repositories of the hub": "创建、列出、改名、派生、删除仓库",
    "Make the outputs of a run a model repository": "把训练结果发布为模型仓库",
    "Show or change settings": "查看或修改设置",
    "Tell what this machine has and what is missing": "说明本机有什么、缺什么",
    "Rebuild the list of runs from the store": "根据存储重建训练列表",
    "Free space: old checkpoints and unused files": "释放空间：旧检查点与无用文件",
    "Show this page; with a command, that command's page": "显示本页；加在命令后则显示该命令的帮助",
    "Show the version": "显示版本",
    "Work with a server (also: OUTLAST_SERVER)": "使用服务器（也可设 OUTLAST_SERVER）",
    "Show tracebacks (also: OUTLAST_DEBUG=1)": "出错时显示调用栈（或设 OUTLAST_DEBUG=1）",
    "Set up completion for the current shell": "为当前 shell 安装命令补全",
    "Print the completion script for bash, zsh or fish": "打印 bash、zsh 或 fish 的补全脚本",
    # the live view
    "stint": "段",
    "training": "训练",
    "epoch": "轮",
    "step": "步",
    "left": "剩余",
    "to go": "后完成",
    "of": "/",
    "waiting": "等待",
    "queued": "排队",
    "preparing": "准备",
    "running": "运行",
    "handing over": "交接",
    "machine": "机器",
    "cpu": "处理器",
    "memory": "内存",
    "total": "合计",
    "useful": "有效",
    "results": "结果",
    "next": "接下来",
    "ledger": "时间账",
    "metrics": "指标",
    "last": "最后",
    "best": "最好",
    "reason": "原因",
    "time": "时间",
    "checkpoint": "检查点",
    "succeeded": "成功",
    "failed": "失败",
    "stopped": "已停止",
    "detail": "说明",
    "or nothing": "可不填",
    "not shown": "输入不会显示",
}


def is_chinese() -> bool:
    """True when the user's locale asks for Chinese; the first variable that is set decides, as in POSIX."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name)
        if value:
            return value.lower().startswith("zh")
    return False


def say(text: str) -> str:
    """`text` in the user's language."""
    return CHINESE.get(text, text) if is_chinese() else text


def display_width(text: str) -> int:
    """Columns that `text` takes in a terminal: East Asian wide characters count twice, combining marks not at all."""
    if text.isascii():
        return len(text)
    import unicodedata

    columns = 0
    for char in text:
        if not unicodedata.combining(char):
            columns += 2 if unicodedata.east_asian_width(char) in "WF" else 1
    return columns


def pad(text: str, columns: int) -> str:
    """`text` filled with spaces up to `columns`."""
    return text + " " * max(columns - display_width(text), 0)


def count(number: int, noun: str) -> str:
    """`1 file`, `2 files`: a number and its noun as they are said in English."""
    return f"{number} {noun}" + ("s" if number != 1 else "")
