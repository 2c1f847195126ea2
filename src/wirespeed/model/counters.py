"""One name for what drivers count under many: canonical counter names by family.

Sources of the driver names: Linux `Documentation/networking/device_drivers/ethernet/mellanox/mlx5/counters.rst`, `ena_ethtool.c`,
`bnxt_ethtool.c`, `ice_ethtool.c`, `virtio_net.c`, `drivers/infiniband/hw/mlx5/counters.c`, `Documentation/ABI/testing/sysfs-class-net-statistics`.
"""

import re

_EXACT: dict[str, str] = {
    # what arrived: the measure of every loss
    "rx_packets": "rx_packets", "rx_packets_phy": "rx_packets", "rx_unicast_packets": "rx_packets", "rx_ucast_packets": "rx_packets",
    "rx_ucast_frames": "rx_packets", "port.rx_unicast": "rx_packets", "rx_unicast": "rx_packets", "rx_vport_unicast_packets": "rx_packets",
    "rx_total_pkts": "rx_packets", "rx_packets.nic": "rx_packets",
    # receive buffer ran out of descriptors: ring too small, or the CPU too late
    "rx_out_of_buffer": "rx_no_buffer", "rx_missed_errors": "rx_no_buffer", "rx_fifo_errors": "rx_no_buffer",
    "rx_overruns": "rx_no_buffer", "rx_total_discard_pkts": "rx_no_buffer", "rx_no_buffer_count": "rx_no_buffer",
    "rx_no_dma_resources": "rx_no_buffer", "rx_dropped.nic": "rx_no_buffer", "port.rx_dropped": "rx_no_buffer",
    "rx_drops": "rx_no_buffer", "rx_queue_drops": "rx_no_buffer",
    # the device could not write to memory fast enough
    "rx_discards_phy": "rx_phy_discard",
    "rx_dropped": "rx_dropped", "tx_dropped": "tx_dropped", "rx_errors": "rx_errors", "tx_errors": "tx_errors",
    "tx_discards_phy": "tx_phy_discard",
    # frames damaged on the wire
    "rx_crc_errors": "fcs_errors", "rx_crc_errors_phy": "fcs_errors", "rx_fcs_err_frames": "fcs_errors",
    "rx_crc_errors.nic": "fcs_errors", "rx_fcs_errors": "fcs_errors", "port_rcv_errors": "rx_symbol_damage",
    "rx_symbol_err_phy": "rx_symbol_damage", "rx_pcs_symbol_err_phy": "rx_symbol_damage", "symbol_error": "rx_symbol_damage",
    "SymbolErrorCounter": "rx_symbol_damage", "symbol_error_counter": "rx_symbol_damage", "PortRcvErrors": "rx_symbol_damage", "rx_frame_errors": "fcs_errors",
    "rx_corrected_bits_phy": "fec_corrected", "rx_oversize_pkts_phy": "rx_oversize", "rx_out_of_range_len_phy": "rx_oversize",
    "rx_ovrsz_frames": "rx_oversize", "rx_mtu_err_frames": "rx_oversize", "rx_oversize.nic": "rx_oversize",
    # flow control
    "rx_pause_ctrl_phy": "pause_rx", "rx_global_pause": "pause_rx", "rx_pause_frames": "pause_rx", "rx_flow_control_xon": "pause_rx",
    "rx_flow_control_xoff": "pause_rx", "link_xoff_rx.nic": "pause_rx", "rx_pause": "pause_rx", "rx_xoff": "pause_rx",
    "tx_pause_ctrl_phy": "pause_tx", "tx_global_pause": "pause_tx", "tx_pause_frames": "pause_tx", "tx_flow_control_xon": "pause_tx",
    "tx_flow_control_xoff": "pause_tx", "link_xoff_tx.nic": "pause_tx", "tx_pause": "pause_tx",
    "rx_global_pause_duration": "pause_rx_us", "tx_global_pause_duration": "pause_tx_us",
    "tx_pause_storm_warning_events": "pause_storm", "tx_pause_storm_error_events": "pause_storm",
    # congestion notification
    "np_ecn_marked_roce_packets": "ecn_marked", "np_cnp_sent": "cnp_sent", "rp_cnp_handled": "cnp_handled",
    "rp_cnp_ignored": "cnp_ignored", "tx_cnp_pkts": "cnp_sent", "rx_cnp_pkts": "cnp_handled", "rx_ecn_marked_pkts": "ecn_marked",
    # RDMA transport
    "packet_seq_err": "rdma_sequence_error", "out_of_sequence": "rdma_out_of_sequence", "implied_nak_seq_err": "rdma_sequence_error",
    "seq_err_naks_rcvd": "rdma_sequence_error", "oos_drop_count": "rdma_out_of_sequence",
    "local_ack_timeout_err": "rdma_ack_timeout", "to_retransmits": "rdma_ack_timeout", "rnr_nak_retry_err": "rdma_receiver_not_ready",
    "rnr_naks_rcvd": "rdma_receiver_not_ready", "out_of_buffer": "rdma_no_receive_wqe", "roce_slow_restart": "rdma_slow_restart",
    "req_transport_retries_exceeded": "rdma_retry_exceeded", "max_retry_exceeded": "rdma_retry_exceeded",
    "roce_adp_retrans": "rdma_adaptive_retransmit", "port_xmit_wait": "xmit_wait", "PortXmitWait": "xmit_wait",
    "port_xmit_discards": "xmit_discards", "port_xmit_discard": "xmit_discards", "PortXmitDiscards": "xmit_discards", "link_downed": "link_down", "LinkDownedCounter": "link_down",
    "link_down_events_phy": "link_down", "link_down_counter": "link_down", "carrier_changes": "carrier_changes", "link_error_recovery": "link_recovery", "link_error_recovery_counter": "link_recovery",
    "LinkErrorRecoveryCounter": "link_recovery", "local_link_integrity_errors": "link_integrity", "LocalLinkIntegrityErrors": "link_integrity",
    "excessive_buffer_overrun_errors": "buffer_overrun", "ExcessiveBufferOverrunErrors": "buffer_overrun", "VL15_dropped": "vl15_dropped",
    "retrans_timeout_events": "rdma_ack_timeout", "unresponsive_remote_events": "rdma_peer_unresponsive",
    # host bus
    "outbound_pci_stalled_wr": "pcie_stalled_write", "rx_pci_signal_integrity": "pcie_signal", "tx_pci_signal_integrity": "pcie_signal",
    "module_high_temp": "module_hot", "rx_pp_alloc_slow": "page_pool_slow", "tx_queue_stopped": "tx_queue_stopped", "queue_stop": "tx_queue_stopped",
    "tx_timeout": "tx_timeout", "tx_tx_timeouts": "tx_timeout",
    # cloud allowances
    "bw_in_allowance_exceeded": "allowance_exceeded", "bw_out_allowance_exceeded": "allowance_exceeded",
    "pps_allowance_exceeded": "allowance_exceeded", "conntrack_allowance_exceeded": "conntrack_allowance_exceeded",
    "linklocal_allowance_exceeded": "linklocal_allowance_exceeded",
    # TCP and IP (/proc/net/snmp, netstat, nstat)
    "RetransSegs": "tcp_retransmits", "TcpRetransSegs": "tcp_retransmits", "OutSegs": "tcp_out_segments", "TcpOutSegs": "tcp_out_segments",
    "ListenOverflows": "listen_overflows", "TcpExtListenOverflows": "listen_overflows", "ListenDrops": "listen_drops",
    "TcpExtListenDrops": "listen_drops", "insert_failed": "conntrack_insert_failed", "early_drop": "conntrack_early_drop",
}  # fmt: skip

