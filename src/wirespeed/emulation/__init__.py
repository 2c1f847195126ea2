"""A cluster to practise on: hosts, leaf and spine routers as network namespaces, and faults put into it on purpose."""
