"""A cluster to practise on: hosts, leaf and spine routers as network namespaces of one process tree."""
