"""Training instances of projects."""

TEXTS: dict[str, str] = {
    "Training instances": "训练实例",
    "New training": "创建训练实例",
    "A project keeps {count} trainings and has one at a time.": (
        "每个项目最多保留 {count} 个训练实例，同一时间只能有一个在运行。"
    ),
    "This project was never trained.": "这个项目还没有训练过。",
    "Training": "训练实例",
    "By": "创建者",
    "Way to this page": "当前位置",
    # states, in the words of Xihe's own pages
    "scheduling": "启动中",
    "schedule_failed": "启动失败",
    "Running": "运行中",
    "Completed": "已完成",
    "Failed": "训练失败",
    "Terminated": "已停止",
    "Terminating": "停止中",
    # what is done to one
    "Terminate": "停止训练",
    "Terminate {name}": "停止 {name}",
    "Train again": "再次训练",
    "Train {name} again": "再次训练 {name}",
    "Delete {name}": "删除 {name}",
    "Terminate this training?": "停止这个训练实例？",
    "It is asked to save first. It cannot be continued, only trained again.": (
        "会先通知脚本保存。停止后不能继续，只能再次训练。"
    ),
    "Its run goes with it: log, curves and output. This cannot be undone.": (
        "对应的运行会一并删除，包括日志、曲线和输出，且无法恢复。"
    ),
    "Change and train": "修改后再训练",
    "The run": "查看运行",
    "Download the log": "下载日志",
    "Download the output": "下载输出",
    # the form
    "5 to 50 letters, digits, _ and -": "5 到 50 个字母、数字、下划线或短横线",
    "Description": "描述",
    "The newest commit of the project is trained.": "使用项目最新一次提交的代码。",
    "Code folder": "代码目录",
    "empty: the whole repository": "留空表示整个仓库",
    "relative to the code folder": "相对于代码目录的路径",
    "Commit": "提交",
    "Version": "版本",
    "Each is passed as an option of its name. The script has no network.": (
        "每个输入都以选项名传给脚本。脚本运行时没有网络。"
    ),
    "Option": "选项名",
    "Model": "模型",
    "model": "模型",
    "Data set": "数据集",
    "data set": "数据集",
    "Hyper-parameters": "超参数",
    "hyper-parameter": "超参数",
    "Variables": "环境变量",
    "variable": "环境变量",
    "The script takes --output_path; its files are kept": "脚本接受 --output_path，输出的文件会保留",
    "The script takes --aim_repo, for an evaluation of its own": "脚本接受 --aim_repo，用于自定义评估",
    "Results": "结果",
    "Start the training": "开始训练",
    "Browse: {what}": "浏览：{what}",
    "This is what {name} was asked for.": "以下是 {name} 的配置。",
    # choosing from a repository
    "Use this folder": "使用这个文件夹",
    "Use the whole repository": "使用整个仓库",
    "One folder up": "上一级文件夹",
    "Choose a model": "选择模型",
    "Choose a data set": "选择数据集",
    "There is none that you may use.": "没有可以使用的仓库。",
    # evaluation
    "Values that the script tried one after the other, with commas between; one value each names one run.": (
        "脚本依次尝试的取值，用逗号分隔；每项只填一个值就表示单次训练。"
    ),
    "Batch sizes": "批大小",
    "Learning rates": "学习率",
    "Momentums": "动量",
    "batch size": "批大小",
    "learning rate": "学习率",
    "momentum": "动量",
    "Evaluate": "评估",
    "Evaluate with Aim": "自定义评估（Aim）",
    "See the report": "查看报告",
    "All of them": "总览",
    "Metric": "指标",
    "first value": "最初",
    "Run {number}": "第 {number} 次",
    "Aim": "Aim",
    "Open Aim": "打开 Aim",
    "What the script wrote to its Aim repository is shown by Aim itself:": "脚本写入的 Aim 仓库用 Aim 自己的页面查看：",
    "Download the Aim repository": "下载 Aim 仓库",
}
