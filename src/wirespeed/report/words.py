"""The fixed words of reports, in both languages."""

from typing import Literal

from wirespeed.model.finding import Finding
from wirespeed.model.labels import Label
from wirespeed.model.text import Text

SEVERITY: dict[str, Text] = {
    "high": Text(en="high", zh="严重"),
    "medium": Text(en="medium", zh="中等"),
    "low": Text(en="low", zh="轻微"),
    "info": Text(en="info", zh="提示"),
}
TONE_OF_SEVERITY: dict[str, Literal["plain", "good", "warn", "bad"]] = {
    "high": "bad",
    "medium": "warn",
    "low": "plain",
    "info": "plain",
}
PROOF = Text(en="Proof", zh="证据")
AGAINST = Text(en="speaks against it", zh="反面证据")
FIX = Text(en="Fix", zh="修复")
VERIFY = Text(en="Verify", zh="验证")
GAIN = Text(en="Expected gain", zh="预期收益")
NOT_TO_CONFUSE = Text(en="Not to be confused with", zh="易混淆的原因")
EXPLAINS = Text(en="Explains", zh="解释了")
EXPLAINED_BY = Text(en="Explained by", zh="可归因于")
RISK = Text(en="Risk", zh="风险")
SURE = Text(en="sure", zh="把握")
FOR_SIDE: dict[str, Text] = {
    "both": Text(en="", zh=""),
    "training": Text(en="training", zh="训练"),
    "serving": Text(en="serving", zh="推理"),
}
BEFORE = Text(en="before", zh="之前")
AFTER = Text(en="after", zh="之后")
DIFFERENCE = Text(en="difference", zh="差值")
LESS_OR_MORE = Text(en="← less │ more →", zh="← 减少 │ 增加 →")
FAMILY: dict[str, Text] = {
    "host-pcie": Text(en="PCIe of the host", zh="主机 PCIe"),
    "host-gpu": Text(en="GPUs and NVLink", zh="GPU 与 NVLink"),
    "host-cpu": Text(en="CPUs and memory of the host", zh="主机 CPU 与内存"),
    "host-nic": Text(en="network cards", zh="网卡"),
    "host-net": Text(en="network stack and addresses of the host", zh="主机网络栈与地址"),
    "host-limits": Text(en="limits of the host", zh="主机资源上限"),
    "host-rdma": Text(en="GPUDirect and virtual machines", zh="GPUDirect 与虚拟机"),
    "nccl-config": Text(en="configuration of NCCL and launchers", zh="NCCL 与启动器配置"),
    "transport": Text(en="transport of the data", zh="数据传输方式"),
    "version": Text(en="versions", zh="版本"),
    "fabric": Text(en="fabric: links, switches, paths", zh="网络：链路、交换机、路径"),
    "k8s": Text(en="Kubernetes", zh="Kubernetes"),
    "straggler": Text(en="stragglers", zh="掉队进程"),
    "software": Text(en="the job's software", zh="任务软件"),
    "placement": Text(en="placement", zh="放置"),
    "strategy": Text(en="parallelism and message sizes", zh="并行策略与消息大小"),
    "measurement": Text(en="the measurement itself", zh="测量本身"),
    "net-policy": Text(en="firewalls and network policy", zh="防火墙与网络策略"),
    "inference": Text(en="serving: gateways, proxies, model servers", zh="推理服务：网关、代理、模型服务"),
    "storage": Text(en="storage and downloads", zh="存储与下载"),
    "not-network": Text(en="not the network", zh="非网络原因"),
    "no-fault": Text(en="nothing is wrong", zh="没有故障"),
}
"""The families of the vocabulary of causes (`model/labels.py`)."""
BEARING: dict[str, Text] = {
    "network": Text(en="the network is the limit", zh="瓶颈在网络"),
    "not-network": Text(en="the network is not the limit", zh="瓶颈不在网络"),
    "neither": Text(en="it alone does not say whether the network is the limit", zh="仅凭此不能判定瓶颈是否在网络"),
}


def connections(finding: Finding) -> tuple[tuple[Text, tuple[Label, ...]], ...]:
    """How a finding hangs together with others: what it explains and what explains it, where anything does."""
    both = ((EXPLAINS, finding.explains), (EXPLAINED_BY, finding.explained_by))
    return tuple((title, causes) for title, causes in both if causes)
