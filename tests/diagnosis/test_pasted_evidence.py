"""What orchestrators, servers, schedulers and fabric tools say reaches the rules: each text is what a user would paste and holds one observation."""

import pytest

from wirespeed.diagnosis import rules
from wirespeed.diagnosis.judge import judge_rule
from wirespeed.model import shelf
from wirespeed.model.case import Case
from wirespeed.model.kinds import Reader, Rule
from wirespeed.model.lines import MemoryLines
from wirespeed.model.record import Record
from wirespeed.readers import tools
from wirespeed.readers.recognise import read_all

READERS = shelf.every(tools, Reader)
RULES = shelf.every(rules, Rule)

PULLS = '  Normal  Pulled  2m  kubelet  Successfully pulled image "r/a" in {} ({} including waiting)\n'
PODS = "llama-worker-0  1/1  Running  0  2d  10.244.1.5  node-a  <none>  <none>\nllama-worker-1  1/1  Running  0  2d  10.244.2.5  node-b  <none>  <none>\n"
RACKS = "NAME  STATUS  ROLES  AGE  VERSION  RACK\n"
NODE = "{}  Ready  <none>  9d  v1.30.2  {}\n"
DENY = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: x\nspec:\n  podSelector: {{}}\n  policyTypes:\n  - Ingress\n{}"
SYN_LOST = "nc: connect to 10.244.2.5 port 29500 (tcp) failed: Connection timed out\n"
CNI = '{{"cniVersion": "0.3.1", "name": "k8s", "plugins": [\n{{"type": "calico", "mtu": {}}}]}}\n'
ETH0 = "2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\n"
SILENT = "[ERROR] plugin/errors: 2 hub.example. A: read udp 10.244.1.6:53039->192.0.2.16:53: i/o timeout\n"

