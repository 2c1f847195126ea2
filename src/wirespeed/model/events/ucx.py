"""What UCX says of its transports (`ucx_info -d`, `UCX_LOG_LEVEL=info`)."""

from wirespeed.model.record import Record


class UcxTransport(Record, frozen=True, kw_only=True):
    """One transport on one device: offered by the build (`ucx_info -d`), or chosen for an operation to a peer."""

    transport: str
    """`tcp`, `rc_mlx5`, `dc_mlx5`, `ud_verbs`, `srd`, `cuda_ipc`, `sysv` ..."""
    device: str | None = None
    operation: str | None = None
    """`rma`, `rma_am`, `am`, `tag`, `ka` ... of a chosen lane; None for an offer."""
    is_chosen: bool = False