_SHAPES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"^rx_?(?:queue_)?\d+_(?:drops?|dropped|no_buffer|rx_empty_rx_ring|xdp_drop)$"), "rx_no_buffer"),
    (re.compile(r"^queue_\d+_rx_empty_rx_ring$"), "rx_no_buffer"),
    (re.compile(r"^rx_prio\d_packets$"), "rx_packets"),
    (re.compile(r"^rx_prio\d_pause$|^rx_priority\d_xo(?:n|ff)(?:\.nic)?$|^pfc_pri\d_rx_transitions$"), "pfc_rx"),
    (re.compile(r"^tx_prio\d_pause$|^tx_priority\d_xo(?:n|ff)(?:\.nic)?$|^pfc_pri\d_tx_transitions$"), "pfc_tx"),
    (re.compile(r"^rx_prio\d_pause_duration$"), "pfc_rx_us"),
    (re.compile(r"^tx_prio\d_pause_duration$"), "pfc_tx_us"),
    (re.compile(r"^rx_prio\d_(?:discards|buf_discard(?:_packets)?)$"), "rx_priority_discard"),
    (re.compile(r"^rx\d*_ecn_mark$"), "ecn_marked"),
)

CANONICAL_NAMES: tuple[str, ...] = tuple(dict.fromkeys((*_EXACT.values(), *(name for _, name in _SHAPES))))
"""Every name of ours."""


def canonical_name(driver_name: str) -> str | None:
    """Our name for a driver's counter, or None where it has none."""
    found = _EXACT.get(driver_name)
    if found is not None:
        return found
    bare = driver_name.removeprefix("TcpExt").removeprefix("IpExt")
    if bare in _EXACT:
        return _EXACT[bare]
    return next((name for shape, name in _SHAPES if shape.match(driver_name)), None)
