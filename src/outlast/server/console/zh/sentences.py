"""Whole sentences that are made elsewhere: how a run goes, and what its curves show. `say_sentence` recognises them."""

TEXTS: dict[str, str] = {
    # how a run goes
    "starts": "即将开始",
    "resumed": "已继续",
    "stint {number} is {state}": "第 {number} 段：{state}",
    "stint {number} is queued: {why}": "第 {number} 段正在排队：{why}",
    "stint {number} is asked to stop": "已请求第 {number} 段停止",
    "stint {number} handed over at {checkpoint}": "第 {number} 段已在 {checkpoint} 交接",
    "stopped as asked; continue with: {command}": "已按要求停止；继续训练：{command}",
    "reached the limit of {count}; continue with: {command}": "已达到段数上限（{count}）；继续训练：{command}",
    # what curves show
    "{metric} became {what} at {where} (stint {stint}); {count} of {total} values are not finite": (
        "{metric} 在 {where}（第 {stint} 段）变为 {what}；{total} 个值中有 {count} 个不是有限数"
    ),
    "{metric} became {what} at {where} (stint {stint}); {count} of {total} values are not finite; it recovered": (
        "{metric} 在 {where}（第 {stint} 段）变为 {what}；{total} 个值中有 {count} 个不是有限数，之后恢复正常"
    ),
    "lower the learning rate, clip the gradients, or look for log(0) and 0/0; go on from a checkpoint before it": (
        "降低学习率、裁剪梯度，或检查 log(0) 与 0/0；从此前的检查点继续"
    ),
    "{metric} was best at {where} ({best}) and has {word} by {fall} since, while {other} went on from {then} to {end}: overfitting": (  # noqa: E501
        "{metric} 在 {where} 最好（{best}），此后变差 {fall}（{word}），而 {other} 仍从 {then} 变到 {end}：过拟合"
    ),
    "use the checkpoint of {where}; next time stop there, or regularise (weight decay, dropout, more data)": (
        "使用 {where} 的检查点；下次在那里停止，或加入正则化（权重衰减、dropout、更多数据）"
    ),
    "{metric} exploded: {best} at {where}, {end} at the end": "{metric} 爆炸：在 {where} 为 {best}，结束时为 {end}",
    "lower the learning rate or warm it up, and clip the gradients; resume from a checkpoint before the turn": (
        "降低学习率或加入预热，并裁剪梯度；从转折之前的检查点继续"
    ),
    "{metric} rises since {where}: {best} there, {end} at the end": (
        "{metric} 自 {where} 起上升：当时 {best}，结束时 {end}"
    ),
    "{metric} falls since {where}: {best} there, {end} at the end": (
        "{metric} 自 {where} 起下降：当时 {best}，结束时 {end}"
    ),
    "{metric} rises since {where}: {best} there, {end} at the end ({share})": (
        "{metric} 自 {where} 起上升：当时 {best}，结束时 {end}（{share}）"
    ),
    "{metric} falls since {where}: {best} there, {end} at the end ({share})": (
        "{metric} 自 {where} 起下降：当时 {best}，结束时 {end}（{share}）"
    ),
    "lower the learning rate towards the end (a schedule), and keep the checkpoint of the best epoch": (
        "在后期降低学习率（学习率调度），并保留最好那一轮的检查点"
    ),
    "{metric} did not improve in {count} epochs or readings: {first} at the beginning, {end} at the end": (
        "{metric} 在 {count} 轮（次）中没有改善：开始 {first}，结束 {end}"
    ),
    "try a learning rate ten times larger or smaller, and check that labels and inputs belong together": (
        "试试大十倍或小十倍的学习率，并检查标签与输入是否对应"
    ),
    "{metric} is flat since {where}: the last {rest} of the training brought less than 1 % of the improvement": (
        "{metric} 自 {where} 起持平：最后 {rest} 的训练带来的改善不到 1 %"
    ),
    "stop near {where} (--until), or lower the learning rate there": (
        "在 {where} 附近停止（--until），或在那里降低学习率"
    ),
    "{metric} was still improving at the end: by {late} in the last {back} epochs or readings, {share} of all": (
        "{metric} 结束时仍在改善：最后 {back} 轮（次）改善 {late}，占全部改善的 {share}"
    ),
    "train longer": "延长训练",
    "{metric} jumped to {value} at {where} (stint {stint}) and came back": (
        "{metric} 在 {where}（第 {stint} 段）跳到 {value}，随后恢复"
    ),
    "look at the batches there; clip the gradients if it happens more often": (
        "检查那里的批次；若频繁出现，请裁剪梯度"
    ),
    "{metric} swings by ±{noise} from epoch to epoch, {share} of its whole improvement": (
        "{metric} 每轮之间波动 ±{noise}，相当于全部改善的 {share}"
    ),
    "use larger batches, a lower learning rate, or more data to measure it on": (
        "使用更大的批次、更低的学习率，或更多的验证数据"
    ),
    "epochs become slower: {first} at first, {last} at the end ({more})": (
        "每轮越来越慢：起初 {first}，最后 {last}（{more}）"
    ),
    "look for lists that grow (losses kept with their graph), a log that is rewritten, or a hot device": (
        "检查不断变长的列表（带着计算图保存的 loss）、反复重写的日志，或过热的设备"
    ),
    "only {share} of the machine time became part of the result": "只有 {share} 的机器时间成为结果的一部分",
    "see where the rest went with: outlast show RUN; longer stints and more frequent saves help": (
        "用 outlast show RUN 查看其余时间的去向；更长的训练段和更频繁的保存会有帮助"
    ),
}