SEEN = {
    "a pull that queued": ("image_pull_serialized", PULLS.format("8.2s", "1m40.5s"), "had waited"),
    "pods in two racks, one would do": (
        "placement_crosses_domain",
        PODS + RACKS + NODE.format("node-a", "r1") + NODE.format("node-b", "r2") + NODE.format("node-c", "r1"),
        "one alone would have room",
    ),
    "sandbox refused for its function": (
        "sriov_config",
        "  Warning  FailedCreatePodSandBox  73s  kubelet  SRIOV-CNI failed to load netconf: LoadConf(): VF pci addr is required\n",
        "refused",
    ),
    "a node offers none": ("sriov_config", "Allocatable:\n  mellanox.com/mlnx_sriov:  0\n", "offers none"),
    "no node has the device": (
        "sriov_config",
        "  Warning  FailedScheduling  5s  default-scheduler  0/3 nodes are available: 3 Insufficient openshift.io/mlnx_rdma.\n",
        "no node has",
    ),
    "link of the function disabled": (
        "sriov_config",
        '{"cniVersion": "0.3.1", "type": "ib-sriov",\n"name": "x", "link_state": "disable"}\n',
        "set to disabled",
    ),
    "a pod was evicted": (
        "peer_process_died",
        "2m  Warning  Evicted  pod/a  The node was low on resource: memory.\n",
        "the cluster ended",
    ),
    "out of memory by describe": (
        "peer_process_died",
        "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
        "ended by a signal",
    ),
    "upstream is silent": ("dns_slow", SILENT * 6, "no answer from its upstream"),
    "a closed direction and a silent port": ("firewall_blocks_ports", SYN_LOST + DENY.format(""), "closes pods"),
    "a limit that leaves the port out": (
        "firewall_blocks_ports",
        SYN_LOST + DENY.format("  ingress:\n  - ports:\n    - port: 8080\n"),
        "closes pods",
    ),
    "flannel's file": ("mtu_overlay", "FLANNEL_MTU=1500\n---\ncalico_backend: vxlan\nkind: ConfigMap\n" + ETH0, "sends"),
    "overlay as large as the link": (
        "mtu_overlay",
        CNI.format(1500) + "---\ncalico_backend: vxlan\n" + ETH0,
        "sends",
    ),
    "no layer on the GPU": ("remote_compute_fallback", "load_tensors: offloaded 0/33 layers to GPU\n", "computes on its CPU"),
    "buffers of the CPU alone": (
        "remote_compute_fallback",
        "load_tensors:   CPU_Mapped model buffer size =  3565.00 MiB\n",
        "computes on its CPU",
    ),
    "most layers on the CPU": ("remote_compute_fallback", "load_tensors: offloaded 5/37 layers to GPU\n", "at least half"),
    "an RPC server without GPU": ("remote_compute_fallback", "create_backend: using CPU backend\n", "computes on its CPU"),
    "a refused port that a log binds to loopback": (
        "service_bound_loopback",
        'level=INFO msg="Listening on 127.0.0.1:11434 (version 0.5.13)"\n'
        "curl: (7) Failed to connect to 192.0.2.8 port 11434 after 1 ms: Connection refused\n",
        "is listened to",
    ),
    "long loading after a slow first request": (
        "cold_start",
        "the first request takes 60 s, later ones are fast\nINFO core.py:163] init engine (profile, create kv cache, warmup model) took 53.20 seconds\n",
        "tens of seconds",
    ),
    "Envoy's overflow": ("gateway_connection_limit", "cluster.llm.upstream_rq_pending_overflow: 96\n", ""),
    "Triton's queue": (
        "server_saturated",
        'nv_inference_pending_request_count{model="llm",version="1"} 40\n',
        "queue in the server",
    ),
    "a job over two leaf switches, one would do": (
        "placement_crosses_domain",
        "JobId=7 JobName=x\n   NodeList=n[1-2]\nSwitchName=s0 Nodes=n1,n3\nSwitchName=s1 Nodes=n2\n",
        "one alone would have room",
    ),
    "a scheduler without topology": (
        "placement_crosses_domain",
        "TopologyPlugin          = topology/default\nJobId=7 JobName=x\n   NodeList=n[1-2]\nSwitchName=s0 Nodes=n1,n3\nSwitchName=s1 Nodes=n2\n",
        "set up without",
    ),
    "a job too large for a block": (
        "placement_crosses_domain",
        "JobId=7 JobName=x\n   NodeList=n[1-3]\nBlockName=a Nodes=n1,n3\nBlockName=b Nodes=n2\n",
        "none has room",
    ),
    "drained for its InfiniBand port": (
        "ib_port_down",
        "REASON               USER      TIMESTAMP           NODELIST\nNHC: check_hw_ib:  No IB port is ACTIVE root 2024-05-01T10:00:00 node07\n",
        "health check",
    ),
    "drained for a missing GPU": (
        "gpu_xid",
        "NodeName=n1 Arch=x86_64\n   State=IDLE+DRAIN\n\n   Reason=gres/gpu count reported lower than configured (7 < 8) [slurm@2024-12-19T11:03:34]\n",
        "took a node out",
    ),
    "a job whose node failed": (
        "peer_process_died",
        "JobId=7 JobName=x\n   JobState=NODE_FAIL Reason=NodeDown\n   NodeList=n1\n",
        "ended by a signal",
    ),
    "a step killed": ("peer_process_died", "srun: error: node-a: task 3: Killed\n", "ended by a signal"),
    "limits handed on": (
        "ulimit_memlock",
        "PropagateResourceLimits = ALL\nPropagateResourceLimitsExcept = (null)\nmax locked memory       (kbytes, -l) 64\n",
        "submitting shell",
    ),
    "a gRPC port behind a cluster address": (
        "l4_grpc_pinning",
        "only one pod gets all requests, the other pods idle\nkind: Service\nspec:\n  type: ClusterIP\n  clusterIP: 10.96.1.2\n"
        "  ports:\n  - name: grpc\n    port: 8001\n",
        "by connection",
    ),
}
PFC_3 = "{}\nmlnx_qos -i eth0\nPriority trust state: dscp\n priority 0 1 2 3 4 5 6 7\n enabled  0 0 0 1 0 0 0 0\n"
SWITCH_LINK = 'Switch: 0x506b4b0300820910 sw:\n  2   18[  ] ==( {} Gbps {}/  LinkUp)==>       7    1[  ] "n03 HCA-1" ({})\n'
SIGNAL = "mlxlink -d mlx5_0\nEffective Physical Errors : {}\nEffective Physical BER : {}\nStatus Opcode : 0\n"
LLDP = "Interface:    eth0, via: LLDP, RID: 1, Time: 0 day\n    MFS:          {}\n"
SEEN |= {
    "a link that could be wider": (
        "link_speed_lower",
        SWITCH_LINK.format("1X 25.78125", "Active", "Could be 4X"),
        "slower or narrower",
    ),
    "ibdiagnet's stage": ("link_speed_lower", "-I- Speed / Width checks      0          15\n", "unexpected speed"),
    "mlxlink below its cable": (
        "link_speed_lower",
        "mlxlink -d mlx5_0\nState : Active\nPhysical state : LinkUp\nSpeed : 100G\nWidth : 2x\n"
        "Enabled Link Speed (Ext.) : 0x7f2 (200G,100G_2X)\nSupported Cable Speed (Ext.) : 0x7d0 (200G,100G_2X)\n",
        "negotiated less",
    ),
    "no subnet manager answers": ("ib_no_subnet_manager", "sminfo: iberror: failed: query\n", "no subnet manager answers"),
    "links in Initialize": ("ib_no_subnet_manager", SWITCH_LINK.format("4X 25.78125", "Initialize", " "), "wait in Initialize"),
    "bit errors after correction": ("packet_loss", SIGNAL.format(1523, "2E-9"), "remain after correction"),
    "symbol errors that rose": (
        "packet_loss",
        '-W- S1/N1/P20 - "symbol_error_counter" increased during the run (difference value=117,difference allowed threshold=1)\n',
        "damaged",
    ),
    "a port without cable": (
        "ib_port_down",
        "mlxlink -d mlx5_3\nState : Polling\nPhysical state : Polling\nStatus Opcode : 1024\nRecommendation : Cable is unplugged\n",
        "not Active",
    ),
    "RoCE outside its protected priority": ("roce_pfc_missing", PFC_3.format("NCCL_IB_TC=160"), "PFC is on for"),
    "a class moved by its map": (
        "roce_pfc_missing",
        PFC_3.format("cma_roce_tos -d mlx5_0 -t 120") + "dcb app show dev eth0\ndscp-prio 30:6\n",
        "PFC is on for",
    ),
    "a peer without flow control": (
        "roce_pfc_missing",
        "packet_seq_err: 31\n$ lldptool -t -n -i eth1 -V PFC\n         PFC enabled: none\n",
        "on no priority",
    ),
    "a reporter in error": (
        "nic_firmware_state",
        "pci/0000:82:00.0:\n  reporter fw_fatal\n    state error error 1 recover 0 auto_recover true\n",
        "in error",
    ),
    "a function not activated": (
        "sriov_config",
        "pci/0000:06:00.0/1: type eth netdev e flavour pcivf pfnum 0 vfnum 0\n    function:\n      hw_addr 02:00:00:00:88:88 state inactive opstate detached\n",
        "not activated",
    ),
    "a switch port for small frames": ("mtu_mismatch", ETH0.replace("1500", "9000") + LLDP.format(1518), "takes frames"),
    "a ping-pong that may not lock": ("ulimit_memlock", "Couldn't register MR: Cannot allocate memory\n", "RDMA memory fails"),
    "ethtool's pause counters in JSON": (
        "pause_throttling",
        '[ {\n "ifname": "eth0",\n "autonegotiate": true,\n "rx": true,\n "tx": true,\n "statistics": {"rx_pause_frames": 17}\n} ]\n',
        "received pause",
    ),
    "rdma's counters in JSON": (
        "roce_pfc_missing",
        '[{"ifindex":0,"ifname":"mlx5_0","port":1,"packet_seq_err":3,"out_of_sequence":12}]\n',
        "packets were lost",
    ),
    "rdma's link in JSON": (
        "ib_no_subnet_manager",
        '[{"ifindex":1,"ifname":"mlx5_1","port":1,"subnet_prefix":"fe80:0:0:0","lid":0,"sm_lid":0,"lmc":0,"state":"INIT","physical_state":"LINK_UP"}]\n',
        "waits in",
    ),
}
NOT_SEEN = {
    "pulls that did not wait": ("image_pull_serialized", PULLS.format("8.2s", "8.2s") * 2, "no pull waited"),
    "pods in one rack": (
        "placement_crosses_domain",
        PODS + RACKS + NODE.format("node-a", "r1") + NODE.format("node-b", "r1"),
        "one place",
    ),
    "a job on one leaf switch": (
        "placement_crosses_domain",
        "JobId=7 JobName=x\n   NodeList=n[1-2]\nSwitchName=s0 Nodes=n[1-3]\nSwitchName=s1 Nodes=n4\n",
        "one place",
    ),
    "overlay with room": ("mtu_overlay", CNI.format(1450) + "---\ncalico_backend: vxlan\n" + ETH0, "needs"),
    "all layers on the GPU": ("remote_compute_fallback", "load_tensors: offloaded 33/33 layers to GPU\n", "on GPUs"),
    "a headless service": (
        "l4_grpc_pinning",
        "only one pod gets all requests, the other pods idle\nkind: Service\nspec:\n  clusterIP: None\n  ports:\n  - name: grpc\n",
        "one by one",
    ),
    "a resource of the RDMA plug-in": (
        "container_missing_rdma_device",
        "NET/IB : No device found.\nContainers:\n  a:\n    Limits:\n      rdma/hca_shared_devices_a:  1\n",
        "was given",
    ),
}
NOT_SEEN |= {
    "a master answers": (
        "ib_no_subnet_manager",
        "sminfo: sm lid 15 sm guid 0x10e0406d, activity count 26 priority 14 state 3 SMINFO_MASTER\n",
        "answers",
    ),
    "no bit error is left": ("packet_loss", SIGNAL.format(0, "15E-255"), "no bit error"),
    "RoCE inside its protected priority": ("roce_pfc_missing", PFC_3.format("NCCL_IB_TC=106"), "covers"),
}
SILENT_ABOUT = {
    "a policy that lets the port through": (
        "firewall_blocks_ports",
        SYN_LOST + DENY.format("  ingress:\n  - ports:\n    - port: 29000\n      endPort: 30000\n"),
        "closes pods",
    ),
    "an open policy": ("firewall_blocks_ports", SYN_LOST + DENY.format("  ingress:\n  - {}\n"), "closes pods"),
    "the loop plug-in's question": ("dns_slow", SILENT.replace(" A:", " HINFO:") * 9, "upstream"),
    "pods of deployments": (
        "placement_crosses_domain",
        "web-7d9c5b6f4d-x2v7q  1/1  Running  0  2d  10.0.0.5  node-a  <none>  <none>\nweb-7d9c5b6f4d-x2v7r  1/1  Running  0  2d  10.0.0.6  node-b  <none>"
        "  <none>\n" + RACKS + NODE.format("node-a", "r1") + NODE.format("node-b", "r2") + NODE.format("node-c", "r1"),
        "room",
    ),
    "idle connections of nginx": ("server_saturated", "Reading: 0 Writing: 7 Waiting: 42\n", "queue"),
    "a few overflows among many requests": (
        "gateway_connection_limit",
        "cluster.llm.upstream_rq_pending_overflow: 2\ncluster.llm.upstream_rq_total: 120000\n",
        "",
    ),
    "memlock excepted": (
        "ulimit_memlock",
        "PropagateResourceLimits = ALL\nPropagateResourceLimitsExcept = MEMLOCK\nmax locked memory       (kbytes, -l) 64\n",
        "submitting shell",
    ),
    "a cancelled job": ("peer_process_died", "JobId=7 JobName=x\n   JobState=CANCELLED Reason=None\n   ExitCode=0:15\n", "signal"),
    "a 12X port nobody cables": (
        "link_speed_lower",
        SWITCH_LINK.format("4X 25.78125", "Active", "Could be 12X"),
        "slower or narrower",
    ),
    "a switch port for jumbo frames": ("mtu_mismatch", ETH0.replace("1500", "9000") + LLDP.format(9236), "takes frames"),
    "an interface that trusts PCP": ("roce_pfc_missing", PFC_3.format("NCCL_IB_TC=160").replace("dscp", "pcp"), "PFC is on for"),
    "an MTU without encapsulation": ("mtu_overlay", CNI.format(1500) + ETH0, "header it"),
    "a memory limit of GPUs": ("sriov_config", "Allocatable:\n  nvidia.com/gpu:  0\n", "offers none"),
}


def _weights(rule: str, text: str, part: str) -> list[float]:
    records = [item for _, item in read_all(MemoryLines(text, "input"), READERS) if isinstance(item, Record)]
    judged = judge_rule(rule, RULES[rule], Case(records))
    return [one.weight_nats for one in judged.verdict.evidence if part in one.says.en]


@pytest.mark.parametrize(("rule", "text", "part"), SEEN.values(), ids=SEEN)
def test_speaks_for_it(rule: str, text: str, part: str) -> None:
    weights = _weights(rule, text, part)
    assert weights
    assert min(weights) > 0


@pytest.mark.parametrize(("rule", "text", "part"), NOT_SEEN.values(), ids=NOT_SEEN)
def test_speaks_against_it(rule: str, text: str, part: str) -> None:
    weights = _weights(rule, text, part)
    assert weights
    assert max(weights) < 0


@pytest.mark.parametrize(("rule", "text", "part"), SILENT_ABOUT.values(), ids=SILENT_ABOUT)
def test_says_nothing_of_it(rule: str, text: str, part: str) -> None:
    assert not _weights(rule, text, part)
