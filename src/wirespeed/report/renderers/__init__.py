"""report/renderers"""
