"""Run link tests from here against one peer."""

from wirespeed.benches.links import client
from wirespeed.benches.links.spec import LinkSpec
from wirespeed.verbs._call import Call

CALL = Call(options=LinkSpec, run=client.run)
