"""What the platforms' sign-in asks, in Chinese, for the web console and the terminal alike.

The English text is the key; a platform that somebody else wrote, and that is not here, asks in its own words.
"""

from __future__ import annotations

CHINESE: dict[str, str] = {
    # every platform
    "an address that its stints can reach, like obs://bucket/outlast": "训练机器访问得到的地址，例如 obs://bucket/outlast",
    "Time limit of a stint": "单段时限",
    "like 1h; the platform's own when left out": "例如 1h；不填则使用平台自己的时限",
    "Allowance in hours": "可用时长（小时）",
    "no stint goes there when so many are used up": "用完后不再有训练去那里",
    "Period of the allowance": "时长的计算周期",
    "day, week or month; in all when left out": "day、week 或 month；不填则按总时长计算",
    "Patience": "排队等待上限",
    "in its queue, before another platform is tried: 30m": "在它的队列里等待多久后改去别的平台，例如 30m",
    # several platforms
    "Endpoint": "服务地址",
    "Flavor": "规格",
    "Password": "密码",
    "User name": "用户名",
    # modelarts
    "Region": "区域",
    "the part after 'modelarts.' in the address of its console": "控制台网址中 “modelarts.” 后面的部分",
    "Access key id (AK)": "访问密钥 ID（AK）",
    "console, My Credentials, Access Keys; or give user": "在控制台“我的凭证 > 访问密钥”中获取；也可以改填 IAM 用户",
    "Secret access key (SK)": "私有访问密钥（SK）",
    "Store": "存储",
    "a place in OBS of the same region, like obs://my-bucket/outlast": "同一区域的 OBS 路径，例如 obs://my-bucket/outlast",
    "the kind of machine; outlast platforms --check lists them": "机器类型；可用 outlast platforms --check 列出",
    "Engine": "引擎",
    "the id of a preset engine, or the address of an image": "预置引擎的 ID，或镜像地址",
    "Project id": "项目 ID",
    "found by the region when left out": "不填则按区域查询",
    "Security token": "安全令牌（security token）",
    "of temporary keys": "使用临时密钥时填写",
    "IAM user": "IAM 用户",
    "the other way in, instead of an access key": "不使用访问密钥时的另一种登录方式",
    "Account name": "账号名",
    "of the IAM user; the same as the user's when left out": "IAM 用户所属的账号；不填则与用户名相同",
    "follows from the region when left out": "不填则由区域得出",
    "IAM endpoint": "IAM 服务地址",
    "follows from the region or the endpoint when left out": "不填则由区域或服务地址得出",
    "Dedicated pool id": "专属资源池 ID",
    "Generation of the API": "API 版本",
    "v1 or v2; found out when left out": "v1 或 v2；不填则自动判断",
    # openpai
    "Address of the cluster": "集群地址",
    "as its web portal has it, like http://pai.lab": "与网页门户相同，例如 http://pai.lab",
    "leave it empty when you have a token": "有令牌时不用填",
    "Application token": "应用令牌（application token）",
    "from your profile page in the portal": "在门户的个人资料页获取",
    "Virtual cluster": "虚拟集群",
    "Image of the stints": "每段训练使用的镜像",
    "with bash and Python 3.7 or later": "需要带有 bash 和 Python 3.7 或更高版本",
    "Memory of a stint when its run asks for none": "训练没有指定内存时，每段使用的内存",
    "Kind of machine": "机器类型",
    "a sku type of HiveD, on YARN a GPU type; empty: any": "HiveD 的 SKU 类型，YARN 上为 GPU 类型；不填表示任意",
    "Generation: auto, yarn or k8s": "集群版本：auto、yarn 或 k8s",
    # xihe
    "Address of the API": "API 地址",
    "of Xihe, or of a server that runs `outlast serve`": "Xihe 的地址，或运行 `outlast serve` 的服务器地址",
    "Address for git": "git 地址",
    "only when it is another one": "仅在不同时填写",
    "Token": "令牌",
    "from the account settings; shown once when it is made": "在账号设置中创建；只在创建时显示一次",
    "Token for git": "git 令牌",
    "Engine version": "引擎版本",
    "as the form of Xihe lists it": "与 Xihe 创建训练的表单中一致",
    "only for a version that outlast does not know": "仅在 outlast 不认识该版本时填写",
    "Engine type": "引擎类型",
}
