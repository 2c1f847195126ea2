"""Which variables leave the process, and that secrets never do."""

import json
import time

import pytest

from wirespeed.machines import questions
from wirespeed.machines.local import Local
from wirespeed.machines.machine import MachineProblem
from wirespeed.machines.variables import that_matter


def test_only_what_bears_on_networks_and_without_secrets() -> None:
    found = that_matter({
        "NCCL_DEBUG": "INFO", "MASTER_ADDR": "node-a", "HOME": "/root", "AWS_SECRET_ACCESS_KEY": "abc", "VLLM_API_KEY": "abcdef",
        "https_proxy": "http://user:pa55@proxy:3128", "CUDA_VISIBLE_DEVICES": "0,1", "RANK": "3", "SLURM_NTASKS": "16", "PATH": "/bin",
    })  # fmt: skip
    assert found == {
        "CUDA_VISIBLE_DEVICES": "0,1", "MASTER_ADDR": "node-a", "NCCL_DEBUG": "INFO", "RANK": "3", "SLURM_NTASKS": "16",
        "VLLM_API_KEY": "[redacted]", "https_proxy": "http://[redacted]@proxy:3128",
    }  # fmt: skip


def test_a_look_up_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "NAME_LOOKUP_BOUND_S", 0.05)
    monkeypatch.setattr(questions.socket, "getaddrinfo", lambda *_, **__: time.sleep(1) or [])
    start = time.perf_counter()
    with pytest.raises(MachineProblem) as caught:
        Local().ask("name-lookup", "slow.example")
    assert caught.value.reason == "timed-out"
    assert time.perf_counter() - start < 0.5


def test_answers_of_the_live_machine() -> None:
    assert json.loads(Local().ask("name-lookup", "localhost"))["is_answered"] is True
    assert json.loads(Local().ask("filesystem", "/"))["size_bytes"] > 0
    for question, subject, reason in (("access", "/nothing", "absent"), ("nonsense", "", "unsupported")):
        with pytest.raises(MachineProblem) as caught:
            Local().ask(question, subject)
        assert caught.value.reason == reason
