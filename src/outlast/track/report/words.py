"""The words of a report, in English and Chinese; the English text is the key."""

from __future__ import annotations

import re
from dataclasses import dataclass

LANGUAGES = {"en": "English", "zh": "中文"}

LEGEND = (
    "A stint is one turn on one machine. A dotted line in a curve is where the next one took over; pale parts were "
    "done again after a rollback."
)

CHINESE = {
    "curves": "曲线",
    "where the time went": "时间账",
    "parameters": "参数",
    "conditions": "条件",
    "environment": "环境",
    "checkpoints": "检查点",
    "results": "结果",
    "end of the output": "输出结尾",
    "do it again": "重新训练",
    "progress": "进度",
    "time on machines": "机器用时",
    "stints": "段数",
    "useful": "有效",
    "epoch": "轮",
    "step": "步",
    "stint": "段",
    "last": "最后",
    "best": "最好",
    "metric": "指标", "metrics": "指标",
    "size": "大小",
    "files": "文件数",
    "file": "文件",
    "made": "保存于",
    "machine": "机器",
    "platform": "平台",
    "python": "Python", "packages": "环境名", "image": "镜像",
    "requirements": "依赖",
    "processors": "处理器",
    "memory": "内存",
    "peak memory": "内存峰值",
    "accelerators": "加速卡",
    "code": "代码",
    "script": "脚本", "contract": "契约", "limit": "每段时限", "until": "结束条件", "cpus": "处理器核数",
    "gpus": "GPU 数", "npus": "NPU 数", "nodes": "节点数",
    "older ones not shown": "更早的未列出",
    "not shown": "未列出",
    "in the folder of the code": "在代码目录中执行",
    LEGEND: "“段”是在一台机器上的一次训练。曲线中的虚线是下一段接手的位置，浅色部分在回滚后重新训练过。",
    "written by": "生成工具",
    "queued": "排队", "fetching": "取数据", "environment (ledger)": "装环境", "restoring": "恢复", "starting": "启动",
    "saving": "保存", "replayed": "重做", "lost": "丢失",
    "planned": "已计划", "submitted": "已提交", "preparing": "准备中", "handing-over": "交接中",
    "running": "运行中", "succeeded": "成功", "failed": "失败", "stopped": "已停止",
    "finished": "完成", "hand-over": "交接", "time-limit": "到时限", "preempted": "被抢占",
    "script-error": "脚本出错", "setup-error": "准备失败", "refused": "平台未接收",
}  # fmt: skip
_UNITS = {"d": "天", "h": "小时", "min": "分", "s": "秒"}


@dataclass(frozen=True)
class Words:
    """One language."""

    lang: str

    def __call__(self, text: str) -> str:
        if self.lang == "zh":
            return CHINESE.get(text, text)
        return text.removesuffix(" (ledger)")

    def place(self, word: str, number: float) -> str:
        """`epoch 12`, `第 12 轮`."""
        return f"第 {number:g} {self(word)}" if self.lang == "zh" else f"{word} {number:g}"

    def duration(self, text: str) -> str:
        """A duration as `format_duration` writes it, in this language."""
        if self.lang != "zh":
            return text
        return re.sub(r"\b(d|h|min|s)\b", lambda unit: _UNITS[unit[1]], text)
