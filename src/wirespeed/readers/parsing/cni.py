"""Configuration of pod networks: CNI files, network attachments, and the JSON that is kept as text inside Kubernetes objects.

Each scalar becomes a `Setting`: `cni.calico.mtu` for the plug-ins that carry the pods' own network, `network-attachment.sriov.vlan`
for others (they name an interface of the host), `flannel.Backend.Type` for flannel's own file.
"""

from collections.abc import Iterator

from wirespeed.model.lines import source
from wirespeed.model.settings import Setting
from wirespeed.readers.parsing.kubernetes import TOOL, setting_of
from wirespeed.readers.parsing.yaml_leaves import Leaf, Shown, leaves_of, text_at

MOST_EMBEDDED_CHARACTERS = 65_536
POD_NETWORKS = frozenset(
    {"calico", "flannel", "cilium-cni", "weave-net", "antrea", "kube-router", "ovn-k8s-cni-overlay", "kube-ovn", "terway", "canal"}
)
"""Plug-ins whose interfaces are the pods' own network, mostly through an overlay."""


def is_cni(leaves: list[Leaf]) -> bool:
    """Whether a document is a CNI configuration: one plug-in, a list of them, or flannel's backend."""
    return any(leaf.keys in (("cniVersion",), ("Backend", "Type")) for leaf in leaves)


def cni_settings(shown: Shown, leaves: list[Leaf], held_by: Leaf | None = None) -> Iterator[Setting]:
    """Settings of a configuration; `held_by` is the scalar it is the text of, where it stands inside another document."""
    own_type = text_at(leaves, ("type",))
    types = {leaf.path[:2]: leaf.text for leaf in leaves if leaf.keys == ("plugins", "type")}
    is_flannel = any(leaf.keys == ("Backend", "Type") for leaf in leaves)
    for leaf in leaves:
        keys = leaf.keys[1:] if leaf.keys[:1] == ("plugins",) else leaf.keys
        plugin = types.get(leaf.path[:2], own_type)
        if leaf.is_empty or not keys or "\n" in leaf.text or (plugin is None and not is_flannel):
            continue
        kind = "flannel" if is_flannel else f"{'cni' if plugin in POD_NETWORKS else 'network-attachment'}.{plugin}"
        at = _where(shown, leaf, held_by)
        yield setting_of(source(shown.lines, TOOL), shown.quotes([at]), ".".join((kind, *keys)), leaf.text)


def embedded(leaf: Leaf) -> list[Leaf]:
    """The leaves of a CNI configuration that is the text of a scalar; none where it is none."""
    bare = leaf.text.lstrip()
    if not bare.startswith("{") or len(bare) > MOST_EMBEDDED_CHARACTERS or not ('"cniVersion"' in bare or '"Backend"' in bare):
        return []
    leaves, _ = leaves_of(leaf.text.replace("\t", "  "))
    return leaves if is_cni(leaves) else []


def _where(shown: Shown, leaf: Leaf, held_by: Leaf | None) -> Leaf:
    """The line itself where the text stands as it is (a block scalar), else the line that holds the whole."""
    if held_by is None:
        return leaf
    for line_index in (held_by.line_index + 1 + leaf.line_index, held_by.line_index + leaf.line_index):
        if line_index < len(shown.block.lines) and leaf.text in shown.block.lines[line_index]:
            return Leaf(leaf.path, leaf.text, line_index)
    return held_by
