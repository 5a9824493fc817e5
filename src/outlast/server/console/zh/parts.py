"""Pieces that several pages share."""

TEXTS: dict[str, str] = {
    "1 file": "1 个文件",
    "{count} files": "{count} 个文件",
    "Actions": "操作",
    "Copy": "复制",
    "Name": "名称",
    "Value": "值",
    "Address": "地址",
    "Remove {name}": "删除 {name}",
    "Change {name}": "修改 {name}",
    "Nothing here yet.": "暂无内容。",
    "removed": "已删除",
    # uploads
    "Drop files or a folder here": "把文件或文件夹拖到这里",
    "Choose files": "选择文件",
    "Choose a folder": "选择文件夹",
    "reading": "正在读取",
    "sending": "正在上传",
    "checking": "正在校验",
    "putting in place": "正在写入存储",
    "Try again": "重试",
    "there is nothing to send": "没有可上传的文件",
}
