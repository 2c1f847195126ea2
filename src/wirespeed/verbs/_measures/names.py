"""How long the name servers take that the hosts use."""

from wirespeed.model.measurement import NameServerRun
from wirespeed.model.text import Text
from wirespeed.verbs._measure import Measure

MEASURE = Measure(
    title=Text(en="ask the name servers", zh="查询域名服务器"),
    gives=(NameServerRun,),
    cost_s=lambda fleet: 0.3,
    least_hosts_count=1,
    run=lambda fleet, case: fleet.ask([(host, "name_servers", {}) for host in fleet.hosts], 8.0),
)
